import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The owner of a private channel hands it on with one device and removes somebody with
/// another, which has not heard of that: the removal has no effect, and the named member must
/// not keep believing it.
struct `A removal from a private channel without effect` {
    @Test(arguments: ["all", "from-join"])
    func `is shown to the member it names, who stays in`(history: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sora = try bench.guest("Sora", of: mina)
        let phone = try bench.bareNode("Phone")
        try mina.link(phone)
        bench.advance(10_000)
        try mina.ok(
            "channel.create", ["name": "priv", "private": true, "history": .string(history)])
        try mina.ok("channel.add", ["channel": "priv", "members": ["Joon", "Sora"]])
        bench.advance(10_000)
        for node in [mina, joon, sora] { bench.cut(phone, node) }
        try phone.ok("channel.remove", ["channel": "priv", "members": ["Joon"]])
        try mina.ok("channel.transfer", ["channel": "priv", "member": "Sora"])
        bench.advance(5_000)
        for node in [mina, joon, sora] { bench.heal(phone, node) }
        bench.advance(120_000)
        for node in [mina, phone, joon, sora] {
            let shown = try node.ok("channel.get", ["channel": "priv"])
            #expect(shown["joined"] == true && shown["members"] == 3, "\(node.name)")
        }
        let channel = try #require(
            try joon.workspace().channelIndex.all.first { $0.name == "priv" })
        let document = try #require(try joon.workspace().sealed.documents[channel.id])
        #expect(document.closed.isEmpty, "what named Joon opens for Joon")
        try joon.send("still here", to: "priv")
        bench.advance(10_000)
        #expect(try sora.log(of: "priv") == ["still here"])
    }
}
