import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The workspace's incremental state, so that no command scans the whole authority document.
struct `What is kept from one operation to the next` {
    private let bench = CoreBench()

    private func expectFresh(_ nodes: [BenchNode], after step: String) throws {
        for node in nodes {
            let stale = try node.workspace().staleDerivations
            #expect(stale.isEmpty, "\(node.name), \(step)")
        }
    }

    @Test func `is what follows from all of them`() throws {
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let joon = try bench.guest("Joon", of: mina)
        let all = [mina, ada, joon]
        try expectFresh(all, after: "admissions")
        let held = try mina.ok("invite.create", ["uses": 3])
        let steps: [(BenchNode, String, JSONValue)] = [
            (mina, "channel.create", ["name": "sea"]),
            (joon, "channel.create", ["name": "seа"]),
            (joon, "channel.create", ["name": "land", "private": true]),
            (ada, "policy.set", ["who_may_invite": "members"]),
            (joon, "invite.create", ["uses": 2]),
            (mina, "workspace.edit", ["name": "harbour"]),
            (joon, "profile.set", ["name": "Mina"]),
            (ada, "channel.edit", ["channel": "sea", "name": "ocean"]),
            (mina, "invite.revoke", ["id": held["id"] ?? .null]),
            (mina, "member.role", ["member": "Ada", "role": "member"]),
            (mina, "member.remove", ["member": "Ada"]),
        ]
        for (node, method, fields) in steps {
            try node.ok(method, fields)
            bench.advance(3_000)
            try expectFresh(all, after: method)
        }
        let late = try bench.guest("Late", of: mina)
        try expectFresh([mina, joon, late], after: "an admission")
        #expect(try mina.workspace().fields.name == "harbour")
        #expect(try joon.memberNames().contains("Late"))
    }
}
