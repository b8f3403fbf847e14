import Foundation
import Testing

/// The room of files is a list of parts. A part asks only those before it, so calls between parts go
/// one way, and no part can grow into the bag that the room was.
@Suite struct `The parts of the room of files` {
    private static let folder = "Sources/PeerNode/Node/Files"

    /// The parts by what the room calls them, in its order.
    private struct Parts {
        var names: [String] = []
        var types: [String] = []

        init(_ lines: [String]) {
            for line in lines {
                guard let found = line.firstMatch(of: /^    .*\bvar (\w+)\b.* (\w+)\(self\)/) else {
                    continue
                }
                names.append(String(found.1))
                types.append(String(found.2))
            }
        }

        /// What parts in some lines ask of others that do not stand before them.
        func problems(in lines: [String]) -> [String] {
            var problems: [String] = []
            var own: Int?
            for line in lines {
                if let found = line.firstMatch(of: /^(?:final class|extension) (\w+)/) {
                    own = types.firstIndex(of: String(found.1))
                }
                guard let own else { continue }
                for found in line.matches(of: /\broom\.(\w+)/) {
                    let asked = names.firstIndex(of: String(found.1))
                    if asked.map({ $0 >= own }) ?? true {
                        problems.append("\(names[own]) asks \(found.1)")
                    }
                }
                if line.contains("core.files") { problems.append("\(names[own]) asks the core") }
            }
            return problems
        }
    }

    @Test func `ask those before them alone`() throws {
        let files = try SourceTree.swiftFiles(under: Self.folder)
        let room = try #require(files.first { $0.path == "\(Self.folder)/Files.swift" })
        let parts = Parts(room.code)
        #expect(parts.names.count >= 15)
        for file in files {
            #expect(parts.problems(in: file.code) == [], "\(file.path)")
        }
    }

    @Test func `are all in the list of the room`() throws {
        let files = try SourceTree.swiftFiles(under: Self.folder)
        let room = try #require(files.first { $0.path == "\(Self.folder)/Files.swift" })
        let made = files.flatMap(\.code).compactMap { line in
            line.firstMatch(of: /^final class (\w+): FilePart\b/).map { String($0.1) }
        }
        #expect(Set(made) == Set(Parts(room.code).types))
    }

    @Test func `are read from their text`() {
        let parts = Parts([
            "final class Room {", "    private(set) lazy var one = First(self)",
            "    var two: Second { Second(self) }", "    private(set) lazy var three = Third(self)",
            "    let four = 4", "}",
        ])
        #expect(parts.names == ["one", "two", "three"])
        #expect(parts.types == ["First", "Second", "Third"])
        #expect(parts.problems(in: ["extension Second {", "    room.one.ask()"]) == [])
        let upwards = ["final class Second {", "    room.three.ask(room.two)"]
        #expect(parts.problems(in: upwards) == ["two asks three", "two asks two"])
        #expect(parts.problems(in: ["extension Room {", "    room.three.ask()"]) == [])
        #expect(parts.problems(in: ["extension Third {", "    room.ask()"]) == ["three asks ask"])
        #expect(
            parts.problems(in: ["extension First {", "    core.files.ask()"])
                == ["one asks the core"])
    }
}
