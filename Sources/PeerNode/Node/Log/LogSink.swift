import CRDTStore
import WorkspaceModel

/// What the log reports, and what it needs done at once because its next step depends on it. The
/// log knows no room; the core sets the listener.
protocol LogSink: AnyObject {
    /// Carries out what changes of authority mean for content, before anything is judged or written.
    func settleVerdicts() throws(StorageError)
    /// Whether a verdict in a log waits for that.
    func isUnsettled(_ log: LogName, in workspace: Workspace) -> Bool
    /// Who pays for the verdicts that the next stored authority operation reverses.
    func notePayer(_ payer: UnsettledVerdicts.Payer?)

    /// An authority operation was stored, with all that it turned over.
    func applyAuthority(
        _ appended: OperationStore.Appended, _ change: AuthChange, branch: Int64,
        in workspace: Workspace, from source: OperationSource) throws(StorageError)
    /// Other operations were stored.
    func applyContent(
        _ appended: [OperationStore.Appended], log: LogName, branch: Int64,
        in workspace: Workspace, from source: OperationSource) throws(StorageError)
    /// All of a run was taken: what its keys open can be shown.
    func foldUnfolded(in workspace: Workspace, from source: OperationSource) throws(StorageError)
    /// Operations arrived again, some of which the disk may have lost.
    func repair(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource) throws(StorageError)
    /// Operations arrived again, some of which may be stored here without their payload.
    func fillMissing(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource) throws(StorageError)
    /// A device brought what it wrote itself, at this time of its clock in milliseconds.
    func noteClock(of device: DeviceID, wroteAt written: UInt64) throws(StorageError)
    /// A device wrote something, at this time of its clock in milliseconds.
    func noteSign(of device: DeviceID, wroteAt written: UInt64, in workspace: Workspace)
    /// Others brought operations of this device.
    func noteForeignOwn(_ log: LogName, _ last: HybridTimestamp) throws(StorageError)

    /// Whether the root of a private document is kept, and the same for others as `false`.
    func isRootKept(of document: DocumentID, in workspace: Workspace) throws(StorageError) -> Bool
    /// Adds the root to what is retained of a private document, if anything else of it is.
    func addRoot(
        to ends: inout OperationStore.BranchEnds, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError)
    /// The retained operations of a document have changed.
    func judgeRoot(
        of document: DocumentID, wasKept: Bool, in workspace: Workspace) throws(StorageError)
    /// Keeps the root where anything else is kept.
    func keepRoot(of document: DocumentID, in workspace: Workspace) throws(StorageError)

    /// Redactions in a document, by its short number, are about to go.
    func reviewRedactions(inDocument number: Int64) throws(StorageError)
    /// These rows are about to go.
    func reindex(_ gone: [ViewStore.Position], of document: Int64) throws(StorageError)
    /// Operations of the profile document were removed, by their arrival numbers.
    func forgetProfiles(storedAt gone: Set<Int64>, in workspace: Workspace) throws(StorageError)
    /// Membership operations of a private document were removed.
    func reloadPrivateLater(_ id: DocumentID, in workspace: Workspace)
    /// Places of a private document were removed up to which others keep logs.
    func refoldLater(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError)
    /// The store has got a new id.
    func storeRenewed() throws(StorageError)
}

extension OperationLog {
    var sink: any LogSink { core.sink }
}
