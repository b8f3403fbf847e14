import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member whose admission turns out to have no effect after others have cited it, so that no
/// further one can admit them. They ask to join, and a person decides.
struct `A person admitted without effect` {
    @Test func `asks again with the same home, and joins once an admin approves`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let bob = try bench.guest("Bob", of: mina, role: "admin")
        bench.advance(5_000)
        let invite = try mina.ok("invite.create", ["uses": 9])
        bench.advance(2_000)
        // Mina is away, and revokes the invite by which Bob admits somebody.
        mina.kill()
        let zoe = try bench.bareNode("Zoe")
        try zoe.ok("workspace.join", ["link": invite["link"] ?? .null, "name": "Zoe"])
        bench.advance(2_000)
        try zoe.send("I am in")
        try bob.ok("channel.create", ["name": "sea"])
        bench.advance(2_000)
        bob.kill()
        zoe.kill()
        try mina.boot()
        try mina.ok("invite.revoke", ["id": invite["id"] ?? .null])
        try bob.boot()
        bench.advance(20_000)
        try zoe.boot()
        bench.advance(60_000)
        #expect(try mina.memberNames() == ["Bob", "Mina"])
        let workspace = try zoe.ok("workspace.get")
        #expect(workspace["role"] == .null, "\(workspace)")
        let told = try zoe.refused("message.send", ["channel": "general", "text": "hello"])
        #expect(told.message.contains("the invite that let you into"), "\(told)")

        let link = try mina.ok("invite.create")["link"] ?? .null
        let refused = try zoe.refused("workspace.join", ["link": link, "name": "Zoe"])
        #expect(refused.kind == .pending, "\(refused)")
        let request = try #require(try mina.requests().first)
        #expect(request["note"]?.text.contains("which did not count") == true, "\(request)")
        try mina.decide("join.approve")
        bench.advance(60_000)
        for node in [mina, bob, zoe] {
            #expect(try node.memberNames() == ["Bob", "Mina", "Zoe"], "\(node.name)")
            #expect(try node.digest() == mina.digest(), "\(node.name)")
        }
        try zoe.send("again")
        bench.advance(5_000)
        #expect(try mina.log().last == "again")
    }

    /// A device that the owner has revoked was admitted with effect: it requests nothing, and a
    /// request by a modified program is never open.
    @Test func `does not include a person whose device was revoked`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let home = try #require(joon.host?.core.session.home)
        let admission = try #require(
            try mina.workspace().judged.evaluator.bestGrant(of: home.device))
        let id = try joon.ok("identity.show")["id"] ?? .null
        try mina.ok("device.revoke", ["device": id])
        bench.advance(20_000)
        let invite = try mina.ok("invite.create")
        let refused = try joon.refused(
            "workspace.join", ["link": invite["link"] ?? .null, "name": "Joon"])
        #expect(refused.reason == "device.out", "\(refused)")

        let link = try InviteLink(try invite.text("link"))
        try mina.inTurn { core, workspace in
            let member = try #require(workspace.judged.evaluator.subject(ofGrant: admission))
            let door = try #require(workspace.invites.invites.last)
            let mine = try #require(core.session.home).device
            let entry = home.deviceEntry(
                entering: .returning(
                    to: workspace.id, after: admission, before: mine, member: member))
            let terms = JoinerTerms(
                invite: door, member: member, devices: [entry],
                proof: link.secret.admissionProof(
                    workspace: workspace.id, invite: door, member: member,
                    encodedDevices: DeviceEntry.encoded([entry])),
                name: "Joon", answering: admission)
            _ = try #require(try core.enrolment.admissions.writeRequest(terms, in: workspace))
        }
        #expect(try mina.requests().map { $0["state"] } == ["void"])
    }
}
