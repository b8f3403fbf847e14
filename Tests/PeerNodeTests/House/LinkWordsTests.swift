import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `What people read of links` {
    /// Where the codes are written, and how.
    private static let places = [
        ("Sources/PeerNode/", #"LinkEnding\(\s*"([a-z._]+)""#),
        ("Sources/PeerNode/Loop/Links/PeerLinks.swift", #"fail\([a-zA-Z.]+, "([a-z_]+)"\)"#),
        ("Sources/PeerNode/Loop/Links/PeerLinks.swift", #"var reason = "([a-z_]+)""#),
        ("Sources/PeerNode/System/SystemError.swift", #"(?:case [A-Z, ]+|default): "([a-z_]+)"$"#),
        ("Sources/PeerNode/Node/Enrolment/JoinEnding.swift", #"because: "([a-z_]+)""#),
        ("Sources/PeerNode/Node/Network/JoinAttempt.swift", #"let unreachable = "([a-z_]+)""#),
        ("Sources/PeerNode/Peers/Registry/PeerRegistry.swift", #"lastError = "([a-z._]+)""#),
        ("Sources/SyncProtocol/Messages/SyncViolation.swift", #""((?:sync|frame)\.[a-z_]+)""#),
        ("Sources/WorkspaceModel/Rules/Rejection.swift", #""((?:op|auth)\.[a-z_]+)""#),
    ]

    @Test func `has words for every code that a link or a dial ends with`() throws {
        let files = try SourceTree.swiftFiles(under: "Sources")
        var codes: Set<String> = []
        for (path, pattern) in Self.places {
            let found = try files.filter { $0.path.hasPrefix(path) }.flatMap { file in
                try file.places(of: pattern, inCode: false)
            }
            #expect(!found.isEmpty, "\(path): \(pattern)")
            codes.formUnion(found.compactMap { $0.split(separator: " ").last.map(String.init) })
        }
        #expect(codes.subtracting(LinkWords.table.keys).sorted() == [])
        // And none that nothing ends with.
        #expect(Set(LinkWords.table.keys).subtracting(codes).sorted() == [])
    }

    @Test func `has no code in it`() {
        for (code, text) in LinkWords.table {
            #expect(text.contains(" ") && !text.contains("_") && !text.contains("."), "\(code)")
        }
        #expect(LinkWords.text("link.closed") == "the other side closed the connection")
        // Of a version to come, and what is no code.
        #expect(LinkWords.text("link.new") == "link.new")
    }

    @Test func `is in words in a list, and in codes for programs`() {
        var globals = GlobalFlags()
        globals.color = "never"
        func list() -> String {
            Rendering(globals: globals, environment: [:], io: MemoryIO()).text(
                ["items": [["id": "d_1", "state": "waiting", "last_error": "link.closed"]]],
                of: "peer.list")
        }
        #expect(list().contains("the other side closed the connection"))
        globals.plain = true
        #expect(list().contains("link.closed"))
        globals = GlobalFlags()
        globals.json = true
        #expect(list().contains("link.closed"))
    }
}
