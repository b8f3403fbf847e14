import SyncProtocol
import WorkspaceModel

/// The event `sync.progress`, which passes: how much a device still lacks of what a peer has.
///
/// What is done within a moment needs no progress: the first one comes when a transfer has lasted
/// `Limits.progressMilliseconds`, the others as far apart, and the last one says that nothing is
/// left.
struct SyncProgress {
    /// When the next one may be told, on the monotonic clock; `nil` while nothing is missing.
    private var due: UInt64?
    /// How much was missing by what was told last.
    private var told: UInt64 = 0

    /// Whether to tell that so many operations are missing now.
    mutating func isNews(_ behind: UInt64, at now: UInt64) -> Bool {
        guard behind > 0 else {
            defer { (due, told) = (nil, 0) }
            return told > 0
        }
        guard let due else {
            self.due = now &+ Limits.progressMilliseconds
            return false
        }
        guard now >= due, behind != told else { return false }
        self.due = now &+ Limits.progressMilliseconds
        told = behind
        return true
    }
}

extension Syncing {
    static let progressType = "sync.progress"

    /// Tells how far the transfers have come, where anybody listens to what passes.
    func tellProgress() {
        guard core.events.subscriptions.wantPassing else { return }
        for link in network.ordered {
            guard let peer = link.peer?.device else { continue }
            for sync in link.syncs.values.sorted(by: { $0.workspace < $1.workspace }) {
                guard sync.progress.isNews(sync.session.behind, at: time.monotonic),
                    let workspace = core.workspaces[sync.workspace]
                else { continue }
                var object = SyncObject(
                    peer: PublicID.device(peer), workspace: PublicID.workspace(workspace.id))
                object.behind = Int64(clamping: sync.session.behind)
                object.ahead = Int64(clamping: sync.session.ahead)
                core.events.pass(Self.progressType, object.json, in: workspace)
            }
        }
    }
}
