import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Keeps derived data correct: damage, checks, patrols, rebuilding and erasing.
final class Integrity: Component {
    /// Branches with damage for which peers were asked since the start.
    var askedFor: Set<Int64> = []
    /// The check that is under way.
    var checking: Checking?
    /// How far the files of messages from an earlier version are recorded.
    var earlierFiles = EarlierFiles.unknown
    /// Workspaces whose rows are still to be erased, by short number.
    var forgotten: [Int64] = []
    /// Whether another core has to take over after this turn, from what the store holds by then.
    var wantsRenewal = false
    /// Whether the store has to be rebuilt after this turn.
    var wantsRebuild = false
    /// The progress of the patrol through the store.
    lazy var patrol = Patrol(startedAt: turn.startedAt)
    /// When operations beyond cuts are searched again, on the monotonic clock. Not at once: a start
    /// is busy enough.
    lazy var nextVoidErasure = turn.startedAt &+ 10 * 60 * 1_000
    /// Whether this turn has erased something, so that the write-ahead log still holds it.
    var hasErased = false

    override var nextDeadline: UInt64? {
        var first = Earliest(forgettingDue, patrolDue, payloadErasureDue)
        if mayWrite, home != nil { first.take(nextVoidErasure) }
        return first.moment
    }

    override func tick() throws(StorageError) {
        try eraseForgotten()
        try eraseVoid()
        try eraseRedacted()
    }
}

extension Integrity {
    /// Does what this turn has put off: private documents that lost operations, then those in which a
    /// removal's end came, then profiles.
    func foldWhole() throws(StorageError) {
        try core.privates.reloadDue()
        let profiles = core.profiles.takeDue()
        try core.privates.refoldDue()
        for workspace in profiles.sorted().compactMap({ core.workspaces[$0] }) {
            try core.profiles.reloadProfiles(of: workspace)
        }
    }
}
