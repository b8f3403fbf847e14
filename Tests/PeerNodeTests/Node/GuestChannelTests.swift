import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A guest that does not keep to it, with the keys that it has.
@Suite struct `A guest makes` {
    @Test(arguments: [false, true])
    func `no channel with others in it, and was one only as a member`(isMember: Bool) throws {
        let table = try GuestTable()
        let others = [try table.ada.workspace().member, try table.cleo.workspace().member]
        let maker = isMember ? table.bob : table.gita
        try maker.inTurn { core, known in
            let seats =
                [PrivateSeat(known.member, .owner)] + others.map { PrivateSeat($0, .member) }
            let root = PrivateRoot(
                subtype: .channel, seats: seats.sorted { $0.member < $1.member }, history: .all,
                name: "trap")
            _ = try core.makePrivate(root, in: known)
        }
        table.bench.advance(20_000)
        for node in [table.ada, table.cleo] {
            let names = try node.ok("channel.list").texts("name")
            #expect(names.contains("trap") == isMember, "\(node.name)")
        }
        #expect(try table.ada.digest() == table.bob.digest())
    }

    /// Whoever refuses a command has written nothing before: the node would be made anew.
    @Test func `no owner, and the owner is told why`() throws {
        let table = try GuestTable()
        try table.ada.ok("invite.create")
        let before = try table.ada.workspace().authorityOrder.count
        let refused = try table.ada.refused("workspace.transfer", ["member": "Gita"])
        #expect(refused.kind == .forbidden && refused.reason == "transfer.guest")
        #expect(try table.ada.workspace().authorityOrder.count == before)
    }
}
