import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Somebody who was away while others added them to a private channel, and took them out again.
@Suite struct `Who was added and removed while away` {
    @Test(arguments: ["all", "from-join"], [false, true])
    func `is not shown as being in`(history: String, isSpokenIn: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(120_000)
        bench.cut(mina, joon)
        try mina.ok(
            "channel.create",
            ["name": "deal", "private": true, "history": .string(history)])
        try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
        if isSpokenIn { try mina.ok("message.send", ["channel": "deal", "text": "welcome"]) }
        try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
        if isSpokenIn { try mina.ok("message.send", ["channel": "deal", "text": "gone"]) }
        bench.heal(mina, joon)
        bench.advance(60_000)
        let error = try joon.refused("message.send", ["channel": "deal", "text": "hello?"])
        #expect(error.kind == .notFound || error.kind == .forbidden, "\(error)")
        try joon.restart()
        bench.advance(60_000)
        _ = try joon.refused("message.send", ["channel": "deal", "text": "hello?"])
    }
}
