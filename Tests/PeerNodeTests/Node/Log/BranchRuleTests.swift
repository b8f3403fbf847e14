import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

// 3.8
struct `A log with many branches` {
    private func tree(
        _ world: ForkingWorld, leaves: Int, with random: inout SeededGenerator
    ) throws -> ForkedTree {
        var tree = ForkedTree()
        let author = world.nodes[2]
        for _ in 0..<3 {
            tree.operations.append(
                try world.sign(by: author, behind: tree.operations.last))
        }
        while tree.leaves.count < leaves {
            // Anywhere, the start of the log too: so branches fork again.
            let parent =
                random.next() % 6 == 0 ? nil : tree.operations.randomElement(using: &random)
            tree.operations.append(try world.sign(by: author, behind: parent))
        }
        return tree
    }

    @Test(arguments: Seeds.explore(6))
    func `keeps the same ones in every order of arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try ForkingWorld()
        let tree = try tree(world, leaves: 9 + Int(seed % 4), with: &random)
        let log = try world.log(by: world.nodes[2])
        let expected = Set(tree.leaves.prefix(Limits.branchesMax).map(\.id))
        for node in world.nodes {
            for operation in tree.shuffledCausally(with: &random) {
                try world.bring(operation, to: node)
            }
            #expect(try world.kept(at: node, of: log) == expected, "WSX_SEED=\(seed)")
        }
        let roots = Set(try world.nodes.map(world.root))
        #expect(roots.count == 1, "WSX_SEED=\(seed)")
        // Every branch that is stored leads to a leaf, or is where one leaves it.
        for node in world.nodes {
            #expect(
                try world.branchCount(at: node, of: log) <= 2 * Limits.branchesMax,
                "WSX_SEED=\(seed)")
            try node.restart()
            #expect(try world.kept(at: node, of: log) == expected, "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(4))
    func `and what others cite of it agree after a sync`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try ForkingWorld()
        var tree = try tree(world, leaves: 12, with: &random)
        let log = try world.log(by: world.nodes[2])
        let order = tree.leaves
        // One leaf that has to stay because it is cited, one citation in the forked log itself,
        // and one by a branch that has to go, which keeps nothing.
        let citing = try world.sign(by: world.nodes[1], citing: [order[10]])
        let inner = try world.sign(by: world.nodes[2], behind: order[0], citing: [order[9]])
        let lost = try world.sign(by: world.nodes[2], behind: order[11], citing: [order[8]])
        tree.operations += [inner, lost]
        // Who cites something has it.
        for operation in tree.path(to: order[10]) + [citing] {
            try world.bring(operation, to: world.nodes[1])
        }
        for operation in tree.path(to: order[9]) + tree.path(to: inner) {
            try world.bring(operation, to: world.nodes[2])
        }
        // Each of them hears of a part, in an order of its own.
        for node in world.nodes {
            for operation in tree.shuffledCausally(with: &random) + [citing]
            where random.next() % 3 != 0 || node === world.nodes[0] {
                try world.bring(operation, to: node)
            }
        }
        world.heal()
        var expected = Set(order.prefix(Limits.branchesMax).map(\.id))
        expected.remove(order[0].id)
        expected.formUnion([inner.id, order[9].id, order[10].id])
        for node in world.nodes {
            #expect(try world.kept(at: node, of: log) == expected, "WSX_SEED=\(seed)")
            #expect(try world.root(of: node) == world.root(of: world.nodes[0]))
        }
    }

    @Test func `skips a surplus branch without checking its signature`() throws {
        let world = try ForkingWorld()
        let author = world.nodes[2]
        let first = try world.sign(by: author)
        try world.bring(first, to: world.nodes[0])
        var forks: [SignedOperation] = []
        for _ in 0..<30 { forks.append(try world.sign(by: author, behind: first)) }
        forks.sort { $0.id < $1.id }
        for fork in forks.prefix(Limits.branchesMax) { try world.bring(fork, to: world.nodes[0]) }
        let log = try world.log(by: author)
        let before = try world.branchCount(at: world.nodes[0], of: log)
        let core = try #require(world.nodes[0].host?.core)
        for fork in forks.dropFirst(Limits.branchesMax) {
            var run = fork.run(in: world.channel)
            run.entries[0].signature = Signature([UInt8](repeating: 1, count: 64))
            try core.turn.store.begin()
            // If it were verified, this would be a violation, and its sender would be dropped.
            #expect(
                try core.acceptAtOnce(
                    run, in: try world.nodes[0].workspace(),
                    from: .peer(
                        author.host?.core.session.home?.device ?? .zero, source: 1,
                        isBackfill: false))
                    == .known)
            try core.turn.store.commit()
        }
        #expect(try world.branchCount(at: world.nodes[0], of: log) == before)
        #expect(core.turn.store.operations.count(inLog: log, core) == 1 + Limits.branchesMax)
    }

    @Test func `shows what it keeps, and no more`() throws {
        let world = try ForkingWorld()
        let author = world.nodes[2]
        let first = try world.sign(by: author)
        var forks: [SignedOperation] = []
        for _ in 0..<12 { forks.append(try world.sign(by: author, behind: first)) }
        forks.sort { $0.id > $1.id }
        // Each evicts one that came before it.
        for operation in [first] + forks { try world.bring(operation, to: world.nodes[0]) }
        #expect(try world.nodes[0].log().count == 1 + Limits.branchesMax)
        #expect(
            try world.nodes[0].rowCount("operation")
                == world.nodes[0].ok("node.status")["store"]?.number("operations"))
    }

    // What is shown is a function of what is kept: nobody sees that a branch was ever here.
    @Test func `leaves nothing deleted by a branch that is not kept`() throws {
        let world = try ForkingWorld()
        let (mina, wim, author) = (world.nodes[0], world.nodes[1], world.nodes[2])
        let (first, redaction, forks) = try world.deletionBeyondForks(by: author)
        for operation in [first, redaction] + forks.dropLast() {
            try world.bring(operation, to: mina)
        }
        #expect(try world.deletion(of: first, at: mina) != nil)
        try world.bring(forks[forks.count - 1], to: mina)
        #expect(try world.deletion(of: first, at: mina) == nil)
        // Who never saw the branch has what the message said.
        for operation in [first] + forks { try world.bring(operation, to: wim) }
        world.heal()
        for node in [mina, wim] {
            #expect(try world.deletion(of: first, at: node) == nil)
            #expect(try node.log().count == 1 + Limits.branchesMax)
            #expect(try #require(node.host?.core).turn.store.operations.missingPayloadCount() == 0)
        }
        #expect(try mina.shownTexts(in: "general") == wim.shownTexts(in: "general"))
        #expect(try !mina.shownTexts(in: "general").contains("-"))
    }

    // Here no branch is new: one counts after all, and another one is too much then.
    @Test func `leaves nothing deleted by a branch that a verdict has pushed out`() throws {
        let world = try ForkingWorld()
        let (mina, author) = (world.nodes[0], world.nodes[2])
        let (first, redaction, forks) = try world.deletionBeyondForks(by: author)
        for operation in [first, redaction] + forks.dropLast() {
            try world.bring(operation, to: mina)
        }
        try mina.ok("member.remove", ["member": "@Joon"])
        // It lies beyond the cut.
        try world.bring(forks[forks.count - 1], to: mina)
        let log = try world.log(by: author)
        #expect(try world.kept(at: mina, of: log).contains(redaction.id))
        #expect(try world.deletion(of: first, at: mina) != nil)
        try mina.ok("member.remove", ["member": "@Joon", "recut": true])
        #expect(try world.kept(at: mina, of: log) == Set(forks.map(\.id)))
        #expect(try world.deletion(of: first, at: mina) == nil)
        // It was erased, and is asked of others again.
        let checked = try mina.ok("node.check")
        #expect(checked["missing"] == 1)
        #expect(checked["ok"] == true)
    }

    // Otherwise a removed member could empty what was written before.
    @Test func `does not lose what is valid to what is void`() throws {
        let world = try ForkingWorld()
        let author = world.nodes[2]
        let mina = world.nodes[0]
        let noGrant = try #require(
            try mina.workspace().authorityOrder.last {
                (try? mina.workspace().judged.evaluator.devices(ofGrant: $0).isEmpty) ?? false
            })
        let first = try world.sign(by: author)
        let second = try world.sign(by: author, behind: first)
        try world.bring(first, to: mina)
        try world.bring(second, to: mina)
        let log = try world.log(by: author)
        for _ in 0..<40 {
            try world.bring(
                try world.sign(by: author, behind: first, under: noGrant), to: mina)
        }
        #expect(try world.kept(at: mina, of: log) == [second.id])
        #expect(try world.branchCount(at: mina, of: log) <= 1 + Limits.voidBranchesMax)
    }
}

extension OperationStore {
    fileprivate func count(inLog log: LogName, _ core: NodeCore) -> Int {
        guard let workspace = core.workspaces.values.first else { return 0 }
        return branches(of: log, in: workspace.number)
            .reduce(0) { $0 + Int($1.tipSequence - $1.forkSequence) + 1 }
    }
}
