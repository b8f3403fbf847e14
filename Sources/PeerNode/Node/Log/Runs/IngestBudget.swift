import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Bounds how much one turn takes in from peers, so that callers wait no longer than that, however
/// much one message holds.
struct IngestBudget {
    private var left = Limits.ingestCostPerTurnMax

    var isSpent: Bool { left <= 0 }

    mutating func beginTurn() { left = Limits.ingestCostPerTurnMax }

    /// How many operations may still be looked at.
    var looksLeft: Int { max(left, 0) / 8 * Limits.authorityLooksPerOperation }

    /// - Parameter looks: how many operations were looked at to judge authority operations.
    mutating func spend(looks: Int) {
        left -= 8 * max(0, looks) / Limits.authorityLooksPerOperation
    }

    /// Leaves the rest to the next turn.
    mutating func endTurn() { left = 0 }

    /// - Parameters:
    ///   - isAuthority: each operation is judged with others.
    ///   - branches: how many branches its log has, with each of which it is compared.
    mutating func spend(_ run: OperationRun, isAuthority: Bool, branches: Int) {
        left -= 16 + (isAuthority ? 8 : 1) * run.entries.count + branches / 4
        for entry in run.entries { left -= 2 * entry.dependencies.count }
    }
}
