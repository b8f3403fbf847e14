import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Lives by chance` {
    @Test(arguments: Seeds.explore(3))
    func `end with the same state everywhere and nothing lost or doubled`(seed: UInt64) throws {
        guard let (faults, why) = Self.smallest({ RandomLife(seed: seed, of: $0) }) else { return }
        Issue.record("seed \(seed), only with \(faults): \(why)")
    }

    /// What is wrong with a life, and the least that has to go wrong in it for that.
    ///
    /// - Parameter life: makes it, with these faults at most.
    static func smallest(
        _ life: ([RandomLife.Fault]) -> RandomLife
    ) -> (faults: [RandomLife.Fault], why: String)? {
        let whole = life(RandomLife.Fault.allCases)
        var faults = whole.faults
        guard var why = problem(whole) else { return nil }
        for fault in faults {
            let fewer = faults.filter { $0 != fault }
            if let other = problem(life(fewer)) { (faults, why) = (fewer, other) }
        }
        return (faults, why)
    }

    private static func problem(_ life: RandomLife) -> String? {
        defer { life.world.end() }
        life.work(steps: 60)
        if life.hasRemovals || life.restoring != nil, life.heal() { life.work(steps: 40) }
        guard life.heal() else { return "does not settle: \(state(of: life))" }
        var problems = life.audit()
        if life.restoring != nil { problems += life.misjudgedRestorations() }
        life.world.run(within: 15 * 60_000, every: 1_000) { life.unawareOfRemoval().isEmpty }
        problems += life.unawareOfRemoval()
        for node in life.world.nodes where !life.isLost(node: node.index) {
            // What somebody deleted, and erased, whose deletion a removal has cut off since: that is
            // missing, and nobody else has to have it.
            let isFormer = life.hasBeenOut(node.index)
            problems += checkAgain(node).filter { !isFormer || !$0.contains("payload is missing") }
        }
        problems += life.welcomeNewcomers()
        return problems.isEmpty ? nil : problems.joined(separator: "\n")
    }

    @Test(arguments: Seeds.explore(1))
    func `are the same run under the same seed`(seed: UInt64) {
        func run() -> TraceHash? {
            let life = RandomLife(seed: seed)
            life.world.beginTrace()
            defer { life.world.end() }
            life.work(steps: 30)
            return life.world.trace
        }
        let trace = run()
        #expect(trace != nil && trace == run())
    }

    /// A campaign plays very many in one process.
    @Test func `leave nothing behind`() {
        weak var world: SimulatedWorld?
        weak var node: SimulatedNode?
        weak var core: NodeCore?
        do {
            let life = RandomLife(seed: 7)
            life.work(steps: 30)
            (world, node) = (life.world, life.world.nodes.first)
            core = node?.host?.core
            #expect(core != nil)
            life.world.end()
        }
        #expect(world == nil && node == nil && core == nil)
    }

    @Test func `remove people now and then`() {
        var removed = 0
        for seed in [UInt64(5), 6, 12, 18] where removed <= 1 {
            let life = RandomLife(seed: seed)
            defer { life.world.end() }
            life.work(steps: 20)
            _ = life.heal()
            life.work(steps: 40)
            removed += life.removed.values.map(\.count).reduce(0, +)
        }
        #expect(removed > 1)
    }

    @Test func `have people come back by their phrase, and lose a home`() {
        var (lost, back) = (0, 0)
        for seed in UInt64(1)...24 where lost == 0 || back <= lost {
            let life = RandomLife(seed: seed)
            defer { life.world.end() }
            guard life.hasDevices else { continue }
            life.work(steps: 40)
            _ = life.heal()
            lost += life.world.nodes.count { life.isLost(node: $0.index) }
            back += life.recoveredCount
        }
        #expect(lost > 0 && back > lost, "\(lost) \(back)")
    }

    static func state(of life: RandomLife) -> String {
        var lines = life.world.failures
        for (workspace, nodes) in life.members {
            lines.append("\(workspace) has \(nodes)")
            for node in life.world.nodes {
                lines.append(
                    "node \(node.index) \(life.digest(of: workspace, on: node) ?? "-") "
                        + "skew \(node.clockSkew) starts \(node.startCount)")
            }
        }
        for node in life.world.nodes {
            lines.append("log \(node.index): \(node.log.suffix(6))")
            let peers = node.ask("peer.list")?["items"]?.arrayValue ?? []
            lines += peers.map {
                "\($0["state"] ?? "?") \($0["address"] ?? "?") \($0["last_error"] ?? "?") behind \($0["behind"] ?? "?")"
            }
        }
        lines += life.sent.filter { !$0.isAcknowledged }.map { "unsent \($0.text)" }
        lines += life.pending
        return lines.joined(separator: "\n")
    }

    /// Where what the node holds in memory and in its view is not what follows from its operations
    /// alone, built a second time.
    static func checkAgain(_ node: SimulatedNode) -> [String] {
        guard let core = node.host?.core else { return ["node \(node.index) does not run"] }
        var problems: [String] = []
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            let operations = workspace.authorityOrder.compactMap(
                workspace.judged.evaluator.operation)
            let again = try? AuthEvaluator.evaluateFromScratch(operations)
            if again?.validOperations != workspace.judged.evaluator.validOperations
                || again?.members != workspace.judged.evaluator.members
            {
                problems.append("judges otherwise than from the beginning")
            }
            if (try? isKeptAgain(of: workspace, core)) != true { problems.append("keeps others") }
        }
        let checked = node.ask("node.check")
        problems += (checked?["problems"]?.arrayValue ?? ["no answer to node.check"]).map(\.text)
        if let missing = checked?["missing"], missing != 0 {
            problems.append("\(missing) payload is missing")
        }
        return problems.map { "node \(node.index): \($0)" }
    }

    /// Whether the tips and grants that are kept come out the same once more.
    private static func isKeptAgain(of workspace: Workspace, _ core: NodeCore) throws -> Bool {
        func tips() -> [LogBranch.KeptTip?] {
            core.turn.store.operations.documents(ofWorkspace: workspace.number).flatMap {
                document in
                core.turn.store.operations.branches(in: document, of: workspace.number).map(\.kept)
            }
        }
        let before = tips()
        let grants = workspace.judged.grants
        for document in core.turn.store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            try core.log.retention.rekeep(document, in: workspace)
        }
        try core.log.retention.rekeepAuthority(in: workspace)
        return tips() == before && workspace.judged.grants == grants
    }
}
