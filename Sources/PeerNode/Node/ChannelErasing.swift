import CRDTStore
import WorkspaceModel

/// Erasing what deleted channels held, 7 days after this node heard of the deletion.
extension NodeCore {
    /// When the next erasure is due, on the monotonic clock.
    var erasureDue: UInt64? {
        // A locked node could not begin a new log where its own is erased.
        guard mayWrite, home != nil else { return nil }
        let due = workspaces.values.flatMap { workspace in
            workspace.deletedChannels.values
                .filter { store.operations.holdsOperations(ofDocument: $0.number) }
                .map(\.erasure)
        }
        return due.min().map { time.monotonic &+ ($0 > time.wall ? $0 - time.wall : 0) }
    }

    /// Erases a slice of what is due; the rest has its turn after the next input.
    func eraseDeleted() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            let due = workspace.deletedChannels.filter {
                $0.value.erasure <= time.wall
                    && store.operations.holdsOperations(ofDocument: $0.value.number)
            }
            for (document, channel) in due.sorted(by: { $0.value.number < $1.value.number }) {
                try erase(document, channel, in: workspace)
                return
            }
        }
    }

    private func erase(
        _ document: DocumentID, _ channel: Workspace.DeletedChannel, in workspace: Workspace
    ) throws(StorageError) {
        try write()
        // Should the channel come back, this device must not write at a place that it has used.
        let isOwn = store.operations.branches(in: document, of: workspace.number).contains {
            $0.log.device == home?.device && $0.log.incarnation == storeIdentity?.incarnation
        }
        if isOwn { try renewIncarnation() }
        try store.view.clear(channel.number)
        let gone = try store.operations.erase(
            document: channel.number, atLeast: Limits.erasedPerTurnMax)
        for branch in gone { store.peers.forget(branch: branch) }
        workspace.newestTimestamp[document] = nil
        effects.append(
            .log(.info, "channel.erased channel=\(PublicID.channel(document))"))
    }
}
