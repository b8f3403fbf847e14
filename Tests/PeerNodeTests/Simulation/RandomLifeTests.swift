import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

@Suite struct `Lives by chance` {
    @Test(arguments: Seeds.explore(6))
    func `end with the same state everywhere and nothing lost or doubled`(seed: UInt64) throws {
        let life = RandomLife(seed: seed)
        defer { life.world.end() }
        life.work(steps: 60)
        if life.hasRemovals, life.heal() { life.work(steps: 40) }
        let isSettled = life.heal()
        #expect(isSettled, "\(life.faults) \(Self.state(of: life))")
        guard isSettled else { return }
        let problems = life.audit()
        #expect(problems == [], "\(life.faults)")
        life.world.run(within: 15 * 60_000) { life.unawareOfRemoval().isEmpty }
        #expect(life.unawareOfRemoval() == [], "\(life.faults)")
        for node in life.world.nodes { try Self.checkAgain(node) }
        #expect(life.welcomeNewcomers() == [], "\(life.faults)")
    }

    @Test(arguments: Seeds.explore(3))
    func `are the same run under the same seed`(seed: UInt64) {
        func run() -> TraceHash {
            let life = RandomLife(seed: seed)
            defer { life.world.end() }
            life.work(steps: 30)
            return life.world.trace
        }
        #expect(run() == run())
    }

    @Test func `remove people now and then`() {
        var removed = 0
        for seed in [UInt64(5), 6, 12, 18] {
            let life = RandomLife(seed: seed)
            defer { life.world.end() }
            life.work(steps: 20)
            _ = life.heal()
            life.work(steps: 40)
            removed += life.removed.values.map(\.count).reduce(0, +)
        }
        #expect(removed > 1)
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
        return lines.joined(separator: "\n")
    }

    /// Whatever the node holds in memory and in its view equals what follows from its operations
    /// alone.
    static func checkAgain(_ node: SimulatedNode) throws {
        let core = try #require(node.host?.core)
        for workspace in core.workspaces.values.sorted(by: { $0.number < $1.number }) {
            let operations = workspace.authorityOrder.compactMap(workspace.evaluator.operation)
            #expect(operations.count == workspace.authorityOrder.count)
            let again = try AuthEvaluator.evaluateFromScratch(operations)
            #expect(again.validOperations == workspace.evaluator.validOperations)
            #expect(again.members == workspace.evaluator.members)
            try checkKept(of: workspace, core)
            try checkView(of: workspace, core)
        }
    }

    private static func checkKept(of workspace: Workspace, _ core: NodeCore) throws {
        func tips() -> [LogBranch.KeptTip?] {
            core.store.operations.documents(ofWorkspace: workspace.number).flatMap { document in
                core.store.operations.branches(in: document, of: workspace.number).map(\.kept)
            }
        }
        let before = tips()
        let grants = workspace.keptGrants
        for document in core.store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            try core.rekeep(document, in: workspace)
        }
        try core.rekeepAuthority(in: workspace)
        #expect(tips() == before)
        #expect(workspace.keptGrants == grants)
    }

    private static func checkView(of workspace: Workspace, _ core: NodeCore) throws {
        var before: [Int64: Set<ViewStore.MessageRow>] = [:]
        var said: [Int64: [ViewStore.StoredAnnotation]] = [:]
        for channel in workspace.channels.values {
            before[channel.number] = try rows(of: channel.number, core)
            said[channel.number] = try core.store.view.annotations(of: channel.number)
        }
        try core.store.begin()
        try core.store.view.clear()
        for document in core.store.operations.documents(ofWorkspace: workspace.number) {
            try core.refold(
                document, in: workspace, from: .peer(.zero, source: 1, isBackfill: true))
        }
        for channel in workspace.channels.values {
            #expect(try rows(of: channel.number, core) == before[channel.number])
            #expect(
                try core.store.view.annotations(of: channel.number) == said[channel.number])
        }
        core.store.connection.rollback()
    }

    private static func rows(
        of document: Int64, _ core: NodeCore
    ) throws -> Set<ViewStore.MessageRow> {
        Set(
            try core.store.view.messages(
                .init(document: document), before: nil, limit: 10_000))
    }
}
