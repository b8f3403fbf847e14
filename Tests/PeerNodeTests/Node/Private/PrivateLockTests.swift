import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Private documents on a locked node: it relays them, and cannot open them.
struct `A locked node with private conversations` {
    private let bench = CoreBench()

    @Test(arguments: [false, true])
    func `holds no key of them, and shows what came when it is opened`(restarts: Bool) throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sora = try bench.guest("Sora", of: mina)
        try joon.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try joon.ok("channel.add", ["channel": "board", "members": ["Mina"]])
        try joon.send("before", to: "board")
        #expect(try mina.log(of: "board") == ["before"])
        try mina.ok("lock.now")
        let workspace = try #require(mina.host?.core.workspaces.values.first)
        #expect(workspace.sealed.documents.isEmpty)
        #expect(workspace.secrets.mailbox.isEmpty)
        #expect(workspace.secrets.keys.isEmpty)

        // What comes now: content, membership with a new key, and a conversation of two.
        try joon.send("while locked", to: "board")
        try joon.ok("channel.add", ["channel": "board", "members": ["Sora"]])
        try joon.ok("channel.remove", ["channel": "board", "members": ["Sora"]])
        try joon.send("under a new key", to: "board")
        try sora.send("psst", to: "@Mina")
        bench.advance(5_000)
        #expect(workspace.sealed.documents.isEmpty)
        if restarts {
            try mina.restart()
            #expect(mina.session["state"] == "closed")
        }
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try mina.log(of: "board") == ["before", "while locked", "under a new key"])
        #expect(try mina.log(of: "@Sora") == ["psst"])
        try mina.send("answer", to: "@Sora")
        #expect(try sora.log(of: "@Mina") == ["psst", "answer"])
        let check = try mina.ok("node.check")
        #expect(check["ok"] == true, "\(check.text)")
    }

    @Test(arguments: [false, true])
    func `tells what changed of a channel while it was locked`(restarts: Bool) throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try joon.ok("channel.add", ["channel": "board", "members": ["Mina"]])
        bench.advance(5_000)
        let before = try mina.cursor()
        try mina.ok("lock.now")
        try joon.ok("channel.edit", ["channel": "board", "name": "council"])
        try joon.ok("channel.edit", ["channel": "council", "topic": "money"])
        bench.advance(5_000)
        if restarts { try mina.restart() }
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        let events = try mina.events(since: before, types: ["channel.*"])
        #expect(!events.isEmpty && events.allSatisfy { $0["type"] == "channel.edited" })
        #expect(events.last?["data"]?["name"] == "council")
        #expect(events.last?["data"]?["topic"] == "money")
        // Told once, and not again by the next lock.
        let after = try mina.cursor()
        try mina.ok("lock.now")
        try joon.send("hello", to: "council")
        bench.advance(5_000)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try mina.events(since: after, types: ["channel.*"]).isEmpty)
        #expect(try mina.log(of: "council") == ["hello"])
    }

    /// What own devices keep for one another is written under the same lock.
    @Test(arguments: [false, true])
    func `hears what another own device read, muted and set meanwhile`(restarts: Bool) throws {
        let laptop = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: laptop)
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        bench.advance(5_000)
        try phone.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        for text in ["one", "two"] { try joon.send(text) }
        bench.advance(5_000)
        #expect(try laptop.ok("ui.pref.get", ["setting": "theme"])["value"] == "dark")
        #expect(try `What was read`.unread(laptop) == ["general": 2])
        try laptop.ok("lock.now")
        try phone.ok("read.mark", ["channel": "general"])
        try phone.ok("channel.mute", ["channel": "general"])
        try phone.ok("ui.pref.set", ["setting": "draft", "value": "half a sentence"])
        bench.advance(90_000)
        if restarts {
            bench.cut(laptop, phone)
            bench.cut(laptop, joon)
            try laptop.restart()
        }
        try laptop.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(5_000)
        #expect(try `What was read`.unread(laptop).isEmpty)
        #expect(try laptop.ok("channel.get", ["channel": "general"])["muted"] == true)
        #expect(
            try laptop.ok("ui.pref.get", ["setting": "draft"])["value"] == "half a sentence")
        let check = try laptop.ok("node.check")
        #expect(check["ok"] == true, "\(check.text)")
    }

    /// Each judgement goes through the whole channel.
    @Test func `goes through a channel once, however often its members changed`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        _ = try bench.guest("Sora", of: mina)
        for name in ["board", "council"] {
            try joon.ok(
                "channel.create", ["name": .string(name), "private": true, "history": "all"])
            try joon.ok("channel.add", ["channel": .string(name), "members": ["Mina"]])
        }
        bench.advance(5_000)
        try mina.ok("lock.now")
        for name in ["board", "council"] as [JSONValue] {
            for number in 0..<4 {
                try joon.ok("channel.add", ["channel": name, "members": ["Sora"]])
                try joon.send("with \(number)", to: name.stringValue ?? "")
                try joon.ok("channel.remove", ["channel": name, "members": ["Sora"]])
            }
        }
        bench.advance(5_000)
        let before = try #require(mina.host?.core.turn.tally.rejudged)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try #require(mina.host?.core.turn.tally.rejudged) - before == 2)
        for name in ["board", "council"] {
            #expect(try mina.log(of: name) == (0..<4).map { "with \($0)" })
        }
        let check = try mina.ok("node.check")
        #expect(check["ok"] == true, "\(check.text)")
    }
}
