import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Incremental edits from an editor: saved at once, and an operation after a pause.
struct `A draft of a note` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let note: JSONValue
    private let drafts = "meta WHERE name LIKE 'note.draft.%'"

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob) = (table.bench, table.ada, table.bob)
        note = try ada.makeNote("Plan", saying: "text")
        bench.advance(5_000)
    }

    /// Types a text behind what is there, a scalar a call.
    private func type(
        _ text: String, every milliseconds: UInt64 = 300, in other: JSONValue? = nil,
        on node: BenchNode
    ) throws {
        let note = other ?? self.note
        for scalar in text.unicodeScalars {
            let at = try node.show(note).number("length")
            try node.ok(
                "note.edit",
                [
                    "note": note["id"] ?? .null,
                    "ops": [["insert": ["at": .integer(at), "text": .string(String(scalar))]]],
                ])
            bench.advance(milliseconds)
        }
    }

    @Test func `becomes one operation after a pause, and after ten seconds of typing`() throws {
        let before = try ada.rowCount("note_edit")
        try type(" more", on: ada)
        #expect(try ada.rowCount("note_edit") == before)
        #expect(try ada.text(of: note) == "text more" && bob.text(of: note) == "text")
        bench.advance(Limits.noteDraftPauseMilliseconds)
        #expect(try ada.rowCount("note_edit") == before + 1)
        bench.advance(1_000)
        #expect(try bob.text(of: note) == "text more")
        try type(String(repeating: "x", count: 50), every: 1_000, on: ada)
        let edits = try ada.rowCount("note_edit") - before - 1
        #expect((4...6).contains(edits), "\(edits)")
        #expect(try ada.textMadeAnew(of: note) == ada.text(of: note))
    }

    @Test func `is there after a crash, and is published then`() throws {
        try type(" more", on: ada)
        let before = try ada.show(note)
        ada.kill()
        try ada.boot()
        #expect(try ada.show(note)["text"] == "text more")
        #expect(try ada.show(note)["version"] == before["version"])
        bench.advance(60_000)
        #expect(try bob.text(of: note) == "text more")
        #expect(try ada.rowCount(drafts) == 0)
    }

    @Test func `is published when nobody has opened the note after a crash`() throws {
        try type("!", on: ada)
        ada.kill()
        try ada.boot()
        bench.advance(60_000)
        #expect(try bob.text(of: note) == "text!")
    }

    @Test func `is published at a lock and when the node stops`() throws {
        try ada.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        try type(" one", on: ada)
        try ada.ok("lock.now")
        bench.advance(1_000)
        #expect(try bob.text(of: note) == "text one")
        try ada.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(5_000)
        try type(" two", on: ada)
        try ada.ok("node.stop")
        #expect(try ada.rowCount(drafts) == 0)
    }

    @Test func `stands on the disk for nobody else to read`() throws {
        try type("secretword", on: ada)
        let kept = try #require(
            try ada.connection?.statement("SELECT value FROM meta WHERE name LIKE 'note.draft%'")
                .rows { $0.blob(0) }.first)
        #expect(!String(decoding: kept, as: UTF8.self).contains("secret"))
    }

    @Test func `takes in what others write meanwhile`() throws {
        try type(" more", on: ada)
        try bob.edit(note, to: "a text")
        bench.advance(500)
        #expect(try ada.text(of: note) == "a text more")
        bench.advance(60_000)
        #expect(try ada.text(of: note) == "a text more" && bob.text(of: note) == "a text more")
        #expect(try ada.textMadeAnew(of: note) == "a text more")
    }

    /// Every change rests on the version that the one before it answered.
    @Test(arguments: Seeds.explore(4))
    func `is carried on from every version that was shown`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var version = try ada.show(note)["version"] ?? .null
        for number in 0..<60 {
            let old = version
            if random.oneIn(3) {
                let text = try bob.text(of: note)
                try bob.edit(note, to: "b\(number)" + text)
            }
            bench.advance(UInt64(random.below(1_500)))
            let answer = try ada.ok(
                "note.edit",
                [
                    "note": note["id"] ?? .null, "base": old,
                    "ops": [["insert": ["at": 0, "text": "a"]]],
                ])
            version = answer["version"] ?? .null
            if random.oneIn(9) {
                ada.kill()
                try ada.boot()
                version = try ada.show(note)["version"] ?? .null
            }
        }
        bench.advance(60_000)
        let text = try ada.text(of: note)
        #expect(text.filter { $0 == "a" }.count == 60, "WSX_SEED=\(seed)")
        #expect(try bob.text(of: note) == text && ada.textMadeAnew(of: note) == text)
    }

    @Test func `stays here while the channel is archived, and goes when the note is erased`()
        throws
    {
        try ada.ok("channel.create", ["name": "plans"])
        bench.advance(2_000)
        try bob.ok("channel.join", ["channel": "plans"])
        let other = try ada.makeNote("Other", in: "plans", saying: "text")
        bench.advance(5_000)
        try type("!", every: 100, in: other, on: ada)
        try ada.ok("channel.archive", ["channel": "plans"])
        bench.advance(30_000)
        #expect(try ada.text(of: other) == "text!" && bob.text(of: other) == "text")
        #expect(try ada.rowCount(drafts) == 1)
        try ada.ok("channel.unarchive", ["channel": "plans"])
        bench.advance(Limits.noteDraftRetryMilliseconds + 60_000)
        #expect(try bob.text(of: other) == "text!" && ada.rowCount(drafts) == 0)
        try type("?", every: 100, in: other, on: ada)
        #expect(try ada.rowCount(drafts) == 1)
        try ada.ok("note.delete", ["note": other["id"] ?? .null, "purge": true])
        bench.advance(60_000)
        #expect(try ada.rowCount(drafts) == 0)
        #expect(try bob.refused("note.get", ["note": other["id"] ?? .null]).kind == .notFound)
    }

    @Test func `of a whole text goes at once, with what was written before`() throws {
        try type("!", every: 100, on: ada)
        let seen = try ada.show(note)
        try ada.edit(note, to: "a text!", base: seen["version"])
        #expect(try ada.rowCount(drafts) == 0)
        bench.advance(500)
        #expect(try bob.text(of: note) == "a text!")
    }
}
