import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The events for a program that holds the text of a note: the next version, and the patches.
struct `A note that is watched` {
    private let bench: CoreBench
    private let ada: BenchNode
    private let bob: BenchNode
    private let note: JSONValue

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob) = (table.bench, table.ada, table.bob)
        note = try ada.makeNote("Plan", saying: "text")
        bench.advance(5_000)
    }

    private func insert(_ text: String, at place: Int64, on node: BenchNode) throws {
        try node.ok(
            "note.edit",
            [
                "note": note["id"] ?? .null,
                "ops": [["insert": ["at": .integer(place), "text": .string(text)]]],
            ])
    }

    /// Does to a text what an event says.
    private func apply(_ event: JSONValue, to text: String) throws -> String {
        var scalars = Array(text.unicodeScalars)
        for patch in event["data"]?["patch"]?.arrayValue ?? [] {
            let parts = try #require(patch.arrayValue)
            try #require(parts.count == 3)
            let at = Int(try #require(parts[0].integerValue))
            let count = Int(try #require(parts[1].integerValue))
            try #require(at >= 0 && count >= 0 && at + count <= scalars.count)
            scalars.replaceSubrange(
                at..<at + count, with: Array(try #require(parts[2].stringValue).unicodeScalars))
        }
        return String(String.UnicodeScalarView(scalars))
    }

    @Test func `is told in patches, so that only arithmetic is left`() throws {
        let opened = try bob.ok("note.watch", ["note": note["id"] ?? .null], on: 7)
        var version = opened["version"] ?? .null
        var text = "text"
        bench.advance(1_000)
        for (number, scalar) in " more".unicodeScalars.enumerated() {
            try insert(String(scalar), at: Int64(4 + number), on: ada)
            bench.advance(300)
        }
        try bob.edit(note, to: "my text")
        try insert("?", at: 7, on: bob)
        bench.advance(60_000)
        var authors: Set<String> = []
        for event in `Presence`.take(bob) where event["type"] == "note.patch" {
            #expect(event["data"]?["from"] == version)
            version = event["data"]?["version"] ?? .null
            text = try apply(event, to: text)
            authors.insert(event["data"]?["by"]?["name"]?.stringValue ?? "")
        }
        #expect(try text == bob.text(of: note) && text == ada.text(of: note))
        #expect(try version == bob.show(note)["version"])
        #expect(authors == ["Ada", "Bob"])
    }

    @Test func `is told to its own streams alone, with its other events`() throws {
        let other = try ada.makeNote("Other", saying: "x")
        bench.advance(2_000)
        try Presence.listen(bob, ["note.*"], on: 8)
        try bob.ok("note.watch", ["note": note["id"] ?? .null], on: 7)
        try ada.edit(other, to: "y")
        try ada.ok("note.rename", ["note": note["id"] ?? .null, "title": "Project"])
        bench.advance(2_000)
        let watched = `Presence`.take(bob)
        #expect(watched.map { $0["type"] } == ["note.renamed"])
        #expect(watched.first?["data"]?["id"] == note["id"])
        let all = `Presence`.take(bob, on: 8).compactMap { $0["type"]?.stringValue }
        #expect(all.sorted() == ["note.edited", "note.renamed"])
    }

    @Test func `says when the text has to be read again`() throws {
        try bob.ok("note.watch", ["note": note["id"] ?? .null], on: 7)
        bench.advance(1_000)
        _ = `Presence`.take(bob)
        let core = try #require(bob.host?.core)
        let open = try #require(core.notes.texts.known(try bob.place(of: note)))
        core.notes.texts.drop(open)
        try bob.ok("node.status")
        bench.advance(1_000)
        let event = try #require(`Presence`.take(bob).first { $0["type"] == "note.patch" })
        #expect(event["data"]?["patch"] == .null && event["data"]?["version"] == .null)
        #expect(core.notes.texts.known(try bob.place(of: note)) != nil)
    }

    @Test func `stays open as long as a stream is, and no longer`() throws {
        try bob.ok("note.watch", ["note": note["id"] ?? .null], on: 7)
        bench.advance(1_000)
        let core = try #require(bob.host?.core)
        #expect(core.notes.attendance.watched.count == 1)
        try bob.ok("events.unsubscribe", ["subscription": 1], on: 7)
        bench.advance(1_000)
        #expect(core.notes.attendance.watched.isEmpty)
    }
}
