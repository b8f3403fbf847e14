import CRDTStore
import WorkspaceModel

/// What recuts do not keep. A recut keeps what a member said. What they did to others, by
/// membership operations of private documents and by deleting other people's messages, counts only
/// as far as the end of their membership or device kept it (PROTOCOL.md, 4.0.6, F-21). Otherwise a
/// member who readmits someone, and keeps what they said meanwhile, would also accept everything
/// they did while removed.
extension Memberships {
    /// Whether an operation that counts as content would count without any recut.
    ///
    /// - Parameters:
    ///   - sequence: its place on `branch`.
    ///   - grant: the one in its header.
    ///   - role: the weakest role that may do it; without it, that of everybody who may write
    ///     there.
    func standsUnwidened(
        _ sequence: UInt64, on branch: Int64, under grant: OperationID, asAtLeast role: Role? = nil,
        in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard store.operations.isValid(sequence, in: branch) else { return false }
        guard let row = store.operations.branch(branch) else { return false }
        let kind = store.operations.document(numbered: row.document)?.kind ?? .unknown
        let leastRole = role ?? kind.access.leastRole
        guard
            leastRole != kind.access.leastRole
                || workspace.judged.evaluator.isWidened(
                    grant: grant, log: row.log, leastRole: leastRole)
        else { return true }
        let limit = workspace.judged.evaluator.contentLimit(
            grant: grant, log: row.log, leastRole: leastRole, isWidened: false)
        if limit == .everything { return true }
        var search = CutSearch(row, store.operations, workspace: workspace.number)
        return try search.bound(of: limit).map { sequence <= $0 } ?? false
    }
}

extension PrivateChange {
    /// The weakest role in the workspace that an action needs: a guest creates no channel and adds
    /// nobody, but may hand on what they led before. `nil` if everybody who is in may do it.
    var leastRole: Role? {
        switch action {
        case .root(let root): root.subtype == .channel ? .member : nil
        case .add: .member
        case .role(_, _, let drops): drops ? nil : .member
        default: nil
        }
    }
}
