import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members of one workspace who work in two changing partitions, and remove each other. Otto is
/// offline meanwhile.
private final class ScatteredWork {
    let bench: CoreBench
    let otto: BenchNode
    /// Otto's store as it was before.
    let before: [UInt8]
    /// Everything that anybody wrote, in single operations.
    private(set) var runs: [OperationRun] = []
    private var people: [BenchNode] = []
    private var links: [String] = []
    private var generator: SeededGenerator

    init(seed: UInt64, steps: Int) throws {
        bench = CoreBench(seed: seed)
        generator = SeededGenerator(seed: seed)
        let mina = try bench.node("Mina")
        people = [mina]
        for (name, role) in [("Rita", "admin"), ("Paul", "admin"), ("Quin", "member")] {
            people.append(try bench.guest(name, of: mina, role: role))
        }
        otto = try bench.guest("Otto", of: mina)
        bench.advance(5_000)
        otto.kill()
        before = try otto.image
        for _ in 0..<steps { work() }
        for node in people { node.kill() }
        try collect()
    }

    private func work() {
        guard let node = people.randomElement(using: &generator) else { return }
        let other = people.dropFirst().randomElement(using: &generator) ?? node
        switch generator.below(12) {
        case 0, 1: regroup()
        case 2: _ = node.call("policy.set", ["who_may_invite": "members"])
        case 3: invite(by: node)
        case 4: join(through: node)
        case 5: _ = node.call("member.remove", ["member": .string(other.name), "force": true])
        case 6:
            let role = generator.oneIn(2) ? "admin" : "member"
            _ = node.call("member.role", ["member": .string(other.name), "role": .string(role)])
        case 7, 8:
            _ = node.call("channel.create", ["name": .string("topic-\(generator.below(9_999))")])
        case 9: _ = node.call("message.send", ["channel": "general", "text": "hello"])
        default: invite(by: node)
        }
    }

    /// Parts everybody into two groups, who meet among themselves.
    private func regroup() {
        let sides = people.map { _ in generator.oneIn(2) }
        for left in people.indices {
            for right in people.indices where left < right {
                bench.cut(people[left], people[right])
                guard sides[left] == sides[right] else { continue }
                bench.heal(people[left], people[right])
            }
        }
    }

    private func invite(by node: BenchNode) {
        if case .success(let invite) = node.call("invite.create", ["uses": 3]),
            let link = invite["link"]?.stringValue
        {
            links.append(link)
        }
    }

    /// Somebody comes in by a newer invite of anybody's, let in by `node`.
    private func join(through node: BenchNode) {
        guard people.count < 7, let link = links.suffix(3).randomElement(using: &generator),
            let led = InviteLink(link, leadingTo: node.address),
            let newcomer = try? bench.bareNode("New \(people.count)")
        else { return }
        for other in people where other !== node { bench.cut(newcomer, other) }
        let joined = newcomer.call(
            "workspace.join",
            ["link": .string(led.text.link), "name": .string(newcomer.name), "timeout_ms": 5_000])
        guard case .success = joined else { return newcomer.kill() }
        people.append(newcomer)
    }

    private func collect() throws {
        var seen: Set<Signature> = []
        for node in people {
            try node.boot()
            runs += try node.storedRuns().filter { seen.insert($0.entries[0].signature).inserted }
            node.kill()
        }
    }

    /// The same in some order, neighbours of a log now and then together.
    func shuffled() -> [OperationRun] {
        var batches: [OperationRun] = []
        for run in runs.sorted(by: { ($0.log, $0.firstSequence) < ($1.log, $1.firstSequence) }) {
            if let last = batches.last, last.log == run.log, generator.oneIn(2),
                last.firstSequence + UInt64(last.entries.count) == run.firstSequence
            {
                batches[batches.count - 1].entries += run.entries
            } else {
                batches.append(run)
            }
        }
        return batches.shuffled(using: &generator)
    }

    /// Brings everything to Otto in some order, until nothing of it is new.
    ///
    /// A round may store nothing and still help: an operation without effect is passed over until
    /// something is known to wait for it, and a restart forgets what waits. So two more rounds
    /// follow a round with nothing new, without a restart: one for what waits to be known, one for
    /// what it waits for.
    ///
    /// - Parameter check: called now and then, and at the end.
    func deliver(_ check: (NodeCore, Workspace) throws -> Void) throws {
        otto.kill()
        try otto.replaceStore(before)
        try otto.boot()
        var quietRounds = 0
        while quietRounds < 3 {
            var isNew = false
            for run in shuffled() {
                isNew = try bring(run) || isNew
                if quietRounds == 0, generator.oneIn(24) { try otto.restart() }
                if generator.oneIn(4) { try inspect(check) }
            }
            quietRounds = isNew ? 0 : quietRounds + 1
        }
        try inspect(check)
        try otto.restart()
        try inspect(check)
    }

    private func bring(_ run: OperationRun) throws -> Bool {
        let core = try #require(otto.host?.core)
        core.beginTurn(at: otto.time)
        let workspace = try #require(core.workspaces.values.first)
        let outcome = try core.acceptAtOnce(
            run, in: workspace, from: .peer(.zero, source: 1, isBackfill: generator.oneIn(2)))
        _ = try core.endTurn()
        try core.turn.store.commit()
        core.didCommit()
        if case .stored = outcome { return true }
        return false
    }

    /// Asks Otto's node, as it is now.
    func inspect(_ check: (NodeCore, Workspace) throws -> Void) throws {
        let core = try #require(otto.host?.core)
        try check(core, try #require(core.workspaces.values.first))
    }
}

/// PROTOCOL.md, 5.4: digests are equal where the operations are.
struct `What is kept of an authority document` {
    /// What is kept of other documents is too, whatever it waited for.
    @Test(arguments: Seeds.explore(12))
    func `is one function of the set of operations, and the same for everybody, content too`(
        seed: UInt64
    ) throws {
        let work = try ScatteredWork(seed: seed, steps: 40)
        var known: Set<DocumentDigest>?
        for _ in 0..<6 {
            try work.deliver { try Self.expectKept(of: $1, $0) }
            var digests: Set<DocumentDigest> = []
            try work.inspect { core, workspace in
                let replica = CoreReplica(for: core.syncing, workspace: workspace)
                digests = Set((0...UInt8.max).flatMap { replica.documentDigests(inBucket: $0) })
            }
            #expect(digests == known ?? digests)
            known = known ?? digests
        }
    }

    /// What the node holds to be kept, tells to peers and sums up equals the definition.
    static func expectKept(of workspace: Workspace, _ core: NodeCore) throws {
        let operations = workspace.authorityOrder.compactMap(workspace.judged.evaluator.operation)
        let judged = try AuthEvaluator.evaluateFromScratch(operations)
        let definition = KeptDefinition(
            operations, valid: Set(judged.validOperations),
            cited: try grantsCited(in: workspace, core))
        let branches = core.turn.store.operations.branches(in: workspace.id, of: workspace.number)
        let kept = Set(branches.compactMap { $0.kept?.id })
        #expect(kept.isSuperset(of: definition.tips.map(\.id)))
        #expect(kept.isSubset(of: definition.kept))
        let replica = CoreReplica(for: core.syncing, workspace: workspace)
        let told = Set(replica.tips(of: workspace.id).map(\.id.bytes))
        #expect(told == Set(kept.map { Array($0.bytes.prefix(16)) }))
        let bucket = WorkspaceDigest.bucket(of: workspace.id)
        let digest = replica.documentDigests(inBucket: bucket).first { $0.document == workspace.id }
        #expect(digest?.digest == Identifier16(prefixOf: definition.digest))
    }

    /// The grants of all kept operations of other documents.
    private static func grantsCited(
        in workspace: Workspace, _ core: NodeCore
    ) throws -> Set<OperationID> {
        var grants: Set<OperationID> = []
        for document in core.turn.store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            try core.turn.store.operations.forEachOperation(in: document, of: workspace.number) {
                (stored) throws(StorageError) in
                let kept = core.turn.store.operations.branch(stored.place.branch)?.kept
                guard let kept, stored.place.sequence <= kept.sequence else { return }
                grants.insert(stored.entry.grant)
            }
        }
        return grants
    }
}
