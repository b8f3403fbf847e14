import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The past of a channel` {
    /// Mina with `count` messages `m0`, `m1` … a second apart.
    private func chatter(_ count: Int) throws -> (CoreBench, BenchNode, [String]) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        var ids: [String] = []
        for number in 0..<count {
            ids.append(try mina.send("m\(number)").text("id"))
            bench.wall += 1_000
        }
        return (bench, mina, ids)
    }

    private func page(_ node: BenchNode, _ parameters: JSONObject) throws -> JSONValue {
        var parameters = parameters
        parameters.append("channel", "general")
        return try node.ok("message.history", .object(parameters))
    }

    @Test func `is empty at first`() throws {
        let (bench, mina, _) = try chatter(0)
        #expect(
            try page(mina, [:]) == ["items": [], "next": .null, "older": .null, "newer": .null])
        withExtendedLifetime(bench) {}
    }

    @Test func `shows the newest 30, oldest first`() throws {
        let (bench, mina, ids) = try chatter(33)
        let latest = try page(mina, [:])
        #expect(latest.texts("id") == Array(ids.suffix(30)))
        #expect(latest["newer"] == .null)
        #expect(latest["older"]?.isNull == false)
        #expect(latest["next"] == latest["older"])
        #expect(try latest.text("older").hasPrefix("p_"))
        withExtendedLifetime(bench) {}
    }

    @Test func `shows what is pinned, page by page`() throws {
        let (bench, mina, ids) = try chatter(12)
        #expect(try page(mina, ["pinned": true]).items.isEmpty)
        for number in [9, 2, 5, 7] {
            try mina.ok("message.pin", ["message": .string(ids[number])])
        }
        try mina.ok("message.unpin", ["message": .string(ids[5])])
        let all = try page(mina, ["pinned": true])
        #expect(all.texts("text") == ["m2", "m7", "m9"])
        #expect(all["older"] == .null && all["newer"] == .null)
        let newest = try page(mina, ["pinned": true, "limit": 2])
        #expect(newest.texts("text") == ["m7", "m9"])
        let oldest = try page(
            mina, ["pinned": true, "limit": 2, "before": newest["older"] ?? .null])
        #expect(oldest.texts("text") == ["m2"] && oldest["older"] == .null)
        try mina.ok("message.delete", ["message": .string(ids[7])])
        try mina.restart()
        #expect(try page(mina, ["pinned": true]).texts("text") == ["m2", "m9"])
        #expect(try page(mina, [:]).items.count == 12)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: [1, 2, 3, 7, 10, 11, 100])
    func `is read backwards without gap or repetition`(_ limit: Int64) throws {
        let (bench, mina, ids) = try chatter(11)
        var found: [String] = []
        var answer = try page(mina, ["limit": .integer(limit)])
        while true {
            #expect(answer.items.count <= limit)
            #expect(answer["next"] == answer["older"])
            found = answer.texts("id") + found
            guard let older = answer["older"], !older.isNull else { break }
            answer = try page(mina, ["before": older, "limit": .integer(limit)])
            #expect(answer["newer"]?.isNull == false)
        }
        #expect(found == ids)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: [1, 2, 3, 7, 10, 11, 100])
    func `is read forwards without gap or repetition`(_ limit: Int64) throws {
        let (bench, mina, ids) = try chatter(11)
        var found = [ids[0]]
        var after = JSONValue.string(ids[0])
        while true {
            let answer = try page(mina, ["after": after, "limit": .integer(limit)])
            #expect(answer["next"] == answer["newer"])
            found += answer.texts("id")
            guard let newer = answer["newer"], !newer.isNull else { break }
            after = newer
        }
        #expect(found == ids)
        withExtendedLifetime(bench) {}
    }

    @Test func `goes on from a message as from its position`() throws {
        let (bench, mina, ids) = try chatter(9)
        let middle = JSONValue.string(ids[4])
        #expect(try page(mina, ["before": middle]).texts("id") == Array(ids[..<4]))
        #expect(try page(mina, ["after": middle]).texts("id") == Array(ids[5...]))
        let before = try page(mina, ["before": middle, "limit": 2])
        #expect(before.texts("id") == [ids[2], ids[3]])
        let after = try page(mina, ["after": middle, "limit": 2])
        #expect(after.texts("id") == [ids[5], ids[6]])
        withExtendedLifetime(bench) {}
    }

    @Test(
        arguments: [
            (0, 5, 0..<3), (4, 5, 2..<7), (8, 5, 6..<9), (4, 4, 3..<7), (4, 1, 4..<5),
            (0, 1, 0..<1), (8, 1, 8..<9), (4, 100, 0..<9),
        ] as [(Int, Int64, Range<Int>)])
    func `shows what is around a message`(
        _ place: Int, _ limit: Int64, _ expected: Range<Int>
    ) throws {
        let (bench, mina, ids) = try chatter(9)
        let answer = try page(mina, ["around": .string(ids[place]), "limit": .integer(limit)])
        let found = answer.texts("id")
        #expect(found.contains(ids[place]))
        #expect(found.count <= limit)
        #expect(ids.contains(sequence: found))
        if expected.count == Int(limit) || limit == 100 {
            #expect(found == Array(ids[expected]))
        }
        #expect((answer["older"]?.isNull == true) == (found.first == ids.first))
        #expect((answer["newer"]?.isNull == true) == (found.last == ids.last))
        withExtendedLifetime(bench) {}
    }

    @Test func `leads on from a page that is empty`() throws {
        let (bench, mina, ids) = try chatter(5)
        let end = try page(mina, ["after": .string(ids[4])])
        #expect(end.items.isEmpty)
        #expect(end["newer"] == .null && end["next"] == .null)
        let back = try page(mina, ["before": end["older"] ?? .null])
        #expect(back.texts("id") == ids, "nothing is skipped")
        let start = try page(mina, ["before": .string(ids[0])])
        #expect(start.items.isEmpty)
        #expect(start["older"] == .null && start["next"] == .null)
        #expect(try page(mina, ["after": start["newer"] ?? .null]).texts("id") == ids)
        // A page of one around the place behind the last message has room for nothing before it.
        let behind = try page(mina, ["around": end["older"] ?? .null, "limit": 1])
        #expect(behind.items.isEmpty)
        #expect(try page(mina, ["before": behind["older"] ?? .null]).texts("id") == ids)
        withExtendedLifetime(bench) {}
    }

    @Test(arguments: ["before", "after", "around"])
    func `takes no message of another channel for a place`(_ direction: String) throws {
        let (bench, mina, _) = try chatter(2)
        try mina.ok("channel.create", ["name": "other"])
        let foreign = try mina.ok("message.send", ["channel": "other", "text": "x"])
        let error = try mina.refused(
            "message.history",
            ["channel": "general", direction: foreign["id"] ?? .null])
        #expect(error.kind == .notFound)
        #expect(error.fields.first?.name == direction)
        withExtendedLifetime(bench) {}
    }

    /// Numbers that no position of ours has overflow nothing.
    @Test(arguments: [
        [UInt8](repeating: 0xFF, count: 16), [0x7F] + [UInt8](repeating: 0xFF, count: 15),
        [UInt8](repeating: 0, count: 16), [0x80] + [UInt8](repeating: 0, count: 15),
    ])
    func `bears a position from anywhere`(_ bytes: [UInt8]) throws {
        let (bench, mina, ids) = try chatter(2)
        let all = [UInt8](repeating: 0, count: 8) + [0x7F] + [UInt8](repeating: 0xFF, count: 7)
        for bytes in [bytes, all] {
            for direction in ["before", "after", "around"] {
                let place = JSONValue.string("p_" + Base32.encode(bytes))
                let found = try page(mina, [direction: place])
                let older = try found["older"]?.stringValue.map {
                    try page(mina, ["before": .string($0)]).texts("id")
                }
                let newer = try found["newer"]?.stringValue.map {
                    try page(mina, ["after": .string($0)]).texts("id")
                }
                #expect((older ?? []) + found.texts("id") + (newer ?? []) == ids)
            }
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `is filtered by time without losing its place`() throws {
        let (bench, mina, ids) = try chatter(9)
        let times = try page(mina, [:]).items.map { try $0.number("at") }
        #expect(times == times.sorted())
        let since = try page(mina, ["since": .integer(times[3])])
        #expect(since.texts("id") == Array(ids[3...]))
        #expect(since["older"] == .null)
        let until = try page(mina, ["until": .integer(times[3])])
        #expect(until.texts("id") == Array(ids[...3]))
        let both = try page(
            mina, ["since": .integer(times[2]), "until": .integer(times[6]), "limit": 2])
        #expect(both.texts("id") == [ids[5], ids[6]])
        let more = try page(
            mina,
            [
                "since": .integer(times[2]), "until": .integer(times[6]), "limit": 9,
                "before": both["older"] ?? .null,
            ])
        #expect(more.texts("id") == Array(ids[2...4]))
        #expect(more["older"] == .null)
        #expect(try page(mina, ["since": .integer(times[8] + 1)]).items.isEmpty)
        withExtendedLifetime(bench) {}
    }

    @Test func `keeps threads together`() throws {
        let (bench, mina, ids) = try chatter(3)
        let reply = try mina.send("r1", thread: ids[1])
        #expect(try reply.text("thread") == ids[1])
        // An answer to an answer belongs to the root.
        let deeper = try mina.send("r2", thread: try reply.text("id"))
        #expect(try deeper.text("thread") == ids[1])
        try mina.send("elsewhere")
        for name in [ids[1], try reply.text("id")] {
            let thread = try page(mina, ["thread": .string(name)])
            #expect(thread.texts() == ["r1", "r2"])
            #expect(thread["older"] == .null)
            #expect(thread["newer"] == .null)
        }
        let root = try mina.ok("message.get", ["ids": [.string(ids[1])]]).items[0]
        #expect(root["replies"] == 2)
        #expect(try page(mina, ["thread": .string(ids[1]), "limit": 1]).texts() == ["r2"])
        withExtendedLifetime(bench) {}
    }

    @Test func `has no thread over two channels`() throws {
        let (bench, mina, ids) = try chatter(1)
        try mina.ok("channel.create", ["name": "other"])
        let error = try mina.refused(
            "message.send", ["channel": "other", "text": "x", "thread": .string(ids[0])])
        #expect(error.kind == .notFound)
        #expect(error.fields.first?.name == "thread")
        withExtendedLifetime(bench) {}
    }

    @Test func `gives messages by id in the order asked`() throws {
        let (bench, mina, ids) = try chatter(4)
        let asked = [ids[2], ids[0], ids[3], ids[2]]
        let answer = try mina.ok("message.get", ["ids": JSONValue(texts: asked)])
        #expect(answer.texts("id") == asked)
        #expect(answer["next"] == .null)
        let error = try mina.refused(
            "message.get", ["ids": JSONValue(texts: [ids[0], `A refused call`.unknownMessage])])
        #expect(error.kind == .notFound)
        #expect(error.fields.first?.name == "ids")
        withExtendedLifetime(bench) {}
    }

    // MARK: Clocks

    @Test func `takes late arrivals in where their clock says`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.send("before")
        bench.cut(mina, joon)
        bench.advance(10_000)
        try joon.send("offline 1")
        bench.advance(10_000)
        try mina.send("meanwhile")
        bench.advance(10_000)
        try joon.send("offline 2")
        let cursor = try mina.cursor()
        let newest = try mina.ok("message.history", ["channel": "general", "limit": 1])
        bench.heal(mina, joon)
        let expected = ["before", "offline 1", "meanwhile", "offline 2"]
        #expect(try mina.log() == expected)
        #expect(try joon.log() == expected)
        // Behind a position comes only what stands behind it; the events tell of all.
        let after = try mina.ok(
            "message.history",
            ["channel": "general", "after": newest.items[0]["id"] ?? .null])
        #expect(after.texts() == ["offline 2"])
        let told = try mina.events(since: cursor, types: ["message.created"])
        #expect(told.compactMap { $0["data"]?["text"]?.stringValue } == ["offline 1", "offline 2"])
        for size in Int64(1)...4 {
            var found: [String] = []
            var before: JSONValue = .null
            repeat {
                let page = try mina.ok(
                    "message.history",
                    ["channel": "general", "limit": .integer(size), "before": before])
                found = page.texts() + found
                before = page["older"] ?? .null
            } while !before.isNull
            #expect(found == expected)
        }
    }

    /// O09: a clock that is ten years ahead moves neither the order nor our own clock.
    @Test(arguments: [10 * 365 * 86_400_000, 3_600_000] as [Int64])
    func `is not moved by a clock that runs ahead`(_ skew: Int64) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        joon.clockSkew = skew
        let strange = try joon.send("from the future")
        for _ in 0..<2 {
            let now = try mina.send("now")
            #expect(abs(try now.number("at") - Int64(bench.wall)) < 1_000)
            #expect(now["doubtful_time"] == nil)
            try mina.restart()
            bench.advance(5_000)
        }
        #expect(try mina.log() == ["from the future", "now", "now"])
        // It says itself that it cannot be; on the node whose clock it is only afterwards.
        let first = try mina.ok("message.history", ["channel": "general"]).items[0]
        #expect(first["doubtful_time"] == true && first["at"] == strange["at"])
        #expect(strange["doubtful_time"] == nil)
        joon.clockSkew = 0
        #expect(
            try joon.ok("message.history", ["channel": "general"]).items[0]["doubtful_time"]
                == true)
        joon.clockSkew = skew
        // What is shown stands within 5 minutes of when it came; so it is overtaken then.
        bench.advance(6 * 60_000)
        let late = try mina.send("later")
        #expect(try mina.log().last == "later")
        #expect(abs(try late.number("at") - Int64(bench.wall)) < 1_000)
        #expect(Set(try joon.log()) == Set(try mina.log()))
        #expect(try mina.digest() == joon.digest())
    }

    /// What one clock says of the future is shown by each node when it sees it. What others say
    /// meanwhile, one after the other, stays in order all the same, for who comes later too.
    @Test(arguments: [600_000, 3 * 3_600_000, 10 * 365 * 86_400_000] as [Int64])
    func `has one order everywhere while a clock runs ahead`(_ skew: Int64) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sora = try bench.guest("Sora", of: mina)
        let haneul = try bench.guest("Haneul", of: mina)
        mina.clockSkew = skew
        var said = ["from the future"]
        try mina.send(said[0])
        for (round, speakers) in [
            [joon, joon, joon], [sora, sora], [haneul], [joon], [sora, haneul, joon],
        ].enumerated() {
            for (number, speaker) in speakers.enumerated() {
                let text = "\(round).\(number)"
                try speaker.send(text)
                said.append(text)
                bench.advance(1_000)
            }
            bench.advance(330_000)
        }
        for node in [joon, sora, haneul, mina] {
            #expect(try node.log() == said, "\(node.name)")
        }
        // Nobody cites everybody for that.
        let core = try #require(joon.host).core
        var most = 0
        let workspace = try joon.workspace()
        let general = try #require(workspace.channelIndex.all.first { $0.isDefault })
        try core.turn.store.operations.forEachOperation(in: general.id, of: workspace.number) {
            most = max(most, $0.entry.dependencies.count)
        }
        #expect((1...3).contains(most), "\(most)")
        mina.clockSkew = 0
        try mina.restart()
        let late = try bench.guest("Late", of: mina)
        #expect(try late.log() == said)
        try mina.send("right again")
        bench.advance(2_000)
        for node in [joon, late, mina] {
            #expect(try node.log() == said + ["right again"], "\(node.name)")
        }
    }

    @Test func `counts as read for a person who answers, whatever the clocks said`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        joon.clockSkew = 600_000
        try joon.send("from the future")
        #expect(try mina.ok("unread.get").items.count == 1)
        try mina.send("answer")
        #expect(try mina.ok("unread.get").items.isEmpty)
        withExtendedLifetime(bench) {}
    }

    @Test func `doubts what says to be older than its workspace`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for (skew, isDoubtful) in [(Int64(-5 * 365), true), (-2, true), (0, false)] {
            joon.clockSkew = skew * 86_400_000
            let sent = try joon.send("\(skew)")
            let ids: JSONValue = [sent["id"] ?? .null]
            let shown = try mina.ok("message.get", ["ids": ids]).items[0]
            #expect(shown["doubtful_time"] == (isDoubtful ? true : nil))
        }
    }

    @Test func `keeps the order when your own clock steps back`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.send("one")
        try joon.send("two")
        bench.wall -= 600_000
        let stepped = try mina.send("three")
        #expect(abs(try stepped.number("at") - Int64(bench.wall)) < 1_000)
        #expect(mina.log.contains("clock.stepped_back"))
        try mina.send("four")
        try joon.send("five")
        #expect(try mina.log() == ["one", "two", "three", "four", "five"])
        #expect(try joon.log() == ["one", "two", "three", "four", "five"])
        try mina.restart()
        bench.advance(5_000)
        try mina.send("six")
        #expect(try mina.log().last == "six")
        bench.advance(60_000)
        #expect(try mina.digest() == joon.digest())
    }

    @Test func `goes on when the clock has stepped back before a change of authority`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for _ in 0..<3 {
            bench.wall -= 600_000
            let invite = try mina.ok("invite.create")
            #expect(invite["state"] == "open")
            bench.wall -= 600_000
            try mina.ok("channel.create", ["name": .string("back \(bench.wall)")])
        }
        #expect(try mina.ok("channel.list").items.count == 4)
        #expect(try joon.ok("channel.list", ["scope": "all"]).items.count == 4)
        #expect(mina.openCount == 1)
        #expect(try mina.digest() == joon.digest())
    }

    /// A step of less than 5 minutes is ridden out on the counter.
    @Test func `writes on in the same log after a small step back`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let first = try mina.send("one")
        bench.wall -= 200_000
        let second = try mina.send("two")
        #expect(try second.number("at") >= first.number("at"))
        #expect(!mina.log.contains("clock.stepped_back"))
        #expect(try mina.log() == ["one", "two"])
    }
}

extension [String] {
    /// Whether `part` stands in it without gaps.
    fileprivate func contains(sequence part: [String]) -> Bool {
        part.isEmpty || indices.contains { self[$0...].starts(with: part) }
    }
}
