import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Unread messages with clocks that are ahead: those of messages, and of the admitting operations.
struct `A message that is dated ahead` {
    private let bench = CoreBench()
    /// Whose clocks run an hour ahead.
    private let ann: BenchNode
    private let cleo: BenchNode
    /// Bob's.
    private let desk: BenchNode
    private let phone: BenchNode
    private var nodes: [BenchNode] { [ann, cleo, desk, phone] }

    init() throws {
        let mina = try bench.node("Mina")
        ann = try bench.guest("Ann", of: mina)
        cleo = try bench.guest("Cleo", of: mina)
        desk = try bench.guest("Bob", of: mina)
        phone = try bench.bareNode("Phone")
        try desk.link(phone)
        try ann.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        mina.kill()
        // What is said before one came in would be nobody's news.
        bench.letPass(7_200_000)
        for node in [ann, cleo] { node.clockSkew = 3_600_000 }
    }

    private func cutAll() {
        for (index, node) in nodes.enumerated() {
            for other in nodes.dropFirst(index + 1) { bench.cut(node, other) }
        }
    }

    private func healAll() {
        for (index, node) in nodes.enumerated() {
            for other in nodes.dropFirst(index + 1) { bench.heal(node, other) }
        }
        bench.advance(130_000)
    }

    private func unread(_ node: BenchNode) throws -> Int64 {
        try `What was read`.unread(node)["plans"] ?? 0
    }

    private func expectAlike(_ count: Int64?, _ note: String) throws {
        let counts = try [unread(desk), unread(phone)]
        if let count { #expect(counts == [count, count], "\(note)") }
        #expect(counts[0] == counts[1], "\(note): \(counts)")
        for node in [desk, phone] {
            let check = try node.ok("node.check")
            #expect(check["problem_count"] == 0, "\(note) \(node.name) \(check.text)")
            node.kill()
            try node.rebuildStore()
            try node.boot()
            #expect(try unread(node) == counts[0], "\(note) \(node.name) rebuilt")
        }
    }

    @Test func `is unread whether it or the word that lets one in came first`() throws {
        cutAll()
        try cleo.send("before", to: "plans")
        bench.advance(1_000)
        try ann.ok("channel.add", ["channel": "plans", "members": ["@Bob"]])
        bench.advance(1_000)
        try cleo.send("after", to: "plans")
        bench.advance(1_000)
        bench.heal(ann, desk)
        bench.heal(cleo, phone)
        bench.advance(1_000)
        bench.heal(cleo, desk)
        bench.heal(ann, phone)
        bench.advance(1_000)
        #expect(try [unread(desk), unread(phone)] == [1, 1])
        healAll()
        try expectAlike(1, "in the end")
    }

    /// A marker that waits names a message of the far future. Once it is written it counts for less, and
    /// what came meanwhile stands behind it.
    @Test func `is read up to where a marker is credible, once that is written`() throws {
        try ann.ok("channel.add", ["channel": "plans", "members": ["@Bob"]])
        for node in [ann, cleo] { node.clockSkew = 0 }
        try ann.send("first", to: "plans")
        bench.advance(1_000)
        try desk.ok("read.mark", ["channel": "plans"])
        ann.clockSkew = 3_600_000
        try ann.send("ahead", to: "plans")
        bench.advance(1_000)
        try desk.ok("read.mark", ["channel": "plans"])
        cleo.clockSkew = 1_800_000
        try cleo.send("between", to: "plans")
        bench.advance(130_000)
        for node in [desk, phone] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        try expectAlike(nil, "in the end")
    }

    /// Bob goes and comes, by words of his and of others, while messages come in any order. He marks
    /// while clocks are right: where a message from the future stands is each device's own.
    @Test(arguments: Seeds.explore(8))
    func `is unread alike on all devices of a person`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var cuts: Set<[Int]> = []
        for node in [ann, cleo] { node.clockSkew = 0 }
        for step in 0..<50 {
            if step == 15 { ann.clockSkew = 3_600_000 }
            if step == 20 { cleo.clockSkew = 3_600_000 }
            let (a, b) = (random.below(4), random.below(4))
            let reader = [desk, phone][random.below(2)]
            switch random.below(8) {
            case 0 where a < b && !cuts.contains([a, b]):
                bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2, 3: try nodes[random.below(2)].send("said \(step)", to: "plans")
            case 4:
                _ = nodes[a].call("channel.add", ["channel": "plans", "members": ["@Bob"]])
            case 5: _ = reader.call("channel.leave", ["channel": "plans"])
            case 6 where step < 15:
                _ = reader.call("read.mark", ["channel": "plans"])
            case 7 where step > 20 && random.oneIn(3):
                let node = nodes[random.below(2)]
                node.clockSkew = node.clockSkew == 0 ? 3_600_000 : 0
            default: bench.advance(UInt64(random.below(40_000)))
            }
        }
        for cut in cuts { bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        healAll()
        try expectAlike(nil, "WSX_SEED=\(seed)")
    }
}
