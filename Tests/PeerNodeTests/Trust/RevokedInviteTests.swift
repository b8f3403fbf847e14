import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// PROTOCOL.md, 4.2 and 4.4: a member who joined by an invite revoked concurrently is
/// out, and holds keys.
struct `An invite that is revoked` {
    @Test func `is answered by a new key, no matter who joined by it elsewhere`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(5_000)
        let door = Door(try ada.ok("invite.create"))
        bench.advance(2_000)
        let before = try #require(try ada.workspace().currentKey).id
        // Bob admits somebody while Ada, who is away, revokes the invite.
        ada.kill()
        let log = try ForgedLog(bob, incarnation: 90)
        let admission = try bob.author(try log.admission(500, door))
        let stranger = try #require(
            try bob.workspace().judged.evaluator.subject(ofGrant: admission))
        let channel = try bob.ok("channel.create", ["name": "sec", "private": true])
        let first = try bob.inTurn { core, workspace in
            let document = try #require(
                workspace.sealed.documents.values.first { $0.root?.subtype == .channel })
            let seats = [PrivateSeat(stranger, .member)]
            _ = try #require(
                try core.privates.authoring.author(
                    .add(PrivateAddition(seats: seats)), in: document, of: workspace))
            return try #require(
                try core.privates.authoring.sealingKey(ofChanged: document, in: workspace)
            ).id
        }
        bob.kill()
        try ada.boot()
        try ada.ok("invite.revoke", ["id": door.id])
        try bob.boot()
        bench.advance(60_000)
        for node in [ada, bob] {
            let workspace = try node.workspace()
            #expect(!workspace.judged.evaluator.isValid(admission))
            #expect(try #require(workspace.currentKey).id != before)
            #expect(!workspace.needsKeyChange)
        }
        #expect(try ada.workspace().currentKey?.id == bob.workspace().currentKey?.id)
        try bob.ok("message.send", ["channel": channel["id"] ?? .null, "text": "not for them"])
        let now = try bob.inTurn { core, workspace in
            let document = try #require(
                workspace.sealed.documents.values.first { $0.root?.subtype == .channel })
            return try #require(core.privates.authoring.sealingKey(of: document, in: workspace)).id
        }
        #expect(now != first)
        #expect(try ada.digest() == bob.digest())
    }
}
