import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// The stored payloads of what is said about messages of a channel, as they came.
    fileprivate func saidPayloads(in channel: String = "general") throws -> [[UInt8]] {
        let core = try #require(host?.core)
        let workspace = try workspace()
        let found = workspace.channelIndex.all.first { $0.name == channel }
        let number = try #require(found).number
        return try core.turn.store.view.annotations(of: number).map { row in
            try #require(try core.turn.store.operations.operation(row.row.arrival)).entry.payload
        }
    }

    @discardableResult
    fileprivate func edit(_ message: JSONValue, to text: String) throws -> JSONValue {
        try ok("message.edit", ["message": message["id"] ?? .null, "text": .string(text)])
    }
}

/// How three parts of the program treat one message: its edits, its deletion, the search.
struct `An edited message` {
    @Test func `is found by the words it has today`() throws {
        let world = try RemovalBench()
        let message = try world.wim.send("alpha words")
        world.bench.advance(5_000)
        #expect(try world.ada.texts(of: "alpha") == ["alpha words"])
        try world.wim.edit(message, to: "bravo words")
        world.bench.advance(5_000)
        for node in [world.wim, world.ada] {
            #expect(try node.texts(of: "alpha") == [])
            #expect(try node.texts(of: "bravo") == ["bravo words"])
        }
    }

    @Test func `takes all it ever said with it when it is deleted`() throws {
        let world = try RemovalBench()
        let (wim, bench) = (world.wim, world.bench)
        let nodes = [world.mina, world.ada, wim, world.joon]
        let message = try wim.send("alpha words")
        try wim.edit(message, to: "bravo words")
        try wim.edit(message, to: "charlie words")
        bench.advance(5_000)
        let id = message["id"] ?? .null
        try world.joon.ok("message.react", ["message": id, "emoji": "👍"])
        bench.advance(5_000)
        let edits = try wim.saidPayloads().prefix(2)
        let payloads = try [wim.payload(of: message)] + edits
        #expect(edits.count == 2)
        try wim.delete(message)
        bench.advance(5_000)
        for node in nodes {
            for payload in payloads { #expect(try !node.holds(payload), "\(node.name)") }
            #expect(try node.shownTexts(in: "general") == ["-"], "\(node.name)")
            let shown = try node.ok("message.get", ["ids": [id]]).items[0]
            #expect(shown["edited_at"] == .null && shown["reactions"] == [], "\(node.name)")
            for word in ["alpha", "bravo", "charlie"] {
                #expect(try node.texts(of: word) == [], "\(node.name)")
                #expect(!node.searchFiles.holds(word), "\(node.name)")
            }
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        #expect(Set(try nodes.map { try $0.digest() }).count == 1)
    }

    /// The deletion also covers later edits by an author who had not heard of it.
    @Test func `stays deleted when its author edits it meanwhile`() throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        let others = [mina, world.ada, world.joon]
        let message = try wim.send("alpha words")
        bench.advance(5_000)
        for other in others { bench.cut(wim, other) }
        try mina.delete(message)
        try wim.edit(message, to: "bravo words")
        let edit = try #require(try wim.saidPayloads().first)
        for other in others { bench.heal(wim, other) }
        bench.advance(60_000)
        for node in others + [wim] {
            #expect(try node.shownTexts(in: "general") == ["-"], "\(node.name)")
            #expect(try node.texts(of: "bravo") == [], "\(node.name)")
        }
        bench.wall += Limits.redactionUndoMilliseconds
        bench.advance(60_000)
        for node in others + [wim] {
            #expect(try !node.holds(edit), "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        #expect(Set(try (others + [wim]).map { try $0.digest() }).count == 1)
    }
}
