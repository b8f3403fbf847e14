import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// An author announces whom it reaches, and nobody relays its operations to them
/// (PROTOCOL.md, 5.4, 4).
struct `A fully connected team` {
    private let bench = CoreBench()

    /// Everybody is linked to everybody, and nothing is owed to anybody.
    private func team(_ count: Int) throws -> [BenchNode] {
        let mina = try bench.node("Mina")
        let others = try (1..<count).map { try bench.guest("Guest \($0)", of: mina) }
        bench.advance(15 * 60_000)
        let nodes = [mina] + others
        for node in nodes {
            #expect(try core(node).links.network.links.count == count - 1, "\(node.name)")
        }
        return nodes
    }

    private func core(_ node: BenchNode) throws -> NodeCore { try #require(node.host?.core) }

    private func device(_ node: BenchNode) throws -> DeviceID {
        try #require(core(node).session.home).device
    }

    private func sync(at node: BenchNode, with other: BenchNode) throws -> WorkspaceLink {
        let link = try #require(try core(node).links.network.links(to: device(other)).first)
        return try #require(link.syncs.values.first)
    }

    /// Whether `node` has heard that `author` reaches `other`.
    private func believes(
        _ node: BenchNode, that author: BenchNode, reaches other: BenchNode
    ) throws -> Bool {
        try sync(at: node, with: other).session.isReached(by: device(author))
    }

    private func say(_ text: String, by node: BenchNode) throws {
        try node.ok("message.send", ["channel": "general", "text": .string(text)])
    }

    private func hears(_ text: String, at node: BenchNode) throws -> Bool {
        let page = try node.ok("message.history", ["channel": "general"])
        return page["items"]?.arrayValue?.contains { $0["text"]?.stringValue == text } ?? false
    }

    // MARK: Costs

    @Test func `tells of a message as often as there are people, not their square`() throws {
        let costs = try [6, 12].map { count in
            let bench = CoreBench()
            let mina = try bench.node("Mina")
            for number in 1..<count { _ = try bench.guest("Guest \(number)", of: mina) }
            bench.advance(15 * 60_000)
            try say("first", by: mina)
            bench.advance(15 * 60_000)
            let before = bench.carriedByteCount
            try say(String(repeating: "x", count: 1_000), by: mina)
            bench.advance(10_000)
            return bench.carriedByteCount - before
        }
        #expect(costs[1] < 5 * costs[0] / 2, "\(costs)")
        #expect(costs[1] < 11 * 3_000, "\(costs)")
    }

    @Test func `says nothing of whom it reaches where they are few`() throws {
        let nodes = try team(Limits.receiptsToAllMax + 1)
        try say("hello", by: nodes[0])
        bench.advance(1_000)
        #expect(try !believes(nodes[1], that: nodes[0], reaches: nodes[2]))
        // So everybody knows who has it.
        let page = try nodes[1].ok("message.history", ["channel": "general"])
        let id = try #require(page["items"]?.arrayValue?.last?["id"])
        let holders = try nodes[1].ok("message.holders", ["message": id])
        #expect(holders["items"]?.arrayValue?.count == nodes.count, "\(holders.text)")
    }

    // MARK: Nothing is late because of it

    @Test func `gets it from others soon if the link to its author is dead`() throws {
        let nodes = try team(11)
        try say("first", by: nodes[1])
        bench.advance(1_000)
        #expect(try believes(nodes[3], that: nodes[1], reaches: nodes[2]))
        bench.silence(nodes[1], nodes[2])
        try say("second", by: nodes[1])
        bench.advance(7_000)
        #expect(try !believes(nodes[3], that: nodes[1], reaches: nodes[2]))
        #expect(try hears("second", at: nodes[2]))
        // And of what comes then at once.
        try say("third", by: nodes[1])
        bench.advance(300)
        #expect(try hears("third", at: nodes[2]))
    }

    @Test func `gets it from others if its author went offline before it came`() throws {
        let nodes = try team(11)
        try say("first", by: nodes[1])
        bench.advance(60_000)
        bench.silence(nodes[1], nodes[2])
        try say("second", by: nodes[1])
        bench.advance(300)
        // The one whom it did not reach does not know that it is gone.
        for node in [nodes[0]] + nodes[3...] { bench.cut(nodes[1], node) }
        for node in nodes[3...] {
            #expect(try !believes(node, that: nodes[1], reaches: nodes[2]), "\(node.name)")
        }
        bench.advance(300)
        #expect(try hears("second", at: nodes[2]))
    }

    @Test func `gets it at once over a link that came later`() throws {
        let nodes = try team(11)
        bench.cut(nodes[1], nodes[2])
        try say("first", by: nodes[1])
        bench.advance(300)
        #expect(try hears("first", at: nodes[2]))
        bench.heal(nodes[1], nodes[2])
        bench.advance(120_000)
        try say("second", by: nodes[1])
        bench.advance(300)
        #expect(try hears("second", at: nodes[2]))
        #expect(try believes(nodes[3], that: nodes[1], reaches: nodes[2]))
    }

    @Test func `says of who left it that they may be linked to others, as long as they are`() throws
    {
        let nodes = try team(11)
        try say("first", by: nodes[1])
        bench.advance(1_000)
        #expect(try believes(nodes[3], that: nodes[1], reaches: nodes[2]))
        try Presence.listen(nodes[3], ["presence.changed"])
        bench.cut(nodes[3], nodes[2])
        #expect(try Presence.state(of: nodes[2].name, on: nodes[3]) == "unknown")
        nodes[2].kill()
        bench.advance(1_000)
        #expect(try Presence.state(of: nodes[2].name, on: nodes[3]) == nil)
        let told = Presence.take(nodes[3]).compactMap { $0["data"]?["state"]?.stringValue }
        #expect(told == ["unknown", "offline"])
    }

    /// Otherwise a removed member could claim to reach the very peers that must not
    /// learn of the removal.
    @Test func `gets authority changes from everybody`() throws {
        let nodes = try team(11)
        try say("first", by: nodes[0])
        bench.advance(60_000)
        #expect(try believes(nodes[3], that: nodes[0], reaches: nodes[2]))
        bench.silence(nodes[0], nodes[2])
        try nodes[0].ok("channel.create", ["name": "news"])
        bench.advance(300)
        try nodes[2].ok("channel.get", ["channel": "news"])
    }

    @Test func `does not claim to reach guests`() throws {
        let nodes = try team(11)
        try nodes[0].ok("channel.create", ["name": "deal", "private": true])
        let invite = try nodes[0].ok(
            "invite.create", ["role": "guest", "channels": ["deal"]])
        let guest = try bench.bareNode("Uma")
        try guest.ok(
            "workspace.join", ["link": invite["link"] ?? .null, "name": "Uma"])
        bench.advance(120_000)
        try say("first", by: nodes[0])
        bench.advance(1_000)
        let name = DeviceName(of: try device(guest))
        for node in nodes.dropFirst() {
            let told = try sync(at: nodes[0], with: node).toldReach
            #expect(told.count == nodes.count - 2 && !told.contains(name), "\(node.name)")
        }
    }
}

/// A member with false claims about whom it reaches.
struct `A member's claim of whom it reaches` {
    private let pair: HostilePair

    init() throws {
        pair = try HostilePair()
        pair.takeOver()
        pair.bench.advance(30_000)
    }

    private func name(_ number: UInt32) -> DeviceName {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return DeviceName(of: DeviceID(bytes + [UInt8](repeating: 0, count: 28)))
    }

    @Test func `fills no more memory than one workspace can have devices`() throws {
        let visitor = try pair.visit(pair.ada)
        for part in 0..<4 {
            let names = (0..<2_048).map { name(UInt32(part * 2_048 + $0)) }
            visitor.send(.reach(1, ReachUpdate(come: names, gone: [])))
        }
        let links = try #require(pair.ada.host?.core).links.network.links.values
        let heard = links.flatMap(\.syncs.values).map(\.reach.count)
        #expect(heard.max() == Limits.reachNamesMax)
    }
}
