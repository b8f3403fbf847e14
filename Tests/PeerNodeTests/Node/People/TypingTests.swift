import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Typing indicators, sent to those who may read the document.
struct `Typing` {
    private typealias Table = `Private channels`.Table

    private static func heard(_ node: BenchNode) -> [JSONValue] {
        Presence.take(node).filter { $0["type"] == "typing" }.compactMap { $0["data"] }
    }

    @Test func `is told to everybody in a public channel, once in ten seconds`() throws {
        let table = try Table()
        for node in [table.ada, table.bob, table.cleo] { try Presence.listen(node) }
        for _ in 0..<5 { try table.bob.ok("typing.send", ["channel": "general"]) }
        table.bench.advance(200)
        for node in [table.ada, table.cleo] {
            let events = Self.heard(node)
            #expect(events.count == 1)
            #expect(events.first?["member"]?["name"] == "Bob")
            #expect(
                events.first?["channel"]
                    == (try node.ok("channel.get", ["channel": "general"]))["id"])
        }
        #expect(Self.heard(table.bob).isEmpty)
        try table.bob.ok("channel.create", ["name": "plans"])
        try table.bob.ok("typing.send", ["channel": "plans"])
        table.bench.advance(200)
        #expect(Self.heard(table.ada).count == 1)
        table.bench.advance(Limits.typingMilliseconds)
        try table.bob.ok("typing.send", ["channel": "general"])
        table.bench.advance(200)
        #expect(Self.heard(table.ada).count == 1)
        #expect(try table.ada.events(types: ["typing"]).isEmpty)
        #expect(try table.bob.refused("typing.send", ["channel": "nowhere"]).kind == .notFound)
    }

    @Test func `is told to nobody by who wants to look offline`() throws {
        let table = try Table()
        try Presence.listen(table.ada)
        try table.bob.ok("presence.set", ["state": "offline"])
        table.bench.advance(3_000)
        try table.bob.ok("typing.send", ["channel": "general"])
        table.bench.advance(200)
        #expect(Self.heard(table.ada).isEmpty)
        try table.bob.ok("presence.clear")
        table.bench.advance(3_000)
        try table.bob.ok("typing.send", ["channel": "general"])
        table.bench.advance(200)
        #expect(Self.heard(table.ada).count == 1)
    }

    @Test func `in a private channel is for its people alone`() throws {
        let table = try Table()
        for node in [table.ada, table.bob, table.cleo] { try Presence.listen(node) }
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        table.bench.advance(1_000)
        var wire = 0
        let core = try #require(table.bob.host).core
        let ada = try #require(table.ada.host?.core.session.ownDevice)
        let link = try #require(core.links.network.links(to: ada).first)
        wire = link.session.unsentBytes
        try table.bob.ok("typing.send", ["channel": "board"])
        #expect(link.session.unsentBytes == wire)
        table.bench.advance(200)
        #expect(Self.heard(table.cleo).count == 1)
        #expect(Self.heard(table.ada).isEmpty)
        // Ada owns the workspace, and is refused as if there were no such channel.
        #expect(try table.ada.refused("typing.send", ["channel": "board"]).kind == .notFound)
        // In a conversation that nobody has opened there is nobody to tell, and nothing is opened.
        let count = try `What was read`.operations(table.bob)
        try table.bob.ok("typing.send", ["channel": "@Ada"])
        #expect(try `What was read`.operations(table.bob) == count)
        try table.bob.ok("message.send", ["channel": "@Ada", "text": "psst"])
        table.bench.advance(1_000)
        try table.bob.ok("typing.send", ["channel": "@Ada"])
        table.bench.advance(200)
        #expect(Self.heard(table.ada).count == 1)
        #expect(Self.heard(table.cleo).isEmpty)
    }

    @Test func `is not believed of somebody who may not read the channel`() throws {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try Presence.listen(table.ada)
        let core = try #require(table.ada.host).core
        let workspace = try #require(try core.membership.selectedWorkspace())
        let bob = try #require(table.bob.host?.core.session.ownDevice)
        let link = try #require(core.links.network.links(to: bob).first)
        let board = try #require(workspace.channelIndex.all.first { $0.name == "board" })
        core.presence.typingHeard(board.id, in: workspace, on: link)
        core.presence.typingHeard(workspace.profileDocument, in: workspace, on: link)
        core.presence.typingHeard(workspace.mailboxDocument, in: workspace, on: link)
        core.presence.typingHeard(DocumentID(sameBytesAs: workspace.id), in: workspace, on: link)
        core.presence.typingHeard(.zero, in: workspace, on: link)
        #expect(Self.heard(table.ada).isEmpty)
        // And of what is said too often the most is dropped.
        let general = try #require(workspace.channelIndex.all.first { $0.name == "general" })
        for _ in 0..<100 { core.presence.typingHeard(general.id, in: workspace, on: link) }
        #expect(Self.heard(table.ada).count == 1)
    }

    @Test func `reaches a guest in the guest's channel, and no other`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        try ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        let gil = try bench.bareNode("Gil")
        try gil.join(try ada.link(["role": "guest", "channels": ["board"]]))
        bench.advance(5_000)
        try Presence.listen(gil)
        try Presence.listen(ada)
        try ada.ok("typing.send", ["channel": "general"])
        bench.advance(200)
        #expect(Self.heard(gil).isEmpty)
        try ada.ok("typing.send", ["channel": "board"])
        try gil.ok("typing.send", ["channel": "board"])
        bench.advance(200)
        #expect(Self.heard(gil).count == 1)
        #expect(Self.heard(ada).first?["member"]?["name"] == "Gil")
        #expect(!Presence.take(gil).contains { $0["type"] == "presence.changed" })
    }

    @Test func `has a budget that fills up with time`() {
        var budget = Allowance(
            tokens: UInt64(Limits.passingWordsMax),
            refillMilliseconds: Limits.passingWordMilliseconds)
        var taken = 0
        for _ in 0..<100 where budget.take(at: 1_000_000) { taken += 1 }
        #expect(taken == Limits.passingWordsMax)
        let later: [UInt64] = [
            1_000_000 + Limits.passingWordMilliseconds - 1,
            1_000_000 + Limits.passingWordMilliseconds,
            1_000_000 + Limits.passingWordMilliseconds, .max,
        ]
        #expect(later.map { now in budget.take(at: now) } == [false, true, false, true])
    }
}
