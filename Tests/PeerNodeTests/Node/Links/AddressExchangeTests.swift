import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The addresses of a workspace's devices: announced once, relayed, and not repeated.
struct `The addresses of a device` {
    private let bench = CoreBench()

    private func team(_ count: Int) throws -> [BenchNode] {
        let mina = try bench.node("Mina")
        let others = try (1..<count).map { try bench.guest("Guest \($0)", of: mina) }
        bench.advance(120_000)
        return [mina] + others
    }

    private func device(_ node: BenchNode) throws -> DeviceID {
        try #require(node.host?.core.session.home).device
    }

    private func record(of node: BenchNode, at other: BenchNode) throws -> AddressRecord? {
        try #require(other.host?.core).links.network.addresses.book.record(of: device(node))
    }

    private func move(_ node: BenchNode, to address: String) {
        bench.give(.listening([address]), to: node)
        bench.settle()
    }

    @Test func `are signed once, whatever links and restarts there are`() throws {
        let nodes = try team(4)
        let signed = try nodes.map { try record(of: $0, at: $0) }
        for node in nodes {
            try node.restart()
            bench.advance(30_000)
        }
        for (node, first) in zip(nodes, signed) {
            #expect(first != nil)
            for other in nodes { #expect(try record(of: node, at: other) == first) }
        }
    }

    @Test func `are signed again before they stop counting`() throws {
        let nodes = try team(2)
        let first = try #require(try record(of: nodes[0], at: nodes[1]))
        bench.letPass(Limits.addressRenewalMilliseconds + 60_000)
        try nodes[1].restart()
        bench.advance(30_000)
        let second = try #require(try record(of: nodes[0], at: nodes[1]))
        #expect(second.at >= first.at + Limits.addressRenewalMilliseconds)
        #expect(second.addresses == first.addresses)
    }

    @Test func `are signed again in time though nothing happens`() throws {
        let mina = try bench.node("Mina")
        try mina.restart()
        bench.advance(1_000)
        let first = try #require(try record(of: mina, at: mina))
        bench.advance(Limits.addressRenewalMilliseconds + 60_000)
        let second = try #require(try record(of: mina, at: mina))
        #expect(second.at >= first.at + Limits.addressRenewalMilliseconds)
    }

    /// Else two nodes whose words are ahead would be news to each other all the time.
    @Test func `are not signed again where they are a little ahead of the clock`() throws {
        let nodes = try team(3)
        for node in nodes.prefix(2) {
            try node.inTurn { core, _ in
                try core.links.renewOwnRecord(after: core.turn.time.wall + 250_000)
            }
        }
        bench.advance(1_000)
        let ahead = try nodes.map { try record(of: $0, at: $0) }
        try nodes[2].restart()
        bench.advance(60_000)
        for (node, first) in zip(nodes, ahead) {
            #expect(try record(of: node, at: node) == first)
            for other in nodes { #expect(try record(of: node, at: other) == first) }
        }
    }

    @Test func `reach a node that has no link to it`() throws {
        let nodes = try team(3)
        bench.cut(nodes[0], nodes[2])
        move(nodes[0], to: "10.9.9.9:29790")
        bench.advance(10_000)
        let told = try record(of: nodes[0], at: nodes[2])
        #expect(told?.addresses == ["10.9.9.9:29790"])
        #expect(told == (try record(of: nodes[0], at: nodes[0])))
    }

    @Test func `reach a node that comes back, of all nodes that moved meanwhile`() throws {
        let nodes = try team(5)
        nodes[4].kill()
        for (number, node) in nodes.dropLast().enumerated() {
            move(node, to: "10.9.9.\(number):29790")
        }
        bench.advance(10_000)
        // One of them is enough.
        for node in nodes[1..<4] { bench.cut(node, nodes[4]) }
        move(nodes[0], to: "10.0.0.1:29790")
        try nodes[4].boot()
        bench.advance(60_000)
        for (number, node) in nodes[1..<4].enumerated() {
            #expect(
                try record(of: node, at: nodes[4])?.addresses == ["10.9.9.\(number + 1):29790"])
        }
    }

    /// A home from a backup has older words than it has said.
    @Test func `of a restored home become the newest again`() throws {
        let nodes = try team(3)
        let image = try nodes[1].image
        let (identity, guardBytes) = (nodes[1].files.identity, nodes[1].files.guardBytes)
        bench.advance(10_000)
        move(nodes[1], to: "10.9.9.9:29790")
        bench.advance(10_000)
        nodes[1].kill()
        try nodes[1].replaceStore(image)
        (nodes[1].files.identity, nodes[1].files.guardBytes) = (identity, guardBytes)
        try nodes[1].boot()
        bench.advance(60_000)
        let own = try #require(try record(of: nodes[1], at: nodes[1]))
        #expect(own.addresses == ["10.0.0.2:29790"])
        for node in nodes { #expect(try record(of: nodes[1], at: node) == own) }
    }

    /// What a return costs all together: it grows with the number of links, and not with its square.
    @Test func `cost no more for each link in a larger team`() throws {
        var costs: [Int] = []
        for count in [4, 12] {
            let bench = CoreBench()
            let mina = try bench.node("Mina")
            let others = try (1..<count).map { try bench.guest("Guest \($0)", of: mina) }
            bench.advance(240_000)
            let idle = bench.carriedByteCount
            bench.advance(120_000)
            let before = bench.carriedByteCount
            try others[0].restart()
            bench.advance(120_000)
            costs.append((bench.carriedByteCount - before - (before - idle)) / (count - 1))
        }
        #expect(costs[1] <= costs[0] * 5 / 4, "\(costs)")
        #expect(costs[1] <= 8_192, "\(costs)")
    }
}
