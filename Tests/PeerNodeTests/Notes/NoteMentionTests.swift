import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// People mentioned in a note are notified once for each edit that adds a mention.
struct `A mention in a note` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let cleo: BenchNode
    private let note: JSONValue

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob, cleo) = (table.bench, table.ada, table.bob, table.cleo)
        note = try ada.makeNote("Plan", saying: "who?")
        try bob.ok("notify.command", ["command": "show it"])
        bench.advance(5_000)
    }

    private func mentions(_ node: BenchNode, since: String) throws -> [JSONValue] {
        try node.events(since: since, types: ["mention.received"])
    }

    @Test func `is told to whom it means, and not again while it stands there`() throws {
        let (atBob, atCleo) = (try bob.cursor(), try cleo.cursor())
        try ada.edit(note, to: "who? @Bob")
        bench.advance(2_000)
        let told = try mentions(bob, since: atBob)
        #expect(told.count == 1 && told.first?["data"]?["id"] == note["id"])
        #expect(told.first?["data"]?["by"]?["name"] == "Ada")
        #expect(try mentions(cleo, since: atCleo).isEmpty)
        let notice = try #require(bob.notices.first)
        let pairs = Dictionary(
            uniqueKeysWithValues: notice.variables.map { ($0.name, $0.value) })
        #expect(pairs["WSX_EVENT_TYPE"] == "mention.received" && pairs["WSX_AUTHOR"] == "Ada")
        #expect(try pairs["WSX_NOTE"] == note.text("id") && pairs["WSX_TEXT"] == "Plan")
        try ada.edit(note, to: "who? @Bob, please")
        try ada.edit(note, to: "who? @Bob, please\nand who else?")
        bench.advance(2_000)
        #expect(try mentions(bob, since: atBob).count == 1 && bob.notices.count == 1)
        try ada.edit(note, to: "who? @Bob, please\nand who else? @Bob")
        bench.advance(2_000)
        #expect(try mentions(bob, since: atBob).count == 2 && bob.notices.count == 2)
    }

    @Test func `is told when it was typed letter by letter, once`() throws {
        let since = try bob.cursor()
        for (number, scalar) in " @Bob!".unicodeScalars.enumerated() {
            try ada.ok(
                "note.edit",
                [
                    "note": note["id"] ?? .null,
                    "ops": [
                        [
                            "insert": [
                                "at": .integer(Int64(4 + number)),
                                "text": .string(String(scalar)),
                            ]
                        ]
                    ],
                ])
            bench.advance(200)
        }
        bench.advance(10_000)
        #expect(try bob.text(of: note) == "who? @Bob!")
        #expect(try mentions(bob, since: since).count == 1)
    }

    @Test func `of everybody means all but who writes it`() throws {
        let (atAda, atBob, atCleo) = (try ada.cursor(), try bob.cursor(), try cleo.cursor())
        try ada.edit(note, to: "@everyone")
        bench.advance(2_000)
        #expect(try mentions(ada, since: atAda).isEmpty)
        #expect(try mentions(bob, since: atBob).count == 1)
        #expect(try mentions(cleo, since: atCleo).count == 1)
    }

    @Test func `is not shown where notices are muted`() throws {
        try bob.ok("channel.mute", ["channel": "general"])
        try ada.edit(note, to: "who? @Bob")
        bench.advance(2_000)
        #expect(bob.notices.isEmpty)
    }

    @Test func `is looked for in the lines that were written in`() {
        let text = Array("one @Ada\ntwo @Bob\nthree".unicodeScalars)
        let lines = NoteMention.lines(of: text, around: [13..<17])
        #expect(lines.map(\.now) == ["two @Bob"] && lines.map(\.before) == ["two "])
        let both = NoteMention.lines(of: text, around: [4..<5, 6..<8, 18..<20])
        #expect(both.map(\.now) == ["one @Ada", "three"])
        #expect(both.map(\.before) == ["one A", "ree"])
        #expect(NoteMention.lines(of: text, around: []).isEmpty)
    }
}
