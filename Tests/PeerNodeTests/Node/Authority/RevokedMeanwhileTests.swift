import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A device that its person revokes while somebody else, not knowing that, promotes the person.
struct `A laptop that is lost while its person is promoted` {
    @Test func `is out for everybody, in every order of arrival`() throws {
        let bench = CoreBench()
        let joon = try bench.node("Joon")
        let mina = try bench.guest("Mina", of: joon)
        let cleo = try bench.guest("Cleo", of: joon)
        let phone = try bench.bareNode("Phone")
        try mina.link(phone)
        let words = try mina.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let laptop = JSONValue.string(try mina.deviceID())
        bench.advance(5_000)
        for node in [mina, phone] {
            for other in [joon, cleo] { bench.cut(node, other) }
        }
        bench.cut(mina, phone)

        let lost = try phone.ok("device.lost", ["device": laptop, "phrase": words])
        #expect(lost["revoked"] == true)
        try joon.ok("member.role", ["member": "Mina", "role": "admin"])
        bench.advance(1_000)
        // The finder of the laptop hears of the role first, and acts by it.
        bench.heal(mina, joon)
        bench.advance(5_000)
        #expect(try mina.ok("workspace.list").items.first?["role"] == "admin")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        bench.advance(1_000)
        for node in [joon, cleo] { bench.heal(phone, node) }
        bench.heal(mina, cleo)
        bench.advance(120_000)

        for node in [joon, cleo, phone] {
            let devices = try node.ok("device.list", ["member": "Mina"]).items
            #expect(devices.first { $0["id"] == laptop }?["revoked"] == true, "\(node.name)")
            #expect(try node.ok("policy.get")["who_may_invite"] == "admins", "\(node.name)")
        }
        #expect(try phone.ok("workspace.list").items.first?["role"] == "admin")
        #expect(
            try mina.refused("message.send", ["channel": "general", "text": "still here"]).kind
                == .deviceRevoked)
        try phone.send("it is gone")
        #expect(try cleo.log() == ["it is gone"])
    }
}
