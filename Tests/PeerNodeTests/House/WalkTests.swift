import Foundation
import Testing

/// ARCHITECTURE.md begins with a map of the folders and with walks through them.
/// Both match the code.
struct `The map and the walks` {
    private static let page = Result { try SourceTree.text("docs/ARCHITECTURE.md") }

    private static func file(_ path: String) throws -> SourceTree.File {
        SourceTree.File(path: path, text: try SourceTree.text(path))
    }

    // MARK: The map

    /// The room of the core that a file is in, whether or not in a folder inside of it.
    private static func room(of file: SourceTree.File) -> String? {
        room("/\(file.folder)".components(separatedBy: "/PeerNode/").last ?? "")
    }

    /// The room of a folder below `Sources/PeerNode`; `nil` if it does not belong to the core.
    private static func room(_ folder: String) -> String? {
        let parts = folder.components(separatedBy: "/")
        return parts.count > 1 && parts[0] == "Node" ? parts[1] : nil
    }

    @Test func `name each room with the class that owns its state`() throws {
        let page = try Self.page.get()
        let files = try SourceTree.swiftFiles(under: "Sources/PeerNode/Node")
        var count = 0
        for file in files {
            for line in file.code {
                guard let found = line.firstMatch(of: /^final class (\w+): Component\b/) else {
                    continue
                }
                count += 1
                let row = "| `\(Self.room(of: file) ?? "")`, `\(found.1)` |"
                #expect(page.contains(row), "no row begins with \(row)")
            }
        }
        #expect(count >= 17)
        // No folder without a row, whether or not its class is called so.
        for room in Set(files.compactMap(Self.room)) {
            #expect(page.contains("\n| `\(room)`, `"), "no row is that of \(room)")
        }
    }

    @Test func `name for each room the others that it calls, and omit none`() throws {
        let root = "Sources/PeerNode"
        let arrows = try HouseRooms(SourceTree.swiftFiles(under: root), under: root).arrows.keys
        // Values, which ask nobody, and the core, which holds the turn.
        let below: Set = ["Turn", "Identity", "Conversations", "Workspace", "Network", "Core"]
        var count = 0
        for line in try Self.page.get().components(separatedBy: "\n") {
            guard let row = line.firstMatch(of: /^\| `(\w+)`, `\w+` \| .* \| ([^|]+) \|$/),
                !row.2.hasPrefix("every room")
            else { continue }
            count += 1
            let asking = String(row.1)
            let asked = arrows.filter { Self.room($0.from) == asking }
            let rooms = Set(asked.compactMap { Self.room($0.to) }).subtracting([asking])
            let said = row.2 == "nobody" ? [] : Set(row.2.components(separatedBy: ", "))
            #expect(rooms.subtracting(below) == said, "\(row.1)")
        }
        #expect(count >= 20)
    }

    @Test func `stand on two screens`() throws {
        let page = try Self.page.get()
        let end = try #require(page.range(of: "\n## The walk of a removal"))
        let count = page[..<end.lowerBound].components(separatedBy: "\n").count
        #expect(count <= 100, "\(count) lines")
    }

    // MARK: Decisions

    @Test(arguments: SourceTree.decisions)
    func `lead to each decision, on a page with three parts`(path: String) throws {
        let name = path.components(separatedBy: "/").last ?? ""
        #expect(try Self.page.get().contains("](decisions/\(name))"), "no link to \(path)")
        let lines = try SourceTree.text(path).components(separatedBy: "\n")
        #expect(
            lines.filter { $0.hasPrefix("## ") }
                == ["## Context", "## Decision", "## Consequences"], "\(path)")
        #expect(lines.count <= 60, "\(path): \(lines.count) lines")
        #expect(name.firstMatch(of: /^[0-9]{2}-[a-z0-9-]+\.md$/) != nil, "\(path)")
    }

    @Test func `find the decisions`() { #expect(SourceTree.decisions.count > 20) }

    // MARK: The walks

    @Test(arguments: Walk.titles)
    func `lead from each function to the next`(title: String) throws {
        let walk = Walk(title, in: try Self.page.get())
        let count = walk.steps.count { $0.isNumbered }
        #expect((10...20).contains(count), "\(title): \(count) steps")
        var texts: [String: String] = [:]
        var last: String?
        for step in walk.steps {
            let text = try Self.text(of: step)
            let from = step.caller.map { texts[$0] ?? "" } ?? last
            if let from { try Self.expect(step, isReachedFrom: from) }
            guard step.isNumbered else { continue }
            texts[step.label] = text
            last = text
        }
    }

    /// The text of its functions, of which each is called by one before it.
    private static func text(of step: Walk.Step) throws -> String {
        let file = try file(step.path)
        #expect(!step.functions.isEmpty, "\(step.path) without a function")
        var text = ""
        for function in step.functions {
            let own = Walk.text(of: function, in: file)
            #expect(!own.isEmpty, "\(step.label): \(step.path) has no \(function)")
            #expect(
                text.isEmpty || Walk.calls(function, in: text),
                "\(step.label): nothing before it calls \(function)")
            text += own + "\n"
        }
        return text
    }

    private static func expect(_ step: Walk.Step, isReachedFrom text: String) throws {
        for seam in step.seams {
            #expect(text.contains(seam), "\(step.label): what calls it does not name \(seam)")
        }
        guard let first = step.functions.first else { return }
        if let between = step.file {
            let code = try file(between).code.joined(separator: "\n")
            #expect(Walk.calls(first, in: code), "\(step.label): \(between) does not call \(first)")
        } else if step.seams.isEmpty, !step.isOverWire {
            #expect(Walk.calls(first, in: text), "\(step.label): nothing calls \(first)")
        }
    }

    /// What is not straight yet is marked, so that it is seen, and no more of it comes.
    @Test(arguments: Walk.titles)
    func `enter no room twice but where they say so`(title: String) throws {
        let steps = Walk(title, in: try Self.page.get()).steps.filter(\.isNumbered)
        for node in Set(steps.map(\.node)).sorted() {
            var entered: [String] = []
            for step in steps where step.node == node {
                guard let room = step.room, room != entered.last else { continue }
                #expect(
                    entered.contains(room) == step.isAgain, "\(title), \(step.label): \(room)")
                entered.append(room)
            }
        }
    }

    // MARK: The tests themselves

    private static let sample = SourceTree.File(
        path: "S/Sample.swift",
        text: """
            struct Sample {
                func one(_ count: Int) {
                    two { count }  // three()
                }
                private func two(_ count: () -> Int) { three(count()) }
                static func three(
                    _ count: Int
                ) {
                    one(count)
                }
            }
            """)

    @Test func `read the text of a function, and what it calls`() {
        let one = Walk.text(of: "one", in: Self.sample)
        #expect(one.components(separatedBy: "\n").count == 3)
        #expect(Walk.calls("two", in: one))
        #expect(!Walk.calls("three", in: one))
        #expect(!Walk.calls("one", in: one))
        let two = Walk.text(of: "two", in: Self.sample)
        #expect(Walk.calls("three", in: two))
        #expect(!Walk.calls("hree", in: two))
        #expect(Walk.calls("one", in: Walk.text(of: "three", in: Self.sample)))
        #expect(Walk.text(of: "four", in: Self.sample).isEmpty)
    }

    @Test func `read the rows of a table`() {
        let page = """
            # A page

            ## A walk

            | # | file | function | reached by | hands on |
            | ---: | --- | --- | --- | --- |
            | 1 | `Sources/PeerNode/Node/Log/Ingest.swift` | `accept` | | a run |
            | ↩ | `Sources/A.swift` | `commit` | 1 | |
            | | *the other node* | | | |
            | **2** | `Sources/B.swift` | `one`, `two` | the wire: 1, `seam` in `Sources/C.swift` | |
            | 3 | `Sources/B.swift` | `three` | again | |

            ## Another
            """
        let steps = Walk("A walk", in: page).steps
        #expect(steps.map(\.label) == ["1", "↩", "2", "3"])
        #expect(steps.map(\.isNumbered) == [true, false, true, true])
        #expect(steps.map(\.node) == [0, 0, 1, 1])
        #expect(steps.map(\.caller) == [nil, "1", "1", nil])
        #expect(steps.map(\.room) == ["Log", nil, nil, nil])
        #expect(steps.map(\.isAgain) == [false, false, false, true])
        #expect(steps[2].functions == ["one", "two"])
        #expect(steps[2].seams == ["seam"])
        #expect(steps[2].file == "Sources/C.swift")
        #expect(steps[2].isOverWire)
    }
}
