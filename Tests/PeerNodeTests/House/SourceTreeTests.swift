import Foundation
import Testing
import WorkspaceTestKit

/// Checks of the source text that the compiler cannot make: files of one module need no import to
/// use each other, and clocks and random numbers need none at all.
struct `The source tree` {
    // MARK: Layers

    /// What the files of a folder may import. The longest path that fits decides.
    static let mayImport: [String: Set<String>] = [
        "Sources/WorkspaceModel": [],
        "Sources/WorkspaceCrypto": ["CSodium", "WorkspaceModel"],
        // A mutex: secrets are made and released by several threads.
        "Sources/WorkspaceCrypto/Memory": ["CSodium", "Glibc"],
        "Sources/CRDTStore/Log": ["WorkspaceCrypto", "WorkspaceModel"],
        "Sources/CRDTStore/Authority": ["WorkspaceModel"],
        "Sources/CRDTStore/Storage": ["CSQLite", "WorkspaceCrypto", "WorkspaceModel"],
        "Sources/NoteText": ["WorkspaceModel"],
        "Sources/SyncProtocol": ["WorkspaceModel"],
        "Sources/BlobStore": ["WorkspaceCrypto", "WorkspaceModel"],
        "Sources/BlobStore/Disk": ["CLinux", "Glibc", "WorkspaceCrypto", "WorkspaceModel"],
        "Sources/PeerNode/Node": [
            "BlobStore", "CRDTStore", "NoteText", "SyncProtocol", "WorkspaceCrypto",
            "WorkspaceModel",
        ],
        "Sources/PeerNode/Search": ["CRDTStore", "WorkspaceModel"],
        "Sources/PeerNode/Blobs": ["BlobStore", "WorkspaceCrypto", "WorkspaceModel"],
        "Sources/PeerNode/Peers": ["SyncProtocol", "WorkspaceCrypto", "WorkspaceModel"],
        "Sources/PeerNode/Control": ["WorkspaceModel"],
        "Sources/PeerNode/Control/Connection": ["BlobStore", "WorkspaceModel"],
        "Sources/PeerNode/Tokens": ["WorkspaceModel"],
        "Sources/PeerNode/System": ["CLinux", "Glibc"],
        "Sources/PeerNode/Transport": ["CLinux", "Glibc"],
        "Sources/PeerNode/Loop": [
            "BlobStore", "CLinux", "CRDTStore", "Glibc", "WorkspaceCrypto", "WorkspaceModel",
        ],
        "Sources/wsx-node": ["Glibc", "PeerNode", "WorkspaceModel"],
    ]

    @Test func `imports downwards only, and no framework`() throws {
        for file in try SourceTree.swiftFiles(under: "Sources") {
            let layer = Self.mayImport.keys.filter { "\(file.folder)/".hasPrefix("\($0)/") }
                .max { $0.count < $1.count }
            guard let layer, let allowed = Self.mayImport[layer] else {
                Issue.record("\(file.path) is in no layer: add its folder to this table")
                continue
            }
            let pattern = #"^(?:[@\w()]+ )*import (?:\w+ )?([\w.]+)"#
            for place in try file.places(of: pattern) {
                let module = place.components(separatedBy: " ").last ?? ""
                #expect(allowed.contains(module), "\(file.path) imports \(module)")
            }
        }
    }

    // MARK: A core that neither sees nor hears

    static let core = [
        "Sources/WorkspaceModel", "Sources/WorkspaceCrypto", "Sources/CRDTStore",
        "Sources/NoteText", "Sources/SyncProtocol", "Sources/BlobStore", "Sources/PeerNode/Node",
        "Sources/PeerNode/Peers", "Sources/PeerNode/Search", "Sources/PeerNode/Blobs",
        "Sources/PeerNode/Tokens",
    ]

    /// Words with which a layer would look at the world, wait for it, or roll dice.
    static let senses = [
        "ContinuousClock", "SuspendingClock", "MonotonicClock", "WallClock", "Date", "Task",
        "async", "await", "actor", "Thread", "DispatchQueue", "SystemRandom",
        "SystemRandomNumberGenerator", "randomElement", "shuffled", "shuffle",
    ]

    /// Where the world comes in, with the reason.
    static let sensing = [
        // The system's random source, which everybody else gets passed in.
        "Sources/WorkspaceCrypto/Randomness.swift"
    ]

    @Test(arguments: core)
    func `has a core that neither sees nor hears`(folder: String) throws {
        let words = #"\b(?:"# + Self.senses.joined(separator: "|") + #")\b|\.random\("#
        for file in try SourceTree.swiftFiles(under: folder)
        where !Self.sensing.contains(file.path) {
            #expect(try file.places(of: words) == [])
        }
    }

    // MARK: Traps

    /// Files that hand memory to C. They rebind pointers of buffers that they have just made, and
    /// whose sizes stand beside the call; nothing there is as long as foreign bytes say.
    static let trapping: [String] = [
        "Sources/CRDTStore/Storage/SQL/Binder.swift",
        "Sources/CRDTStore/Storage/SQL/Connection+Opening.swift",
        "Sources/PeerNode/Transport/Socket.swift",
        "Sources/WorkspaceCrypto/Hashing.swift",
        "Sources/WorkspaceCrypto/Noise/CipherState.swift",
    ]

    @Test func `has no trap that foreign bytes could reach`() throws {
        let words = #"\bfatalError\b|\bunsafelyUnwrapped\b|\bassumingMemoryBound\b|\btry!|\bas!"#
        // A letter, bracket or question mark and then "!", which is not "!=".
        let unwrap = #"[\w)\]?]!(?!=)"#
        for file in try SourceTree.swiftFiles(under: "Sources")
        where !Self.trapping.contains(file.path) {
            #expect(try file.places(of: words + "|" + unwrap) == [])
        }
    }

    @Test func `gives a reason for every unchecked Sendable`() throws {
        for file in try SourceTree.swiftFiles(under: "Sources") {
            let unchecked = file.code.filter { $0.contains("@unchecked") }.count
            let reasons = file.lines.filter { $0.contains("/// `@unchecked Sendable` is") }.count
            #expect(reasons >= unchecked, "\(file.path) has one without a sentence about it")
        }
    }

    // MARK: Shape

    @Test func `has files of one sitting`() throws {
        let sources = try SourceTree.swiftFiles(under: "Sources")
        for file in try sources + SourceTree.swiftFiles(under: "Tests") {
            #expect(file.lines.count <= 501, "\(file.path) is longer than 500 lines")
        }
        let sizes = sources.map(\.lines.count).sorted()
        try #require(sizes.count > 100)
        #expect((60...200).contains(sizes[sizes.count / 2]), "the usual file")
        #expect(sizes[sizes.count * 9 / 10] <= 300, "nine of ten files")
    }

    @Test func `has functions that fit on a screen`() throws {
        for file in try SourceTree.swiftFiles(under: "Sources") {
            for (number, lineCount) in Self.functions(in: file) {
                #expect(lineCount <= 70, "\(file.path):\(number) is too long")
            }
        }
    }

    /// Each function with a body: the number of its first line, and how many lines it has.
    private static func functions(in file: SourceTree.File) -> [(number: Int, lineCount: Int)] {
        let start = /^( *)(?:@[\w()]+ )*(?:[a-z()]+ )*(?:func |init[?(<]|deinit\b|subscript\b)/
        var functions: [(Int, Int)] = []
        for (number, line) in file.lines.enumerated() {
            guard
                ["func ", "init", "subscript"].contains(where: { ByteSearch.finds($0, in: line) }),
                let match = line.firstMatch(of: start)
            else { continue }
            let indent = String(match.1)
            // Its signature may go on in deeper lines, or in lines that close it; a requirement of
            // a protocol ends without a body.
            let rest = file.lines[number...]
            let opening = rest.firstIndex { $0.hasSuffix("{") || $0.hasSuffix("}") } ?? number
            let isRequirement = rest[number..<opening].dropFirst().contains {
                !$0.hasPrefix(indent + " ") && !$0.hasPrefix(indent + ")")
            }
            guard !isRequirement, rest[opening].hasSuffix("{"),
                let end = rest[opening...].firstIndex(of: indent + "}")
            else { continue }
            functions.append((number + 1, end - number + 1))
        }
        return functions
    }

    @Test func `has types in the files that are named after them`() throws {
        let type =
            /^(?:@\w+ )*(?:public |private |final |indirect )*(?:struct|class|enum|protocol) (\w+)/
        let files = try SourceTree.swiftFiles(under: "Sources")
        var home: [String: Set<String>] = [:]
        func key(_ name: String, in file: SourceTree.File) -> String {
            file.path.split(separator: "/").prefix(2).joined(separator: "/") + " " + name
        }
        for file in files {
            // Most lines begin with a blank, and the search for a match is slow.
            for line in file.code where line.utf8.first != UInt8(ascii: " ") {
                guard let match = line.firstMatch(of: type), !line.contains("private ") else {
                    continue
                }
                home[key(String(match.1), in: file), default: []].insert(file.path)
            }
        }
        for file in files {
            let parts = file.name.split(separator: "+").map(String.init)
            guard let name = parts.first, let homes = home[key(name, in: file)] else { continue }
            if parts.count == 1 {
                #expect(homes.contains(file.path), "\(file.path) does not hold \(name)")
            } else {
                // An extension of it, or one that adds to others what it needs.
                let pattern = "^(?:\\w+ )*extension \\w|\\b\(name)\\b"
                let places = try file.places(of: pattern)
                #expect(!places.isEmpty, "\(file.path) is not about \(name)")
            }
        }
    }

    // MARK: Words

    /// Text files that people read, and scripts.
    private static func everything() throws -> [SourceTree.File] {
        var all = try SourceTree.all.get()
        for folder in ["docs", "scripts"] { all += try SourceTree.files(under: folder) }
        let single = [
            "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "Package.swift", ".ci/run",
        ]
        for path in single {
            all.append(SourceTree.File(path: path, text: try SourceTree.text(path)))
        }
        return all.filter { !$0.path.hasSuffix("House/SourceTreeTests.swift") }
    }

    @Test func `leaves no notes to itself and names no machine`() throws {
        let notes = #"\b(?:TODO|FIXME|HACK|XXX)\b"#
        let machine = #"(?:^|[\s"'=(`])/(?:work|root|Users|mnt|opt)/"#
        for file in try Self.everything() {
            #expect(try file.places(of: notes, inCode: false) == [], "unfinished")
            #expect(try file.places(of: machine, inCode: false) == [], "of one machine only")
        }
    }

    @Test func `tests without sleeping`() throws {
        let sleep = #"\b(?:sleep|usleep|nanosleep)\("#
        for file in try SourceTree.swiftFiles(under: "Tests") {
            #expect(try file.places(of: sleep) == [])
        }
    }

    /// A type with tests is a suite anyway. What is attached to any type of a module is expanded again
    /// for every batch of its files that is compiled, which took 15 s for each with 590 suites.
    @Test func `marks no type as a suite that is one without`() throws {
        for file in try SourceTree.swiftFiles(under: "Tests") {
            #expect(try file.places(of: #"@Suite (?:final |struct|class|enum)"#) == [])
        }
    }

    @Test func `uses one framework for tests`() throws {
        let old = ["XC", "Test"].joined()
        for file in try SourceTree.swiftFiles(under: "Tests") {
            #expect(!file.code.contains("import \(old)"), "\(file.path)")
        }
    }

    // MARK: The checks themselves

    @Test func `is read without comments and strings`() {
        let lines = [
            #"let a = "Task" // async"#, "/// Date", #"let b = "\"await\"" + actor"#,
            #"let text = """"#, "    Task", #"    """ + done"#,
        ]
        #expect(
            SourceTree.code(lines)
                == [#"let a = " "#, "", #"let b = " + actor"#, "let text = ", "", ""])
    }
}
