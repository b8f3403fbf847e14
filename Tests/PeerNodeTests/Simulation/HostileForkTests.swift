import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A member who writes two histories` {
    /// Branches with a common beginning `p0 p1`: A goes on with `a2 a3`, B with `b2 b3`, and C
    /// leaves B behind `b2` with `c3 c4`.
    private static func branches(_ scene: HostileScene) -> [HostileLog] {
        var trunk = HostileLog(scene.mallory, incarnation: 77)
        for number in 0..<2 { trunk.write("p\(number)", at: scene.wall + UInt64(number)) }
        func branch(_ log: HostileLog, _ texts: String...) -> HostileLog {
            var log = log
            for text in texts {
                log.write(text, at: scene.wall + UInt64(10 + log.operations.count))
            }
            return log
        }
        let trunkOfB = branch(trunk, "b2")
        return [
            branch(trunk, "a2", "a3"), branch(trunkOfB, "b3"), branch(trunkOfB, "c3", "c4"),
        ]
    }

    /// Which branches reach Ada and Bob while they are parted, each in this order.
    static let orders: [(ada: [Int], bob: [Int])] = [
        ([0], [1]), ([1], [0]), ([0, 2], [1]), ([1], [0, 2]), ([2], [1, 0]),
        ([0, 1, 2], [2, 1, 0]), ([1, 2, 0], [0]), ([0], [1, 2]),
    ]

    @Test(arguments: orders.indices, [false, true])
    func `is kept whole by all, in whatever order it came (O04)`(
        _ index: Int, inPieces: Bool
    ) throws {
        let scene = try HostileScene(seed: 41)
        defer { scene.world.end() }
        let branches = Self.branches(scene)
        scene.world.network.part(scene.ada, scene.bob)
        let order = Self.orders[index]
        for (node, order) in [(scene.ada, order.ada), (scene.bob, order.bob)] {
            let link = scene.peer().connect(to: node)
            for number in order {
                let log = branches[number]
                if inPieces {
                    for place in log.operations.indices {
                        link.push(log.cut(to: place + 1).run(from: place))
                    }
                } else {
                    link.push(log.run())
                }
                scene.world.run(for: 100)
            }
            #expect(link.isOpen)
            #expect(HostileScene.forkCount(of: node) == order.count - 1)
            link.close()
        }
        scene.world.network.heal()
        let used = Set(order.ada + order.bob)
        let shown = Set(used.flatMap { Self.texts[$0] })
        try scene.expectHonestPeace(showing: Array(shown))
        for node in scene.honest {
            #expect(HostileScene.forkCount(of: node) == used.count - 1, "\(node.log)")
            let evidence = try #require(node.host?.core).turn.store.registry.evidenceCount()
            #expect(evidence == used.count - 1)
        }
        try Self.expectSameAfterRestart(scene)
    }

    private static let texts = [
        ["p0", "p1", "a2", "a3"], ["p0", "p1", "b2", "b3"], ["p0", "p1", "b2", "c3", "c4"],
    ]

    private static func expectSameAfterRestart(_ scene: HostileScene) throws {
        let root = HostileScene.root(of: scene.ada)
        let texts = Set(Scenes.texts(of: "general", on: scene.ada))
        for node in scene.honest {
            node.crash()
            node.start()
            #expect(HostileScene.root(of: node) == root)
            #expect(Set(Scenes.texts(of: "general", on: node)) == texts)
        }
    }

    // What waits names what it goes on from: another branch that takes the place is not that.
    @Test func `is kept whole where a branch waited for another's place (O04)`() throws {
        let scene = try HostileScene(seed: 43)
        defer { scene.world.end() }
        let branches = Self.branches(scene)
        scene.world.network.part(scene.ada, scene.bob)
        let link = scene.peer().connect(to: scene.ada)
        link.push(branches[0].cut(to: 2).run())
        link.push(branches[1].run(from: 3))
        scene.world.run(for: 100)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 1)
        link.push(branches[0].run(from: 2))
        scene.world.run(for: 100)
        #expect(scene.ada.host?.core.log.waiting.operationCount == 1)
        #expect(link.isOpen)
        scene.peer(1).connect(to: scene.bob).push(branches[1].run())
        scene.world.run(for: 100)
        scene.world.network.heal()
        try scene.expectHonestPeace(showing: ["p0", "p1", "a2", "a3", "b2", "b3"])
        #expect(scene.ada.host?.core.log.waiting.operationCount == 0)
        for node in scene.honest { #expect(HostileScene.forkCount(of: node) == 1) }
    }

    // The whole log is forked, so the branches have nothing in common at all.
    @Test func `is kept whole when it begins twice (O04, O05)`() throws {
        let scene = try HostileScene(seed: 42)
        defer { scene.world.end() }
        var shown: [String] = []
        scene.world.network.part(scene.ada, scene.bob)
        for (number, node) in scene.honest.enumerated() {
            var log = HostileLog(scene.mallory, incarnation: 77)
            for place in 0..<3 {
                shown.append("n\(number)-\(place)")
                log.write(shown[shown.count - 1], at: scene.wall + UInt64(number * 10 + place))
            }
            let link = scene.peer().connect(to: node)
            link.push(log.run())
            scene.world.run(for: 100)
            link.close()
        }
        scene.world.network.heal()
        try scene.expectHonestPeace(showing: shown)
        for node in scene.honest { #expect(HostileScene.forkCount(of: node) == 1) }
    }
}
