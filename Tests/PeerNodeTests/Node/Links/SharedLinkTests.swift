import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Two nodes that share a workspace, one of which joins another one by the other's invite while
/// they have no link.
struct `A link that began as a coming in` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        bench.advance(20_000)
        bench.cut(mina, joon)
    }

    private func meetInAnother() throws {
        try mina.ok("workspace.create", ["name": "beta"])
        let invite = try mina.ok("invite.create", ["workspace": "beta"])["link"] ?? .null
        bench.heal(mina, joon)
        try joon.ok("workspace.join", ["link": invite, "name": "Joon"])
        bench.advance(2_000)
        let link = try #require(
            joon.host?.core.links.network.links.values.first { $0.peer?.labels == [.joining] })
        #expect(link.syncs.count == 2)
    }

    private func texts(_ node: BenchNode) throws -> [String?] {
        try node.ok("message.history", ["workspace": "acme", "channel": "general"]).items
            .map { $0["text"]?.stringValue }
    }

    @Test func `carries what both were in before`() throws {
        try mina.send("while you were away")
        try joon.send("and you")
        try meetInAnother()
        #expect(try Set(texts(joon)) == ["while you were away", "and you"])
        #expect(try texts(mina) == texts(joon))
    }

    @Test func `tells a member who was removed elsewhere about it`() throws {
        try mina.ok("member.remove", ["member": "@Joon", "force": true])
        try meetInAnother()
        let list = try joon.ok("workspace.list").items
        #expect(list.first { $0["name"] == "acme" }?["role"] == .null)
        #expect(list.first { $0["name"] == "beta" }?["role"] == "member")
    }
}
