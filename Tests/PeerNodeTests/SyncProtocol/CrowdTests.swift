import Foundation
import Testing
import WorkspaceTestKit

/// The cost of a message, a return and a join in a large workspace; `make
/// campaign-crowd` prints it.
struct `A crowd on the virtual network` {
    /// How large the crowd of the campaign is.
    private enum Campaign {
        private static let environment = ProcessInfo.processInfo.environment
        static let nodes = environment["WSX_NODES"].flatMap { Int($0) }
        /// 0 for everybody with everybody.
        static let links = environment["WSX_LINKS"].flatMap { Int($0) } ?? 16
    }

    /// In short, for a failure.
    private func state(of world: CrowdWorld) -> String {
        "\(world.lackingCount) of \(world.nodeCount) lack something"
    }

    private func expectHealthy(_ world: CrowdWorld) {
        #expect(world.isWhole, "\(state(of: world))")
        #expect(world.rootCount == 1)
        #expect(world.violationCount == 0)
        #expect(world.foreignCount == 0)
    }

    /// Each text comes once to each who lacks it, however many links offer it. With it goes, for each
    /// node, a head, a seal and a signature, and the pull: 700 bytes at most; and, for each link, an
    /// announcement in both directions and one comparison, of two openings and what differs: six
    /// messages of at most 200 bytes. Over 5 links a node that is less than 5 times the text.
    @Test(arguments: Seeds.explore(3))
    func `gives each what they lack once, over five links each`(_ seed: UInt64) throws {
        let world = CrowdWorld(nodes: 23, links: 5, operations: 200, authors: 10, seed: seed)
        #expect(world.rest(), "talks endlessly")
        let join = world.newcomer()
        #expect(join.traffic.operationCount == 200, "\(join)")
        #expect(world.rest())
        expectHealthy(world)

        let message = world.message("one message")
        #expect(message.traffic.operationCount == 23, "\(message)")
        let most = 24 * (CrowdWorld.messageBytes + 700) + world.linkCount * 6 * 200
        #expect(message.traffic.byteCount <= most, "\(message)")
        #expect(most <= 5 * 24 * CrowdWorld.messageBytes)
        #expect(message.traffic.count(0x96) == 0, "few peers are not told who is reached")
        #expect(world.rest())
        expectHealthy(world)

        let back = try #require(world.returning())
        #expect(back.traffic.operationCount == 100, "\(back)")
        #expect(world.rest())
        expectHealthy(world)
        #expect(world.linkCount <= 24 * 3, "about five each")
    }

    /// Else each of 11 would announce the message to the 10 others.
    @Test func `leaves a message to its author where all are linked`() {
        let world = CrowdWorld(nodes: 12, links: 0, operations: 20, authors: 2, seed: 1)
        #expect(world.linkCount == 66)
        #expect(world.rest())
        let first = world.message("one message")
        #expect(first.traffic.count(0x96) == 11)
        #expect(first.traffic.operationCount == 11)
        #expect(first.traffic.count(0x12) <= 2 * 11, "receipts, and what comparisons find")
        #expect(world.rest())
        let second = world.message("one more")
        #expect(second.traffic.count(0x96) == 0, "nothing has changed")
        #expect(second.traffic.count(0x12) <= 2 * 11)
        #expect(world.rest())
        expectHealthy(world)
    }

    /// Who goes is taken back by each author who has said to reach them, and told again.
    @Test func `says whom authors reach no more, and reach again`() throws {
        let world = CrowdWorld(nodes: 14, links: 0, operations: 20, authors: 2, seed: 2)
        #expect(world.rest())
        _ = world.message("one message")
        #expect(world.rest())
        #expect(world.toldMax == 12)
        #expect(world.returning() != nil)
        #expect(world.rest())
        #expect(world.toldMax == 11)
        #expect(world.message("one more").traffic.count(0x96) == 13)
        #expect(world.toldMax == 12)
        #expect(world.rest())
        expectHealthy(world)
    }

    @Test(.enabled(if: Campaign.nodes != nil), arguments: Seeds.explore(1))
    func `prints what a message, a return and a join cost`(_ seed: UInt64) throws {
        let count = try #require(Campaign.nodes)
        try #require(count > 13 && Campaign.links != 1, "too few for ten authors, or in pieces")
        let world = CrowdWorld(
            nodes: count - 1, links: Campaign.links, operations: 2_000,
            authors: min(100, count - 1), seed: seed)
        #expect(world.rest(), "talks endlessly")
        var rows = [world.newcomer()]
        #expect(world.rest())
        // The first one of an author who has not said yet whom it reaches, then any other.
        rows.append(world.message("a first message of 1,000 bytes"))
        #expect(world.rest())
        rows.append(world.message("a further message"))
        #expect(world.rest())
        let back = try #require(world.returning())
        rows.append(back)
        print("\(count) nodes, \(world.linkCount) links, seed \(seed); messages are number: kB")
        print(CrowdRow.head)
        for row in rows { print(row) }
        #expect(rows.allSatisfy { $0.end != nil })
        #expect(world.rest())
        expectHealthy(world)
    }
}
