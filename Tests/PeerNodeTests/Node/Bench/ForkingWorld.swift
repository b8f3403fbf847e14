import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Three disconnected members, and operations that one of them signs on many branches.
final class ForkingWorld {
    let bench = CoreBench()
    let nodes: [BenchNode]
    let channel: DocumentID
    let key: (id: KeyID, key: SymmetricKey)
    let incarnation: UInt32 = 77
    private var written: UInt64 = 0

    init() throws {
        let mina = try bench.node("Mina")
        let wim = try bench.guest("Wim", of: mina)
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(60_000)
        nodes = [mina, wim, joon]
        let workspace = try mina.workspace()
        channel = try #require(workspace.book.channels.values.first).id
        key = try #require(workspace.currentKey)
        split()
    }

    func split() {
        for (index, node) in nodes.enumerated() {
            for other in nodes[(index + 1)...] { bench.cut(node, other) }
        }
    }

    func heal(for milliseconds: UInt64 = 1_500_000) {
        for (index, node) in nodes.enumerated() {
            for other in nodes[(index + 1)...] { bench.heal(node, other) }
        }
        bench.advance(milliseconds)
    }

    func log(by author: BenchNode) throws -> LogName {
        let home = try #require(author.host?.core.session.home)
        return LogName(document: channel, device: home.device, incarnation: incarnation)
    }

    /// What `author` signs behind an operation, without storing it.
    func sign(
        by author: BenchNode, behind previous: SignedOperation? = nil,
        citing: [SignedOperation] = [], under grant: OperationID? = nil,
        saying content: ContentPayload? = nil
    ) throws -> SignedOperation {
        let (core, home, draft) = try draft(
            .content, by: author, behind: previous, citing: citing, under: grant)
        return draft.sealedAndSigned(
            plaintext: (content ?? .message(.init(text: "\(written)"))).encoded, under: key.key,
            keyID: key.id, with: home.signing, using: core.turn.environment.random)
    }

    /// What `author` signs to delete an operation, behind that.
    func sign(
        by author: BenchNode, deleting target: SignedOperation
    ) throws -> SignedOperation {
        let (core, home, draft) = try draft(.redact, by: author, behind: target)
        return draft.signed(
            redacting: [target.reference], RedactedMessages([]), under: nil, with: home.signing,
            using: core.turn.environment.random)
    }

    private func draft(
        _ kind: OperationKind, by author: BenchNode, behind previous: SignedOperation?,
        citing: [SignedOperation] = [], under grant: OperationID? = nil
    ) throws -> (NodeCore, HomeIdentity, OperationDraft) {
        written += 1
        let core = try #require(author.host?.core)
        let home = try #require(core.session.home)
        let valid = try author.workspace().judged.evaluator.contentGrant(
            of: home.device, leastRole: .member)
        let draft = OperationDraft(
            kind: kind, document: channel, incarnation: incarnation,
            sequence: previous.map { $0.header.sequence + 1 } ?? 0, previous: previous?.id,
            timestamp: HybridTimestamp(milliseconds: bench.wall + written, counter: 0),
            grant: try #require(grant ?? valid),
            dependencies: citing.map(\.reference).sorted { $0.id < $1.id })
        return (core, home, draft)
    }

    /// A message, its deletion, and as many operations beside that as there may be branches, all of
    /// which come before it.
    func deletionBeyondForks(
        by author: BenchNode
    ) throws -> (first: SignedOperation, redaction: SignedOperation, forks: [SignedOperation]) {
        let first = try sign(by: author)
        var redaction = try sign(by: author, deleting: first)
        while redaction.id.bytes[0] < 0xf0 { redaction = try sign(by: author, deleting: first) }
        var forks: [SignedOperation] = []
        while forks.count < Limits.branchesMax {
            let fork = try sign(by: author, behind: first)
            if fork.id < redaction.id { forks.append(fork) }
        }
        return (first, redaction, forks)
    }

    /// How an operation is deleted, as a node sees it at the end of a turn.
    func deletion(
        of operation: SignedOperation, at node: BenchNode
    ) throws -> ViewStore.Deletion? {
        bench.give(.tick, to: node)
        bench.settle()
        let core = try #require(node.host?.core)
        let place = try core.turn.store.operations.find(
            operation.reference, in: channel, of: try node.workspace().number)
        return try core.turn.store.view.redactions.deletion(of: try #require(place).arrival)
    }

    @discardableResult
    func bring(_ operation: SignedOperation, to node: BenchNode) throws -> IngestOutcome {
        try bring([operation], to: node)
    }

    /// Operations behind one another, as one run.
    @discardableResult
    func bring(_ operations: [SignedOperation], to node: BenchNode) throws -> IngestOutcome {
        let core = try #require(node.host?.core)
        var run = operations[0].run(in: channel)
        for next in operations.dropFirst() { run.entries += next.run(in: channel).entries }
        try core.turn.store.begin()
        let outcome = try core.acceptAtOnce(
            run, in: try node.workspace(),
            from: .peer(
                DeviceID([UInt8](repeating: 5, count: 32)), source: 9, isBackfill: false))
        try core.turn.store.commit()
        return outcome
    }

    /// The ids of the kept operations that nothing kept goes on from.
    func kept(at node: BenchNode, of log: LogName) throws -> Set<OperationID> {
        let operations = try #require(node.host?.core.turn.store.operations)
        let branches = operations.branches(of: log, in: try node.workspace().number)
        var ends: OperationStore.BranchEnds = [:]
        for branch in branches { branch.kept.map { ends[branch.number] = $0.sequence } }
        return Set(
            try operations.leaves(of: branches, ends: ends).compactMap {
                operations.branch($0)?.kept?.id
            })
    }

    func branchCount(at node: BenchNode, of log: LogName) throws -> Int {
        let operations = try #require(node.host?.core.turn.store.operations)
        return operations.branches(of: log, in: try node.workspace().number).count
    }

    func root(of node: BenchNode) throws -> SetDigest {
        let core = try #require(node.host?.core)
        return CoreReplica(for: core.syncing, workspace: try node.workspace()).root
    }
}

extension SignedOperation {
    var reference: OperationReference {
        OperationReference(
            device: header.device, incarnation: header.incarnation, sequence: header.sequence,
            id: id)
    }
}

/// A log as a tree, with the rule of PROTOCOL.md 2.1 on it, without stores and branches.
struct ForkedTree {
    var operations: [SignedOperation] = []

    func children(of parent: OperationID?) -> [SignedOperation] {
        operations.filter { $0.header.previous == parent }.sorted { $0.id < $1.id }
    }

    /// What leads to an operation, and the operation itself.
    func path(to operation: SignedOperation) -> [SignedOperation] {
        var path = [operation]
        while let previous = operations.first(where: { $0.id == path.last?.header.previous }) {
            path.append(previous)
        }
        return path.reversed()
    }

    /// Some order in which nothing comes before what it goes on from.
    func shuffledCausally(with random: inout SeededGenerator) -> [SignedOperation] {
        var ready = children(of: nil)
        var order: [SignedOperation] = []
        while !ready.isEmpty {
            let next = ready.remove(at: Int(random.next() % UInt64(ready.count)))
            order.append(next)
            ready += children(of: next.id)
        }
        return order
    }

    /// The leaves in their order: depth first, the smaller id first.
    var leaves: [SignedOperation] {
        var found: [SignedOperation] = []
        var stack = Array(children(of: nil).reversed())
        while let next = stack.popLast() {
            let more = children(of: next.id)
            if more.isEmpty { found.append(next) }
            stack += more.reversed()
        }
        return found
    }
}
