import Foundation
import Testing

/// A folder's listing serves as a table of contents: it is short, ARCHITECTURE.md describes the
/// folder and the type to begin with, and folders depend on each other one way.
struct `The folders of the sources` {
    /// About one screen of names.
    private static let countMax = 22

    /// A row of the table of folders.
    private struct Row {
        let folder: String
        let type: String
    }

    private static let rows = Result {
        rows(in: try SourceTree.text("docs/ARCHITECTURE.md"))
    }

    private static func rows(in page: String) -> [Row] {
        page.components(separatedBy: "\n").compactMap { line in
            line.firstMatch(of: /^\| `(Sources\/[\w\/-]+)`, `(\w+)` \| [^|]+ \|$/).map {
                Row(folder: String($0.1), type: String($0.2))
            }
        }
    }

    private static let folders = Result {
        Dictionary(grouping: try SourceTree.swiftFiles(under: "Sources"), by: \.folder)
    }

    // MARK: Listings

    @Test func `list few files`() throws {
        let folders = try Self.folders.get()
        #expect(folders.count > 90)
        for (folder, files) in folders {
            #expect(files.count <= Self.countMax, "\(folder): \(files.count) files")
        }
    }

    /// The map has the rooms of the core.
    private static func isRoom(_ folder: String) -> Bool {
        folder.wholeMatch(of: /Sources\/PeerNode\/Node\/\w+/) != nil
    }

    @Test func `are in the table of folders, once, with a type that is there`() throws {
        let rows = try Self.rows.get()
        #expect(Set(rows.map(\.folder)).count == rows.count)
        let folders = try Self.folders.get()
        #expect(
            Set(rows.map(\.folder))
                == Set(folders.keys.filter { !Self.isRoom($0) }))
        for row in rows {
            let pattern = #"^(?:\w+ )*(?:class|enum|extension|protocol|struct) \#(row.type)\b"#
            let places = try (folders[row.folder] ?? []).flatMap { try $0.places(of: pattern) }
            #expect(!places.isEmpty, "\(row.folder) has no \(row.type)")
        }
    }

    // MARK: Arrows

    /// Targets whose folders stand in order. `WorkspaceModel` and `WorkspaceCrypto` are values that
    /// need each other: a bound, and the number that it bounds.
    private static let targets = [
        "Sources/BlobStore", "Sources/CRDTStore", "Sources/NoteText", "Sources/PeerNode",
        "Sources/SyncProtocol", "Sources/wsx-node",
    ]

    /// What has an order of its own: in `PeerNode` each of its parts and each room of the core, which
    /// `ArrowTests` looks at.
    private static func group(_ folder: String) -> String {
        let parts = folder.components(separatedBy: "/")
        guard parts.count > 2, parts[1] == "PeerNode" else { return parts[1] }
        return parts[2] == "Node" ? parts.prefix(4).joined(separator: "/") : parts[2]
    }

    @Test(arguments: targets) func `name none that stands behind them`(target: String) throws {
        let place = Dictionary(
            uniqueKeysWithValues: try Self.rows.get().enumerated().map {
                ($0.element.folder, $0.offset)
            })
        let rooms = try HouseRooms(SourceTree.swiftFiles(under: target), under: target)
        #expect(rooms.pairs == [], "\(rooms.pairs.map(rooms.reason))")
        for arrow in rooms.arrows.keys {
            let (from, to) = (Self.folder(arrow.from, target), Self.folder(arrow.to, target))
            guard Self.group(from) == Self.group(to), let upper = place[from],
                let lower = place[to]
            else { continue }
            #expect(lower < upper, "\(rooms.reason(for: arrow))")
        }
    }

    private static func folder(_ name: String, _ target: String) -> String {
        name.isEmpty ? target : "\(target)/\(name)"
    }

    // MARK: The tests themselves

    @Test func `are read from the rows of a table`() {
        let rows = Self.rows(
            in: """
                | folder, its type | about |
                | --- | --- |
                | `Sources/A/B-c`, `Type` | what it is |
                | lists | `Sources/A/File.swift` |
                """)
        #expect(rows.map(\.folder) == ["Sources/A/B-c"])
        #expect(rows.map(\.type) == ["Type"])
        #expect(Self.group("Sources/PeerNode/Node/Log/Runs") == "Sources/PeerNode/Node/Log")
        #expect(Self.group("Sources/PeerNode/Loop/Home") == "Loop")
        #expect(Self.group("Sources/NoteText") == "NoteText")
    }
}
