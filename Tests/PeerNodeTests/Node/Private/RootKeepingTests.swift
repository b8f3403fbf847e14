import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A private document outlives the device that created it: others' content belongs to them.
struct `The root of a private document` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let joon: BenchNode
    private let ada: BenchNode
    private let phone: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        ada = try bench.guest("Ada", of: mina)
        phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(20_000)
    }

    /// Joon's other device takes the phone back as if it had never done anything.
    private func takeBack() throws {
        let device = try #require(phone.host?.core.session.home?.device)
        try joon.author(.removeDevice(device, cuts: [], rekey: nil))
        bench.advance(120_000)
    }

    private func texts(_ node: BenchNode, in channel: String) throws -> Set<String> {
        Set(
            try node.ok("message.history", ["channel": .string(channel), "limit": 100]).items
                .filter { $0["state"] != "refused" }.compactMap { $0["text"]?.stringValue })
    }

    @Test func `stays with what others said in a conversation`() throws {
        let opened = try phone.ok("dm.open", ["members": ["Mina", "Ada"]])
        let id = try #require(opened["id"]?.stringValue)
        bench.advance(20_000)
        try mina.send("of Mina", to: id)
        try ada.send("of Ada", to: id)
        bench.advance(20_000)
        try phone.send("of the phone", to: id)
        bench.advance(20_000)
        try takeBack()
        for node in [mina, ada, joon] {
            #expect(try texts(node, in: id) == ["of Mina", "of Ada"], "\(node.name)")
            try node.restart()
            #expect(try texts(node, in: id) == ["of Mina", "of Ada"], "\(node.name)")
            #expect(try node.ok("node.check")["ok"] == true, "\(node.name)")
        }
        #expect(Set(try [mina, ada, joon].map { try $0.digest() }).count == 1)
        try ada.send("and on", to: id)
        bench.advance(20_000)
        #expect(try texts(mina, in: id).contains("and on"))
    }

    @Test func `stays in whatever order its end and what others said come`() throws {
        let opened = try phone.ok("dm.open", ["members": ["Mina", "Ada"]])
        let id = try #require(opened["id"]?.stringValue)
        bench.advance(20_000)
        // Ada writes before she hears of it, and Mina hears of that last.
        bench.cut(ada, mina)
        bench.cut(ada, joon)
        bench.cut(ada, phone)
        try ada.send("of Ada", to: id)
        try takeBack()
        #expect(try mina.digest() == joon.digest())
        bench.heal(ada, mina)
        bench.heal(ada, joon)
        bench.advance(240_000)
        for node in [mina, ada, joon] {
            #expect(try texts(node, in: id) == ["of Ada"], "\(node.name)")
            #expect(try node.ok("node.check")["ok"] == true, "\(node.name)")
        }
        #expect(Set(try [mina, ada, joon].map { try $0.digest() }).count == 1)
        // A relay that comes later holds the same.
        let late = try bench.guest("Late", of: mina)
        bench.advance(120_000)
        #expect(try late.digest() == mina.digest())
    }

    // Excess branches of a log without counted operations are pruned, and the
    // root stays on every node.
    @Test func `stays where its log has more branches than may be kept`() throws {
        let opened = try phone.ok("dm.open", ["members": ["Mina", "Ada"]])
        let id = try #require(opened["id"]?.stringValue)
        bench.advance(20_000)
        try ada.send("of Ada", to: id)
        bench.advance(20_000)
        try takeBack()
        let channel = try #require(
            mina.workspace().channelIndex.all.first { $0.publicID == id })
        let document = channel.id
        try mina.inTurn { core, workspace in
            let log = try #require(
                core.turn.store.operations.branches(in: document, of: workspace.number)
                    .first { $0.forkSequence == 0 && $0.log.device != core.session.ownDevice }
            ).log
            core.log.pruning.overgrown.insert(.init(workspace: workspace.number, log: log))
            try core.log.pruning.pruneOvergrown()
            #expect(try core.privates.roots.isRootKept(of: document, in: workspace))
        }
        #expect(try texts(mina, in: id) == ["of Ada"])
        #expect(try mina.digest() == ada.digest())
    }

    @Test func `goes where nobody else said anything`() throws {
        let opened = try phone.ok("dm.open", ["members": ["Mina", "Ada"]])
        let id = try #require(opened["id"]?.stringValue)
        try phone.send("of the phone", to: id)
        bench.advance(20_000)
        try takeBack()
        for node in [mina, ada] {
            #expect((try? texts(node, in: id)) ?? [] == [], "\(node.name)")
        }
        #expect(try mina.digest() == ada.digest())
    }
}
