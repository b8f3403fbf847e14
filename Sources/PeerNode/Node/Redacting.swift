import CRDTStore
import WorkspaceModel

/// Deleting messages: what redactions say is noted as it comes, and what follows is judged at the
/// end of the turn, in whatever order messages, redactions and verdicts arrived (PROTOCOL.md, 4.5).
extension NodeCore {
    /// What of a document's redactions has to be judged anew.
    struct RedactionReview {
        /// All of them: a verdict may have changed.
        var isWhole = false
        /// Operations that a redaction names, or that came after it.
        var targets: Set<OperationReference> = []
        /// Whether all of it came by a first sync.
        var isBackfill = true
    }

    // MARK: Noting

    /// Takes up redactions among operations that were just stored, and what earlier ones name.
    func noteRedactions(
        _ appended: [OperationStore.Appended], of log: LogName,
        in document: OperationStore.DocumentRow, from source: OperationSource
    ) throws(StorageError) {
        guard document.kind.holdsContent else { return }
        for item in appended {
            let header = item.operation.header
            switch OperationKind(rawValue: header.kind) {
            case .redact:
                try noteRedaction(item.operation, item.arrival, in: document, source)
            case .content where redactedDocuments.contains(document.number):
                let id = item.operation.id
                guard try !store.view.redactions(of: id, in: document.number).isEmpty else {
                    continue
                }
                review([reference(item.operation, in: log)], in: document.number, source)
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
        guard let payload = try? RedactPayload(decoding: operation.payload) else { return }
        redactedDocuments.insert(document.number)
        switch payload {
        case .erase(let targets, _):
            for target in targets {
                try store.view.note(redactionOf: target.id, by: arrival, in: document.number)
            }
            review(Set(targets), in: document.number, source)
        case .undo(let redaction):
            try store.view.note(redactionOf: redaction.id, by: arrival, in: document.number)
            guard
                let place = try store.operations.find(
                    redaction, in: document.id, of: document.workspace),
                let undone = try store.operations.operation(place.arrival)
            else { return }
            review(Set(undone.redaction?.targets ?? []), in: document.number, source)
        }
    }

    private func review(
        _ targets: Set<OperationReference>, in document: Int64, _ source: OperationSource
    ) {
        redactionReviews[document, default: RedactionReview()].targets.formUnion(targets)
        if !source.isBackfill { redactionReviews[document]?.isBackfill = false }
    }

    /// Has all redactions of a document judged anew at the end of the turn.
    func reviewRedactions(inDocument number: Int64) {
        guard redactedDocuments.contains(number) else { return }
        redactionReviews[number, default: RedactionReview()].isWhole = true
    }

    /// Has all redactions of a workspace judged anew: its authority has changed.
    func reviewRedactions(of workspace: Workspace) {
        for number in redactedDocuments
        where store.operations.document(numbered: number)?.workspace == workspace.number {
            reviewRedactions(inDocument: number)
        }
    }

    // MARK: Settling

    /// Judges what was noted, and shows, hides and marks for erasing what follows.
    func settleRedactions() throws(StorageError) {
        guard !redactionReviews.isEmpty, mayWrite else { return }
        let reviews = redactionReviews.sorted { $0.key < $1.key }
        redactionReviews = [:]
        for (number, review) in reviews {
            guard let row = store.operations.document(numbered: number), row.kind.holdsContent,
                row.kind != .unknown, let workspace = workspaces[row.workspace]
            else { continue }
            for target in try targets(of: review, in: row).sorted(by: { $0.id < $1.id }) {
                try settle(target, in: row, workspace, isBackfill: review.isBackfill)
            }
        }
    }

    private func targets(
        of review: RedactionReview, in document: OperationStore.DocumentRow
    ) throws(StorageError) -> Set<OperationReference> {
        guard review.isWhole else { return review.targets }
        var targets = review.targets
        for arrival in try store.view.redactions(in: document.number) {
            let stored = try store.operations.operation(arrival)
            targets.formUnion(stored?.redaction?.targets ?? [])
        }
        // Those whose redactions are not stored any more.
        for arrival in try store.view.deleted(in: document.number) {
            guard let stored = try store.operations.operation(arrival) else { continue }
            targets.insert(stored.reference)
        }
        return targets
    }

    private func settle(
        _ target: OperationReference, in document: OperationStore.DocumentRow,
        _ workspace: Workspace, isBackfill: Bool
    ) throws(StorageError) {
        guard
            let place = try store.operations.find(
                target, in: document.id, of: workspace.number),
            let stored = try store.operations.operation(place.arrival),
            stored.entry.kind == OperationKind.content.rawValue
        else { return }
        let before = try store.view.deletion(of: place.arrival)
        switch try ruling(on: stored, before, in: workspace) {
        case .open: break
        case .stands:
            try show(stored, because: nil, in: workspace)
            guard before != nil else { return }
            try write()
            try store.view.set(nil, of: place.arrival, in: document.number)
            reindex(stored)
            if stored.entry.absent != nil {
                try miss(place.arrival)
            } else if document.kind == .profile {
                try fold(
                    stored, document, in: workspace,
                    from: .released(source: 0, isBackfill: isBackfill))
            }
            try tell(.messageRestored, stored, by: nil, in: workspace, isBackfill)
        case .deleted(let redaction, let isOwn):
            try write()
            let absent = stored.entry.absent != nil
            if absent { try store.operations.setMissing(false, place.arrival) }
            let due = isOwn ? 0 : UInt64(max(redaction.seen, 0)) &+ Limits.redactionUndoMilliseconds
            let deletion = ViewStore.Deletion(
                by: redaction.place.arrival, due: absent ? nil : due)
            if deletion != before {
                try store.view.set(deletion, of: place.arrival, in: document.number)
                reindex(stored)
                if !absent { nextPayloadErasure = min(nextPayloadErasure ?? due, due) }
            }
            guard document.kind != .profile else {
                return try forgetProfile(stored, in: workspace, isBackfill: isBackfill)
            }
            try show(stored, because: redaction, in: workspace)
            guard before == nil else { return }
            try tell(.messageDeleted, stored, by: redaction, in: workspace, isBackfill)
        }
    }

    /// A payload that was erased should be here after all.
    private func miss(_ arrival: Int64) throws(StorageError) {
        try store.operations.setMissing(true, arrival)
        for link in network.ordered { link.askedPayloads.remove(arrival) }
        asksForPayloads = true
    }

    private func tell(
        _ type: EventType, _ stored: StoredOperation, by redaction: StoredOperation?,
        in workspace: Workspace, _ isBackfill: Bool
    ) throws(StorageError) {
        guard workspace.deletedChannels[stored.log.document] == nil,
            channel(stored.document, in: workspace) != nil,
            try store.view.message(
                arrival: stored.place.arrival, sort: stored.place.sort,
                document: stored.document) != nil
        else { return }
        let author = redaction.flatMap {
            workspace.evaluator.subject(ofGrant: $0.entry.grant)
        }
        try record(
            type, workspace: workspace, document: stored.document,
            arrival: stored.place.arrival, extra: author?.bytes, isBackfill: isBackfill)
    }

    // MARK: The gap

    /// Puts a message whose payload is not here into its place, as far as that is known: from the
    /// view, or from what the redaction says of it. Every other one is folded as it is opened.
    private func show(
        _ stored: StoredOperation, because redaction: StoredOperation?, in workspace: Workspace
    ) throws(StorageError) {
        guard stored.entry.absent != nil, judgesOthers(in: stored.log.document, workspace) else {
            return
        }
        let position = ViewStore.Position(sort: stored.place.sort, arrival: stored.place.arrival)
        let known = try store.view.stored(at: position, in: stored.document)
        let visibility = try visibility(of: stored, in: workspace)
        if let known {
            guard known.visibility != visibility else { return }
            try write()
            return try store.view.setVisibility(visibility, of: [position], in: stored.document)
        }
        guard let redaction, let thread = try thread(of: stored, by: redaction, in: workspace)
        else { return }
        try write()
        try store.view.fold(
            ViewStore.MessageRow(
                document: stored.document, position: position,
                key: MessageKey(
                    timestamp: stored.entry.timestamp,
                    idPrefix: stored.place.link.id.messagePrefix),
                grant: stored.grantNumber, thread: thread), as: visibility)
    }

    /// What a redaction says that its target replied to: `nil` where it is no message, the inner
    /// one where it is one that replied to nothing.
    private func thread(
        of target: StoredOperation, by redaction: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> MessageKey?? {
        guard case .erase(let targets, let sealed?)? = redaction.redaction,
            let place = targets.firstIndex(where: { $0.id == target.place.link.id }),
            let plaintext = try opened(sealed, of: redaction, in: workspace),
            let messages = try? RedactedMessages(decoding: plaintext),
            let entry = messages.entries.first(where: { $0.target == place })
        else { return nil }
        return .some(entry.thread)
    }
}

extension AuthorityPayload {
    /// Whether it can change what counts of others' content, or who runs a channel.
    var bearsOnDeletions: Bool {
        switch self {
        case .invite, .request, .rekey, .setWorkspace: false
        default: true
        }
    }
}

extension DocumentKind {
    /// Whether what is said there can be deleted, as far as is known.
    fileprivate var holdsContent: Bool {
        switch self {
        case .channel, .privateDocument, .profile, .unknown: true
        case .authority, .mailbox: false
        }
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
