import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Clock steps, and a suspended process: the environment cases.
struct `A strange clock` {
    private static let tenYears: Int64 = 315_360_000_000

    /// What nodes do for the sake of the network.
    private final class Traffic {
        private(set) var dials = 0
        private(set) var bytes = 0

        func watch(_ world: SimulatedWorld) {
            world.onEffect = { [self] effect, _ in
                switch effect {
                case .dial: dials += 1
                case .write(_, let sent): bytes += sent.count
                default: break
                }
            }
        }
    }

    private static func say(_ text: String, _ node: SimulatedNode) {
        node.call("message.send", ["channel": "general", "text": .string(text)])
    }

    private static func linkCount(_ node: SimulatedNode) -> Int? {
        node.host?.core.links.network.links.count
    }

    /// A minute in which both talk, while Ada's clock is what `skew` says for each second.
    ///
    /// - Returns: what she and Bob show, and what went over the network.
    private func minute(
        seed: UInt64, skew: (Int) -> Int64
    ) throws -> (shown: [[String]], traffic: Traffic) {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try `Nodes that were away`.pair(in: world)
        let traffic = Traffic()
        traffic.watch(world)
        for second in 0..<60 {
            ada.clockSkew = skew(second)
            if second.isMultiple(of: 3) { Self.say("ada \(second)", ada) }
            if second.isMultiple(of: 5) { Self.say("bob \(second)", bob) }
            world.run(for: 1_000)
        }
        // Long enough for one more comparison.
        world.run(for: 40_000)
        #expect(world.failures == [])
        for node in [ada, bob] { #expect(node.startCount == 1) }
        #expect(HostileScene.root(of: ada) == HostileScene.root(of: bob))
        return ([ada, bob].map { Scenes.texts(of: "general", on: $0) }, traffic)
    }

    @Test(arguments: Seeds.explore(3))
    func `that steps every second keeps each author's order, and makes no storm (Q01)`(
        seed: UInt64
    ) throws {
        let still = try minute(seed: seed) { _ in 0 }
        let wild = try minute(seed: seed) { second in
            [-Self.tenYears, Self.tenYears, 0][second % 3]
        }
        for shown in wild.shown {
            #expect(shown.count == 32)
            for author in ["ada", "bob"] {
                let own = shown.filter { $0.hasPrefix(author) }
                let step = author == "ada" ? 3 : 5
                #expect(own == stride(from: 0, to: 60, by: step).map { "\(author) \($0)" })
            }
        }
        #expect(wild.traffic.dials <= still.traffic.dials + 2)
        #expect(
            wild.traffic.bytes < 2 * still.traffic.bytes,
            "\(wild.traffic.bytes) bytes instead of \(still.traffic.bytes)")
    }

    @Test(arguments: [-1, 1] as [Int64])
    func `of ten years, for good, stops no timer and no conversation (Q01)`(
        direction: Int64
    ) throws {
        let world = SimulatedWorld(seed: 911)
        defer { world.end() }
        let (ada, bob) = try `Nodes that were away`.pair(in: world)
        ada.clockSkew = direction * Self.tenYears
        Self.say("shifted", ada)
        world.run(for: 2_000)
        // A link that breaks is made again at the same pace.
        world.network.part(ada, bob)
        world.run(for: 120_000)
        Self.say("apart", bob)
        world.network.heal()
        #expect(
            world.run(within: 120_000, every: 500) {
                [ada, bob].allSatisfy {
                    Set(Scenes.texts(of: "general", on: $0)) == ["shifted", "apart"]
                }
            })
        #expect(world.failures == [])
    }

    /// Bob and Cleo know nobody but Ada, by whom they came in.
    @Test(arguments: [-780_000, -10_800_000, 10_800_000] as [Int64])
    func `of a node that forwards addresses keeps nobody from finding each other`(skew: Int64)
        throws
    {
        let world = SimulatedWorld(seed: 912)
        defer { world.end() }
        let (ada, bob, cleo) = (world.addNode(), world.addNode(), world.addNode())
        ada.clockSkew = skew
        let link = try #require(Scenes.found(world, by: ada))
        #expect(Scenes.join(link, by: bob, named: "Bob"))
        #expect(Scenes.join(link, by: cleo, named: "Cleo"))
        #expect(
            world.run(within: 300_000) { [ada, bob, cleo].allSatisfy { Self.linkCount($0) == 2 } })
        #expect(world.failures == [])
    }

    @Test(arguments: Seeds.explore(3))
    func `that stood still with its process is caught up with, without a burst (Q02)`(
        seed: UInt64
    ) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let (ada, bob) = try `Nodes that were away`.pair(in: world)
        #expect(Self.linkCount(ada) == 1)
        bob.isStopped = true
        for minute in 0..<10 {
            Self.say("minute \(minute)", ada)
            world.run(for: 60_000)
        }
        #expect(Self.linkCount(ada) == 0, "the link of somebody who says nothing is let go")
        let traffic = Traffic()
        traffic.watch(world)
        Self.say("bob is back", bob)
        bob.isStopped = false
        #expect(
            world.run(within: 120_000, every: 500) {
                [ada, bob].allSatisfy { Scenes.texts(of: "general", on: $0).count == 11 }
            })
        world.run(for: 10_000)
        #expect(Self.linkCount(bob) == 1)
        #expect(traffic.dials <= 8, "\(traffic.dials) dials")
        #expect(traffic.bytes < 64 * 1024, "\(traffic.bytes) bytes")
        #expect(world.failures == [])
    }
}
