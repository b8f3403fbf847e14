import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Signed operations: taking in what peers bring, writing own ones, and how long any is kept.
///
/// It is the waist of the node: whatever is stored comes through `accept`. It knows no command and asks
/// no other room.
final class OperationLog: Component {
    var clock = HybridClock()
    var waiting = WaitingRoom()
    /// Runs that what they waited for has released, to be accepted next.
    var released: [WaitingRoom.Guest] = []
    /// What this turn may still take of what peers bring.
    var ingestBudget = IngestBudget()
    /// What was stored in this turn and has to be told to peers.
    var appended: [AppendedRun] = []
    /// Branches whose kept tip moved in this turn, by workspace.
    var moved: [Int64: Set<Int64>] = [:]
    /// Logs that something which waits needs, in each workspace: what had not been taken of them may
    /// be now.
    var needed: [Int64: Set<LogName>] = [:]
    /// How much authority somebody may still have this node take in.
    var authorityBudget = AuthorityBudget()

    /// The bound on the branches of a log.
    private(set) lazy var pruning = BranchPruning(core)
    /// Forks and restorations, in words.
    var evidence: ForkEvidence { ForkEvidence(core) }

    override var deadlines: [UInt64] { network.ownHistory.nextDeadline.map { [$0] } ?? [] }

    override func forgetWorkspaces() {
        waiting = WaitingRoom()
        released = []
        appended = []
        moved = [:]
        pruning.overgrown = []
    }

    /// Whoever waited for it was told to ask again; and this is no start.
    override func goOn(after former: Component) {
        if !former.network.ownHistory.isAsking { network.ownHistory = OwnHistory() }
    }
}
