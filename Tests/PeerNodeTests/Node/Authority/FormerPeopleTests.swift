import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// What remains of former members, and names that two people share.
struct `A name that is not only yours` {
    private typealias Table = `Private channels`.Table

    @Test func `of somebody who is out still opens what was said`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.send("hello", to: "@Cleo")
        try table.cleo.send("hi", to: "@Bob")
        try table.ada.ok("member.remove", ["member": "Cleo"])
        table.bench.advance(5_000)
        #expect(try table.bob.ok("dm.list").texts("name") == ["Cleo"])
        #expect(try table.bob.log(of: "@Cleo") == ["hello", "hi"])
        #expect(try table.bob.ok("channel.get", ["channel": "@Cleo"])["kind"] == "dm")
        let refused = try table.bob.refused(
            "message.send", ["channel": "@Cleo", "text": "there?"])
        #expect(refused.kind == .forbidden && refused.reason == "channel.deserted")
        // Someone who never spoke with her is told that there is nobody.
        let unknown = try table.ada.refused("message.history", ["channel": "@Cleo"])
        #expect(unknown.kind == .unknownUser)
    }

    @Test func `of two people is told with ids that can be pasted`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        let other = try table.bench.guest("Cleo", of: table.ada)
        table.bench.advance(5_000)
        let error = try table.bob.refused("message.send", ["channel": "@Cleo", "text": "who?"])
        #expect(error.kind == .ambiguous)
        let ids = (error.details["candidates"]?.arrayValue ?? []).compactMap { $0["id"] }
        #expect(ids.count == 2)
        for id in ids { try table.bob.ok("message.send", ["channel": id, "text": "you"]) }
        #expect(try table.cleo.log(of: "@Bob") == ["you"])
        #expect(try other.log(of: "@Bob") == ["you"])
        // Both are out: the same holds for what they said.
        for id in ids { try table.ada.ok("member.remove", ["member": id]) }
        table.bench.advance(5_000)
        let later = try table.bob.refused("message.history", ["channel": "@Cleo"])
        #expect(later.kind == .ambiguous)
        for id in ids {
            let history = try table.bob.ok("message.history", ["channel": id])
            #expect(history.texts() == ["you"])
        }
    }

    @Test func `of your private channel is not taken by somebody else's`() throws {
        let table = try Table()
        defer { withExtendedLifetime(table.bench) {} }
        table.bench.cut(table.bob, table.cleo)
        table.bench.cut(table.bob, table.ada)
        // Cleo's is older, and comes with her letting Bob in.
        let hers = try table.cleo.ok(
            "channel.create", ["name": "plans", "private": true, "history": "all"])
        table.bench.advance(5_000)
        let own = try table.bob.ok(
            "channel.create", ["name": "plans", "private": true, "history": "all"])
        try table.cleo.ok("channel.add", ["channel": "plans", "members": ["Bob"]])
        table.bench.heal(table.bob, table.cleo)
        table.bench.advance(5_000)
        let list = try table.bob.ok("channel.list").items
        let names = list.map { ($0["id"], $0["name"]?.stringValue ?? "") }
        #expect(names.first { $0.0 == own["id"] }?.1 == "plans")
        #expect(names.first { $0.0 == hers["id"] }?.1.hasPrefix("plans-") == true)
        let error = try table.bob.refused("channel.get", ["channel": "plans"])
        #expect(error.kind == .ambiguous)
        let id = try #require(own["id"])
        #expect(try table.bob.ok("channel.get", ["channel": id])["name"] == "plans")
        // In Cleo's list it is the other way round.
        let theirs = try table.cleo.ok("channel.list").items
        #expect(theirs.first { $0["id"] == hers["id"] }?["name"] == "plans")
    }
}
