import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Rule 11 of the rules of trust: people are told of everything that somebody else could have used.
struct `A transfer by a device that its owner has revoked` {
    @Test func `is undone, and everybody who had seen it is told`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        let joon = try bench.guest("Joon", of: laptop)
        try laptop.link(phone)
        bench.advance(20_000)
        let (seen, before) = (try joon.cursor(), try laptop.cursor())
        for other in [phone, joon] { bench.cut(laptop, other) }
        // Its own program says so before.
        for refused in [
            try phone.refused("workspace.transfer", ["member": "Joon"]),
            try leaving(phone, for: joon),
        ] {
            #expect(refused.reason == "device.older" && refused.kind == .forbidden)
        }
        try phone.inTurn { core, workspace in
            let member = try joon.workspace().member
            let heir = try #require(workspace.members.first { $0.member == member })
            _ = try #require(try WorkspaceHandler(core).passOn(workspace, to: heir))
        }
        bench.advance(5_000)
        #expect(try joon.ok("workspace.get")["role"] == "owner")
        try laptop.ok(
            "device.revoke", ["device": .string(try phone.deviceID())])
        bench.heal(laptop, joon)
        bench.advance(60_000)
        #expect(try laptop.ok("workspace.get")["role"] == "owner")
        #expect(try joon.ok("workspace.get")["role"] == "member")
        let told = try joon.events(since: seen, types: ["node.warning"]).compactMap { $0["data"] }
            .filter { $0["kind"] == "transfer.undone" }
        #expect(told.count == 1)
        #expect(
            told.first?["message"]
                == .string(
                    "Mina handed acme to Joon; that was undone, and no longer counts"))
        // Here the owner was who it had been.
        let own = try laptop.events(since: before, types: ["node.warning"])
        #expect(!own.contains { $0["data"]?["kind"] == "transfer.undone" })
    }

    /// What an owner is told who leaves, and whose successor is somebody.
    private func leaving(_ node: BenchNode, for heir: BenchNode) throws -> NodeError {
        try node.ok("workspace.successor.set", ["member": .string(heir.name)])
        return try node.refused("workspace.leave")
    }
}
