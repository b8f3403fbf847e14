import CRDTStore
import NoteText
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Other people's live state in a note: sent over links, never stored, gone with the link.
struct `Others in a note` {
    let bench: CoreBench
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode
    let note: JSONValue

    init() throws {
        let table = try `Private channels`.Table()
        (bench, ada, bob, cleo) = (table.bench, table.ada, table.bob, table.cleo)
        note = try ada.makeNote("Plan", saying: "text")
        bench.advance(5_000)
    }

    func watch(_ nodes: BenchNode..., note other: JSONValue? = nil) throws {
        for node in nodes {
            try node.ok("note.watch", ["note": (other ?? note)["id"] ?? .null], on: 7)
        }
        bench.advance(1_000)
        for node in nodes { _ = `Presence`.take(node) }
    }

    func type(_ text: String, at place: Int64, on node: BenchNode) throws {
        try node.ok(
            "note.edit",
            [
                "note": note["id"] ?? .null, "brief": true,
                "ops": [["insert": ["at": .integer(place), "text": .string(text)]]],
            ])
    }

    func heard(_ node: BenchNode, _ type: String = "note.cursor") -> [JSONValue] {
        `Presence`.take(node).filter { $0["type"] == .string(type) }.compactMap { $0["data"] }
    }

    // MARK: Who is where

    @Test func `are shown with their cursor and with what they have not published`() throws {
        try watch(ada, bob)
        let before = try bob.rowCount("note_edit")
        try type(" more", at: 4, on: ada)
        bench.advance(200)
        let event = try #require(heard(bob).last)
        #expect(event["by"]?["name"] == "Ada" && event["there"] == true)
        #expect(event["patch"] == [[4, 0, " more"]])
        #expect(event["at"] == 9 && event["length"] == 0)
        #expect(try event["version"] == bob.show(note)["version"])
        // It is laid over, and neither in the text nor on the disk.
        #expect(try bob.text(of: note) == "text" && bob.rowCount("note_edit") == before)
        #expect(try bob.show(note)["participants"]?.arrayValue?.count == 1)
        try ada.ok("note.cursor", ["note": note["id"] ?? .null, "at": 1, "length": 2])
        bench.advance(200)
        let moved = try #require(heard(bob).last)
        #expect(moved["at"] == 1 && moved["length"] == 2)
        // Once it is published, it is the text, and laid over no more.
        bench.advance(5_000)
        #expect(try bob.text(of: note) == "text more")
        #expect(try #require(heard(bob).last)["patch"] == [])
        #expect(try bob.show(note)["participants"]?[0]?["patch"] == [])
    }

    @Test func `are told to those alone who have the note open`() throws {
        try watch(ada, bob)
        let link = try link(to: cleo, at: ada)
        let before = link.session.unsentBytes
        try type("!", at: 4, on: ada)
        #expect(link.session.unsentBytes == before)
        #expect(cleo.host?.core.notes.attendance.presence.guests.isEmpty == true)
        bench.advance(200)
        #expect(!heard(bob).isEmpty)
        // Who comes later hears of who is there, and is heard of.
        try watch(cleo)
        #expect(try cleo.show(note)["participants"]?.arrayValue?.count == 2)
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 2)
    }

    /// Cleo's node drops what it hears of a note that she has not opened, so what Ada's node hands
    /// to each link is compared before it leaves.
    @Test func `are sent what somebody types on the links of those alone who have it open`() throws
    {
        try watch(ada, bob)
        try ada.ok("node.status")
        let core = try #require(ada.host).core
        let place = try ada.place(of: note)
        let (near, far) = (try link(to: bob, at: ada), try link(to: cleo, at: ada))
        // Both were told that the note is open here, and Bob has answered.
        let presence = core.notes.attendance.presence
        #expect(presence.asked[place]?.isSuperset(of: [near.id, far.id]) == true)
        #expect(presence.guests[place]?[near.id] != nil && presence.guests[place]?[far.id] == nil)
        let before = [near, far].map(\.session.unsentBytes)
        core.notes.attendance.noteWord(in: place)
        core.notes.presenceSender.sendPresence()
        #expect(near.session.unsentBytes > before[0])
        #expect(far.session.unsentBytes == before[1])
    }

    /// The first word on a link, and one that asks others to wait, go to everyone who may read.
    @Test func `learn what is typed after they have said that they have it open, and not before`()
        throws
    {
        try watch(ada, bob)
        try type(String(repeating: "x", count: 1_000), at: 4, on: ada)
        let core = try #require(ada.host).core
        let place = try ada.place(of: note)
        let links = [try link(to: bob, at: ada), try link(to: cleo, at: ada)]
        let presence = core.notes.attendance.presence
        #expect(links.map { presence.guests[place]?[$0.id] != nil } == [true, false])
        let before = links.map(\.session.unsentBytes)
        for link in links { core.notes.attendance.presence.asked[place]?.remove(link.id) }
        core.notes.presenceSender.sendPresence()
        let sent = zip(links, before).map { $0.session.unsentBytes - $1 }
        #expect(sent[0] > 1_000 && (1..<300).contains(sent[1]), "\(sent)")
    }

    @Test func `hear of a draft that is older than their answer`() throws {
        try watch(bob)
        try type(" more", at: 4, on: ada)
        _ = `Presence`.take(bob)
        try ada.ok("note.watch", ["note": note["id"] ?? .null], on: 7)
        bench.advance(300)
        #expect(heard(bob).last?["patch"] == [[4, 0, " more"]])
    }

    @Test func `are gone with their stream, their link, and their keys`() throws {
        try watch(ada, bob, cleo)
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 2)
        try bob.ok("events.unsubscribe", ["subscription": 1], on: 7)
        bench.advance(1_000)
        #expect(heard(ada).last?["there"] == false)
        bench.cut(ada, cleo)
        bench.advance(1_000)
        #expect(try ada.show(note)["participants"] == [])
        bench.heal(ada, cleo)
        bench.advance(2_000)
        #expect(try ada.show(note)["participants"]?.arrayValue?.count == 1)
        try cleo.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        try cleo.ok("lock.now")
        bench.advance(1_000)
        #expect(try ada.show(note)["participants"] == [])
    }

    @Test func `are reported at most ten times a second, and the last update always`() throws {
        try watch(ada, bob)
        let core = try #require(ada.host).core
        var words = 0
        for number in 0..<100 {
            let before = core.notes.attendance.presence.lastSaid
            try type("x", at: Int64(4 + number), on: ada)
            bench.advance(10)
            if core.notes.attendance.presence.lastSaid != before { words += 1 }
        }
        #expect(words <= 11, "\(words)")
        bench.advance(Limits.noteWordMilliseconds + 100)
        let last = try #require(heard(bob).last)
        #expect(last["at"] == 104)
    }

    @Test func `see nobody who wants to look offline`() throws {
        try ada.ok("presence.set", ["state": "offline"])
        bench.advance(3_000)
        try watch(ada, bob)
        try type("!", at: 4, on: ada)
        bench.advance(200)
        #expect(heard(bob).isEmpty)
        #expect(try bob.show(note)["participants"] == [])
    }

    // MARK: What others may say

    func link(to other: BenchNode, at node: BenchNode) throws -> PeerLink {
        let device = try #require(other.host?.core.session.ownDevice)
        return try #require(node.host?.core.links.network.links(to: device).first)
    }

    func say(_ change: (inout NotePresenceUpdate) -> Void, to node: BenchNode) throws {
        let core = try #require(node.host).core
        let place = try node.place(of: note)
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        var update = NotePresenceUpdate(document.id, place.key)
        change(&update)
        core.notes.presenceSender.heard(
            update, in: try node.workspace(), on: try link(to: bob, at: node))
        try node.ok("node.status")
    }

    @Test func `do no harm with invalid positions and drafts`() throws {
        try watch(ada)
        let missing = MessageKey(timestamp: HybridTimestamp(rawValue: 7), idPrefix: 9)
        let drafts: [[UInt8]] = [
            [], [0xff], [UInt8](repeating: 0x82, count: 4_096),
            NoteEdit(sources: [missing], changes: [.delete(.init(source: 1, offset: 0), count: 9)])
                .encoded,
        ]
        for draft in drafts {
            try say({ $0.draft = draft }, to: ada)
            #expect(try #require(heard(ada).last)["patch"] == [])
        }
        for place in [NotePresenceUpdate.Place(missing, offset: 0), .init(nil, offset: 65_535)] {
            try say({ $0.selection = .init(from: nil, to: place) }, to: ada)
            #expect(try #require(heard(ada).last)["at"] == .null)
        }
        // Of a note that is not open, of none, and of another document nothing is kept.
        try say({ $0.note = missing }, to: ada)
        try say({ $0.document = .zero }, to: ada)
        #expect(ada.host?.core.notes.attendance.presence.guests.count == 1)
        #expect(try ada.text(of: note) == "text")
    }

    @Test func `are dropped if they send too much`() throws {
        try watch(ada)
        let core = try #require(ada.host).core
        let place = try ada.place(of: note)
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        let (workspace, sender) = (try ada.workspace(), try link(to: bob, at: ada))
        for _ in 0..<2 * Limits.noteWordsMax {
            core.notes.presenceSender.heard(
                NotePresenceUpdate(document.id, place.key), in: workspace, on: sender)
        }
        let allowance = try link(to: bob, at: ada).syncs.values.first?.noteWords
        var rest = try #require(allowance)
        let isLeft = rest.take(at: core.turn.time.monotonic)
        #expect(!isLeft)
    }

    @Test func `are told again where a link was too full to take it`() throws {
        let core = try #require(ada.host).core
        let (place, full) = (try ada.place(of: note), try link(to: bob, at: ada))
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        full.session.send(raw: .init(repeating: 0, count: Limits.unaskedUnsentBytesMax), in: .blob)
        try #require(full.session.unsentBytes >= Limits.unaskedUnsentBytesMax)
        core.notes.attendance.setWatched([place])
        core.notes.presenceSender.sendPresence()
        // Cleo's link has room, and Bob is still to be told.
        #expect(core.notes.attendance.presence.asked[place] == [try link(to: cleo, at: ada).id])
        core.notes.presenceSender.heard(
            NotePresenceUpdate(document.id, place.key, asks: true), in: try ada.workspace(),
            on: full)
        #expect(core.notes.attendance.presence.guests[place]?[full.id] != nil)
        #expect(core.notes.attendance.presence.asked[place]?.contains(full.id) == false)
    }

    @Test func `of a private channel are its people alone`() throws {
        try ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        bench.advance(2_000)
        let secret = try ada.makeNote("Secret", in: "board", saying: "x")
        bench.advance(5_000)
        try watch(ada, bob, note: secret)
        #expect(try ada.show(secret)["participants"]?.arrayValue?.count == 1)
        let core = try #require(ada.host).core
        let place = try ada.place(of: secret)
        let document = try #require(core.turn.store.operations.document(numbered: place.document))
        #expect(core.notes.attendance.presence.asked[place]?.count == 1)
        core.notes.presenceSender.heard(
            NotePresenceUpdate(document.id, place.key, lock: 1), in: try ada.workspace(),
            on: try link(to: cleo, at: ada))
        #expect(try ada.show(secret)["participants"]?.arrayValue?.count == 1)
        #expect(try ada.show(secret)["lock"] == .null)
    }

    // MARK: Waiting for each other

    @Test func `are asked to wait, for a second and a half without a word`() throws {
        try watch(ada, bob)
        let locked = try ada.ok("note.lock", ["note": note["id"] ?? .null])
        #expect(locked["lock"]?["by"]?["name"] == "Ada")
        bench.advance(200)
        #expect(heard(bob, "note.lock").last?["lock"]?["by"]?["name"] == "Ada")
        #expect(try bob.show(note)["lock"]?["by"]?["name"] == "Ada")
        #expect(try bob.refused("note.lock", ["note": note["id"] ?? .null]).reason == "note.locked")
        // Who types is not idle.
        for number in 0..<8 {
            // Turning to Ada takes 400 ms the first time, of the second and a half.
            try type("x", at: Int64(4 + number), on: ada)
            bench.advance(500)
            #expect(heard(bob, "note.lock").isEmpty)
        }
        #expect(try bob.show(note)["lock"]?["by"]?["name"] == "Ada")
        bench.advance(Limits.noteLockMilliseconds + 300)
        #expect(heard(bob, "note.lock").last?["lock"] == .null)
        try bob.ok("note.lock", ["note": note["id"] ?? .null])
        bench.advance(200)
        try bob.ok("note.unlock", ["note": note["id"] ?? .null])
        bench.advance(200)
        #expect(try ada.show(note)["lock"] == .null && bob.show(note)["lock"] == .null)
    }

    @Test func `are locked out only if they ask to wait`() throws {
        try ada.ok("note.lock", ["note": note["id"] ?? .null])
        bench.advance(200)
        let change: JSONObject = [
            "note": note["id"] ?? .null, "text": "mine",
        ]
        var strict = change
        strict["strict"] = true
        // Also where nobody watches the note.
        let refusal = try bob.refused("note.edit", .object(strict))
        #expect(refusal.kind == .conflict && refusal.reason == "note.locked")
        try ada.ok("note.edit", .object(strict))
        bench.advance(200)
        #expect(try bob.refused("note.edit", .object(strict)).reason == "note.locked")
        try bob.ok("note.edit", .object(change))
        bench.advance(Limits.noteLockMilliseconds + 500)
        strict["text"] = "mine again"
        try bob.ok("note.edit", .object(strict))
        #expect(try bob.text(of: note) == "mine again")
    }

    @Test(arguments: [-40, 0, 40])
    func `of whom two ask at once wait for who asked first`(lead: Int64) throws {
        try watch(ada, bob)
        // Both ask before they hear of each other, and one clock may be ahead of the other.
        (ada.clockSkew, bob.clockSkew) = (max(0, -lead), max(0, lead))
        let nodes = [ada, bob]
        let calls = nodes.map { CallID(connection: 9, number: $0 === ada ? 1 : 2) }
        for (node, call) in zip(nodes, calls) {
            bench.give(
                .call(call, method: "note.lock", arguments: ["note": note["id"] ?? .null]),
                to: node)
        }
        bench.settle()
        for (node, call) in zip(nodes, calls) { _ = try #require(node.answer(to: call)).get() }
        bench.advance(200)
        // Of two at the same moment, the device with the smaller name.
        let (one, other) = (
            try #require(ada.host?.core.session.ownDevice),
            try #require(bob.host?.core.session.ownDevice)
        )
        let isAda = lead > 0 || lead == 0 && one < other
        for node in nodes {
            #expect(try node.show(note)["lock"]?["by"]?["name"] == (isAda ? "Ada" : "Bob"))
        }
    }
}
