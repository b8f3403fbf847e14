import NoteText
import Testing
import WorkspaceTestKit

struct `Markdown of a note` {
    @Test(arguments: [
        ("# Title", NoteLine(.heading1, text: "Title")),
        ("## Part", NoteLine(.heading2, text: "Part")),
        ("#### Deeper", NoteLine(.heading2, text: "Deeper")),
        ("> said", NoteLine(.quote, text: "said")),
        ("- one", NoteLine(.bulleted, text: "one")),
        ("* one", NoteLine(.bulleted, text: "one")),
        ("+ one", NoteLine(.bulleted, text: "one")),
        (">said", NoteLine(.quote, text: "said")),
        ("3) one", NoteLine(.numbered, text: "one")),
        ("plain", NoteLine(.paragraph, text: "plain")),
        ("", NoteLine(.paragraph, text: "")),
        ("#tag", NoteLine(.paragraph, text: "#tag")),
        ("1.5 litres", NoteLine(.paragraph, text: "1.5 litres")),
        ("a **b** c", NoteLine(.paragraph, [.init("a "), .init("b", [.bold(true)]), .init(" c")])),
        (
            "*i* and _j_",
            NoteLine(
                .paragraph,
                [.init("i", [.italic(true)]), .init(" and "), .init("j", [.italic(true)])])
        ),
        ("__b__", NoteLine(.paragraph, [.init("b", [.bold(true)])])),
        (#"a\"#, NoteLine(.paragraph, text: "a")),
        ("a&#32;&#9;", NoteLine(.paragraph, text: "a \t")),
        ("`x*y`", NoteLine(.paragraph, [.init("x*y", [.code(true)])])),
        ("<u>u</u>", NoteLine(.paragraph, [.init("u", [.underline(true)])])),
        ("[a](http://b)", NoteLine(.paragraph, [.init("a", [.link("http://b")])])),
        ("[a] (b)", NoteLine(.paragraph, text: "[a] (b)")),
        ("2 * 3 * 4", NoteLine(.paragraph, text: "2 * 3 * 4")),
        ("snake_case_name", NoteLine(.paragraph, text: "snake_case_name")),
        ("a * b*", NoteLine(.paragraph, text: "a * b*")),
        ("left **open", NoteLine(.paragraph, text: "left **open")),
        (#"\*no\*"#, NoteLine(.paragraph, text: "*no*")),
        ("a < b & c", NoteLine(.paragraph, text: "a < b & c")),
    ])
    func `is read as people mean it`(markdown: String, line: NoteLine) {
        #expect(NoteMarkdown.lines(of: markdown) == [line])
    }

    @Test func `has blocks of code and line ends of other systems`() {
        let lines = NoteMarkdown.lines(of: "a\r\n```swift\nlet *x*\n\n```\nb")
        #expect(lines.map(\.text) == ["a", "let *x*", "", "b"])
        #expect(lines[1].runs == [.init("let *x*", [.code(true)])])
    }

    @Test func `counts numbered lines`() {
        let lines = ["a", "b"].map { NoteLine(.numbered, text: $0) }
        #expect(NoteMarkdown.text(of: lines) == "1. a\n2. b")
    }

    @Test(arguments: Seeds.explore(200))
    func `comes back as it was, whatever the text`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let lines = Self.lines(using: &random)
        let markdown = NoteMarkdown.text(of: lines)
        #expect(NoteMarkdown.lines(of: markdown) == lines, "\(markdown)")
    }

    @Test(arguments: ["[", "`a", "*", "](", "<u>", "\\", "[a](<b", "` `` ", "&#3"])
    func `takes time that grows with the text alone`(piece: String) {
        let text = String(repeating: piece, count: 40_000)
        #expect(NoteMarkdown.lines(of: text).count == 1)
    }

    /// Lines with any signs and marks.
    static func lines(using random: inout SeededGenerator) -> [NoteLine] {
        let pieces = [
            "a", "b c", " ", "*", "**", "_", "`", "``", "[", "](x)", "<u>", "</u>", "&#32;", "\\",
            "# ", "- ", "1. ", "> ", "é", "😀", "!", "|", "\t", "```", "~~~", "&", "x*y", "+ ",
        ]
        return (0..<1 + random.below(4)).map { _ in
            var runs: [NoteLine.Run] = []
            for _ in 0..<random.below(5) {
                let text = (0..<1 + random.below(3)).map { _ in pieces[random.below(pieces.count)] }
                let all: [NoteMark] = [
                    .bold(true), .italic(true), .underline(true), .code(true),
                    .link("https://a.b/<c>\\d(e)"),
                ]
                let marks = all.filter { _ in random.oneIn(3) }
                guard runs.last?.marks != marks else { continue }
                runs.append(NoteLine.Run(text.joined(), marks))
            }
            return NoteLine(NoteBlockKind.allCases[random.below(6)], runs)
        }
    }

    @Test(arguments: Seeds.explore(100))
    func `that was edited changes a note to what it says`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = NoteWriter(1)
        var operations: [NoteOperation] = []
        for _ in 0..<4 {
            let wanted = Self.lines(using: &random)
            while try !writer.note.become(wanted, as: writer.author) {
                operations.append(try writer.publish(using: &random))
            }
            #expect(writer.note.lines() == wanted)
            if writer.note.draft != nil { operations.append(try writer.publish(using: &random)) }
            #expect(try writer.note.become(wanted, as: writer.author))
            #expect(writer.note.draft == nil, "what is so already takes no change")
        }
        #expect(note(of: operations).lines() == writer.note.lines())
    }
}
