import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada, who owns the workspace, and Bob, a member, are honest. Mallory joined like everybody else,
/// and the test has held her keys since.
struct HostilePair {
    let bench = CoreBench()
    let ada: BenchNode
    let bob: BenchNode
    /// Her node, which does not run.
    let mallory: BenchNode
    let keys: ForeignDevice
    /// The workspace as Mallory's node last knew it.
    let known: Workspace
    private let discovery: SymmetricKey

    /// - Parameter role: Mallory's role.
    init(role: String = "member") throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        mallory = try bench.bareNode("Mallory")
        var terms: JSONObject = ["role": .string(role)]
        if role == "guest" {
            let lobby = try ada.ok("channel.create", ["name": "lobby", "private": true])
            terms.append("channels", [lobby["id"] ?? .null])
        }
        try mallory.join(try ada.link(.object(terms)))
        bench.advance(5_000)
        keys = try ForeignDevice(of: mallory)
        known = try mallory.workspace()
        discovery = try #require(known.discovery.last).derived(Array("psk".utf8))
    }

    var honest: [BenchNode] { [ada, bob] }
    var workspace: WorkspaceID { known.id }

    /// From now on only the test speaks for Mallory.
    func takeOver() { mallory.kill() }

    /// A peer that knows the secret of members, on a link to a node, with the workspace open.
    func visit(
        _ node: BenchNode, as device: ForeignDevice? = nil, from host: String = "10.0.1.1"
    ) throws -> Visitor {
        let visitor = try Visitor(
            as: device ?? keys, under: discovery, at: node, on: bench, from: host)
        visitor.open(workspace)
        bench.settle()
        return visitor
    }

    /// Another member whose keys the test has.
    func accomplice() throws -> (keys: ForeignDevice, log: ForgedLog) {
        let node = try bench.guest("Eve", of: ada)
        bench.advance(5_000)
        let pair = (try ForeignDevice(of: node), try ForgedLog(node, incarnation: 80))
        node.kill()
        return pair
    }

    /// Ada removes Mallory, and both know.
    @discardableResult
    func removeMallory() throws -> OperationID {
        try ada.ok("member.remove", ["member": "Mallory"])
        bench.advance(5_000)
        let ends = try ada.workspace().memberEnds[known.member]
        return try #require(ends?.first)
    }

    /// Announces operations to both, which request them, on one link each.
    ///
    /// - Parameter operations: those of one log in their order.
    func bring(_ operations: [SignedOperation], as device: ForeignDevice) throws {
        let served = runs(of: operations)
        for node in honest {
            let visitor = try visit(node, as: device)
            for start in stride(from: 0, to: served.count, by: 100) {
                visitor.offer(Array(served[start..<min(start + 100, served.count)]))
            }
            visitor.close()
        }
        bench.advance(1_000)
    }

    /// What Ada's next operation would cite, and first operations of Mallory's logs as well.
    func heads(and others: [SignedOperation]) throws -> [OperationReference] {
        try ForgedLog.heads(of: ada)
            + others.map {
                OperationReference(
                    device: keys.id, incarnation: $0.header.incarnation, sequence: 0, id: $0.id)
            }
    }

    /// Hands operations to both, one by one, as a member's link does.
    func hand(_ operations: [SignedOperation], as device: ForeignDevice) throws {
        for node in honest { try hand(operations, to: node, as: device) }
        bench.advance(1_000)
    }

    /// Hands operations to one of them.
    func hand(_ operations: [SignedOperation], to node: BenchNode, as device: ForeignDevice) throws
    {
        try hand(operations.map { $0.run(in: workspace) }, to: node, as: device)
    }

    /// Hands over runs of any kind.
    func hand(_ runs: [OperationRun], to node: BenchNode, as device: ForeignDevice) throws {
        try node.inTurn { core, known in
            for run in runs {
                // A number that no link has: for the room that it gets, the bringer is a member.
                _ = try core.acceptAtOnce(
                    run, in: known, from: .peer(device.id, source: 1_000_000, isBackfill: false))
            }
        }
    }

    /// Operations as they are announced and handed over: a run for each log.
    func runs(of operations: [SignedOperation]) -> [(tip: LogTip, run: OperationRun)] {
        var runs: [(tip: LogTip, run: OperationRun)] = []
        for operation in operations {
            let single = operation.run(in: workspace)
            let tip = HostileLog.tip(of: operation, in: single.log)
            guard let last = runs.last, last.run.log == single.log,
                last.tip.sequence + 1 == tip.sequence
            else {
                runs.append((tip, single))
                continue
            }
            runs[runs.count - 1] = (
                tip,
                OperationRun(
                    log: single.log, firstSequence: last.run.firstSequence,
                    previous: last.run.previous,
                    entries: last.run.entries + single.entries)
            )
        }
        return runs
    }

    /// Brings one operation over a link of its own to each honest node, which refuses it.
    func expectFault(
        _ operation: SignedOperation, as device: ForeignDevice? = nil, _ what: Comment,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for node in honest {
            let (before, ends) = (try HostileRows(node), node.endings.count)
            let visitor = try visit(node, as: device)
            try #require(visitor.isOpen, what, sourceLocation: location)
            visitor.offer(runs(of: [operation]))
            let told = Array(node.endings.dropFirst(ends))
            #expect(told == ["auth.fault"], what, sourceLocation: location)
            #expect(!visitor.isOpen, what, sourceLocation: location)
            #expect(try HostileRows(node) == before, what, sourceLocation: location)
            visitor.close()
        }
    }

    /// What the honest nodes agree on in the end: Ada owns it, and both can write and are received.
    func expectPeace(_ location: SourceLocation = #_sourceLocation) throws {
        let count = try ada.log().count
        for (number, node) in honest.enumerated() {
            try node.send("still here \(number)")
            bench.advance(2_000)
        }
        for node in honest {
            #expect(try node.log().count == count + 2, sourceLocation: location)
            #expect(try node.ok("node.check")["ok"] == true, sourceLocation: location)
        }
        #expect(try ada.digest() == bob.digest(), sourceLocation: location)
        #expect(try ada.ok("workspace.get")["role"] == "owner", sourceLocation: location)
        #expect(ada.outcome("policy.set", ["who_may_invite": "admins"]) == "ok")
        bench.advance(1_000)
    }
}

extension [SignedOperation] {
    /// In the order in which a node that misses them requests them: a void operation is accepted
    /// while it is waited for.
    var inOrderOfCiting: [SignedOperation] { sorted { $0.id < $1.id } }
}

/// What a node stores of the authority document, and what waits.
struct HostileRows: Equatable {
    let operations: Int64
    let judged: Int
    let waiting: Int

    init(_ node: BenchNode) throws {
        operations = try node.rowCount("operation")
        judged = try node.workspace().judged.evaluator.count
        waiting = try #require(node.host?.core).log.waiting.operationCount
    }
}

extension BenchNode {
    /// Why its links ended, the oldest first, from its log. Peers are not told.
    var endings: [String] {
        log.compactMap { line in
            guard line.hasPrefix("link.closed") else { return nil }
            return line.split(separator: " ").first { $0.hasPrefix("reason=") }
                .map { String($0.dropFirst("reason=".count)) }
        }
    }
}
