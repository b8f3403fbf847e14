import CRDTStore
import WorkspaceModel

/// A payload that was restored: its content is displayed and found again.
extension Integrity {
    /// Takes the payload of an operation that lacks it.
    func fill(
        _ arrival: Int64, with payload: [UInt8], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard try store.operations.absentPayload(arrival)?.isMissing == true else { return }
        try write()
        guard try store.operations.restorePayload(payload, of: arrival) else { return }
        guard home != nil else { return try noteFilled(arrival) }
        try putBack(arrival, from: source)
    }

    /// Folds an operation whose payload came back. A message whose gap was displayed has a row
    /// already, which knew only the redaction.
    private func putBack(_ arrival: Int64, from source: OperationSource) throws(StorageError) {
        guard let stored = try store.operations.operation(arrival), stored.entry.absent == nil,
            let document = store.operations.document(numbered: stored.document),
            let workspace = core.workspaces[document.workspace]
        else { return }
        let position = ViewStore.Position(sort: stored.place.sort, arrival: arrival)
        guard try store.view.stored(at: position, in: stored.document) != nil,
            case .message(let message)? = try core.keys.content(of: stored, in: workspace)
        else { return try core.messages.fold(stored, document, in: workspace, from: source) }
        try store.view.fold(
            try core.messages.sealed.row(of: message, stored, in: workspace),
            as: try core.privates.visibility(of: stored, in: workspace))
        try core.queries.reindex(stored)
    }

    // MARK: While the node is locked

    private static let filledName = "payloads.unfolded"

    /// Records payloads that came back while nothing can be opened. Those newer than the lock are
    /// opened with everything that arrived since.
    private func noteFilled(_ arrival: Int64) throws(StorageError) {
        guard let first = turn.session.lock.unfolded, arrival < first else { return }
        let known = try store.registry.value(Self.filledName) ?? []
        guard known.count < 8 * Limits.payloadsAskedPerLinkMax else {
            // Rather everything once more than one of them never.
            turn.session.lock.unfolded = arrival
            turn.session.lock.isUnfoldedStored = false
            return
        }
        try store.registry.setValue(
            known + bigEndianBytes(of: UInt64(bitPattern: arrival)), of: Self.filledName)
    }

    /// Shows what came back while the node was locked.
    func foldFilled() throws(StorageError) {
        guard home != nil, mayWrite, let known = try store.registry.value(Self.filledName) else {
            return
        }
        try write()
        try store.registry.setValue(nil, of: Self.filledName)
        for start in stride(from: 0, to: known.count - known.count % 8, by: 8) {
            let number = known[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            try putBack(
                Int64(bitPattern: number), from: .released(source: 0, isBackfill: false))
        }
    }
}
