import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A guest that ignores its limits, with the keys that it has.
struct `A guest makes` {
    @Test(arguments: [false, true])
    func `no channel with others in it, but could as a member`(isMember: Bool) throws {
        let table = try GuestTable()
        let others = [try table.ada.workspace().member, try table.cleo.workspace().member]
        let maker = isMember ? table.bob : table.gita
        try maker.inTurn { core, known in
            let seats =
                [PrivateSeat(known.member, .owner)] + others.map { PrivateSeat($0, .member) }
            let root = PrivateRoot(
                subtype: .channel, seats: seats.sorted { $0.member < $1.member }, history: .all,
                name: "trap")
            _ = try core.privates.authoring.makePrivate(root, in: known)
        }
        table.bench.advance(20_000)
        for node in [table.ada, table.cleo] {
            let names = try node.ok("channel.list").texts("name")
            #expect(names.contains("trap") == isMember, "\(node.name)")
        }
        #expect(try table.ada.digest() == table.bob.digest())
    }

    @Test func `no channel with others in it under an earlier grant`() throws {
        let table = try GuestTable()
        let home = try #require(table.bob.host?.core.session.home)
        let given = try table.bob.workspace().writingGrant(of: home.device, leastRole: .member)
        let before = try #require(given)
        try table.ada.ok("member.role", ["member": "@Bob", "role": "guest"])
        table.bench.advance(5_000)
        let (bob, cleo) = (try table.bob.workspace(), try table.cleo.workspace())
        let random = SeededRandom(seed: 8)
        let key = SymmetricKey(using: random)
        let seats = [
            PrivateSeat(bob.member, .owner), PrivateSeat(cleo.member, .member),
            PrivateSeat(try table.ada.workspace().member, .member),
        ].sorted { $0.member < $1.member }
        let root = PrivateRoot(subtype: .channel, seats: seats, history: .all, name: "trap")
        let signed = OperationDraft(
            kind: .privateAuthority, document: .zero, incarnation: 88, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(milliseconds: table.bench.wall, counter: 0), grant: before
        ).sealedAndSigned(
            PrivateChange(.root(root), seat: nil),
            clear: .init(workspace: bob.id, nonce: random.bytes(16)), under: key,
            with: home.signing, using: random)
        let document = DocumentID(sameBytesAs: signed.id)
        // A member brings it, and says something there, so that it is kept.
        try table.cleo.take([signed.run(in: document)])
        try table.cleo.inTurn { core, known in
            _ = try core.privates.takePrivate(key, of: document, in: known)
            core.privates.judgeLater(document, isAnew: true, in: known, from: .ourselves)
        }
        table.bench.advance(20_000)
        let names = try table.cleo.ok("channel.list").texts("name")
        #expect(!names.contains("trap"))
    }

    /// A refused command must not have written anything: the node would have to be rebuilt.
    @Test func `no owner, and the owner is told why`() throws {
        let table = try GuestTable()
        try table.ada.ok("invite.create")
        let before = try table.ada.workspace().authorityOrder.count
        let refused = try table.ada.refused("workspace.transfer", ["member": "Gita"])
        #expect(refused.kind == .forbidden && refused.reason == "transfer.guest")
        #expect(try table.ada.workspace().authorityOrder.count == before)
    }

    /// What was written under an older grant is bounded by having been a guest.
    @Test func `somebody in again who was one, as soon as they are a member`() throws {
        let table = try GuestTable()
        try table.bob.ok("channel.create", ["name": "nest", "private": true])
        try table.bob.ok("channel.add", ["channel": "nest", "members": ["@Ada"]])
        table.bench.advance(5_000)
        for role in ["guest", "member"] {
            try table.ada.ok("member.role", ["member": "@Bob", "role": .string(role)])
            table.bench.advance(5_000)
            guard role == "guest" else { continue }
            // What would have no effect is refused.
            for (method, more) in [
                ("channel.add", JSONValue.object(["channel": "nest", "members": ["@Cleo"]])),
                ("channel.role", ["channel": "nest", "member": "@Ada", "role": "admin"]),
            ] {
                let answer = table.bob.call(method, more.objectValue.map { .object($0) } ?? [:])
                guard case .failure = answer else {
                    Issue.record("\(method) by a guest")
                    continue
                }
            }
        }
        try table.bob.ok("channel.add", ["channel": "nest", "members": ["@Cleo"]])
        table.bench.advance(5_000)
        for node in [table.ada, table.bob, table.cleo] {
            #expect(
                try node.ok("channel.get", ["channel": "nest"])["members"] == 3, "\(node.name)")
        }
        try table.bob.ok("channel.create", ["name": "second", "private": true])
        try table.bob.ok("channel.add", ["channel": "second", "members": ["@Cleo"]])
        table.bench.advance(5_000)
        #expect(try table.cleo.ok("channel.get", ["channel": "second"])["members"] == 2)
    }
}
