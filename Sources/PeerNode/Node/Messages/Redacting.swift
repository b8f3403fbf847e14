import CRDTStore
import WorkspaceModel

/// Deletes messages: redactions are recorded as they arrive, and judged at the end of the turn, in
/// whatever order messages, redactions and verdicts arrived (PROTOCOL.md, 4.6).
extension Messages {
    // MARK: Noting

    /// Takes up redactions among operations that were just stored, and what earlier ones name.
    func noteRedactions(
        _ appended: [OperationStore.Appended], of log: LogName,
        in document: OperationStore.DocumentRow, from source: OperationSource
    ) throws(StorageError) {
        guard document.kind.mayHoldContent else { return }
        for item in appended {
            let header = item.operation.header
            switch OperationKind(rawValue: header.kind) {
            case .redact:
                try noteRedaction(item.operation, item.arrival, in: document, source)
            case .content where redactedDocuments.contains(document.number):
                guard try store.view.redactions.isNamed(item.operation.id, in: document.number)
                else {
                    continue
                }
                try review(reference(item.operation, in: log), in: document.number, source)
            default: break
            }
        }
    }

    private func reference(
        _ operation: CheckedOperation, in log: LogName
    ) -> OperationReference {
        OperationReference(
            device: log.device, incarnation: log.incarnation,
            sequence: operation.header.sequence, id: operation.id)
    }

    private func noteRedaction(
        _ operation: CheckedOperation, _ arrival: Int64,
        in document: OperationStore.DocumentRow, _ source: OperationSource
    ) throws(StorageError) {
        guard let payload = try? RedactPayload(decoding: operation.payload),
            let grant = store.operations.number(ofGrant: operation.header.grant)
        else { return }
        try note(payload, by: arrival, under: grant, in: document, source)
    }

    /// Takes over what a redaction names.
    ///
    /// - Parameters:
    ///   - arrival: The redaction's arrival number.
    ///   - grant: The number of the grant that it cites.
    func note(
        _ redaction: RedactPayload, by arrival: Int64, under grant: Int64,
        in document: OperationStore.DocumentRow, _ source: OperationSource
    ) throws(StorageError) {
        redactedDocuments.insert(document.number)
        switch redaction {
        case .erase(let targets, _):
            let naming = ViewStore.Naming(by: arrival, grant: grant, isUndo: false)
            for target in targets {
                try store.view.redactions.note(naming, of: target.id, in: document.number)
            }
            review(targets, because: naming, in: document.number, source)
        case .undo(let redaction):
            let naming = ViewStore.Naming(by: arrival, grant: grant, isUndo: true)
            try store.view.redactions.note(naming, of: redaction.id, in: document.number)
            review(undo: naming, in: document.number, source)
        }
    }

    // MARK: Settling

    /// Judges what was recorded, and shows, hides and marks for erasing what follows. A slice if
    /// there is very much; the rest follows after the next input, also after a crash.
    func settleRedactions() throws(StorageError) {
        guard !redactionReviews.isEmpty, mayWrite, !workspaces.isEmpty else { return }
        var budget = redactionBudget
        // No document has to wait for redactions that are judged again in another one.
        let limit = Limits.redactionsWeighedPerTurnMax / redactionReviews.count
        for number in redactionReviews.keys.sorted() {
            guard let row = store.operations.document(numbered: number),
                let contents = row.kind.contents, !contents.isEmpty,
                let workspace = core.workspaces[row.workspace],
                // Taken out, so that what is large is not copied.
                var review = redactionReviews.removeValue(forKey: number)
            else {
                redactionReviews[number] = nil
                continue
            }
            let pass = review.pass
            pass.beginTurn()
            let targets = try slice(of: &review, in: row, workspace, pass, &budget)
            let rest = RedactionReview(with: pass, isBackfill: review.isBackfill)
            redactionReviews[number] = review.isDone ? nil : review
            review = rest
            let count = try settle(
                targets, in: row, workspace, pass, upTo: limit, isBackfill: rest.isBackfill)
            for (target, cause) in targets[count...] {
                redactionReviews[number, default: rest].putBack(target, cause)
            }
        }
        queuedRedactions = redactionReviews.values.reduce(0) { $0 + $1.count }
        if !redactionReviews.isEmpty { turn.hasMoreToDo = true }
        try storeReviews()
    }

    /// Judges a message and its edits at once, for a caller that waits for the answer.
    func settleRedactions(
        of targets: [OperationReference], inDocument number: Int64
    ) throws(StorageError) {
        guard mayWrite, let row = store.operations.document(numbered: number),
            let workspace = core.workspaces[row.workspace]
        else { return }
        _ = try settle(
            targets.map { ($0, nil) }, in: row, workspace, RedactionPass(), upTo: .max,
            isBackfill: false)
    }

    /// - Returns: how many of these, from the first, there was time for; one at least.
    private func settle(
        _ targets: [(OperationReference, RedactionReview.Cause)],
        in row: OperationStore.DocumentRow, _ workspace: Workspace, _ pass: RedactionPass,
        upTo limit: Int, isBackfill: Bool
    ) throws(StorageError) -> Int {
        var said = RejudgedAnnotations()
        var count = 0
        for (target, cause) in targets {
            guard count == 0 || pass.cost < limit else { break }
            try settle(target, cause, in: row, workspace, pass, &said, isBackfill: isBackfill)
            count += 1
        }
        // After the messages themselves, so that nobody is told how a deleted one changed.
        let source = OperationSource.released(source: 0, isBackfill: isBackfill)
        try core.profiles.follow(said.forgotten, in: workspace, isBackfill: isBackfill)
        if said.isOwnChanged { try core.own.refoldOwn(in: workspace, from: source) }
        try judgeAnnotations(said.gone, isValid: false, in: workspace, source)
        try judgeAnnotations(said.back, isValid: true, in: workspace, source)
        for family in core.contentFamilies {
            try family.noteDeleted(said.deleted, in: workspace, source)
            try family.noteRestored(said.restored, in: workspace, source)
        }
        return count
    }

    /// Annotations that count differently now because they were deleted or restored. By arrival
    /// number.
    private struct RejudgedAnnotations {
        var gone: [Int64] = []
        var back: [Int64] = []
        /// Everything that was deleted, and everything that was restored, of any kind.
        var deleted: [Int64] = []
        var restored: [Int64] = []
        /// Profile fields that were redacted.
        var forgotten = Profiles.RedactedRegisters()
        /// Whether something in an own document has changed by it.
        var isOwnChanged = false
    }

    /// Whether an operation is in a document for this person's devices only.
    private func isForOwnDevices(_ stored: StoredOperation, in workspace: Workspace) -> Bool {
        workspace.sealed.documents[stored.log.document].map(workspace.isOwn) ?? false
    }

    private func settle(
        _ target: OperationReference, _ cause: RedactionReview.Cause,
        in document: OperationStore.DocumentRow, _ workspace: Workspace, _ pass: RedactionPass,
        _ said: inout RejudgedAnnotations, isBackfill: Bool
    ) throws(StorageError) {
        guard
            let place = try store.operations.find(
                target, in: document.id, of: workspace.number),
            let stored = try store.operations.operation(place.arrival),
            stored.entry.kind == OperationKind.content.rawValue
        else { return }
        let before = try store.view.redactions.deletion(of: place.arrival)
        turn.tally.noteJudged(targets: 1)
        switch try ruling(on: stored, before, because: cause, in: workspace, pass) {
        case .open: break
        case .stands:
            guard before != nil else { return try showGap(of: stored, .unknown, in: workspace) }
            try bringBack(stored, in: document, workspace, &said, isBackfill: isBackfill)
        case .deleted(let redaction, let isOwn):
            try write()
            let absent = stored.entry.absent != nil
            if absent { try store.operations.setMissing(false, place.arrival) }
            let due = isOwn ? 0 : UInt64(max(redaction.seen, 0)) &+ Limits.redactionUndoMilliseconds
            let deletion = ViewStore.Deletion(
                by: redaction.place.arrival, due: absent ? nil : due)
            if deletion != before {
                try store.view.redactions.set(deletion, of: place.arrival, in: document.number)
                try core.queries.reindex(stored)
                if !absent {
                    nextPayloadErasure = min(
                        nextPayloadErasure ?? due, due)
                }
            }
            guard !document.kind.holds(.profiles) else {
                return core.profiles.forgetProfile(stored, in: workspace, &said.forgotten)
            }
            if document.kind.holds(.subscriptions) {
                try core.channels.silence(place.arrival, workspace)
            }
            said.isOwnChanged = said.isOwnChanged || isForOwnDevices(stored, in: workspace)
            said.deleted.append(place.arrival)
            let gap = try gap(of: stored, by: redaction, in: workspace)
            if gap != .nowhere { try showGap(of: stored, gap, in: workspace) }
            if try store.view.isValid(annotationAt: place.arrival) == true {
                said.gone.append(place.arrival)
            }
            if !isBackfill, deletion.by != before?.by,
                let row = try store.view.stored(
                    at: .init(sort: place.sort, arrival: place.arrival), in: document.number)?.row
            {
                try noteDeleted(row, deletion, in: workspace)
            }
            if before == nil {
                try tell(.messageDeleted, stored, by: redaction, in: workspace, isBackfill)
            }
            // Last, since only remaining operations can be reported.
            if gap == .nowhere { try showGap(of: stored, gap, in: workspace) }
        }
    }

    /// Restores an operation that is no longer deleted.
    private func bringBack(
        _ stored: StoredOperation, in document: OperationStore.DocumentRow,
        _ workspace: Workspace, _ said: inout RejudgedAnnotations, isBackfill: Bool
    ) throws(StorageError) {
        try write()
        said.restored.append(stored.place.arrival)
        try showAgain(stored, in: workspace)
        try store.view.redactions.set(nil, of: stored.place.arrival, in: document.number)
        try core.queries.reindex(stored)
        if stored.entry.absent != nil { try miss(stored.place.arrival) }
        if document.kind.holds(.profiles) {
            if stored.entry.absent == nil {
                try fold(
                    stored, document, in: workspace,
                    from: .released(source: 0, isBackfill: isBackfill))
            }
        } else {
            if document.kind.holds(.subscriptions) {
                try core.channels.enqueue(stored.place.arrival, .nothing)
            }
            if try core.privates.visibility(of: stored, in: workspace) == .shown {
                said.back.append(stored.place.arrival)
            }
        }
        said.isOwnChanged = said.isOwnChanged || isForOwnDevices(stored, in: workspace)
        try tell(.messageRestored, stored, by: nil, in: workspace, isBackfill)
    }

    /// A payload that was erased should be here after all.
    private func miss(_ arrival: Int64) throws(StorageError) {
        try store.operations.setMissing(true, arrival)
        for link in network.ordered { link.payloads.askedPayloads.remove(arrival) }
        asksForPayloads = true
    }

    private func tell(
        _ type: EventType, _ stored: StoredOperation, by redaction: StoredOperation?,
        in workspace: Workspace, _ isBackfill: Bool
    ) throws(StorageError) {
        guard workspace.book.deleted[stored.log.document] == nil,
            workspace.channel(numbered: stored.document) != nil,
            try store.view.message(
                arrival: stored.place.arrival, sort: stored.place.sort,
                document: stored.document) != nil
        else { return }
        let author = redaction.flatMap {
            workspace.judged.subject(ofGrant: $0.entry.grant)
        }
        try turn.record(
            type, workspace: workspace.number, document: stored.document,
            arrival: stored.place.arrival, extra: author?.bytes, isBackfill: isBackfill)
    }
}

extension StoredOperation {
    /// What it says as a redaction; `nil` for everything else.
    var redaction: RedactPayload? {
        guard entry.kind == OperationKind.redact.rawValue else { return nil }
        return try? RedactPayload(decoding: entry.payload)
    }

    /// How others cite it.
    var reference: OperationReference {
        OperationReference(
            device: log.device, incarnation: log.incarnation, sequence: place.sequence,
            id: place.link.id)
    }
}
