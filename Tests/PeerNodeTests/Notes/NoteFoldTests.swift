import CRDTStore
import NoteText
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Notes edited by several people at once, under all kinds of events.
struct `What people write in one note` {
    private let bench: CoreBench
    private let nodes: [BenchNode]

    init() throws {
        let table = try `Private channels`.Table()
        bench = table.bench
        nodes = [table.ada, table.bob, table.cleo]
    }

    private static let words = ["milk", "bread\n", "é", "\n\n", "a long walk by the sea", "👩‍👩‍👧", " "]

    /// The text with one change, or two, made by chance.
    private static func changed(_ text: String, _ random: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0...random.below(2) {
            let at = random.below(scalars.count + 1)
            if random.oneIn(3) {
                scalars.removeSubrange(at..<min(at + 1 + random.below(6), scalars.count))
            } else {
                scalars.insert(
                    contentsOf: words[random.below(words.count)].unicodeScalars, at: at)
            }
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }

    private func expectOneText(of note: JSONValue, _ comment: String) throws {
        let texts = try nodes.map { try $0.text(of: note) }
        #expect(Set(texts).count == 1, "\(comment) \(texts)")
        let versions = try nodes.map { try $0.show(note)["version"] }
        #expect(versions.allSatisfy { $0 == versions[0] }, "\(comment)")
        for node in nodes {
            #expect(try node.textMadeAnew(of: note) == texts[0], "\(comment) \(node.name)")
            #expect(try node.show(note)["complete"] == true, "\(comment) \(node.name)")
        }
    }

    @Test(arguments: Seeds.explore(6))
    func `becomes one text in any order of arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let note = try nodes[0].makeNote("Plan", saying: "begin")
        bench.advance(5_000)
        var cuts: Set<[Int]> = []
        for _ in 0..<40 {
            let (a, b) = (random.below(3), random.below(3))
            let node = nodes[a]
            switch random.below(10) {
            case 0 where a < b && !cuts.contains([a, b]):
                bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2: try node.restart()
            case 3: bench.advance(UInt64(random.below(3_000)))
            case 4:
                let open = try #require(node.host?.core).notes.texts.open.values.first
                try node.inTurn { core, _ in if let open { try core.notes.texts.save(open) } }
            default:
                let seen = try node.show(note)
                let text = try seen.text("text")
                try node.edit(
                    note, to: Self.changed(text, &random),
                    base: random.oneIn(2) ? seen["version"] : nil)
            }
        }
        for cut in cuts { bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        bench.advance(120_000)
        try expectOneText(of: note, "WSX_SEED=\(seed)")
        for node in nodes {
            #expect(try node.ok("node.check")["problem_count"] == 0, "WSX_SEED=\(seed)")
        }
    }

    /// What a removal voids goes, also where somebody has written on it, and comes back with it.
    @Test func `loses what a removal takes, and nothing else`() throws {
        let (ada, bob, cleo) = (nodes[0], nodes[1], nodes[2])
        let note = try ada.makeNote("Plan", saying: "one\ntwo\n.")
        bench.advance(5_000)
        bench.cut(ada, bob)
        bench.cut(ada, cleo)
        try bob.edit(note, to: "one\nBOB\ntwo\n.")
        bench.advance(5_000)
        try cleo.edit(note, to: "one\nBOB and CLEO\ntwo\n.")
        bench.advance(5_000)
        // She has not seen his edits, so none of them stays.
        try ada.remove(bob)
        try ada.edit(note, to: "one\ntwo\nADA\n.")
        bench.heal(ada, bob)
        bench.heal(ada, cleo)
        bench.advance(120_000)
        for node in [ada, cleo] {
            let text = try node.text(of: note)
            #expect(!text.contains("BOB"), "\(node.name) \(text)")
            #expect(text.contains("CLEO") && text.contains("ADA"), "\(node.name) \(text)")
            #expect(try node.textMadeAnew(of: note) == text)
            #expect(try node.ok("node.check")["problem_count"] == 0)
        }
        #expect(try ada.show(note)["version"] == cleo.show(note)["version"])
        #expect(try ada.text(of: note) == cleo.text(of: note))
    }

    /// What was deleted is as if it had never been written, also for who has never read it.
    @Test func `goes with an edit that is deleted, and comes back with it`() throws {
        let (ada, bob) = (nodes[0], nodes[1])
        let note = try ada.makeNote("Plan", saying: "one")
        bench.advance(5_000)
        try bob.edit(note, to: "one SECRET")
        bench.advance(5_000)
        try ada.edit(note, to: "one SECRET two")
        bench.advance(5_000)
        let edit = try #require(
            try ada.connection?.statement("SELECT arr FROM note_edit ORDER BY arr")
                .rows { $0.integer(0) }.dropFirst().first)
        let stored = try #require(try ada.host?.core.turn.store.operations.operation(edit))
        try ada.forceRedaction(of: stored, isOwn: false)
        bench.advance(60_000)
        for node in nodes {
            let text = try node.text(of: note)
            #expect(!text.contains("SECRET") && text.contains("two"), "\(node.name) \(text)")
            #expect(try node.textMadeAnew(of: note) == text)
        }
        #expect(try Set(nodes.map { try $0.text(of: note) }).count == 1)
        for redaction in try ada.redactions(in: try ada.place(of: note).document) {
            try ada.forceUndo(of: redaction)
        }
        bench.advance(60_000)
        for node in nodes { #expect(try node.text(of: note) == "one SECRET two", "\(node.name)") }
    }

    /// Nothing of it can be opened while the key is away; then it stands as if it had always been.
    @Test func `comes with the key that opens it`() throws {
        let (ada, bob) = (nodes[0], nodes[1])
        try ada.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        let note = try ada.makeNote("Plan", saying: "one")
        bench.advance(5_000)
        try ada.ok("lock.now")
        for word in ["two", "three"] {
            try bob.edit(note, to: "one \(word)")
            bench.advance(5_000)
        }
        #expect(ada.host?.core.notes.texts.open.isEmpty == true)
        try ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try ada.text(of: note) == "one three")
        #expect(try ada.textMadeAnew(of: note) == "one three")
    }
}
