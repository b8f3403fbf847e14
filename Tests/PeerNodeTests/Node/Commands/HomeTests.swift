import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The summary of the home in one call.
struct `The home` {
    private typealias Table = `Private channels`.Table

    @Test func `shows identity, workspaces and what was not read, all of one moment`() throws {
        let table = try Table()
        let dora = try table.bench.guest("Dora", of: table.ada)
        let empty = try dora.ok("home.get")
        #expect(empty["unread"] == ["unread": 0, "mentions": 0])
        try table.ada.ok("channel.create", ["name": "later"])
        try dora.ok("channel.join", ["channel": "later"])
        try table.ada.send("one")
        try table.ada.send("two")
        try table.ada.ok("message.send", ["channel": "@Dora", "text": "psst"])
        let home = try dora.ok("home.get")
        #expect(home["identity"] == (try dora.ok("identity.show")))
        #expect(home["workspaces"]?.arrayValue == (try dora.ok("workspace.list").items))
        #expect(home["selected"] == home["workspaces"]?.arrayValue?.first?["id"])
        let channels = home["channels"]?.arrayValue ?? []
        #expect(channels.map { $0["name"] } == ["general", "later"])
        #expect(channels.map { $0["unread"] } == [2, 0])
        let directs = home["dms"]?.arrayValue ?? []
        #expect(directs.compactMap { $0["last"]?["text"]?.stringValue } == ["psst"])
        #expect(home["unread"]?["unread"] == 3)
        // Each object is what its own method gives.
        #expect(channels[0] == (try dora.ok("channel.get", ["channel": "general"])))
        try dora.ok("unread.get", ["mark_all": true])
        #expect(try dora.ok("home.get")["unread"]?["unread"] == 0)
    }

    @Test func `shows the workspace that was named, and refuses one that is not there`() throws {
        let table = try Table()
        let other = try table.ada.ok("workspace.create", ["name": "second"])
        let home = try table.ada.ok("home.get")
        #expect(home["selected"] == other["id"])
        #expect(home["workspaces"]?.arrayValue?.count == 2)
        let first = home["workspaces"]?.arrayValue?.first?["id"] ?? .null
        let named = try table.ada.ok("home.get", ["workspace": first])
        #expect(named["selected"] == other["id"])
        #expect(named["channels"]?.arrayValue?.first?["workspace"] == first)
        #expect(try table.ada.refused("home.get", ["workspace": "nowhere"]).kind == .notFound)
    }

    @Test func `says when the last backup was made, and when another one is due`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let day: UInt64 = 24 * 3_600_000
        func backup() throws -> [JSONValue] {
            let home = try mina.ok("home.get")
            return [home["backup_at"] ?? "none", home["backup_due"] ?? "none"]
        }
        #expect(try backup() == [.null, false])
        bench.wall += 29 * day
        #expect(try backup() == [.null, false], "the home is new")
        bench.wall += 2 * day
        #expect(try backup() == [.null, true])
        let made = bench.wall
        bench.give(.backedUp(at: made), to: mina)
        bench.settle()
        let at = JSONValue.integer(Int64(clamping: made))
        #expect(try backup() == [at, false])
        try mina.restart()
        bench.wall += 29 * day
        #expect(try backup() == [at, false])
        bench.wall += 2 * day
        #expect(try backup() == [at, true])
    }

    @Test func `leaves out of a long list what does not fit in a line`() {
        var home = HomeObject()
        for number in 0..<2_000 {
            var channel = ChannelObject(
                id: "c_\(number)", workspace: "w_1", name: "n", createdAt: Int64(number))
            channel.settings.topic = String(repeating: "x", count: 1_000)
            home.channels.append(channel)
            home.directs.append(channel)
        }
        #expect(home.json.bytes.count < Limits.controlLineBytesMax)
        #expect(home.json["complete"] == false)
        let shown = home.json["channels"]?.arrayValue ?? []
        #expect(shown.count > 100 && shown.count < 2_000)
        #expect(shown.first?["id"] == "c_0", "from the first on")
        #expect(home.json["dms"]?.arrayValue?.count == shown.count, "both to one place")
        #expect(home.json["next"] == .string("n\(shown.count)"))
    }
}
