import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Messages that arrive after later-sorted ones were read.
struct `A message that comes late` {
    private typealias Table = `Private channels`.Table

    private static func unread(_ node: BenchNode) throws -> [String: Int64] {
        try `What was read`.unread(node)
    }

    /// Cleo writes while nobody hears her, then Ada, and Bob reads that.
    private func lateTable(_ text: String = "written alone") throws -> (Table, late: JSONValue) {
        let table = try Table()
        for other in [table.ada, table.bob] { table.bench.cut(table.cleo, other) }
        let late = try table.cleo.send(text)
        table.bench.advance(1_000)
        try table.ada.send("meanwhile")
        try table.bob.ok("read.mark", ["channel": "general"])
        return (table, late)
    }

    private func heal(_ table: Table) {
        for other in [table.ada, table.bob] { table.bench.heal(table.cleo, other) }
        table.bench.advance(2_000)
    }

    @Test func `is unread, counts as a mention and gives notice`() throws {
        let (table, late) = try lateTable("@Bob hear this")
        try table.bob.ok("notify.command", ["command": "show it"])
        #expect(try Self.unread(table.bob).isEmpty)
        heal(table)
        #expect(try Self.unread(table.bob) == ["general": 1])
        let channel = try table.bob.ok("channel.get", ["channel": "general"])
        #expect(channel["unread"] == 1 && channel["mentions"] == 1)
        #expect(channel["last"]?["text"] == "meanwhile")
        let overview = try #require(try table.bob.ok("unread.get").items.first)
        #expect(overview["last"]?["id"] == late["id"] && overview["first"] == late["id"])
        #expect(table.bob.notices.count == 1)
        // It stands where it was written.
        #expect(
            try `Private channels`.texts("general", on: table.bob)
                == ["@Bob hear this", "meanwhile"])
        #expect(try table.bob.events(types: ["mention.received"]).count == 1)
        try table.bob.restart()
        #expect(try Self.unread(table.bob) == ["general": 1])
        let read = try table.bob.ok(
            "read.mark", ["channel": "general", "message": late["id"] ?? .null])
        #expect(read["unread"] == 0)
        try table.bob.restart()
        #expect(try Self.unread(table.bob).isEmpty)
        #expect(try table.bob.ok("node.check")["problem_count"] == 0)
    }

    @Test func `is what the overview shows, also where one has answered since`() throws {
        let (table, late) = try lateTable()
        // Who has read all writes no marker by talking.
        try table.bob.send("mine")
        heal(table)
        let overview = try #require(try table.bob.ok("unread.get").items.first)
        #expect(overview["unread"] == 1)
        #expect(overview["last"]?["id"] == late["id"] && overview["first"] == late["id"])
        #expect(try table.bob.ok("unread.get", ["mark_all": true]).items.isEmpty)
    }

    @Test func `is read with all others, at once and for good`() throws {
        let (table, _) = try lateTable()
        heal(table)
        let before = try `What was read`.operations(table.bob)
        #expect(try table.bob.ok("read.mark", ["channel": "general"])["unread"] == 0)
        // A marker was just written: the next one waits its minute.
        #expect(try `What was read`.operations(table.bob) == before)
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.advance(61_000)
        #expect(try `What was read`.operations(table.bob) == before + 1)
        try table.bob.restart()
        #expect(try Self.unread(table.bob).isEmpty)
        #expect(try table.bob.ok("node.check")["problem_count"] == 0)
    }

    /// Each has read up to their own message when the other's arrives, which sorts before it as
    /// often as after it.
    @Test func `costs those who write at the same instant one marker a minute`() throws {
        let table = try Table()
        // The first marker of a person brings the document that it stands in.
        for (author, reader) in [(table.ada, table.bob), (table.bob, table.ada)] {
            try author.send("first")
            try reader.ok("read.mark", ["channel": "general"])
        }
        table.bench.advance(61_000)
        let before = try `What was read`.operations(table.bob)
        let begin = table.bench.wall
        for round in 0..<60 {
            table.bench.cut(table.ada, table.bob)
            try table.ada.send("a \(round)")
            try table.bob.send("b \(round)")
            table.bench.heal(table.ada, table.bob)
            table.bench.advance(2_000)
        }
        let minutes = (table.bench.wall - begin) / 60_000 + 1
        let written = try `What was read`.operations(table.bob) - before
        #expect(written > 120 && written <= 120 + 2 * Int64(minutes), "\(written) in \(minutes)")
    }

    @Test func `is not read by who marks only what stands before it`() throws {
        let table = try Table()
        for other in [table.ada, table.bob] { table.bench.cut(table.cleo, other) }
        let first = try table.cleo.send("first")
        table.bench.advance(1_000)
        try table.cleo.send("second")
        table.bench.advance(1_000)
        try table.ada.send("meanwhile")
        try table.bob.ok("read.mark", ["channel": "general"])
        heal(table)
        #expect(try Self.unread(table.bob) == ["general": 2])
        let read = try table.bob.ok(
            "read.mark", ["channel": "general", "message": first["id"] ?? .null])
        #expect(read["unread"] == 1)
        #expect(try table.bob.ok("unread.get", ["mark_all": true]).items.isEmpty)
    }

    @Test func `that is deleted before anybody read it is not unread`() throws {
        let (table, late) = try lateTable()
        heal(table)
        try table.cleo.ok("message.delete", ["message": late["id"] ?? .null])
        table.bench.advance(2_000)
        #expect(try Self.unread(table.bob).isEmpty)
    }

    @Test func `is late on every device of a person, and read on all`() throws {
        let (table, _) = try lateTable()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        heal(table)
        #expect(try Self.unread(phone) == ["general": 1])
        #expect(try Self.unread(table.bob) == ["general": 1])
        try phone.ok("read.mark", ["channel": "general"])
        table.bench.advance(2_000)
        #expect(try Self.unread(table.bob).isEmpty)
        #expect(try phone.ok("node.check")["problem_count"] == 0)
    }

    @Test func `was read where another device had it in time`() throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        for other in [table.ada, table.bob, table.cleo] { table.bench.cut(phone, other) }
        try table.ada.send("over")
        try table.cleo.send("night")
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.advance(3_600_000)
        for other in [table.bob, table.ada, table.cleo] { table.bench.heal(phone, other) }
        table.bench.advance(2_000)
        #expect(try Self.unread(phone).isEmpty)
        try table.ada.send("morning")
        #expect(try Self.unread(phone) == ["general": 1])
    }

    @Test func `stays unread though another device has read past it without it`() throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        // The phone hears Cleo, the other device does not.
        for other in [table.bob, table.ada] { table.bench.cut(table.cleo, other) }
        table.bench.cut(table.bob, phone)
        table.bench.cut(table.ada, phone)
        try table.cleo.send("for the phone")
        table.bench.advance(1_000)
        try table.ada.send("for the desk")
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.heal(table.bob, phone)
        table.bench.advance(2_000)
        for node in [table.bob, phone] {
            #expect(try Self.unread(node) == ["general": 1], "\(node.name)")
        }
        try table.bob.ok("read.mark", ["channel": "general"])
        table.bench.advance(2_000)
        #expect(try Self.unread(phone).isEmpty)
    }

    /// She is heard at once, and what she writes is named by a time before all that was read.
    @Test(arguments: [false, true])
    func `is what a slow clock writes, whether anything was read before or not`(
        _ wasMarked: Bool
    ) throws {
        let table = try Table()
        try table.ada.send("before")
        if wasMarked { try table.bob.ok("read.mark", ["channel": "general"]) }
        table.cleo.clockSkew = -3_600_000
        table.bench.advance(1_000)
        let before: Int64 = wasMarked ? 0 : 1
        let slow = try table.cleo.send("@Bob an hour behind")
        #expect(try slow.number("at") < Int64(table.bench.wall) - 3_000_000)
        #expect(try Self.unread(table.bob) == ["general": before + 1])
        try table.bob.restart()
        let channel = try table.bob.ok("channel.get", ["channel": "general"])
        #expect(try channel.number("unread") == before + 1 && channel["mentions"] == 1)
        try table.bob.ok("read.mark", ["channel": "general"])
        #expect(try Self.unread(table.bob).isEmpty)
        table.bench.advance(61_000)
        try table.cleo.send("still")
        #expect(try Self.unread(table.bob) == ["general": 1])
        #expect(try table.bob.ok("node.check")["problem_count"] == 0)
    }

    @Test func `of before one came in is nobody's news`() throws {
        let table = try Table()
        table.bench.cut(table.cleo, table.ada)
        table.bench.cut(table.cleo, table.bob)
        try table.cleo.send("before Dora")
        table.bench.advance(1_000)
        let dora = try table.bench.guest("Dora", of: table.ada)
        table.bench.cut(dora, table.cleo)
        heal(table)
        #expect(try `Private channels`.texts("general", on: dora) == ["before Dora"])
        #expect(try Self.unread(dora).isEmpty)
    }

    /// Whatever is heard in which order, and whether a clock is slow: devices of one person agree,
    /// and unread is what none of them has marked.
    @Test(arguments: Seeds.explore(6))
    func `counts alike on all devices in the end`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        let nodes = [table.ada, table.bob, table.cleo, phone]
        // What is said before one came in would be nobody's news.
        table.bench.letPass(7_200_000)
        if random.oneIn(2) { table.cleo.clockSkew = -3_600_000 }
        var cuts: Set<[Int]> = []
        var said = 0
        var marked: Set<String> = []
        for step in 0..<40 {
            let (a, b) = (random.below(4), random.below(4))
            switch random.below(5) {
            case 0 where a < b && !cuts.contains([a, b]):
                table.bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                table.bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2:
                try nodes[random.below(2) * 2].send("said \(said)")
                said += 1
            case 3 where step < 30:
                let reader = [table.bob, phone][random.below(2)]
                marked.formUnion(try reader.log())
                try reader.ok("unread.get", ["mark_all": true])
            default: table.bench.advance(UInt64(random.below(40_000)))
            }
        }
        for cut in cuts { table.bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        table.bench.advance(130_000)
        let left = Int64(said - marked.count)
        for node in [table.bob, phone] {
            #expect(
                try Self.unread(node) == (left > 0 ? ["general": left] : [:]),
                "\(node.name) WSX_SEED=\(seed)")
        }
        for node in [table.bob, phone] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "WSX_SEED=\(seed)")
            #expect(try node.ok("unread.get", ["mark_all": true]).items.isEmpty)
        }
    }
}

/// Sending a message marks as read.
struct `Saying something` {
    @Test func `reads what was there, on all devices, for people and not for programs`() throws {
        let table = try `Private channels`.Table()
        try table.ada.send("one")
        try table.ada.send("two")
        try table.bob.ok(
            "message.send", ["channel": "general", "text": "build passed", "bot": true])
        #expect(try `What was read`.unread(table.bob) == ["general": 2])
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(2_000)
        try table.bob.send("answer")
        table.bench.advance(2_000)
        for node in [table.bob, phone] { #expect(try `What was read`.unread(node).isEmpty) }
        // Who has read all writes nothing more by talking.
        let before = try `What was read`.operations(table.bob)
        try table.bob.send("and more")
        #expect(try `What was read`.operations(table.bob) == before + 1)
    }
}
