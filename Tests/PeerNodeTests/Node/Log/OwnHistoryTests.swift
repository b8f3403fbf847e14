import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The first write after a start` {
    @Test func `is the only thing that waits`() {
        let waiting = Command.methods.filter { $0.effect == .signs }.map(\.name)
        for method in ["message.send", "channel.create", "invite.create", "invite.revoke"] {
            #expect(waiting.contains(method))
        }
        for method in [
            "message.history", "message.get", "channel.list", "node.status", "node.stop",
            "events.wait", "peer.add", "net.suspend", "workspace.select", "node.check", "why",
            "backup.create", "identity.create", "rpc.discover",
        ] where Command.methods.contains(where: { $0.name == method }) {
            #expect(!waiting.contains(method), "\(method) would wait")
        }
    }

    @Test func `goes on as soon as the peer has spoken`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        try mina.restart()
        let begun = bench.monotonic
        try mina.send("soon")
        #expect(bench.monotonic - begun <= 1_500)
        bench.advance(1_000)
        #expect(try joon.log() == ["soon"])
    }

    /// A key that has to be written at once, as after somebody left, goes into a new log.
    @Test func `begins a log of its own where it cannot wait`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let image = try mina.image
        let guardBytes = mina.files.guardBytes
        try mina.ok("invite.create")
        bench.advance(5_000)
        mina.kill()
        try mina.replaceStore(image)
        mina.files.guardBytes = guardBytes
        try mina.boot()
        let core = try #require(mina.host?.core)
        let former = try #require(core.session.storeIdentity)
        // As if the peer had not answered yet.
        core.links.network.ownHistory.begin(at: mina.time.monotonic)
        for link in core.links.network.links.values {
            for sync in link.syncs.values { sync.knowsOwnHistory = false }
        }
        try mina.author(.feature(1))
        #expect(core.session.storeIdentity?.incarnation != former.incarnation)
        bench.advance(60_000)
        #expect(try joon.eventTypes().allSatisfy { $0 != "fork.found" })
        #expect(try mina.digest() == joon.digest())
    }

    @Test func `waits for those who ask to be let in, too`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let link = try mina.link(["uses": 3])
        bench.advance(5_000)
        try mina.restart()
        let lee = try bench.bareNode("Lee")
        try lee.join(link)
        bench.advance(10_000)
        #expect(try joon.ok("member.list").texts("name").sorted() == ["Joon", "Lee", "Mina"])
    }
}
