import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A deleted channel` {
    private static let week: UInt64 = 7 * 24 * 3_600 * 1_000

    private func pair() throws -> (bench: CoreBench, mina: BenchNode, joon: BenchNode) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.create", ["name": "plans"])
        bench.advance(1_000)
        try mina.send("one", to: "plans")
        try joon.send("two", to: "plans")
        bench.advance(1_000)
        return (bench, mina, joon)
    }

    @Test func `is hidden at once, everywhere, with one event`() throws {
        let (bench, mina, joon) = try pair()
        let id = try mina.ok("channel.get", ["channel": "plans"]).text("id")
        let message = try mina.ok("message.history", ["channel": "plans"]).items[0].text("id")
        let before = try mina.cursor()
        let gone = try joon.ok("channel.delete", ["channel": "plans"])
        #expect(gone["id"] == .string(id) && gone["name"] == "plans")
        bench.advance(1_000)
        for node in [mina, joon] {
            for method in ["channel.get", "message.history", "channel.members", "channel.join"] {
                #expect(try node.refused(method, ["channel": "plans"]).kind == .notFound)
            }
            let error = try node.refused("channel.get", ["channel": .string(id)])
            #expect(error.kind == .notFound && error.reason == "channel.deleted")
            #expect(error.message == "the channel was deleted by Joon")
            #expect(try node.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
            #expect(try node.ok("workspace.get")["channels"] == 1)
            #expect(try node.refused("message.get", ["ids": [.string(message)]]).kind == .notFound)
        }
        let events = try mina.events(since: before)
        #expect(events.count == 1 && events[0]["type"] == "channel.deleted")
        #expect(events[0]["data"]?["id"] == .string(id))
        #expect(events[0]["data"]?["by"]?["name"] == "Joon")
        // Old events speak of it no more.
        let texts = try mina.events().compactMap { $0["data"]?["text"] }
        #expect(!texts.contains("one") && !texts.contains("two"))
        #expect(try mina.digest() == joon.digest())
        // Its name is free again.
        try mina.ok("channel.create", ["name": "plans"])
    }

    /// What the channel's owner deleted of others rests on a right in a channel that is no more.
    @Test(arguments: [false, true])
    func `keeps what was deleted in it before`(isLate: Bool) throws {
        let (bench, mina, joon) = try pair()
        let wim = try bench.guest("Wim", of: mina)
        let first = try joon.ok("message.history", ["channel": "plans"]).items[0]
        #expect(first["text"] == "one")
        if isLate { for other in [mina, wim] { bench.cut(other, joon) } }
        try joon.ok("message.delete", ["message": first["id"] ?? .null])
        bench.advance(5_000)
        try joon.ok("channel.delete", ["channel": "plans"])
        bench.advance(5_000)
        for other in [mina, wim] { bench.heal(other, joon) }
        bench.advance(60_000)
        for restarts in [false, true] {
            if restarts { for node in [mina, joon, wim] { try node.restart() } }
            for node in [mina, joon, wim] {
                #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
            }
        }
        #expect(try mina.digest() == joon.digest())
    }

    /// Programs that keep a list of channels take from it what an event names.
    @Test(arguments: [false, true])
    func `is still named by the events before its end`(_ isPrivate: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let id = try joon.ok(
            "channel.create", ["name": "plans", "private": .bool(isPrivate), "topic": "t"]
        ).text("id")
        try joon.ok("channel.add", ["channel": "plans", "members": ["Mina"]])
        bench.advance(5_000)
        try joon.ok("channel.edit", ["channel": "plans", "name": "plans2"])
        let sent = try mina.send("secret", to: "plans2")
        bench.advance(5_000)
        try joon.ok(
            "message.react", ["message": sent["id"] ?? .null, "emoji": "+1"])
        try joon.ok("message.delete", ["message": try joon.send("x", to: "plans2")["id"] ?? .null])
        bench.advance(5_000)
        let before = try joon.events()
        for word in ["secret", "👍"] {
            try #require(before.contains { $0.text.contains(word) }, "\(word)")
        }
        try joon.ok("channel.delete", ["channel": "plans2"])
        bench.advance(5_000)
        for restarts in [false, true] {
            if restarts { try joon.restart() }
            let after = try joon.events()
            for event in before {
                let now = try #require(after.first { $0["seq"] == event["seq"] })
                let (old, new) = (event["data"] ?? .null, now["data"] ?? .null)
                let type = try event.text("type")
                #expect(!new.isNull, "\(type)")
                let ids = type == "read.changed" ? ["channel"] : ["id", "channel", "message"]
                for field in ids where old[field]?.stringValue != nil {
                    #expect(new[field] == old[field], "\(type) \(field)")
                }
                if type.hasPrefix("channel.member_") {
                    #expect(new.fieldNames == ["channel", "member", "role"])
                    #expect(new["member"] == old["member"])
                }
                if type == "channel.created" || type == "channel.edited", old["id"] == .string(id) {
                    #expect(new["deleted"] == true && new["name"] == "plans2")
                    #expect(new.fieldNames.isSuperset(of: old.fieldNames))
                }
            }
            #expect(!after.contains { $0.text.contains("secret") || $0.text.contains("👍") })
        }
    }

    @Test func `stays deleted over a restart`() throws {
        let (bench, mina, joon) = try pair()
        try joon.ok("channel.delete", ["channel": "plans"])
        bench.advance(1_000)
        let digest = try mina.digest()
        try mina.restart()
        #expect(try mina.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
        #expect(try mina.digest() == digest)
    }

    @Test func `is erased after 7 days, by each node for itself, and comes back to nobody`()
        throws
    {
        let (bench, mina, joon) = try pair()
        // Mina's device confirms the channel, which is Joon's.
        bench.advance(2 * Limits.confirmingMilliseconds)
        let before = try mina.rowCount("operation")
        try joon.ok("channel.delete", ["channel": "plans"])
        bench.advance(1_000)
        #expect(try mina.rowCount("message") == 2)
        bench.cut(mina, joon)
        bench.letPass(Self.week - 10_000)
        #expect(try mina.rowCount("operation") == before + 1)
        bench.advance(20_000)
        for node in [mina, joon] {
            #expect(try node.rowCount("message") == 0)
            // Two messages, and that Joon follows it.
            #expect(try node.rowCount("operation") == before + 1 - 3)
        }
        bench.heal(mina, joon)
        bench.advance(60_000)
        #expect(try mina.rowCount("operation") == before + 1 - 3)
        #expect(try mina.digest() == joon.digest())
        try mina.restart()
        try joon.restart()
        bench.heal(mina, joon)
        try mina.send("after")
        bench.advance(60_000)
        #expect(try joon.log() == ["after"])
        #expect(try mina.digest() == joon.digest())
    }

    @Test func `is erased by who was away for a month too, 7 days after hearing of it`() throws {
        let (bench, mina, joon) = try pair()
        mina.kill()
        try joon.ok("channel.delete", ["channel": "plans"])
        bench.letPass(4 * Self.week)
        #expect(try joon.rowCount("message") == 0)
        try mina.boot()
        bench.heal(mina, joon)
        #expect(try mina.rowCount("message") == 2)
        #expect(try mina.ok("channel.list", ["scope": "all"]).texts("name") == ["general"])
        #expect(try mina.digest() == joon.digest())
        bench.letPass(Self.week + 10_000)
        #expect(try mina.rowCount("message") == 0)
        #expect(try mina.digest() == joon.digest())
    }

    @Test func `comes back whole when its deletion loses its effect`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        let ana = try bench.guest("Ana", of: mina)
        try ana.ok("channel.create", ["name": "plans"])
        try ana.send("one", to: "plans")
        bench.advance(1_000)
        for other in [mina, ana] { bench.cut(joon, other) }
        try mina.remove(joon)
        try joon.ok("channel.delete", ["channel": "plans"])
        bench.advance(1_000)
        for other in [mina, ana] { bench.heal(joon, other) }
        bench.advance(10_000)
        for node in [mina, ana] {
            #expect(try node.log(of: "plans") == ["one"])
            #expect(!(try node.events().contains { $0["type"] == "channel.deleted" }))
        }
        #expect(try mina.digest() == ana.digest())
    }

    @Test func `takes nothing with it that somebody wrote there meanwhile`() throws {
        let (bench, mina, joon) = try pair()
        bench.cut(mina, joon)
        try joon.ok("channel.delete", ["channel": "plans"])
        try mina.send("three", to: "plans")
        try mina.send("elsewhere")
        let before = try joon.cursor()
        bench.heal(mina, joon)
        #expect(try joon.log() == ["elsewhere"])
        #expect(try joon.eventTypes(since: before).filter { $0 == "message.created" }.count == 1)
        #expect(try mina.digest() == joon.digest())
        #expect(try mina.refused("channel.get", ["channel": "plans"]).kind == .notFound)
    }
}
