import CRDTStore
import WorkspaceModel

/// Taking over what is said in ledgers: into those that are in memory, and nowhere else.
extension Ledgers: ContentFamily {
    func fold(
        _ content: ContentPayload, _ operation: WordSource, isValid: Bool, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard case .ledger(let said) = content else { return }
        noteHeading(said, operation, in: workspace)
        guard let ledger = known(operation.document) else { return }
        guard isValid else {
            if ledger.holds(operation.arrival) { drop(operation.document) }
            return
        }
        add(said, operation, to: ledger, in: workspace)
        if case .grant(let grant) = said { try tellGranted(grant.order, in: ledger, workspace) }
    }

    func judge(
        _ arrivals: [Int64], isValid: Bool, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        // What counts again may be of any of them.
        drop(of: workspace) { ledger in
            isValid || arrivals.contains { ledger.holds($0) }
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
