import Foundation
import Testing

/// Some folders are lists of parts. A part depends only on earlier ones, so calls between parts go
/// one way, and no part can grow into a god object.
struct `The parts of a room` {
    /// A room of parts.
    struct Room: Sendable, CustomTestStringConvertible {
        /// Its folder, and what its class is called.
        let name: String
        /// The folder of its first parts, where they have one.
        var lower: String?
        /// What the core calls it.
        let field: String
        /// What all of its parts inherit.
        let part: String

        var folder: String { "Sources/PeerNode/Node/\(name)" }
        var testDescription: String { name }

        func files() throws -> [SourceTree.File] {
            try SourceTree.swiftFiles(under: folder) + lowerFiles()
        }

        func lowerFiles() throws -> [SourceTree.File] {
            try lower.map { try SourceTree.swiftFiles(under: "Sources/PeerNode/Node/\($0)") } ?? []
        }

        fileprivate func parts() throws -> Parts {
            let room = try files().first { $0.path == "\(folder)/\(name).swift" }
            return Parts(try #require(room).code, calledBy: "core.\(field)")
        }
    }

    private static let rooms = [
        Room(name: "Files", lower: "Transfers", field: "files", part: "FilePart"),
        Room(name: "Notes", field: "notes", part: "NotePart"),
    ]

    /// The parts by what the room calls them, in its order.
    fileprivate struct Parts {
        var names: [String] = []
        var types: [String] = []
        /// How the core would be asked for the room.
        private let way: String

        init(_ lines: [String], calledBy way: String) {
            self.way = way
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
                if line.contains(way) { problems.append("\(names[own]) asks the core") }
            }
            return problems
        }
    }

    @Test(arguments: rooms) func `ask those before them alone`(room: Room) throws {
        let parts = try room.parts()
        #expect(parts.names.count >= 10)
        for file in try room.files() {
            #expect(parts.problems(in: file.code) == [], "\(file.path)")
        }
    }

    @Test(arguments: rooms) func `come first where their folder is a lower one`(room: Room) throws {
        let made = try room.lowerFiles().flatMap(\.code).compactMap { line in
            line.firstMatch(of: /^final class (\w+): (\w+)\b/).map { String($0.1) }
        }
        #expect(try room.parts().types.prefix(made.count).sorted() == made.sorted())
    }

    @Test(arguments: rooms) func `are all in the list of the room`(room: Room) throws {
        let made = try room.files().flatMap(\.code).compactMap { line in
            line.firstMatch(of: /^final class (\w+): (\w+)\b/)
        }
        #expect(
            Set(made.filter { $0.2 == room.part }.map { String($0.1) })
                == Set(try room.parts().types))
    }

    @Test func `are read from their text`() {
        let lines = [
            "final class Room {", "    private(set) lazy var one = First(self)",
            "    var two: Second { Second(self) }", "    private(set) lazy var three = Third(self)",
            "    let four = 4", "}",
        ]
        let parts = Parts(lines, calledBy: "core.files")
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
