import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The event `message.held`: sent for own messages when they reach the first other device or
/// person, and when everybody has them. It counts people, however many devices they use.
struct `What others hold of your messages` {
    private typealias Table = `Private channels`.Table

    private func listen(_ node: BenchNode, _ types: [String] = ["message.held"]) throws {
        try Presence.listen(node, types)
    }

    /// The holders that were told of, by message.
    private func told(_ node: BenchNode) -> [String] {
        Presence.take(node).compactMap { event in
            guard let data = event["data"], event["type"] == "message.held" else { return nil }
            #expect(data.fieldNames == ["message", "holders", "people", "readers"])
            #expect(event["workspace"]?.stringValue?.hasPrefix("w_") == true)
            let id = data["message"]?.stringValue ?? ""
            return "\(id) \(data["holders"]?.integerValue ?? 0)"
        }
    }

    @Test func `is told when the first has it, and when all have`() throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.advance(10_000)
        for other in [table.bob, table.cleo, phone] { table.bench.cut(table.ada, other) }
        for other in [table.bob, phone] { table.bench.cut(table.cleo, other) }
        table.bench.cut(table.bob, phone)
        try listen(table.ada)
        let id = try table.ada.send("hello").text("id")
        table.bench.advance(30_000)
        #expect(told(table.ada).isEmpty)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(30_000)
        #expect(told(table.ada) == ["\(id) 2"])
        // Everybody has it, though not on every device.
        table.bench.heal(table.ada, table.cleo)
        table.bench.advance(30_000)
        #expect(told(table.ada) == ["\(id) 3"])
        table.bench.heal(table.ada, phone)
        table.bench.advance(30_000)
        #expect(told(table.ada) == ["\(id) 4"])
        #expect(try table.ada.ok("message.get", ["ids": [.string(id)]]).items[0]["holders"] == 4)
        table.bench.advance(1_000_000)
        #expect(told(table.ada).isEmpty)
    }

    /// What was told of devices and people: `devices people/readers`.
    private func counts(_ node: BenchNode) throws -> [String] {
        try Presence.take(node).compactMap { $0["data"] }.map { data in
            try "\(data.number("holders")) \(data.number("people"))/\(data.number("readers"))"
        }
    }

    /// The rows of `message.holders`: whose, whether that device has it, and whether they do.
    private func rows(_ id: String, on node: BenchNode) throws -> [String] {
        try node.ok("message.holders", ["message": .string(id)]).items.map { row in
            let name = row["member"]?["name"]?.stringValue ?? ""
            let verdict = row["verdict"]?.stringValue ?? "-"
            return "\(name) \(row["complete"] == true) \(verdict)"
        }
    }

    @Test func `counts people who can read it, each once, and nobody who only carries it`() throws {
        let table = try Table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        try table.ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(20_000)
        for device in [table.bob, phone] {
            for other in [table.ada, table.cleo] { table.bench.cut(other, device) }
        }
        table.bench.cut(table.bob, phone)
        try listen(table.ada)
        let id = try table.ada.send("hello", to: "board").text("id")
        table.bench.advance(30_000)
        // Cleo is not in the channel.
        #expect(try counts(table.ada) == ["2 0/1"])
        #expect(
            try rows(id, on: table.ada) == [
                "Ada true held", "Cleo true -", "Bob false waiting", "Bob false waiting",
            ])
        table.bench.heal(table.ada, phone)
        table.bench.advance(30_000)
        #expect(try counts(table.ada) == ["3 1/1"])
        let some = try rows(id, on: table.ada)
        #expect(
            Set(some) == ["Ada true held", "Cleo true -", "Bob true held", "Bob false held"])
        #expect(some.count == 4)
        // One more device of his changes nothing about Bob.
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(30_000)
        #expect(try counts(table.ada) == ["4 1/1"])
    }

    @Test func `counts nobody who was added later and is shown nothing older`() throws {
        let table = try Table()
        try table.ada.ok(
            "channel.create", ["name": "board", "private": true, "history": "from-join"])
        let first = try table.ada.send("first", to: "board").text("id")
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(5_000)
        let before = try table.ada.send("before", to: "board").text("id")
        table.bench.advance(5_000)
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        table.bench.advance(5_000)
        let after = try table.ada.send("after", to: "board").text("id")
        table.bench.advance(30_000)
        #expect(
            try Set(rows(first, on: table.ada)) == ["Ada true held", "Bob true -", "Cleo true -"])
        #expect(
            try Set(rows(before, on: table.ada)) == [
                "Ada true held", "Bob true held", "Cleo true -",
            ])
        #expect(
            try Set(rows(after, on: table.ada)) == [
                "Ada true held", "Bob true held", "Cleo true held",
            ])
    }

    @Test func `is told once where one other is all`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(5_000)
        try listen(ada)
        try listen(bob)
        var ids: [String] = []
        for text in ["one", "two", "three"] {
            ids.append(try ada.send(text).text("id"))
            bench.advance(1_000)
        }
        #expect(told(ada) == ids.map { "\($0) 2" })
        // It covers neither others' messages nor annotations.
        #expect(told(bob).isEmpty)
        try ada.ok("message.react", ["message": .string(ids[0]), "emoji": "👍"])
        try ada.ok("message.edit", ["message": .string(ids[1]), "text": "2"])
        bench.advance(5_000)
        #expect(told(ada).isEmpty)
        // It passes, and is kept nowhere.
        #expect(try ada.events(types: ["message.held"]).isEmpty)
    }

    /// Ada and Bob, who has not heard of the message that Ada has written.
    private func apart() throws -> (CoreBench, BenchNode, BenchNode, id: String) {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(5_000)
        bench.cut(ada, bob)
        return (bench, ada, bob, try ada.send("hello").text("id"))
    }

    @Test func `is reported for what was written before a restart`() throws {
        let (bench, ada, bob, id) = try apart()
        try ada.restart()
        try listen(ada)
        bench.heal(ada, bob)
        bench.advance(30_000)
        #expect(told(ada) == ["\(id) 2"])
    }

    @Test func `is reported for a private channel to its listeners, by its people only`() throws {
        let table = try Table()
        let board = try table.ada.ok(
            "channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(10_000)
        try table.ada.ok(
            "events.subscribe",
            [
                "types": ["message.held"], "channels": [board["id"] ?? .null], "ephemeral": true,
                "since": "latest",
            ], on: 7)
        try table.ada.send("not here")
        table.bench.advance(5_000)
        let id = try table.ada.send("here", to: "board").text("id")
        table.bench.advance(5_000)
        let all = told(table.ada)
        #expect(all.allSatisfy { $0.hasPrefix(id) } && !all.isEmpty)
    }

    @Test func `is reported for the newest only, and for nothing old on a new device`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let count = Limits.messagesToldHeldMax + 8
        var ids: [String] = []
        for number in 0..<count { ids.append(try ada.send("\(number)").text("id")) }
        try listen(ada)
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(30_000)
        let first = told(ada)
        #expect(Set(first).count == first.count)
        #expect(first.count <= Limits.messagesToldHeldMax)
        #expect(first.last == "\(ids[count - 1]) 2")
        // Days later nobody waits for them.
        bench.letPass(3 * Limits.heldToldMilliseconds)
        _ = told(ada)
        let phone = try bench.bareNode("Phone")
        try bob.link(phone)
        bench.advance(60_000)
        #expect(try phone.log().count == count)
        #expect(told(ada).isEmpty)
    }

    @Test func `costs nothing where nobody listens`() throws {
        let table = try Table()
        try table.ada.ok("events.subscribe", ["types": ["message.held"]], on: 7)
        try table.ada.send("hello")
        table.bench.advance(5_000)
        #expect(try #require(table.ada.host).core.syncing.heldNews.isEmpty)
        #expect(told(table.ada).isEmpty)
        let core = try #require(table.ada.host).core
        let workspace = try #require(try core.membership.selectedWorkspace())
        core.syncing.noteAgreed(
            with: try #require(table.bob.host?.core.session.ownDevice), nil, in: workspace)
        #expect(core.syncing.heldNews.isEmpty)
    }

    @Test func `that a lost turn has heard is told by the next one`() throws {
        let (bench, ada, bob, id) = try apart()
        try listen(ada)
        ada.plant(.commitBefore(0), .full)
        bench.heal(ada, bob)
        bench.advance(600_000)
        #expect(ada.openCount > 1)
        #expect(told(ada).filter { $0 == "\(id) 2" }.count == 1)
    }
}
