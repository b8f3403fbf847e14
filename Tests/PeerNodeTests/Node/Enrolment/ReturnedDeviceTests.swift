import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A person with two devices who has returned by one of them.
struct `The other device of somebody who came back` {
    @Test(arguments: ["left", "removed"], [false, true])
    func `is linked again by the one that is in`(how: String, asksFirst: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let desk = try bench.guest("Pia", of: mina)
        let phone = try bench.bareNode("Phone")
        try desk.link(phone)
        bench.advance(5_000)
        if how == "left" {
            try desk.ok("workspace.leave")
        } else {
            try mina.ok("member.remove", ["member": "@Pia"])
        }
        bench.advance(5_000)
        try desk.comeBack(to: mina, in: bench)
        bench.advance(5_000)
        #expect(try mina.memberNames() == ["Mina", "Pia"])
        if asksFirst {
            _ = phone.ask(try mina.link())
            bench.advance(5_000)
        }
        // It says so, and not that the person may not, or is in.
        let refused = try phone.refused(
            "message.send", ["channel": "general", "text": "x"])
        if asksFirst {
            #expect(refused.reason == "device.out")
            let again = try phone.refused(
                "workspace.join", ["link": .string(try mina.link()), "name": "Phone"])
            #expect(again.reason == "device.out")
        }
        #expect(refused.kind == .forbidden)
        try desk.link(phone)
        bench.advance(60_000)
        try phone.send("from the phone")
        bench.advance(5_000)
        #expect(try mina.texts(of: "phone") == ["from the phone"])
        #expect(try Set([mina, desk, phone].map { try $0.digest() }).count == 1)
        for node in [mina, desk, phone] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }
}
