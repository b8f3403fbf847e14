import Testing
import WorkspaceModel

@testable import PeerNode

/// The table of commands has all facts about a command. A list of names elsewhere would repeat some
/// of them, and diverge in time.
struct `Names of commands` {
    /// What a name may stand behind: a call says whom it calls, and whose answer it shows.
    static let calls = [
        "call(", "called(", "names(", "items(", "show(", "by:", "of:", "method:", "every(",
    ]

    /// The same words, where no command is meant by them or a call is meant otherwise.
    static let meant: [String: String] = [
        "reason:": "the reason of a failure, which is a word of its own",
        "Sources/PeerNode/Control/Objects/NoticeObjects.swift": "the id of an object",
        "Sources/PeerNode/Node/Events/Noticing.swift": "the name under which the store keeps it",
        "Sources/PeerNode/Node/Turn/EventName.swift": "the names of events",
        "Sources/wsx-node/Terminal/ConfigFile.swift": "the name of a setting",
        "Sources/wsx-node/References/ReferenceResolver.swift":
            "calls: which one lists what a letter begins",
    ]

    /// Where a name is taken apart, and nothing hangs on it.
    static let takingApart: [String: String] = [
        "Sources/PeerNode/Node/Turn/NodeTally.swift": "metrics count calls by their group",
        "Sources/PeerNode/Control/HTTP/HTTPExchange.swift": "the method of an HTTP request",
    ]

    /// Names with a point: those without are words of the language.
    private static let names = Command.all.map(\.name).filter { $0.contains(".") }

    private static func isTable(_ file: SourceTree.File) -> Bool {
        file.folder.hasPrefix("Sources/PeerNode/Control/Rows/")
    }

    /// Every literal that is a name, as `path:line: what stands before it`.
    private func places(in file: SourceTree.File) throws -> [String] {
        // The search looks at each place for each name; most files have none between two quotes.
        let parts = file.lines.joined(separator: "\n").split(separator: "\"").map(String.init)
        guard !Set(parts).isDisjoint(with: Self.names) else { return [] }
        let words = Self.names.map { $0.replacing(".", with: #"\."#) }.joined(separator: "|")
        return try file.places(
            of: #"([\w.]*[(:]?)\s*"(?:"# + words + #")""#, inCode: false)
    }

    @Test func `stand in the table, and elsewhere in calls alone`() throws {
        for file in try SourceTree.swiftFiles(under: "Sources")
        where !Self.isTable(file) && Self.meant[file.path] == nil {
            for place in try places(in: file) {
                let before =
                    place.split(separator: " ", omittingEmptySubsequences: false)
                    .last.map(String.init) ?? ""
                let isCall = Self.calls.contains { before.hasSuffix($0) }
                #expect(isCall || Self.meant[before] != nil, "\(place)")
            }
        }
    }

    /// What begins with the word of a group says nothing about a command.
    @Test func `are not taken apart`() throws {
        let pattern =
            #"((?:method|command\.name)\.(?:utf8\.)?(?:hasPrefix|hasSuffix|contains|split|starts))"#
        for file in try SourceTree.swiftFiles(under: "Sources")
        where Self.takingApart[file.path] == nil {
            #expect(try file.places(of: pattern) == [])
        }
    }

    /// What is compared with a literal is found by nobody who renames it: events, warnings and reasons
    /// on which this program acts have types.
    @Test func `and the other words with points are compared with nothing`() throws {
        let pattern = #"(case "[a-z]+(?:\.[a-z_]+)+"|[=!]= "[a-z]+(?:\.[a-z_]+)+")"#
        for file in try SourceTree.swiftFiles(under: "Sources") where !Self.isTable(file) {
            #expect(try file.places(of: pattern, inCode: false) == [])
        }
    }

    @Test func `are found where they are`() throws {
        let lines = [
            "guard command.name == \"message.send\" else { return }",
            "let other = [\"channel.list\"]", "try client.call(\"peer.list\", given)",
            "case \"lock.now\": true",
        ]
        let file = SourceTree.File(path: "a/b.swift", text: lines.joined(separator: "\n"))
        #expect(
            try places(in: file) == [
                "a/b.swift:1: ", "a/b.swift:2: ", "a/b.swift:3: client.call(", "a/b.swift:4: case",
            ])
    }
}
