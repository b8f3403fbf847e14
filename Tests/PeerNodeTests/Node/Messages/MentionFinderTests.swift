import Testing
import WorkspaceModel

@testable import PeerNode

struct `Whom a text mentions` {
    private static let names = ["Mina", "Min", "Mina Kim", "Jörg", "미나", "Ολγα", "twin", "twin"]

    private static func member(_ place: Int) -> MemberID {
        MemberID([UInt8](repeating: UInt8(place + 1), count: 16))
    }

    private static let finder = MentionFinder(
        names.enumerated().map { (member($0.offset), $0.element) })

    private func names(in text: String) -> [String] {
        let found = Self.finder.mentions(in: text)
        let named = found.members.compactMap { member in
            Self.names.indices.first { Self.member($0) == member }.map { Self.names[$0] }
        }
        return named + (found.isEverybody ? ["*"] : [])
    }

    @Test(
        arguments: [
            ("hello", []), ("@Mina", ["Mina"]), ("@mina, hi", ["Mina"]), ("hi @MINA!", ["Mina"]),
            ("@Mina Kim is here", ["Mina Kim"]), ("@Mina Kimchi", ["Mina"]), ("@Min", ["Min"]),
            ("@Minaret", []), ("@Mino", []), ("mail a@mina.example", []), ("(@Mina)", ["Mina"]),
            ("@@Mina", ["Mina"]), ("@ Mina", []), ("@jo\u{308}rg", ["Jörg"]), ("@JÖRGS", []),
            ("@미나는 왔다", ["미나"]), ("안녕@미나", ["미나"]), ("@ΟΛΓΑ", ["Ολγα"]),
            ("@twin", ["twin", "twin"]), ("@channel", ["*"]), ("@Everyone: lunch", ["*"]),
            ("@here", ["*"]), ("@hereabouts", []),
            ("@channels", []), ("@Mina @Min @mina", ["Mina", "Min"]),
            ("@Mina\n@Jörg", ["Mina", "Jörg"]),
            ("@", []), ("@Mina_2", []), ("@\u{0}Mina", []),
        ] as [(String, [String])])
    func `are the longest names that stand behind a sign`(
        _ text: String, _ expected: [String]
    ) {
        #expect(names(in: text) == expected)
    }

    @Test(
        arguments: [
            ("@Ro", ["Rosa Lind"]), ("@rosa lin", ["Rosa Lind"]), ("@Jö!", ["Jörg"]), ("@R", []),
            ("@Ti", []), ("@Rosi", []), ("@Ro_", []), ("@미", []), ("@To", ["Tom"]),
        ] as [(String, [String])])
    func `are those whose name alone begins so, from two letters on`(
        _ text: String, _ expected: [String]
    ) {
        let names = ["Rosa Lind", "Jörg", "Tina", "Tim", "미나", "Tom"]
        let finder = MentionFinder(names.enumerated().map { (Self.member($0.offset), $0.element) })
        let found = finder.mentions(in: text).members.map { member in
            names.indices.first { Self.member($0) == member }.map { names[$0] }
        }
        #expect(found == expected)
    }

    /// Cho was called Joon Park, and Joon Kim is another person.
    @Test func `are no first word of a name where a former name of more words stands`() {
        let (cho, joon) = (Self.member(0), Self.member(1))
        let finder = MentionFinder(
            [(cho, "Cho Park"), (joon, "Joon Kim")], formerly: [(cho, "Joon Park")])
        let found = finder.look(in: "hey @Joon Park, and @Joon")
        #expect(found.former.map(\.name) == ["Joon Park"])
        #expect(found.former.map(\.holders) == [[cho]])
        #expect(found.mentions.members == [joon])
    }

    @Test func `are those whose id stands there, or its beginning`() {
        let people = [Self.member(6), Self.member(7)]
        for (person, other) in zip(people, people.reversed()) {
            let id = PublicID.member(person)
            #expect(PublicID.member(other).prefix(4) != id.prefix(4))
            for text in ["@\(id)", "@\(id), hi", "(@\(id.prefix(8)))", "@\(id)는"] {
                #expect(Self.finder.mentions(in: text).members == [person], "\(text)")
            }
            for text in ["@\(id)x", "@\(id.prefix(7))", "x@\(id)", "@u_zzzzzzzz"] {
                #expect(Self.finder.mentions(in: text) == .none, "\(text)")
            }
        }
        // A beginning that two share means neither.
        let pair = [6, 7].map { MemberID([UInt8](repeating: 1, count: 15) + [$0]) }
        let finder = MentionFinder(pair.map { ($0, "x") })
        #expect(finder.mentions(in: "@" + PublicID.member(pair[0]).prefix(12)) == .none)
        #expect(finder.mentions(in: "@" + PublicID.member(pair[0])).members == [pair[0]])
    }

    @Test func `are no more than one message carries`() {
        let people = (0..<200).map { number in
            (MemberID([UInt8](repeating: UInt8(number), count: 16)), "p\(number)x")
        }
        let finder = MentionFinder(people)
        let text = people.map { "@" + $0.1 }.joined(separator: " ")
        #expect(finder.mentions(in: text).members.count == Limits.mentionsMax)
        let signs = String(repeating: "@ ", count: Limits.mentionSignsMax)
        #expect(finder.mentions(in: signs + "@p1x") == .none)
        #expect(finder.mentions(in: String(signs.dropFirst(2)) + "@p1x") != .none)
    }

    @Test func `are ascending and each once`() {
        let (a, b) = (Self.member(1), Self.member(2))
        #expect(Mentions([b, a, b]).members == [a, b])
        #expect(Mentions([a]).includes(a) && !Mentions([a]).includes(b))
        #expect(Mentions([], everybody: true).includes(b))
    }
}
