import CRDTStore
import WorkspaceModel

/// Limits how many logs an author begins: each stays in memory permanently, and costs its author no
/// more than one operation (PROTOCOL.md, 4.0.4, S-9).
extension LogShares {
    /// Charges shares for operations outside the authority document: for the log that they begin,
    /// and also for what of them stays in memory (S-8).
    ///
    /// - Returns: how many operations, from the first, are paid for.
    func pay(
        for operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) -> Int {
        let isRoot = operations.first?.privateRoot != nil
        guard mayBegin(log, isRoot: isRoot, in: workspace, from: source) else { return 0 }
        return pay(forKept: operations, of: log, in: workspace, from: source)
    }

    /// Charges a share for a log that begins here. First the author's member pays, then the device
    /// itself, because the thief of a device begins logs in its person's name; then someone whose
    /// operations need the log.
    ///
    /// - Parameter isRoot: whether its document begins with it; that is paid for already (S-8).
    /// - Returns: whether it may begin; else it waits at its source.
    private func mayBegin(
        _ log: LogName, isRoot: Bool, in workspace: Workspace, from source: OperationSource
    ) -> Bool {
        guard source != .ourselves, log.device != turn.session.ownDevice, !source.isBackfill,
            log.document != workspace.id, !isRoot,
            store.operations.branchCount(of: log, in: workspace.number) == 0
        else { return true }
        let author = payer(of: log.device, source, in: workspace)
        let vouchers = vouchers(for: .init(log, 0), author, in: workspace)
        let place = countedPlace(of: log, in: workspace).bytes
        let shares =
            [AuthorityBudget.Share(.logs, of: author + place)]
            + [share(of: log.device, in: workspace)].compactMap { $0 }
            .map { .init(.deviceLogs, of: $0.payer + place) }
            + vouchers.map { .init(.vouchedLogs, of: $0 + place) }
        if authorityBudget.beginLog(from: shares, now: time.monotonic) { return true }
        authorityBudget.noteDelayed(author, time.monotonic)
        authorityBudget.holdBack(
            holder(ofNew: log, in: workspace), neededBy: vouchers, now: time.monotonic)
        return false
    }

    /// Where a log counts: in its document, each of which is paid for (S-5, S-8), or together with
    /// all others in documents that nobody has begun.
    private func countedPlace(of log: LogName, in workspace: Workspace) -> DocumentID {
        let document = log.document
        guard isPaidFor(document, in: workspace) else { return document }
        return store.operations.privateDocument(document, in: workspace.number)?.id ?? .zero
    }

    /// The name under which no more is requested when a log could not begin: other new logs of that
    /// device in that document. Existing ones continue.
    func holder(ofNew log: LogName, in workspace: Workspace) -> [UInt8] {
        holder(of: log, in: workspace) + [1]
    }
}
