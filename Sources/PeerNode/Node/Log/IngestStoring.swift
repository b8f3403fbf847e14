import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Storing what passed all checks, and what follows from it.
extension OperationLog {
    func append(
        _ operations: [CheckedOperation], of log: LogName, at place: OperationStore.Place,
        in workspace: Workspace, from source: OperationSource, judged change: AuthChange? = nil
    ) throws(StorageError) {
        try write()
        let isAuthority = log.document == workspace.id
        try store.operations.enter(
            log.document, workspace: isAuthority ? nil : workspace.number,
            kind: isAuthority ? .authority : kind(of: log.document, operations, in: workspace))
        let cited = try cited(by: operations, in: log.document, of: workspace)
        let (branch, appended) = try store.operations.append(
            operations, in: log, of: workspace.number, at: place, seen: time.wall, citing: cited)
        turn.tally.noteStored(operations.count, isOwn: source == .ourselves)
        if source != .ourselves, let last = operations.last {
            try noteOwn(log, last.header.timestamp)
        }
        if case .fork(let parent, let sequence) = place {
            try noteFork(of: parent, at: sequence, branch: branch, in: workspace)
        }
        if let last = operations.last {
            clock.observe(last.header.timestamp, wallMilliseconds: time.wall)
            let newest = workspace.held.newestTimestamp[log.document] ?? 0
            let latest = store.operations.branch(branch).map(Workspace.latest) ?? 0
            workspace.held.newestTimestamp[log.document] = max(newest, latest)
        }
        if isAuthority {
            for operation in appended {
                try sink.applyAuthority(
                    operation, change ?? AuthChange(), branch: branch, in: workspace, from: source)
            }
        } else {
            workspace.sealed.documents[log.document]?.noteStored(operations)
            try sink.applyContent(
                appended, log: log, branch: branch, in: workspace, from: source)
            pruning.noteBranches(of: log, in: workspace)
        }
        if case .peer(let device, _, let isBackfill) = source, let last = operations.last {
            if device == log.device, !isBackfill {
                try sink.noteClock(of: device, wroteAt: last.header.timestamp.milliseconds)
            }
            // A device that sends operations holds them.
            store.peers.noteHeld(by: device, branch: branch, through: last.header.sequence)
        }
        if source != .ourselves, let last = operations.last {
            sink.noteSign(
                of: log.device, wroteAt: last.header.timestamp.milliseconds, in: workspace)
        }
        retention.moved[workspace.number, default: []].insert(branch)
        noteAppended(operations, of: log, branch: branch, in: workspace, from: source)
        releaseWaiting(for: appended.map(\.operation.id))
    }

    /// The kind of a document, according to its first operations; for the mailbox, its name.
    private func kind(
        of document: DocumentID, _ operations: [CheckedOperation], in workspace: Workspace
    ) -> DocumentKind {
        if document == workspace.mailboxDocument { return .mailbox }
        return operations.first?.privateRoot == nil ? .unknown : .privateDocument
    }

    private func noteAppended(
        _ operations: [CheckedOperation], of log: LogName, branch: Int64, in workspace: Workspace,
        from source: OperationSource
    ) {
        guard let last = operations.last else { return }
        let next = AppendedRun(
            workspace: workspace.number, branch: branch, log: log,
            tip: LogTip(
                log: log, sequence: last.header.sequence, id: Identifier16(prefixOf: last.id)),
            // A peer takes pushes of our own logs only; the recovery device's it asks for.
            own: source == .ourselves && log.device == turn.session.ownDevice
                ? run(of: operations, in: log) : nil)
        if let index = appended.indices.last, appended[index].take(next) { return }
        appended.append(next)
    }

    private func run(of operations: [CheckedOperation], in log: LogName) -> OperationRun {
        OperationRun(
            log: log, firstSequence: operations.first?.header.sequence ?? 0,
            previous: operations.first?.header.previous,
            entries: operations.map { operation in
                OperationRun.Entry(
                    kind: operation.header.kind, timestamp: operation.header.timestamp,
                    grant: operation.header.grant, keyID: operation.header.keyID,
                    dependencies: operation.header.dependencies, payload: operation.payload,
                    absent: operation.isPayloadAbsent
                        ? .init(
                            length: operation.header.payloadLength,
                            hash: operation.header.payloadHash) : nil,
                    signature: operation.signature)
            })
    }

    /// Where the cited operations are stored; earlier ones of the same run are not stored yet.
    private func cited(
        by operations: [CheckedOperation], in document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> [[StoredPlace]] {
        var cited = [[StoredPlace]](repeating: [], count: operations.count)
        // By index, so that no operation is copied: hardly one of a history cites anything.
        for index in operations.indices {
            for dependency in operations[index].header.dependencies {
                try store.operations.find(dependency, in: document, of: workspace.number)
                    .map { cited[index].append($0) }
            }
        }
        return cited
    }

    private func noteFork(
        of parent: Int64, at sequence: UInt64, branch: Int64, in workspace: Workspace
    ) throws(StorageError) {
        try store.registry.addEvidence(
            branch: parent, sequence: sequence, other: branch, at: time.wall)
        guard let log = store.operations.branch(branch)?.log else { return }
        try turn.record(.forkFound, workspace: workspace.number, extra: log.device.bytes)
        turn.emit(
            .log(.warning, "fork.found device=\(PublicID.device(log.device)) seq=\(sequence)"))
    }

    /// Has what waited for operations be taken at the end of the turn.
    func releaseWaiting(for ids: [OperationID]) {
        guard waiting.operationCount > 0 else { return }
        for id in ids {
            released += waiting.release(.operation(id))
            released += waiting.release(.previous(id))
        }
    }
}
