import Foundation
import Testing

/// Dependencies between the folders of the node go one way. Numbers that may only shrink are in
/// `HouseRatchet`.
///
/// `WSX_UPDATE_PAGES=1 make test TESTS='--filter ArrowTests'` records smaller numbers. Larger ones
/// are recorded only if the file is missing, as after renaming folders.
struct `The rooms of the node` {
    private static let root = "Sources/PeerNode"

    private static let rooms = Result {
        try HouseRooms(SourceTree.swiftFiles(under: root), under: root)
    }

    @Test func `name none that names them`() throws {
        let rooms = try Self.rooms.get()
        let reasons = rooms.pairs.map { rooms.reason(for: $0) + "; " + rooms.reason(for: $0.back) }
        #expect(reasons == [], "\(rooms.table)")
        #expect(rooms.arrows.count > 100)
    }

    @Test func `are walled no worse than is listed`() throws {
        let rooms = try Self.rooms.get()
        let now = try HouseRatchet(of: rooms)
        if ProcessInfo.processInfo.environment["WSX_UPDATE_PAGES"] == "1" {
            let listed = try? HouseRatchet(parsing: SourceTree.text(HouseRatchet.path))
            let url = SourceTree.root.appendingPathComponent(HouseRatchet.path)
            try (listed?.tightened(to: now) ?? now).text
                .write(to: url, atomically: true, encoding: .utf8)
        }
        let listed = try HouseRatchet(parsing: SourceTree.text(HouseRatchet.path))
        let problems = listed.problems(with: now)
        #expect(problems == [])
    }

    // MARK: Circles

    private static let circleMax = 9

    @Test(arguments: [root, "Sources/wsx-node"])
    func `have no type whose many files all call each other`(root: String) throws {
        let rooms =
            try root == Self.root
            ? Self.rooms.get() : HouseRooms(SourceTree.swiftFiles(under: root), under: root)
        var count = 0
        for (name, kind) in rooms.kinds where kind.files.count > Self.circleMax {
            let circle = try rooms.largestCircle(of: name)
            #expect(circle <= Self.circleMax, "\(name): \(circle) of \(kind.files.count) files")
            count += 1
        }
        #expect(count >= 3)
    }

    @Test func `show answers by functions that never call one above them`() throws {
        let root = "Sources/wsx-node"
        let rooms = try HouseRooms(SourceTree.swiftFiles(under: root), under: root)
        #expect(try rooms.largestCircle(of: "Rendering") == 1)
    }

    // MARK: The ratchet itself

    private static func ratchet(_ lines: String...) throws -> HouseRatchet {
        try HouseRatchet(parsing: lines.joined(separator: "\n"))
    }

    @Test func `are listed with what is new, and without what is gone`() throws {
        let listed = try Self.ratchet("fields Core 7", "lines Core 900", "lines Other 900")
        #expect(listed.problems(with: listed) == [])
        let now = try Self.ratchet("fields Core 8", "lines Core 800", "lines New 700")
        let problems = listed.problems(with: now)
        #expect(problems.count == 4)
        #expect(problems.contains("lines New is 700, and may be 0"))
        #expect(problems.contains { $0.hasPrefix("lines Other is 0:") })
        #expect(problems.contains("fields Core is 8, and may be 7"))
        #expect(problems.contains { $0.hasPrefix("lines Core is 800:") })
    }

    @Test func `are written down where they have become better alone`() throws {
        let listed = try Self.ratchet("fields Core 7", "lines Core 900")
        let now = try Self.ratchet("fields Core 8", "lines Core 800")
        let tightened = try Self.ratchet("fields Core 7", "lines Core 800")
        #expect(listed.tightened(to: now) == tightened)
        #expect(try HouseRatchet(parsing: listed.text) == listed)
        #expect(throws: HouseRatchet.Misread.self) { try Self.ratchet("fields Core many") }
    }

    // MARK: What is counted

    private static func file(_ path: String, _ lines: String...) -> SourceTree.File {
        SourceTree.File(path: "S/\(path)", text: lines.joined(separator: "\n"))
    }

    @Test func `name a type by its name, and not in a comment or where it is private`() throws {
        let rooms = try HouseRooms(
            [
                Self.file("A/One.swift", "struct One {", "    let two: Two", "}"),
                Self.file("B/Two.swift", "public final class Two {", "    var one: One?", "}"),
                Self.file("B/Three.swift", "/// Four", "private struct Own {}", "enum Three {}"),
                Self.file("C/Four.swift", "private struct Own {}", "struct Four { let t: Three }"),
            ], under: "S")
        #expect(rooms.pairs == [HouseRooms.Arrow(from: "A", to: "B")])
        #expect(rooms.arrows[HouseRooms.Arrow(from: "A", to: "B")]?.types == ["Two"])
        #expect(rooms.arrows[HouseRooms.Arrow(from: "C", to: "B")]?.types == ["Three"])
        #expect(rooms.arrows.count == 3)
    }

    @Test func `are named by the code that asks the core for one`() throws {
        let rooms = try HouseRooms(
            [
                Self.file(
                    "Core/Core.swift", "final class Core {",
                    "    private lazy var holder = Holder(self)", "}"),
                Self.file(
                    "Core/Holder.swift", "final class Holder {",
                    "    private(set) lazy var links = Links(core)", "}"),
                Self.file("Links/Links.swift", "final class Links {", "}"),
                Self.file(
                    "Log/Log.swift", "final class Log {",
                    "    func told() { core.links.tell(links.count) }", "}"),
                Self.file("Keys/Keys.swift", "final class Keys {", "    let links: [Int]", "}"),
            ], under: "S")
        #expect(
            Set(rooms.arrows.keys) == [
                HouseRooms.Arrow(from: "Core", to: "Links"),
                HouseRooms.Arrow(from: "Log", to: "Links"),
            ])
    }

    @Test func `have fields that are stored, and files that call each other`() throws {
        let rooms = try HouseRooms(
            [
                Self.file(
                    "A/Core.swift", "final class Core {", "    let a: Int", "    var b = 1",
                    "    private(set) var c: Int? { didSet { one() } }", "    var d: Int { 1 }",
                    "    var e: Int {", "        let inner = 1", "    }", "    static let f = 1",
                    "    func one() { two() }", "}"),
                Self.file("A/Two.swift", "extension Core {", "    func two() { three() }", "}"),
                Self.file(
                    "A/Three.swift", "extension Core {", "    func three() { self.one() }",
                    "    func four() {}", "}"),
                Self.file(
                    "A/Five.swift", "extension Core {", "    private func five() { four() }",
                    "}"),
            ], under: "S")
        let core = try #require(rooms.kinds["Core"])
        #expect(core.storedFieldCount == 3)
        #expect(core.files.count == 4)
        #expect(core.lineCount == 11 + 3 + 4 + 3)
        #expect(try rooms.largestCircle(of: "Core") == 3)
        #expect(try rooms.largestCircle(of: "Nobody") == 0)
    }
}
