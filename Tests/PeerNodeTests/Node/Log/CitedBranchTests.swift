import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Operations of two members on many branches of their logs, citing each other.
private struct Braid {
    private(set) var operations: [SignedOperation] = []
    private var authors: [OperationID: DeviceID] = [:]

    init(
        _ count: Int, by authors: [BenchNode], in world: ForkingWorld,
        with random: inout SeededGenerator
    ) throws {
        while operations.count < count {
            let author = authors[random.below(authors.count)]
            let device = try author.deviceKey()
            let own = operations.filter { $0.header.device == device }
            let some = random.oneIn(3) ? own[...] : own.suffix(6)
            let parent = random.oneIn(6) ? nil : some.randomElement(using: &random)
            let cited = operations.shuffled(using: &random).prefix([0, 1, 3][random.below(3)])
            operations.append(
                try world.sign(
                    by: author, behind: parent, citing: cited.filter { $0.id != parent?.id },
                    saying: random.oneIn(4)
                        ? .membership(random.oneIn(2) ? .join : .leave, members: []) : nil))
        }
    }

    /// What leads to an operation in its log, and the operation itself, as a pull brings it.
    func path(to operation: SignedOperation) -> [SignedOperation] {
        ForkedTree(operations: operations).path(to: operation)
    }

    /// PROTOCOL.md, 2.1: the first leaves of each log, and the past of all that is kept.
    var kept: Set<OperationID> {
        var kept: Set<OperationID> = []
        for device in Set(operations.map(\.header.device)) {
            let tree = ForkedTree(operations: operations.filter { $0.header.device == device })
            kept.formUnion(tree.leaves.prefix(Limits.branchesMax).map(\.id))
        }
        for operation in operations.reversed() where kept.contains(operation.id) {
            operation.header.previous.map { _ = kept.insert($0) }
            kept.formUnion(operation.header.dependencies.map(\.id))
        }
        return kept
    }
}

extension BenchNode {
    fileprivate func deviceKey() throws -> DeviceID {
        try #require(host?.core.session.home).device
    }

    /// Which of some operations are stored here.
    fileprivate func stored(
        _ operations: [SignedOperation], in world: ForkingWorld
    ) throws -> Set<OperationID> {
        let core = try #require(host?.core)
        let number = try workspace().number
        return Set(
            try operations.filter {
                try core.turn.store.operations.find($0.reference, in: world.channel, of: number)
                    != nil
            }.map(\.id))
    }
}

struct `Branches that cite each other` {
    /// In the named worlds runs wait again and again behind branches that are too many, and in the second
    /// of them what such a run goes on from is one too.
    @Test(arguments: Seeds.explore(4) + [950_304_344, 1_810_706_793])
    func `are the same everywhere after a minute, at a newcomer too`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try ForkingWorld()
        let braid = try Braid(
            120, by: [world.nodes[1], world.nodes[2]], in: world, with: &random)
        // Each hears a part, in an order of its own, and Mina all of it.
        for (index, node) in world.nodes.enumerated() {
            let heard = braid.operations.filter { _ in index == 0 || random.oneIn(2) }
            // What was passed over is brought again, as a comparison does.
            for _ in 0..<(index == 0 ? 10 : 1) {
                for operation in random.oneIn(2) ? heard : heard.shuffled(using: &random) {
                    try world.bring(braid.path(to: operation), to: node)
                }
            }
        }
        world.heal(for: 60_000)
        let newcomer = try world.bench.guest("New", of: world.nodes[0])
        world.bench.advance(60_000)
        let kept = braid.kept
        for node in world.nodes + [newcomer] {
            let stored = try node.stored(braid.operations, in: world)
            #expect(kept.subtracting(stored).count == 0, "\(node.name), WSX_SEED=\(seed)")
            let problems = try node.ok("node.check")["problems"]?.arrayValue ?? []
            #expect(problems.isEmpty, "\(node.name), WSX_SEED=\(seed): \(problems)")
            #expect(
                try world.root(of: node) == world.root(of: world.nodes[0]),
                "\(node.name), WSX_SEED=\(seed)")
        }
    }
}
