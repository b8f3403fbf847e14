import SyncProtocol
import WorkspaceModel

extension Syncing {
    /// Tells how far the transfers have come, where anybody listens to what passes.
    func tellProgress() {
        guard core.events.subscriptions.wantPassing else { return }
        for link in network.ordered {
            guard let peer = link.peer?.device else { continue }
            for sync in link.orderedSyncs {
                guard sync.progress.isNews(sync.session.behind, at: time.monotonic),
                    let workspace = core.workspaces[sync.workspace]
                else { continue }
                var object = SyncObject(
                    peer: PublicID.device(peer), workspace: PublicID.workspace(workspace.id))
                object.behind = Int64(clamping: sync.session.behind)
                object.ahead = Int64(clamping: sync.session.ahead)
                core.events.pass(.syncProgress, object.json, in: workspace)
            }
        }
    }
}
