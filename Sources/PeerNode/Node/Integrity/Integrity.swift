import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What is derived is what it should be: damage, checks, patrols, rebuilding and erasing.
final class Integrity: Component {
    /// Branches with damage for which peers were asked since the start.
    var askedFor: Set<Int64> = []
    var wholeFolds = WholeFolds()
    /// The check that is under way.
    var checking: Checking?
    /// Workspaces whose rows are still to be erased, by short number.
    var forgotten: [Int64] = []
    /// Whether another core is to go on after this turn, from what the store holds by then.
    var wantsRenewal = false
    /// Whether the store is to be built anew after this turn.
    var wantsRebuild = false
    /// Whether everything that follows from operations is being made anew, so that nobody is told.
    var isBuilding = false
    /// Where the rounds through the store stand.
    var patrol: Patrol
    /// When what lies beyond cuts is looked for again, on the monotonic clock.
    var nextVoidErasure: UInt64
    /// When the next payload is erased, ms; `nil` while none is due.
    var nextPayloadErasure: UInt64?
    /// Whether this turn has erased something, so that the write-ahead log still holds it.
    var hasErased = false
    /// Whether peers are asked for missing payloads at the end of the turn.
    var asksForPayloads = false

    /// Nothing is read yet.
    override init(_ core: NodeCore) {
        patrol = Patrol(startedAt: core.turn.startedAt)
        // Not at once: a start is busy enough.
        nextVoidErasure = core.turn.startedAt &+ 10 * 60 * 1_000
        super.init(core)
    }

    override var deadlines: [UInt64] {
        var deadlines = [forgettingDue, patrolDue, payloadErasureDue].compactMap { $0 }
        if mayWrite, home != nil { deadlines.append(nextVoidErasure) }
        return deadlines
    }

    override func tick() throws(StorageError) {
        try eraseForgotten()
        try eraseVoid()
        try eraseRedacted()
    }

    override func forgetWorkspaces() { wholeFolds = WholeFolds() }
}
