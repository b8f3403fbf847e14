import CRDTStore
import NoteText
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who comes and goes, and the limits on others' updates.
extension `Others in a note` {
    // MARK: Coming and going

    @Test func `are gone when they want to look offline, and back afterwards`() throws {
        try watch(ada, bob)
        #expect(try bob.show(note)["participants"]?.arrayValue?.count == 1)
        try ada.ok("presence.set", ["state": "offline"])
        bench.advance(500)
        #expect(heard(bob).last?["there"] == false)
        #expect(try bob.show(note)["participants"] == [])
        // They see the others as before, and say nothing.
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 1)
        try type("!", at: 4, on: ada)
        try ada.ok("note.lock", ["note": note["id"] ?? .null])
        bench.advance(500)
        #expect(heard(bob).isEmpty)
        #expect(try bob.show(note)["lock"] == .null)
        try ada.ok("presence.set", ["state": "online"])
        bench.advance(500)
        #expect(heard(bob).last?["there"] == true)
        #expect(try bob.show(note)["participants"]?.arrayValue?.count == 1)
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 1)
    }

    @Test func `hear that a note is closed also where a link is full`() throws {
        try watch(ada, bob)
        let core = try #require(ada.host).core
        let full = try link(to: bob, at: ada)
        full.session.send(raw: .init(repeating: 0, count: Limits.unaskedUnsentBytesMax), in: .blob)
        let before = full.session.unsentBytes
        try #require(before >= Limits.unaskedUnsentBytesMax)
        core.notes.attendance.setWatched([])
        core.notes.attendance.presence.lastSaid = nil
        core.notes.presenceSender.sendPresence()
        #expect(full.session.unsentBytes > before)
    }

    @Test func `hear that a note is closed also before they could answer`() throws {
        try watch(bob)
        let core = try #require(ada.host).core
        core.notes.attendance.setWatched([try ada.place(of: note)])
        core.notes.presenceSender.sendPresence()
        core.notes.attendance.setWatched([])
        core.notes.attendance.presence.lastSaid = nil
        core.notes.presenceSender.sendPresence()
        // Both words leave now.
        try ada.ok("node.status")
        bench.advance(500)
        #expect(heard(bob).last?["there"] == false)
        #expect(try bob.show(note)["participants"] == [])
    }

    @Test func `are there again after a restart`() throws {
        try watch(ada, bob)
        try ada.restart()
        bench.heal(ada, bob)
        #expect(try bob.show(note)["participants"] == [])
        try watch(ada)
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 1)
        #expect(try bob.show(note)["participants"]?.arrayValue?.count == 1)
    }

    @Test func `are there once, until the last of their links is gone`() throws {
        let core = try #require(ada.host).core
        let place = try ada.place(of: note)
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        let (older, newer) = (LinkID(1), LinkID(2))
        var presence = NotePresence()
        for (link, lock) in [(older, nil), (newer, 7)] as [(LinkID, UInt64?)] {
            presence.note(
                NotePresence.Guest(
                    member: try bob.workspace().member,
                    device: try #require(bob.host?.core.session.ownDevice),
                    update: NotePresenceUpdate(document.id, place.key, lock: lock)), on: link,
                in: place)
        }
        #expect(presence.present(in: place).map(\.update.lock) == [7])
        presence.changed = [:]
        presence.remove(newer, from: place)
        #expect(presence.left.isEmpty && presence.changed[place] == [older])
        #expect(presence.present(in: place).map(\.update.lock) == [nil])
        presence.remove(older, from: place)
        #expect(presence.left.count == 1 && presence.present(in: place).isEmpty)
    }

    // MARK: Bounds

    @Test func `are heeded in so many notes of each link`() throws {
        let core = try #require(ada.host).core
        let document = try #require(
            core.turn.store.operations.document(numbered: try ada.place(of: note).document))
        let workspace = try ada.workspace()
        func key(_ number: Int) -> MessageKey {
            MessageKey(timestamp: HybridTimestamp(rawValue: UInt64(number + 1)), idPrefix: 1)
        }
        func ask(_ number: Int, _ other: BenchNode, since: UInt64? = 1) throws {
            // No more is taken of one link in this time.
            bench.advance(Limits.noteWordRefillMilliseconds)
            try ada.ok("node.status")
            core.notes.presenceSender.heard(
                NotePresenceUpdate(document.id, key(number), lock: since), in: workspace,
                on: try link(to: other, at: ada))
        }
        for number in 0...Limits.noteClaimsMax { try ask(number, bob) }
        let (first, second) = (try link(to: bob, at: ada).id, try link(to: cleo, at: ada).id)
        #expect(core.notes.attendance.presence.claimCount(of: first) == Limits.noteClaimsMax)
        try ask(0, cleo)
        #expect(core.notes.attendance.presence.claimCount(of: second) == 1)
        // What is over makes room.
        try ask(0, bob, since: nil)
        try ask(Limits.noteClaimsMax, bob)
        #expect(core.notes.attendance.presence.claimCount(of: first) == Limits.noteClaimsMax)
        let last = NotePresence.Place(document: document.number, key: key(Limits.noteClaimsMax))
        #expect(core.notes.attendance.presence.claims[last]?[first] != nil)
    }

    @Test func `are asked to wait in so many notes by one node`() throws {
        let notes = try (0...Limits.noteClaimsMax).map { try ada.makeNote("Note \($0)") }
        bench.advance(5_000)
        for note in notes.dropLast() { try ada.ok("note.lock", ["note": note["id"] ?? .null]) }
        let last: JSONValue = ["note": notes.last?["id"] ?? .null]
        let refusal = try ada.refused("note.lock", last)
        #expect(refusal.kind == .tooMany && refusal.reason == "note.locks")
        bench.advance(5_000)
        try ada.ok("note.lock", last)
    }

    @Test func `are told of so many notes at once, and of others with the next update`() throws {
        let count = 2 * Limits.noteWordsAtOnceMax + 2
        let notes = try (0..<count).map { try ada.makeNote("Note \($0)") }
        bench.advance(5_000)
        for note in notes { try ada.ok("note.lock", ["note": note["id"] ?? .null]) }
        let core = try #require(ada.host).core
        // The first was told of at once.
        var left = count - 1
        #expect(core.notes.attendance.presence.pending.count == left)
        while left > 0 {
            bench.advance(Limits.noteWordMilliseconds)
            left = max(0, left - Limits.noteWordsAtOnceMax)
            #expect(core.notes.attendance.presence.pending.count == left)
        }
    }

    @Test func `say so many bytes of what they have not published`() throws {
        let core = try #require(ada.host).core
        let place = try ada.place(of: note)
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        for count in [Limits.noteWordDraftBytesMax, Limits.noteWordDraftBytesMax + 1] {
            let update = NotePresenceUpdate(
                document.id, place.key, draft: [UInt8](repeating: 1, count: count))
            let decoded = try? SyncMessage.decoded(SyncMessage.note(2, update).encoded())
            #expect((decoded == .note(2, update)) == (count == Limits.noteWordDraftBytesMax))
        }
    }
}
