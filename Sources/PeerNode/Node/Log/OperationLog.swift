import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Signed operations: accepts what peers send, writes this device's own, and decides how long each
/// is kept.
///
/// It is the waist of the node: whatever is stored goes through `accept`. It knows no command and
/// calls no other room.
final class OperationLog: Component {
    var clock = HybridClock()
    var waiting = WaitingRoom()
    /// Runs that what they waited for has released, to be accepted next.
    var released: [WaitingRoom.Guest] = []
    /// How much this turn may still take in from peers.
    var ingestBudget = IngestBudget()
    /// The rest of the run that the last `accept` did not take, because verdicts had cost enough
    /// for one turn.
    var untaken: OperationRun?
    /// What was stored in this turn and has to be sent to peers.
    var appended: [AppendedRun] = []
    /// Logs that something which waits needs, in each workspace: what had not been taken of them may
    /// be now.
    var needed: [Int64: Set<LogName>] = [:]

    /// Which operations are kept.
    private(set) lazy var retention = Retention(self)
    /// How many branches of a log stay.
    private(set) lazy var pruning = BranchPruning(self)
    /// Whose share pays for what is taken in.
    private(set) lazy var shares = LogShares(self)

    /// Forks and restorations, in words.
    var evidence: ForkEvidence { ForkEvidence(core) }

    override var nextDeadline: UInt64? { network.ownHistory.nextDeadline }

    override func forgetWorkspaces() {
        waiting = WaitingRoom()
        released = []
        appended = []
        retention.moved = [:]
        pruning.forget()
    }

    /// Callers that waited for this device's history were told to ask again; and a rebuilt core is
    /// not a start, so peers need not be asked once more.
    override func goOn(after former: Component) {
        if !former.network.ownHistory.isAsking { network.ownHistory = OwnHistory() }
    }
}

extension OperationLog {
    /// The clock continues after everything stored. After the tips of this device's own logs it
    /// does so even when they are far ahead of the wall clock; `nextTimestamp` then begins a new
    /// incarnation.
    func observe(_ branch: LogBranch) {
        clock.observe(branch.tip.timestamp, wallMilliseconds: time.wall)
        let isOwn =
            branch.log.device == turn.session.ownDevice
            && branch.log.incarnation == storeIdentity?.incarnation
        if isOwn, branch.tip.timestamp.rawValue > clock.last.rawValue {
            clock = HybridClock(last: branch.tip.timestamp)
        }
    }
}

/// A part of the log with state of its own. The log, which is the room, runs its deadlines and
/// drops its keys.
class LogPart: CorePart {
    unowned let room: OperationLog

    /// Called by the log when it first needs the part.
    init(_ room: OperationLog) {
        self.room = room
        super.init(room.core)
    }

    var sink: any LogSink { room.sink }
}
