import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    fileprivate var core: NodeCore { get throws { try #require(host?.core) } }

    /// The arrival numbers of what is said about messages of general, the oldest first.
    fileprivate func said() throws -> [Int64] {
        let number = try #require(try workspace().channelIndex.all.first { $0.name == "general" })
            .number
        return try core.turn.store.view.annotations(of: number).map(\.row.arrival).sorted()
    }

    fileprivate func payload(at arrival: Int64) throws -> [UInt8] {
        try #require(try core.turn.store.operations.operation(arrival)).entry.payload
    }

    @discardableResult
    fileprivate func edit(_ message: JSONValue, to text: String) throws -> JSONValue {
        try ok("message.edit", ["message": message["id"] ?? .null, "text": .string(text)])
    }

    fileprivate func redactionCount() throws -> Int64 {
        try rowCount("operation WHERE kind = 5")
    }

    /// Signs a redaction of what stands at an arrival number, and of nothing else.
    fileprivate func forceRedaction(of arrival: Int64, isOwn: Bool) throws {
        try inTurn { core, workspace in
            let stored = try #require(try core.turn.store.operations.operation(arrival))
            let isWritten = try core.messages.redact(
                [stored.reference], nil, in: stored.log.document, isOwn: isOwn, of: workspace)
            #expect(isWritten)
        }
    }
}

extension RemovalBench {
    fileprivate var nodes: [BenchNode] { [mina, ada, wim, joon] }

    fileprivate func expectPeace(_ texts: [String]) throws {
        for node in nodes {
            #expect(try node.shownTexts(in: "general") == texts, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        #expect(Set(try nodes.map { try $0.digest() }).count == 1)
    }
}

/// Deleting and undoing when a message's operations arrive in unusual orders.
struct `A deletion with edits that came later` {
    @Test func `is taken back with all of them`() throws {
        let world = try RemovalBench()
        let (ada, wim, bench) = (world.ada, world.wim, world.bench)
        let message = try wim.send("alpha words")
        try wim.edit(message, to: "bravo words")
        bench.advance(5_000)
        for other in [world.mina, ada, world.joon] { bench.cut(wim, other) }
        try ada.delete(message)
        try wim.edit(message, to: "charlie words")
        for other in [world.mina, ada, world.joon] { bench.heal(wim, other) }
        bench.advance(60_000)
        try world.expectPeace(["-"])
        // Two redactions by now, one of them of the last edit alone.
        #expect(try ada.redactionCount() == 2)
        let back = try ada.delete(message, undo: true)
        #expect(back["text"] == "charlie words" && back["deleted"] == .null)
        bench.advance(5_000)
        bench.wall += Limits.redactionUndoMilliseconds
        bench.advance(60_000)
        try world.expectPeace(["charlie words"])
        for node in world.nodes {
            #expect(try node.texts(of: "charlie") == ["charlie words"], "\(node.name)")
        }
    }

    /// The program that deleted knew nothing of edits, or had not seen this one.
    @Test func `covers what it did not name`() throws {
        let world = try RemovalBench()
        let (wim, bench) = (world.wim, world.bench)
        let message = try wim.send("alpha words")
        try wim.edit(message, to: "bravo words")
        bench.advance(5_000)
        let edit = try wim.payload(at: try #require(try wim.said().first))
        try wim.forceDeletion(of: message)
        bench.advance(5_000)
        for node in world.nodes { #expect(try !node.holds(edit), "\(node.name)") }
        try world.expectPeace(["-"])
        #expect(try wim.redactionCount() == 2)
    }

    @Test func `leaves its author the right to delete them`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let message = try wim.send("alpha words")
        bench.advance(5_000)
        for other in [mina, ada, world.joon] { bench.cut(wim, other) }
        try ada.delete(message)
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "@Ada", "role": "member"])
        bench.advance(5_000)
        try wim.edit(message, to: "bravo words")
        let edit = try wim.payload(at: try #require(try wim.said().first))
        for other in [mina, ada, world.joon] { bench.heal(wim, other) }
        bench.advance(60_000)
        // Ada may not any more, and writes nothing that would have no effect.
        #expect(try ada.redactionCount() == 1)
        bench.wall += Limits.redactionUndoMilliseconds
        bench.advance(60_000)
        try world.expectPeace(["-"])
        #expect(try world.joon.holds(edit))
        try wim.delete(message)
        try wim.delete(message)
        bench.advance(5_000)
        for node in world.nodes { #expect(try !node.holds(edit), "\(node.name)") }
        #expect(try wim.redactionCount() == 2)
        try world.expectPeace(["-"])
    }

    @Test func `refuses further words, and tells of none that were said meanwhile`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let message = try wim.send("alpha words")
        let id = message["id"] ?? .null
        bench.advance(5_000)
        for other in [mina, ada, world.joon] { bench.cut(wim, other) }
        try ada.delete(message)
        bench.advance(5_000)
        try wim.edit(message, to: "bravo words")
        try wim.ok("message.react", ["message": id, "emoji": "👍"])
        try wim.ok("message.pin", ["message": id])
        for other in [mina, ada, world.joon] { bench.heal(wim, other) }
        bench.advance(60_000)
        for type in ["message.edited", "reaction.added", "message.pinned"] {
            for node in [mina, ada, world.joon] {
                #expect(try node.told(type).isEmpty, "\(type) \(node.name)")
            }
        }
        let calls: [(String, JSONValue)] = [
            ("message.edit", ["message": id, "text": "again"]),
            ("message.react", ["message": id, "emoji": "🎉"]), ("message.pin", ["message": id]),
        ]
        for (method, arguments) in calls {
            let refusal = try wim.refused(method, arguments)
            #expect(refusal.kind == .conflict && refusal.reason == "message.deleted")
            #expect(refusal.hint?.contains("--undo") == true, "\(method)")
        }
    }
}

struct `A deletion of an edit alone` {
    @Test func `shows what was said before it, everywhere`() throws {
        let world = try RemovalBench()
        let (wim, ada, bench) = (world.wim, world.ada, world.bench)
        let message = try wim.send("alpha words")
        try wim.edit(message, to: "bravo words @Joon")
        bench.advance(5_000)
        #expect(try world.joon.ok("channel.get", ["channel": "general"])["mentions"] == 1)
        try wim.forceRedaction(of: try #require(try wim.said().first), isOwn: true)
        bench.advance(5_000)
        try world.expectPeace(["alpha words"])
        for node in world.nodes {
            #expect(try node.texts(of: "alpha") == ["alpha words"], "\(node.name)")
            #expect(try node.texts(of: "bravo") == [], "\(node.name)")
        }
        #expect(try world.joon.ok("channel.get", ["channel": "general"])["mentions"] == 0)
        // Another's word hides it for a day before it is erased.
        try wim.edit(message, to: "charlie words")
        bench.advance(5_000)
        try ada.forceRedaction(of: try #require(try ada.said().last), isOwn: false)
        bench.advance(5_000)
        try world.expectPeace(["alpha words"])
        for node in world.nodes {
            #expect(try node.texts(of: "charlie") == [], "\(node.name)")
            let shown = try node.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
            #expect(shown["edited_at"] == .null, "\(node.name)")
        }
    }
}

struct `A deletion of an edit among others` {
    @Test(arguments: [false, true])
    func `leaves the text of today, and no trace of its own`(isAllAtOnce: Bool) throws {
        let world = try RemovalBench()
        let (wim, bench) = (world.wim, world.bench)
        let message = try wim.send("alpha words")
        for word in ["bravo", "charlie", "delta"] {
            try wim.edit(message, to: "\(word) words")
            if !isAllAtOnce { bench.advance(5_000) }
        }
        bench.advance(5_000)
        let edited = try wim.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
        let payload = try wim.payload(at: try wim.said()[1])
        try wim.forceRedaction(of: try wim.said()[1], isOwn: true)
        bench.advance(5_000)
        try world.expectPeace(["delta words"])
        for node in world.nodes {
            let shown = try node.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
            #expect(shown["edited_at"] == edited["edited_at"], "\(node.name)")
            #expect(try !node.holds(payload), "\(node.name)")
            #expect(try node.texts(of: "delta") == ["delta words"], "\(node.name)")
            #expect(try node.texts(of: "charlie") == [], "\(node.name)")
            #expect(!node.searchFiles.holds("charlie"), "\(node.name)")
        }
        // What it stood on goes on counting where the last one goes too.
        try wim.forceRedaction(of: try #require(try wim.said().last), isOwn: true)
        bench.advance(5_000)
        try world.expectPeace(["bravo words"])
        for node in world.nodes {
            #expect(try node.texts(of: "bravo") == ["bravo words"], "\(node.name)")
            #expect(!node.searchFiles.holds("delta"), "\(node.name)")
        }
    }
}

/// The index stores an edit's text under its message.
struct `The words of an edit that goes` {
    private func edited(on bench: CoreBench) throws -> (node: BenchNode, edits: [Int64]) {
        let mina = try bench.node("Mina")
        let message = try mina.send("alpha words")
        try mina.edit(message, to: "bravo words")
        try mina.edit(message, to: "charlie words")
        #expect(try mina.texts(of: "charlie") == ["charlie words"])
        #expect(mina.searchFiles.holds("charlie"))
        return (mina, try mina.said())
    }

    @Test(arguments: [0, 1])
    func `go from an index that has not come to it`(place: Int) throws {
        let bench = CoreBench()
        let (mina, edits) = try edited(on: bench)
        let core = try mina.core
        // As in a first sync: it went ahead to the message, and knows the edit by that alone.
        core.queries.search.through = edits[0] - 1
        core.queries.search.reached = edits[0] - 1
        try mina.forceRedaction(of: edits[place], isOwn: true)
        bench.settle()
        let (gone, left) = place == 0 ? ("bravo", "charlie") : ("charlie", "bravo")
        #expect(!mina.searchFiles.holds(gone))
        #expect(try mina.texts(of: left) == ["\(left) words"])
        #expect(!mina.searchFiles.holds(gone))
    }

    @Test func `go with a branch that is not kept`() throws {
        let bench = CoreBench()
        let (mina, edits) = try edited(on: bench)
        try mina.inTurn { core, _ in
            let stored = try #require(try core.turn.store.operations.operation(edits[1]))
            try core.turn.write()
            let position = ViewStore.Position(sort: stored.place.sort, arrival: edits[1])
            try core.queries.reindex([position], of: stored.document)
            try core.turn.store.view.remove([position], in: stored.document)
        }
        #expect(try mina.texts(of: "charlie") == [])
        #expect(try mina.texts(of: "bravo") == ["bravo words"])
        #expect(!mina.searchFiles.holds("charlie"))
    }
}

struct `Taking back a deletion` {
    /// What somebody deleted by a right of then is judged by that right.
    @Test func `is refused where it would have no effect`() throws {
        let world = try RemovalBench()
        let (mina, wim, joon, bench) = (world.mina, world.wim, world.joon, world.bench)
        try wim.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        let message = try mina.send("one", to: "plans")
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        try wim.delete(message)
        bench.advance(5_000)
        try wim.ok("channel.transfer", ["channel": "plans", "member": "@Joon"])
        bench.advance(5_000)
        #expect(try joon.shownTexts(in: "plans") == ["-"])
        let refusal = try joon.deletionRefused(message, undo: true)
        #expect(refusal.reason == "message.deleted_by_another")
        #expect(try joon.redactionCount() == 1)
        #expect(try mina.delete(message, undo: true)["text"] == "one")
    }

    @Test func `finds the workspace by the message, as deleting does`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let message = try mina.send("one")
        try mina.ok("workspace.create", ["name": "other"])
        #expect(try mina.delete(message)["deleted"] != .null)
    }
}

struct `A payload that comes back` {
    /// Loses the payload of a message, and its row, as a redaction that ends leaves it.
    private func lose(_ message: JSONValue, of node: BenchNode, keepsRow: Bool) throws -> [UInt8] {
        let core = try node.core
        let payload = try node.payload(of: message)
        let key = try #require(message["id"]?.stringValue.flatMap(PublicID.messageKey))
        let row = try #require(try core.turn.store.view.message(key))
        try core.turn.store.begin()
        try core.turn.store.operations.erasePayload(of: row.position.arrival)
        try core.turn.store.operations.setMissing(true, row.position.arrival)
        try core.turn.store.view.setMention(false, of: row)
        if !keepsRow { try core.turn.store.view.remove([row.position], in: row.document) }
        core.queries.reindex(row)
        try core.turn.store.commit()
        return payload
    }

    private func find(_ message: JSONValue, on node: BenchNode) throws -> JSONValue {
        try node.ok("message.get", ["ids": [message["id"] ?? .null]]).items[0]
    }

    @Test(arguments: [true, false])
    func `shows again, and is found again`(keepsRow: Bool) throws {
        let world = try RemovalBench()
        let (wim, joon, bench) = (world.wim, world.joon, world.bench)
        let message = try wim.send("hello @Joon")
        bench.advance(5_000)
        let others = [world.mina, world.ada, wim]
        for other in others { bench.cut(joon, other) }
        let payload = try lose(message, of: joon, keepsRow: keepsRow)
        bench.advance(5_000)
        #expect(try joon.texts(of: "hello") == [])
        for other in others { bench.heal(joon, other) }
        try joon.ok("node.check", ["repair": true])
        bench.advance(60_000)
        #expect(try joon.payload(of: message) == payload)
        #expect(try joon.texts(of: "hello") == ["hello @Joon"])
        #expect(try joon.ok("channel.get", ["channel": "general"])["mentions"] == 1)
        #expect(try joon.ok("node.check")["problem_count"] == 0)
    }

    @Test func `while the node is locked shows when it is opened`() throws {
        let bench = CoreBench()
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let message = try joon.send("hello @Mina")
        bench.advance(5_000)
        bench.cut(mina, joon)
        let payload = try lose(message, of: mina, keepsRow: false)
        try mina.ok("lock.now")
        bench.heal(mina, joon)
        bench.advance(60_000)
        #expect(try mina.rowCount("absent") == 0)
        #expect(try mina.rowCount("message") == 0)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try mina.payload(of: message) == payload)
        #expect(try find(message, on: mina)["text"] == "hello @Mina")
        #expect(try mina.texts(of: "hello") == ["hello @Mina"])
        #expect(try mina.ok("node.check")["problem_count"] == 0)
    }
}

struct `A search after somebody was removed` {
    @Test func `finds nothing that lies beyond the cut, and what lies before it`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        try wim.send("zulu before")
        bench.advance(5_000)
        for far in [mina, ada] {
            for near in [wim, joon] { bench.cut(far, near) }
        }
        let late = try wim.send("zulu after")
        bench.advance(5_000)
        #expect(try joon.texts(of: "zulu") == ["zulu after", "zulu before"])
        try mina.ok("member.remove", ["member": "Wim", "force": true])
        for near in [joon] {
            bench.heal(mina, near)
            bench.heal(ada, near)
        }
        bench.advance(60_000)
        for node in [mina, ada, joon] {
            #expect(try node.texts(of: "zulu") == ["zulu before"], "\(node.name)")
        }
        // Nor does deleting what is not shown to anybody change that.
        #expect(
            try joon.refused("message.react", ["message": late["id"] ?? .null, "emoji": "👍"])
                .kind == .notFound)
    }
}
