import CRDTStore
import WorkspaceModel

/// Folds operations into ledgers that are in memory, and loads those that concern the local member.
extension Ledgers: ContentFamily {
    func fold(
        _ content: ContentPayload, _ operation: AssertionSource, isValid: Bool,
        in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard case .ledger(let said) = content else { return }
        noteHeading(said, operation, in: workspace)
        guard isValid else {
            if known(operation.document)?.holds(operation.arrival) == true {
                drop(operation.document)
                noteSource(source, of: operation.document)
            }
            return
        }
        if let ledger = known(operation.document) {
            let past = past(of: ledger, numbered: operation.document)
            add(said, operation, to: ledger, in: workspace, noting: past)
        } else if try !read(operation.document, for: operation, in: workspace) {
            return
        }
        noteSource(source, of: operation.document)
        if operation.arrival <= settled { pasts[operation.document]?.forget(operation.id) }
        guard case .grant(let grant) = said, let ledger = known(operation.document) else { return }
        try tellGranted(grant.order, in: ledger, workspace)
    }

    func judge(
        _ arrivals: [Int64], isValid: Bool, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        // They are of one branch, and so of one document.
        guard
            let first = try arrivals.first.flatMap({ (arrival) throws(StorageError) in
                try store.operations.operation(arrival, hasPayload: false)
            }), let row = store.operations.document(numbered: first.document),
            workspace.isLedger(row.id)
        else { return }
        keptHeadings[row.number] = nil
        if let ledger = known(row.number) {
            guard isValid || arrivals.contains(where: ledger.holds) else { return }
            drop(row.number)
        } else if try !read(row.number, for: nil, in: workspace) {
            return
        }
        noteSource(source, of: row.number)
        guard let past = pasts[row.number] else { return }
        for arrival in arrivals where arrival <= settled {
            guard let stored = try store.operations.operation(arrival),
                case .ledger(let said)? = try core.keys.content(of: stored, in: workspace),
                let entry = entry(said, AssertionSource(stored), in: workspace)
            else { continue }
            past.judge(entry, isValid: isValid)
        }
    }

    /// Nothing of a ledger is deleted on anybody's word (W-93).
    func noteDeleted(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {}

    func noteRestored(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {}

    func follow(
        _ register: ViewStore.Annotation.Register, from before: ViewStore.Annotation?,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {}
}
