import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Operations with damaged bytes: found by their hashes, left where they are, requested from peers
/// again and overwritten (PROTOCOL.md, 6.1). None of this stops the node.
extension Integrity {
    // MARK: Finding

    /// The operation as it should be, or `nil` when its bytes are damaged, which is noted.
    func intact(_ stored: StoredOperation) throws(StorageError) -> StoredOperation? {
        switch try StoreCheck.damage(of: stored, in: store.operations) {
        case nil: return stored
        case .id(let id)?:
            try store.begin()
            try store.operations.restore(id, at: stored.place)
            return try store.operations.operation(stored.place.arrival)
        case .contents?:
            store.operations.noteDamage(at: stored.place.sequence, of: stored.place.branch)
            return nil
        }
    }

    // MARK: Asking

    /// Notes damage that was found.
    ///
    /// - Returns: the affected workspaces, by short number. Agreements with their peers are no
    ///   longer valid.
    func noteDamaged() throws(StorageError) -> [Int64] {
        let found = store.operations.damagedBranches.filter { !askedFor.contains($0) }
        guard !found.isEmpty, mayWrite else { return [] }
        askedFor.formUnion(found)
        try write()
        var affected: Set<Int64> = []
        for number in found {
            guard let branch = store.operations.branch(number),
                let document = store.operations.document(numbered: branch.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            workspace.held.staleDocuments.insert(document.id)
            affected.insert(workspace.number)
            turn.emit(
                .log(
                    .error,
                    "store.corrupt device=\(PublicID.device(branch.log.device)) "
                        + "count=\(store.operations.damaged(in: number).count)"))
        }
        return affected.sorted()
    }

    // MARK: Repairing

    /// Writes what came over the damaged rows that it is the contents of.
    func repair(
        with operations: [CheckedOperation], of log: LogName, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        var repaired: [Int64: UInt64] = [:]
        var arrivals: [Int64] = []
        for branch in store.operations.branches(of: log, in: workspace.number) {
            let damaged = Set(store.operations.damaged(in: branch.number))
            for operation in operations where damaged.contains(operation.header.sequence) {
                let sequence = operation.header.sequence
                guard try store.operations.fits(operation.link, at: sequence, of: branch.number),
                    let place = try store.operations.place(in: branch.number, at: sequence)
                else { continue }
                try write()
                try store.operations.repair(
                    with: operation, of: branch.number, in: workspace.number)
                repaired[branch.number] = sequence
                arrivals.append(place.arrival)
                core.log.releaseWaiting(for: [operation.id])
            }
        }
        guard !repaired.isEmpty else { return }
        workspace.held.staleDocuments.insert(log.document)
        for (branch, sequence) in repaired.sorted(by: { $0.key < $1.key }) {
            core.log.retention.moved[workspace.number, default: []].insert(branch)
            if store.operations.damaged(in: branch).isEmpty { askedFor.remove(branch) }
            guard let tip = store.operations.branch(branch)?.tip else { continue }
            // Standings may change with it.
            core.log.appended.append(
                AppendedRun(
                    workspace: workspace.number, branch: branch, log: log,
                    tip: LogTip(log: log, sequence: sequence, id: Identifier16(prefixOf: tip.id)),
                    own: nil))
        }
        turn.emit(.log(.info, "store.repaired operations=\(repaired.count)"))
        try showRepaired(arrivals, of: log.document, in: workspace, from: source)
        try core.messages.reviewRedactions(of: workspace)
        try core.privates.reloadPrivate(log.document, in: workspace, from: source)
        guard log.document == workspace.id, !core.log.hasDamagedAuthority(workspace) else { return }
        try judgeAnew(workspace, from: source)
    }

    /// Shows what came back. Where a row had been lost, nothing of it is in the views, and its
    /// grant is known only now.
    private func showRepaired(
        _ arrivals: [Int64], of document: DocumentID, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard document != workspace.id,
            let row = store.operations.document(document, in: workspace.number)
        else { return }
        if try core.messages.judge(document, citing: nil, in: workspace, because: source) {
            try core.log.retention.rekeep(document, in: workspace)
        }
        for arrival in arrivals {
            guard let stored = try store.operations.operation(arrival) else { continue }
            if row.kind.mayHoldContent, let redaction = stored.redaction {
                try core.messages.note(
                    redaction, by: arrival, under: stored.grantNumber, in: row, source)
            } else {
                try core.messages.fold(stored, row, in: workspace, from: source)
            }
        }
    }

    /// Computes again everything that follows from the authority document, after a part of it was
    /// missing.
    private func judgeAnew(
        _ workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        workspace.authority = AuthorityRecords()
        workspace.secrets.index = KeyIndex()
        workspace.judged.startOver()
        core.log.shares.authorityBudget.forgetPassedOver()
        workspace.judged.contentLimits = [:]
        workspace.book.creations = []
        workspace.book.claims = [:]
        workspace.book.cuts = [:]
        workspace.book.pasts = [:]
        workspace.book.folds = [:]
        try core.loadAuthority(of: workspace)
        try core.log.retention.rekeepAuthority(in: workspace)
        let opened = try judgeContent(of: workspace, because: source)
        for document in workspace.book.channels.keys.sorted() {
            try core.messages.refold(document, in: workspace, from: source)
        }
        for document in workspace.sealed.documents.keys.sorted() {
            try core.privates.rejudgePrivate(document, in: workspace, from: source)
        }
        try core.profiles.reloadProfiles(of: workspace)
        try core.messages.foldOpened(by: opened, in: workspace, from: source)
    }

    /// Makes what follows from the verdicts on the authority document: its keys and channels, and
    /// what of each document is valid and kept.
    ///
    /// - Returns: the keys that were not held before.
    func judgeContent(
        of workspace: Workspace, because source: OperationSource
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        for id in workspace.authorityOrder {
            guard let payload = workspace.authority[id]?.payload else { continue }
            // An operation without effect is never opened.
            if workspace.judged.isValid(id) {
                opened += try core.keys.openKeys(of: payload, in: workspace)
            }
            try core.membership.enterDocument(of: payload, id, in: workspace)
        }
        try core.channels.refreshChannels(of: workspace)
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            guard try core.messages.judge(document, citing: nil, in: workspace, because: source)
            else { continue }
            try core.log.retention.rekeep(document, in: workspace)
        }
        return opened
    }
}
