import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The cached summary of every conversation, so that a page of a list costs only its own rows.
struct `What lists know of conversations` {
    private typealias Table = `Private channels`.Table

    /// Where what is kept is not what everything that is stored says.
    private static func differences(_ node: BenchNode) throws -> [String] {
        try node.inTurn { core, workspace in
            let isOut = core.membership.ownEnd(in: workspace) != nil
            let all = workspace.channelIndex.all
            return try core.channels.overview(of: workspace).compactMap { row in
                let channel = all[row.place]
                let entry = try core.channels.entry(of: channel, in: workspace, isOut: isOut)
                // And what is shown of the channel itself.
                let object = try core.queries.object(of: channel, in: workspace)
                let isShown = object.isJoined || channel.isDirect || (isOut && row.entry.isShown)
                let isSame =
                    entry == row.entry && isShown == row.entry.isShown
                    && object.reading.unread == row.entry.unread
                    && object.reading.mentions == row.entry.mentions
                    && (object.last?.at ?? object.createdAt) == row.entry.moved
                return isSame ? nil : "\(channel.publicID): \(row.entry), not \(entry)"
            }
        }
    }

    private static func made(_ node: BenchNode) -> Int {
        node.host?.core.turn.tally.overviewEntries ?? 0
    }

    /// People who talk, read, come, go, are added, removed and linked, under cut links.
    @Test(arguments: Seeds.explore(6))
    func `is what everything that is stored says, after each step`(seed: UInt64) throws {
        var play = try Play(seed: seed)
        for step in 0..<50 {
            let done = try play.step()
            for node in play.nodes {
                let found = try Self.differences(node)
                #expect(
                    found.isEmpty,
                    "\(found) \(node.name), step \(step): \(done), WSX_SEED=\(seed)")
            }
        }
    }

    @Test func `is worked out of those alone in which something has changed`() throws {
        let table = try Table()
        for number in 0..<20 {
            try table.ada.ok("channel.create", ["name": .string("c\(number)")])
            try table.bob.ok("dm.open", ["members": ["Ada"]])
            try table.bob.ok("channel.join", ["channel": .string("c\(number)")])
        }
        table.bench.advance(2_000)
        try table.bob.ok("home.get")
        func cost(_ change: () throws -> Void) throws -> Int {
            try change()
            let before = Self.made(table.bob)
            try table.bob.ok("home.get")
            try table.bob.ok("unread.get")
            try table.bob.ok("dm.list")
            try table.bob.ok("read.status")
            return Self.made(table.bob) - before
        }
        #expect(try cost {} == 0)
        #expect(try cost { try table.ada.send("hello", to: "c7") } == 1)
        // The first marker creates the member's own document, which introduces a key.
        try table.bob.ok("read.mark", ["channel": "c7"])
        try table.ada.send("again", to: "c7")
        try table.bob.ok("home.get")
        let marked = try cost { try table.bob.ok("read.mark", ["channel": "c7"]) }
        #expect(marked == 1)
        #expect(try cost { try table.ada.ok("channel.create", ["name": "another"]) } == 1)
        #expect(try cost { try table.bob.ok("channel.leave", ["channel": "c3"]) } == 1)
        #expect(
            try cost { try table.ada.ok("channel.edit", ["channel": "c5", "topic": "tea"]) } == 1)
    }

    /// A page has the first of all, found without sorting what stands behind it.
    @Test(arguments: Seeds.explore(16))
    func `stands on a page as if all had been sorted`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...300, using: &random)
        let all = (0..<count).map { (Int.random(in: 0..<40, using: &random), $0) }
        for some in [all, all.sorted { $0 < $1 }, all.sorted { $0 > $1 }] {
            for wanted in [0, 1, 7, 20, 299, 300, Int.max] {
                let found = some.leading(wanted) { $0 > $1 }.map { $0.1 }
                let sorted = some.sorted { $0 > $1 }.prefix(wanted).map { $0.1 }
                #expect(found == sorted, "\(wanted) of \(count), WSX_SEED=\(seed)")
            }
        }
    }

    /// What is kept of the others serves on where one comes, goes or gets another name.
    @Test func `is worked out of one where one is renamed or removed`() throws {
        let table = try Table()
        for number in 0..<5 { try table.ada.ok("channel.create", ["name": .string("c\(number)")]) }
        try table.ada.ok("home.get")
        for change: (String, JSONValue) in [
            ("channel.edit", ["channel": "c1", "name": "tea"]),
            ("channel.edit", ["channel": "general", "topic": "tea"]),
            ("channel.archive", ["channel": "c2"]),
        ] {
            let before = Self.made(table.ada)
            try table.ada.ok(change.0, change.1)
            try table.ada.ok("home.get")
            #expect(Self.made(table.ada) - before == 1, "\(change.0)")
            #expect(try Self.differences(table.ada).isEmpty, "\(change.0)")
        }
        let before = Self.made(table.ada)
        try table.ada.ok("channel.delete", ["channel": "c3"])
        let left = try table.ada.ok("channel.list").items.compactMap { $0["name"]?.stringValue }
        #expect(Set(left) == ["general", "c0", "tea", "c2", "c4"])
        #expect(Self.made(table.ada) == before)
        #expect(try Self.differences(table.ada).isEmpty)
    }

    @Test func `goes through all conversations by pages, each once`() throws {
        let table = try Table()
        for number in 0..<7 { try table.ada.ok("channel.create", ["name": .string("c\(number)")]) }
        try table.ada.ok("dm.open", ["members": ["Bob"]])
        try table.bob.send("see this, @Ada", to: "general")
        let whole = try table.ada.ok("home.get")
        #expect(whole["complete"] == true && whole["next"] == .null)
        #expect(whole["channels"]?.arrayValue?.first?["name"] == "general")
        var (channels, directs) = ([JSONValue](), [JSONValue]())
        var cursor: JSONValue?
        for page in 0..<4 {
            let given: JSONValue = cursor.map { ["limit": 2, "cursor": $0] } ?? ["limit": 2]
            let home = try table.ada.ok("home.get", given)
            channels += home["channels"]?.arrayValue ?? []
            directs += home["dms"]?.arrayValue ?? []
            #expect(home["unread"] == whole["unread"])
            #expect(home["complete"] == .bool(page == 3))
            cursor = home["next"]
        }
        #expect(cursor == .null)
        #expect(.array(channels) == whole["channels"] && channels.count == 8)
        #expect(.array(directs) == whole["dms"] && !directs.isEmpty)
        #expect(try table.ada.refused("home.get", ["cursor": "p_1"]).kind == .badRequest)
    }
}

/// Ada, Bob with his phone, and Cleo, acting at random.
private struct Play {
    let table: `Private channels`.Table
    let phone: BenchNode
    let nodes: [BenchNode]
    private var random: SeededGenerator
    private var cuts: Set<[Int]> = []
    private var said: [JSONValue] = []
    private var names = ["general"]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        table = try .init()
        phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        nodes = [table.ada, table.bob, table.cleo, phone]
        table.bench.letPass(7_200_000)
        if random.oneIn(3) { table.cleo.clockSkew = -3_600_000 }
    }

    /// - Returns: what was done, or refused.
    mutating func step() throws -> String {
        let node = nodes[random.below(nodes.count)]
        let channel = JSONValue.string(names.randomElement(using: &random) ?? "general")
        let person = JSONValue.string(["Ada", "Bob", "Cleo"][random.below(3)])
        let message = said.randomElement(using: &random) ?? .null
        switch random.below(20) {
        case 0: return cutOrHeal()
        case 1: return pass()
        case 2: return make(on: node)
        case 3: return call(node, "channel.join", ["channel": channel])
        case 4: return call(node, "channel.leave", ["channel": channel])
        case 5: return call(node, "channel.edit", ["channel": channel, "topic": "tea"])
        case 6: return call(node, "channel.archive", ["channel": channel])
        case 7: return call(node, "channel.add", ["channel": channel, "members": [person]])
        case 8: return call(node, "channel.remove", ["channel": channel, "members": [person]])
        case 9: return call(node, "message.delete", ["message": message])
        case 10: return call(node, "message.edit", ["message": message, "text": "@Bob, @Ada"])
        case 11: return call(node, "read.mark", ["channel": channel])
        case 12: return call(node, "unread.get", ["mark_all": true])
        case 13: return say(on: node, to: .string("@\(person.stringValue ?? "")"))
        case 14 where random.oneIn(3): return call(node, "channel.delete", ["channel": channel])
        case 15 where random.oneIn(8): return call(table.ada, "member.remove", ["member": person])
        case 16 where random.oneIn(3):
            return call(table.ada, "member.role", ["member": person, "role": "admin"])
        default: return say(on: node, to: channel)
        }
    }

    private func call(_ node: BenchNode, _ method: String, _ given: JSONValue) -> String {
        let what = "\(node.name) \(method) \(given.text)"
        switch node.call(method, given) {
        case .success: return what
        case .failure(let error): return "\(what): \(error.kind.rawValue)"
        }
    }

    private mutating func say(on node: BenchNode, to channel: JSONValue) -> String {
        let text = random.oneIn(4) ? "@Bob, hear" : "words"
        guard
            case .success(let message) = node.call(
                "message.send", ["channel": channel, "text": .string(text)])
        else { return "\(node.name) may not write to \(channel.text)" }
        message["id"].map { said.append($0) }
        return "\(node.name) says something in \(channel.text)"
    }

    private mutating func make(on node: BenchNode) -> String {
        let name = "c\(names.count)"
        names.append(name)
        let isPrivate = random.oneIn(2)
        return call(
            node, "channel.create", ["name": .string(name), "private": .bool(isPrivate)])
    }

    private mutating func pass() -> String {
        let time = UInt64(random.below(70_000))
        table.bench.advance(time)
        return "\(time) ms pass"
    }

    private mutating func cutOrHeal() -> String {
        let pair = [random.below(nodes.count), random.below(nodes.count)].sorted()
        guard pair[0] != pair[1] else { return pass() }
        if cuts.remove(pair) != nil {
            table.bench.heal(nodes[pair[0]], nodes[pair[1]])
            return "\(pair) hear each other"
        }
        cuts.insert(pair)
        table.bench.cut(nodes[pair[0]], nodes[pair[1]])
        return "\(pair) do not hear each other"
    }
}
