import CRDTStore
import WorkspaceModel

/// Which content of private documents is shown: what both the workspace and the document allow.
extension PrivateDocuments {
    /// Whether a content operation counts in its private document. The workspace has judged it
    /// already.
    func isAllowed(
        _ place: PrivatePlace, in document: PrivateDocument, _ workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let member = workspace.judged.subject(ofGrant: place.grant),
            let key = place.keyID
        else { return false }
        let range = PrivateDocument.LimitPlace(log: place.log, member: member, key: key)
        guard let branch = store.operations.branch(place.branch),
            let bound = try bound(of: range, on: branch, in: document, workspace)
        else { return false }
        return place.sequence <= bound
    }

    /// The last valid place of a branch in a range, `nil` for none: computed once, and not for
    /// each operation, because there may be any number of removals.
    private func bound(
        of range: PrivateDocument.LimitPlace, on branch: LogBranch,
        in document: PrivateDocument, _ workspace: Workspace
    ) throws(StorageError) -> UInt64? {
        if let known = document.rights.cuts.bound(of: range, on: branch.number) { return known }
        let limit = document.rights.limits[range] ?? document.contentLimit(at: range)
        document.rights.limits[range] = limit
        var search = CutSearch(branch, store.operations, workspace: workspace.number)
        let bound = try search.bound(of: limit)
        document.rights.cuts.note(bound, of: range, on: branch.number, looks: search.looks)
        return bound
    }

    /// The place of a content operation, and its grant.
    struct PrivatePlace {
        let log: LogName
        let branch: Int64
        let sequence: UInt64
        let grant: OperationID
        let keyID: KeyID?
    }

    /// Who sees a stored operation of a channel.
    func visibility(
        of stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ViewStore.Visibility {
        var isValid = store.operations.isValid(stored.place.sequence, in: stored.place.branch)
        if isValid, let document = workspace.sealed.documents[stored.log.document] {
            isValid = try isAllowed(
                PrivatePlace(
                    log: stored.log, branch: stored.place.branch,
                    sequence: stored.place.sequence, grant: stored.entry.grant,
                    keyID: stored.entry.keyID), in: document, workspace)
        }
        if isValid { return .shown }
        return core.membership.isOwn(stored.entry.grant, of: stored.log.device, workspace)
            ? .refused : .hidden
    }
}
