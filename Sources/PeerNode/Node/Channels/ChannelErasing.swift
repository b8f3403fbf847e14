import CRDTStore
import WorkspaceModel

/// Erases what deleted channels contained, 7 days after this node learned of the deletion, and what
/// a deleted workspace contained, after 30.
extension Channels {
    /// Notes when the end of a workspace was first seen here, or that it has lost its effect.
    func refreshEnd(of workspace: Workspace) throws(StorageError) {
        var ended: UInt64?
        if let id = workspace.fields.deletion, let record = workspace.authority[id] {
            ended = UInt64(max(try store.operations.operation(record.arrival)?.seen ?? 0, 0))
        }
        guard (ended == nil) != (workspace.seat.ended == nil) else { return }
        workspace.seat.ended = ended
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            compareAnew(document, in: workspace)
        }
    }

    /// The documents of a deleted workspace that still hold something, and when they are erased.
    private func endedDocuments(
        of workspace: Workspace
    ) -> (documents: [DocumentID], erasure: UInt64)? {
        guard let ended = workspace.seat.ended else { return nil }
        let held = store.operations.documents(ofWorkspace: workspace.number).filter { document in
            guard document != workspace.id,
                let row = store.operations.document(document, in: workspace.number)
            else { return false }
            return store.operations.holdsOperations(ofDocument: row.number)
        }
        return held.isEmpty ? nil : (held, ended &+ Limits.deletedWorkspaceMilliseconds)
    }

    /// When the next erasure is due, on the monotonic clock.
    var erasureDue: UInt64? {
        // A locked node could not begin a new log where its own is erased.
        guard mayWrite, home != nil else { return nil }
        var due = workspaces.values.flatMap { workspace in
            workspace.book.deleted.values
                .filter { store.operations.holdsOperations(ofDocument: $0.number) }
                .map(\.erasure)
        }
        due += workspaces.values.compactMap { endedDocuments(of: $0)?.erasure }
        due += workspaces.values.flatMap {
            (try? core.privates.erasing.privateErasures(of: $0))?.map(\.at) ?? []
        }
        return due.min().map { time.monotonic &+ ($0 > time.wall ? $0 - time.wall : 0) }
    }

    /// Erases a slice of what is due; the rest has its turn after the next input.
    func eraseDeleted() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            let due = workspace.book.deleted.filter {
                $0.value.erasure <= time.wall
                    && store.operations.holdsOperations(ofDocument: $0.value.number)
            }
            for (document, channel) in due.sorted(by: { $0.value.number < $1.value.number }) {
                return try erase(document, channel.number, in: workspace)
            }
            if try core.privates.erasing.erasePrivate(in: workspace) { return }
            guard let (documents, erasure) = endedDocuments(of: workspace), erasure <= time.wall,
                let first = documents.sorted().first,
                let row = store.operations.document(first, in: workspace.number)
            else { continue }
            return try erase(first, row.number, in: workspace)
        }
    }

    private func erase(
        _ document: DocumentID, _ number: Int64, in workspace: Workspace
    ) throws(StorageError) {
        try write()
        // If the channel comes back, this device must not reuse a sequence number.
        let isOwn = store.operations.branches(in: document, of: workspace.number).contains {
            $0.log.device == home?.device && $0.log.incarnation == storeIdentity?.incarnation
        }
        if isOwn { try core.log.renewIncarnation() }
        try store.view.clear(number)
        core.sink.reindex(erasedDocument: number)
        let gone = try store.operations.erase(
            document: number, atLeast: Limits.erasedPerTurnMax)
        for branch in gone { store.peers.forget(branch: branch) }
        workspace.held.newestTimestamp[document] = nil
        turn.emit(
            .log(.info, "channel.erased channel=\(PublicID.channel(document))"))
    }
}
