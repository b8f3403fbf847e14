import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Queries of other parts about verdicts on an authority document.
struct `A question about verdicts` {
    let bench = CoreBench()

    @Test func `tells who is in, as whom, and as what`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let workspace = try mina.workspace()
        let judged = workspace.judged
        let (host, member) = (workspace.member, try joon.workspace().member)
        let device = try #require(
            judged.everybody.first { $0.member == member }?.devices.first)
        let own = try #require(mina.host?.core.turn.session.home?.device)
        #expect(judged.isIn(device) && judged.isIn(device, as: member))
        #expect(!judged.isIn(device, as: host))
        #expect(judged.role(of: device) == .member && judged.role(of: own) == .owner)
        #expect(judged.members(of: device) == [member])
        #expect(judged.isAdmitted(member) && judged.hasLetIn(member))

        try mina.ok("member.remove", ["member": "Joon"])
        #expect(!judged.isIn(device) && judged.bestGrant(of: device, as: member) == nil)
        #expect(judged.role(of: device) == nil && judged.lastRole(of: member) == .member)
        #expect(judged.members(everUsing: device) == [member])
        #expect(judged.isAdmitted(member) && judged.hasLetIn(member))
        let core = try #require(mina.host).core
        let ends = core.membership.revocations(ending: member, in: workspace)
        #expect(ends.count == 1 && judged.membershipEnds == ends)
        #expect(core.membership.revocations(ending: host, in: workspace).isEmpty)
    }

    @Test func `is answered alike by a judgement from nothing`() throws {
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        let workspace = try mina.workspace()
        let order = workspace.authorityOrder
        let fresh = try #require(workspace.judged.judgedAnew(order))
        for id in order {
            #expect(fresh.isValid(id) == workspace.judged.isValid(id))
            #expect(fresh.lamport(of: id) == workspace.judged.lamport(of: id))
            #expect(!workspace.judged.isFaulty(id) && workspace.judged.isWellBound(id))
        }
        let rootless = try #require(workspace.judged.judgedAnew(Array(order.dropFirst())))
        #expect(order.allSatisfy { !rootless.contains($0) })
    }

    @Test func `about an invite tells whether all of its uses are`() throws {
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        let workspace = try mina.workspace()
        let invites = workspace.authorityOrder.filter {
            if case .invite? = workspace.authority[$0]?.payload { true } else { false }
        }
        let used = workspace.invites.used
        #expect(!invites.isEmpty)
        for invite in invites {
            guard case .invite(let terms)? = workspace.authority[invite]?.payload else { continue }
            let isUsedUp = UInt64(used[invite] ?? 0) >= terms.maximum
            #expect(workspace.judged.isUsedUp(invite) == isUsedUp)
        }
    }
}
