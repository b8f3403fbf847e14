import CRDTStore
import WorkspaceModel

/// Derives state from stored operations: the log reports each one, and every room then updates what
/// it owns. It has no state of its own.
final class Derivation: Component {}

extension Derivation: LogSink {
    // MARK: Verdicts

    func settleVerdicts() throws(StorageError) { try core.messages.settleVerdicts() }

    func isUnsettled(_ log: LogName, in workspace: Workspace) -> Bool {
        core.messages.isUnsettled(log, in: workspace)
    }

    func notePayer(_ payer: UnsettledVerdicts.Payer?) { core.messages.unsettled.payer = payer }

    // MARK: What came

    func applyContent(
        _ appended: [OperationStore.Appended], log: LogName, branch: Int64,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try core.messages.applyContent(
            appended, log: log, branch: branch, in: workspace, from: source)
    }

    func foldUnfolded(
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try core.messages.foldUnfolded(in: workspace, from: source)
    }

    func repair(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        try core.integrity.repair(with: operations, of: log, in: workspace, from: source)
    }

    func fillMissing(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        try core.integrity.fillMissing(with: operations, of: log, in: workspace, from: source)
    }

    func noteClock(of device: DeviceID, wroteAt written: UInt64) throws(StorageError) {
        if core.links.clocks.note(device, wroteAt: written, at: time.monotonic) {
            try core.links.warnOfClocks()
        }
    }

    func noteSign(of device: DeviceID, wroteAt written: UInt64, in workspace: Workspace) {
        core.presence.noteSign(of: device, wroteAt: written, in: workspace)
    }

    func noteForeignOwn(_ log: LogName, _ last: HybridTimestamp) throws(StorageError) {
        try core.links.noteForeignOwn(log, last)
    }

    // MARK: Roots of private documents

    func isRootKept(of document: DocumentID, in workspace: Workspace) throws(StorageError) -> Bool {
        try core.privates.roots.isRootKept(of: document, in: workspace)
    }

    func addRoot(
        to ends: inout OperationStore.BranchEnds, of document: DocumentID, in workspace: Workspace
    ) throws(StorageError) {
        try core.privates.roots.addRoot(to: &ends, of: document, in: workspace)
    }

    func judgeRoot(
        of document: DocumentID, wasKept: Bool, in workspace: Workspace
    ) throws(StorageError) {
        try core.privates.roots.judgeRoot(of: document, wasKept: wasKept, in: workspace)
    }

    func keepRoot(of document: DocumentID, in workspace: Workspace) throws(StorageError) {
        try core.privates.roots.keepRoot(of: document, in: workspace)
    }

    // MARK: What goes

    func reviewRedactions(inDocument number: Int64) throws(StorageError) {
        try core.messages.reviewRedactions(inDocument: number)
    }

    func reindex(_ gone: [ViewStore.Position], of document: Int64) throws(StorageError) {
        try core.queries.reindex(gone, of: document)
    }

    func forgetProfiles(
        storedAt gone: Set<Int64>, in workspace: Workspace
    ) throws(StorageError) {
        try core.profiles.forgetProfiles(storedAt: gone, in: workspace)
    }

    func reloadPrivateLater(_ id: DocumentID, in workspace: Workspace) {
        core.privates.reloadPrivateLater(id, in: workspace)
    }

    func refoldLater(
        _ document: PrivateDocument, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try core.privates.refoldLater(document, in: workspace, from: source)
    }

    func storeRenewed() throws(StorageError) { try core.queries.startSearch() }
}
