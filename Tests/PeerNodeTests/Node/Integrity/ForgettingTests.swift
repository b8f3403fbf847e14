import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A workspace with an ended membership that is removed from this home.
struct `A workspace that is over` {
    private let bench = CoreBench()

    /// Mina owns acme, in which Joon has written; Joon has a workspace of his own beside it.
    private func world() throws -> (mina: BenchNode, joon: BenchNode) {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("workspace.create", ["name": "side"])
        try joon.ok("workspace.select", ["workspace": "acme"])
        try joon.send("from Joon")
        try joon.ok("dm.open", ["members": ["Mina"]])
        bench.advance(5_000)
        return (mina, joon)
    }

    private func rows(_ node: BenchNode) throws -> [Int64] {
        try ["operation", "message", "workspace", "event WHERE workspace IS NOT NULL", "epoch_key"]
            .map(node.rowCount)
    }

    @Test func `is not selected any more, and gives its name back`() throws {
        let (mina, joon) = try world()
        #expect(try joon.ok("workspace.get")["name"] == "acme")
        try joon.ok("workspace.leave")
        bench.advance(5_000)
        let listed = try joon.ok("workspace.list").items
        #expect(
            listed.map { [$0["name"], $0["selected"], $0["state"]] } == [
                ["acme", false, "left"], ["side", true, "member"],
            ])
        #expect(try joon.ok("workspace.get")["name"] == "side")
        let refused = try joon.refused("workspace.select", ["workspace": "acme"])
        #expect(refused.kind == .notFound && refused.reason == "workspace.left")
        // What was there is read by its name, until somebody makes another one of that name.
        let log = try joon.ok("message.history", ["channel": "general", "workspace": "acme"])
        #expect(log.texts("text") == ["from Joon"])
        try joon.ok("workspace.create", ["name": "acme"])
        #expect(try joon.ok("workspace.get", ["workspace": "acme"])["state"] == "member")
        try mina.ok("workspace.delete", ["name": "acme"])
        #expect(try mina.ok("workspace.get")["state"] == "deleted")
        #expect(try mina.ok("workspace.get")["selected"] == false)
        try mina.ok("workspace.create", ["name": "acme"])
        #expect(try mina.ok("workspace.get")["state"] == "member")
    }

    @Test func `is forgotten with all that it left here, and nobody else loses anything`() throws {
        let (mina, joon) = try world()
        #expect(
            try joon.refused("workspace.forget", ["workspace": "acme"]).reason
                == "workspace.member")
        try joon.ok("workspace.leave")
        bench.advance(5_000)
        let cursor = try joon.cursor()
        let gone = try joon.ok("workspace.forget", ["workspace": "acme"])
        #expect(gone["name"] == "acme" && gone["state"] == "left")
        #expect(try joon.ok("workspace.list").texts("name") == ["side"])
        let event = try #require(try joon.events(since: cursor).first)
        #expect(event["type"] == "workspace.forgotten" && event["data"]?["id"] == gone["id"])
        bench.advance(5_000)
        // What is left is what a home has that never heard of it.
        let fresh = try bench.node("Fresh", workspace: "side")
        let (left, wanted) = (try rows(joon), try rows(fresh))
        #expect(left[1...2] == wanted[1...2] && left[0] <= wanted[0] + 2, "\(left) \(wanted)")
        #expect(try joon.rowCount("document") == fresh.rowCount("document"))
        #expect(try joon.ok("node.check")["problem_count"] == 0)
        try joon.restart()
        #expect(try joon.ok("workspace.list").texts("name") == ["side"])
        #expect(try mina.log() == ["from Joon"])
        // Who comes in again is new there, and fetches what others have.
        try joon.comeBack(to: mina, in: bench)
        try joon.ok("workspace.select", ["workspace": "acme"])
        #expect(try joon.log() == ["from Joon"])
        try joon.send("again")
        bench.advance(5_000)
        #expect(try mina.log() == ["from Joon", "again"])
        #expect(try joon.digest() == mina.digest())
    }

    @Test func `is kept while nobody knows that its person left`() throws {
        let (mina, joon) = try world()
        bench.cut(mina, joon)
        try joon.ok("workspace.leave")
        let refused = try joon.refused("workspace.forget", ["workspace": "acme"])
        #expect(refused.kind == .unsynced && refused.reason == "workspace.unsent")
        bench.heal(mina, joon)
        bench.advance(5_000)
        try joon.ok("workspace.forget", ["workspace": "acme"])
    }

    @Test func `is deleted with what its person asked of it`() throws {
        let (mina, joon) = try world()
        let link = try mina.link()
        try joon.ok("workspace.leave")
        bench.advance(5_000)
        #expect(joon.ask(link) == "pending")
        bench.advance(2_000)
        #expect(try joon.warnings().contains("join.pending"))
        try joon.ok("workspace.forget", ["workspace": "acme"])
        bench.advance(30_000)
        #expect(try !joon.warnings().contains("join.pending"))
        #expect(try joon.ok("workspace.list").texts("name") == ["side"])
        #expect(try joon.ok("peer.list").texts("name").contains { $0.hasPrefix("u_") } == false)
    }

    @Test func `is said to be deleted to who opens a link into it`() throws {
        let (mina, joon) = try world()
        let link = try mina.link()
        try mina.ok("workspace.delete", ["name": "acme"])
        bench.advance(5_000)
        let refused = try joon.refused("workspace.join", ["link": .string(link)])
        #expect(refused.kind == .notFound && refused.reason == "workspace.deleted")
        #expect(try joon.ok("workspace.get")["name"] == "side")
    }

    /// Leftovers would appear under the number of the new one.
    @Test func `is come into again at once, before all of it is erased`() throws {
        let (mina, joon) = try world()
        let link = try mina.link()
        try joon.ok("workspace.leave")
        bench.advance(5_000)
        try joon.ok("workspace.forget", ["workspace": "acme"])
        #expect(joon.ask(link) == "pending")
        bench.advance(2_000)
        try mina.decide("join.approve")
        bench.advance(10_000)
        try joon.ok("workspace.select", ["workspace": "acme"])
        try joon.send("again", to: "general")
        bench.advance(5_000)
        #expect(try mina.log() == ["from Joon", "again"])
        #expect(try joon.digest() == mina.digest())
        #expect(try joon.ok("node.check")["problem_count"] == 0)
    }

    @Test func `deletes nothing that was read elsewhere`() throws {
        let (_, joon) = try world()
        let kim = try bench.node("Kim", workspace: "kims")
        try joon.ok("workspace.join", ["link": .string(try kim.link())])
        bench.advance(5_000)
        for text in ["one", "two"] {
            try kim.send(text)
            bench.advance(1_000)
            try joon.ok("read.mark", ["channel": "general", "workspace": "kims"])
        }
        try joon.ok("workspace.leave", ["workspace": "acme"])
        bench.advance(5_000)
        try joon.ok("workspace.forget", ["workspace": "acme"])
        bench.advance(1_000)
        let channel = try joon.ok("channel.get", ["channel": "general", "workspace": "kims"])
        #expect(channel["unread"] == 0)
    }

    /// A crash while its rows are being erased.
    @Test func `goes on to be erased after a crash`() throws {
        let (_, joon) = try world()
        try joon.ok("workspace.leave")
        bench.advance(5_000)
        try joon.ok("workspace.forget", ["workspace": "acme"])
        joon.kill()
        try joon.boot()
        bench.advance(5_000)
        #expect(try joon.rowCount("workspace") == 1)
        #expect(try joon.ok("node.check")["problem_count"] == 0)
    }

    /// Somebody who was removed still reads, until they want it gone.
    @Test func `is forgotten by who was removed, while others are linked`() throws {
        let (mina, joon) = try world()
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        #expect(try joon.ok("workspace.get")["name"] == "acme")
        try joon.ok("workspace.forget", ["workspace": "acme"])
        bench.advance(5_000)
        #expect(try joon.ok("workspace.list").texts("name") == ["side"])
    }
}
