import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// Logs of this many operations that cite earlier ones of each other, announced in another order,
/// to a receiver with little room for waiting operations.
private struct BraidedLogs {
    let world = SyncWorld(count: 2)
    let count: Int

    init(_ count: Int, citing: Int, length: Int, _ random: inout SeededGenerator) {
        self.count = count * length
        let logs = (0..<count).map { LoneSession.tip($0).log }.shuffled(using: &random)
        var written: [OperationReference] = []
        for log in logs {
            world.nodes[0].replica.write(
                log, behind: nil, payload: random.bytes(40),
                dependencies: Array(written.suffix(citing)))
            guard let head = world.nodes[0].replica.heads(of: log).last else { continue }
            written.append(
                OperationReference(
                    device: log.device, incarnation: log.incarnation, sequence: 0, id: head.id))
            guard length > 1 else { continue }
            world.nodes[0].replica.write(log, behind: head.id, payload: random.bytes(40))
        }
        world.nodes[1].replica.waitingMax = 40
        world.connect(0, 1)
    }

    var pulls: [PullRequest] {
        world.sent.compactMap { if case .pull(_, let pull) = $0.message { pull } else { nil } }
    }
}

struct `Braided logs` {
    @Test(arguments: [1, 2], Seeds.explore(4))
    func `arrive in at most two passes, in any order of announcement`(
        length: Int, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let logs = BraidedLogs(600, citing: 16, length: length, &random)
        logs.world.settle()
        let newcomer = logs.world.nodes[1].replica
        #expect(newcomer.operations.count == logs.count, "WSX_SEED=\(seed)")
        #expect(newcomer.receivedCount <= 22 * logs.count / 10, "WSX_SEED=\(seed)")
        #expect(logs.pulls.reduce(0) { $0 + $1.items.count } <= 3 * 600, "WSX_SEED=\(seed)")
    }
}
