import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Folds content operations into the view: messages, subscriptions and names. A pure fold; any
/// order of operations gives the same rows.
extension Messages {
    /// Folds operations that were just stored on one branch.
    func applyContent(
        _ appended: [OperationStore.Appended], log: LogName, branch: Int64,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard let document = store.operations.document(log.document, in: workspace.number) else {
            return
        }
        guard let first = appended.first?.operation.header.sequence else { return }
        let isJudgedAnew = try judgeAppended(
            to: branch, from: first, in: workspace, because: source)
        let isPrivate = document.kind.access == .insiders
        let before = store.operations.branch(branch)?.kept
        var kept = before
        for item in appended {
            let header = item.operation.header
            let isValid = store.operations.isValid(header.sequence, in: branch)
            if isValid { kept = .init(sequence: header.sequence, id: item.operation.id) }
            if isPrivate { core.privates.noteSealed(item, of: log.document, in: workspace) }
            guard header.kind == OperationKind.content.rawValue, document.kind.contents != nil,
                let content = core.keys.fresh.takeWritten(item.operation.payload)
                    ?? core.keys.content(of: item.operation, in: workspace)
            else { continue }
            core.keys.fresh.note(content, of: item.operation.payload, arrival: item.arrival)
            if isPrivate {
                guard let stored = try store.operations.operation(item.arrival) else { continue }
                try core.messages.sealed.foldPrivate(content, stored, in: workspace, from: source)
                continue
            }
            try fold(
                content,
                Folding(
                    workspace: workspace, document: document, documentID: log.document,
                    arrival: item.arrival, sort: item.sort, id: item.operation.id,
                    timestamp: header.timestamp, grant: header.grant, device: log.device,
                    cited: header.dependencies.map(\.id), isValid: isValid, source: source))
        }
        core.log.retention.setKept(kept, of: branch, in: workspace)
        let isRoot = appended.contains { $0.operation.privateRoot != nil }
        if isRoot { workspace.sealed.roots.forget(log.document) }
        try core.privates.roots.keepRoot(of: log.document, in: workspace)
        try noteRedactions(appended, of: log, in: document, from: source)
        // Nothing is judged before it is known what a document is.
        if isJudgedAnew || isRoot { try reviewRedactions(inDocument: document.number) }
        if isJudgedAnew, document.kind.holds(.profiles) {
            try core.profiles.reloadProfilesLater(of: workspace, from: source)
        }
        try reviewRedactions(after: appended, of: log, branch: branch, in: workspace)
        try core.privates.applyPrivate(
            appended, document, isJudgedAnew: isJudgedAnew, in: workspace, from: source)
        guard let tip = kept, tip != before, let own = store.operations.branch(branch) else {
            return
        }
        let start = before.map { $0.sequence + 1 } ?? own.forkSequence
        let isPlain =
            own.parent == nil && start == first
            && appended.allSatisfy { $0.operation.header.dependencies.isEmpty }
        guard start <= tip.sequence else { return }
        let range = KeptRange(branch: branch, places: start...tip.sequence)
        guard !isPlain else {
            return try core.log.retention.keepGrants(
                citedBy: [range], of: log.document, in: workspace)
        }
        try core.log.retention.keepCited(by: [range], of: log.document, in: workspace)
    }

    /// One operation on its way into the view.
    private struct Folding {
        let workspace: Workspace
        let document: OperationStore.DocumentRow
        let documentID: DocumentID
        let arrival: Int64
        let sort: Int64
        let id: OperationID
        let timestamp: HybridTimestamp
        let grant: OperationID
        let device: DeviceID
        let cited: [OperationID]
        let isValid: Bool
        let source: OperationSource

        var assertion: AssertionSource {
            AssertionSource(
                document: document.number, id: id, timestamp: timestamp, arrival: arrival,
                grant: grant, cited: cited)
        }
    }

    private func fold(
        _ content: ContentPayload, _ place: Folding
    ) throws(StorageError) {
        let workspace = place.workspace
        // Nothing else has an effect in a ledger, and what is said of coins has none elsewhere (W-94).
        guard workspace.isLedger(place.documentID) == content.isOfLedger,
            place.document.kind.holds(.init(of: content))
        else { return }
        switch content {
        case .message(let message):
            guard let grant = store.operations.number(ofGrant: place.grant) else { return }
            try fold(message, place, grant: grant)
        case .annotation(let annotation):
            try fold(
                annotation, place.assertion, isValid: place.isValid, in: workspace,
                from: place.source)
        case .membership(let action, let members):
            guard let author = workspace.judged.subject(ofGrant: place.grant),
                try !isDeleted(place.arrival)
            else { return }
            let word = MembershipAssertion(
                action, members, by: author, in: place.assertion, isValid: place.isValid)
            try core.channels.hear(word, in: workspace, from: place.source)
        case .profile, .profileField, .device: try foldProfile(content, place)
        case .attestation(let said): try foldAttestation(said, place)
        case .own: break
        case .note, .ledger:
            for family in core.contentFamilies {
                try family.fold(
                    content, place.assertion, isValid: place.isValid, in: workspace,
                    from: place.source)
            }
        }
    }

    private func fold(
        _ message: ContentPayload.Message, _ place: Folding, grant: Int64
    ) throws(StorageError) {
        let workspace = place.workspace
        // Whether it is ours matters where it does not count.
        let isRefused =
            !place.isValid && core.membership.isOwn(place.grant, of: place.device, workspace)
        let key = MessageKey(timestamp: place.timestamp, idPrefix: place.id.messagePrefix)
        var row = ViewStore.MessageRow(
            document: place.document.number,
            position: .init(sort: place.sort, arrival: place.arrival), key: key, grant: grant,
            thread: message.thread)
        row.isMention = try isMention(
            message, key, in: place.document.number, grant: grant, workspace)
        try store.view.fold(row, as: place.isValid ? .shown : isRefused ? .refused : .hidden)
        core.queries.indexShown(row, isBackfill: place.source.isBackfill)
        try core.files.note(
            message,
            at: .init(
                arrival: place.arrival, document: row.document, isShown: place.isValid,
                isBackfill: place.source.isBackfill))
        try core.own.noteLate(row, in: workspace)
        guard place.isValid else {
            if isRefused, let stored = try store.operations.operation(place.arrival) {
                try core.events.recordRefused(
                    stored, in: place.document.number, workspace, place.source)
            }
            return
        }
        guard workspace.book.deleted[place.documentID] == nil else { return }
        try recordCreated(row, in: workspace, place.source)
    }

    private func foldProfile(
        _ content: ContentPayload, _ place: Folding
    ) throws(StorageError) {
        let workspace = place.workspace
        guard let (subject, value) = content.aboutOneself,
            let author = workspace.judged.subject(ofGrant: place.grant)
        else { return }
        try core.profiles.fold(
            value, at: .init(member: author, subject: subject),
            .init(
                id: place.id, timestamp: place.timestamp, arrival: place.arrival,
                cited: place.cited, hasValue: value != nil, isValid: place.isValid),
            in: workspace, from: place.source)
    }

    private func foldAttestation(
        _ said: Attestation, _ place: Folding
    ) throws(StorageError) {
        guard let author = place.workspace.judged.subject(ofGrant: place.grant),
            let stored = try store.operations.operation(place.arrival, hasPayload: false)
        else { return }
        try core.profiles.fold(
            AttestationBook.Assertion(said, stored, by: author, isValid: place.isValid),
            in: place.workspace, from: place.source)
    }

    // MARK: Opening

    /// The sealed part of a redaction, or `nil` while its key is not held.
    func opened(
        _ sealed: [UInt8], of redaction: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> [UInt8]? {
        guard let keyID = redaction.entry.keyID,
            let key = core.keys.contentKey(redaction.log.document, keyID, in: workspace)
        else { return nil }
        return SealedPayload.open(
            sealed, under: key,
            associatedData: try core.keys.header(of: redaction).associatedData)
    }

    /// Whether the key is here under which something stored is sealed.
    func holdsKey(of stored: StoredOperation, in workspace: Workspace) -> Bool {
        guard let keyID = stored.entry.keyID else { return false }
        return core.keys.contentKey(stored.log.document, keyID, in: workspace) != nil
    }

    // MARK: Folding again

    /// Folds a document whose channel, or whose key, became known after its operations.
    ///
    /// - Parameter keys: only what these epoch keys seal, `nil` for all of it.
    func refold(
        _ document: DocumentID, sealedUnder keys: Set<KeyID>? = nil, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard let row = store.operations.document(document, in: workspace.number) else { return }
        var found: [(StoredOperation, ContentPayload)] = []
        try store.operations.forEachOperation(in: document, of: workspace.number) {
            (stored) throws(StorageError) in
            guard keys.map({ stored.entry.keyID.map($0.contains) ?? false }) ?? true else {
                return
            }
            if let content = try core.keys.content(of: stored, in: workspace) {
                found.append((stored, content))
            }
        }
        for (stored, content) in found {
            try fold(content, of: stored, row, in: workspace, from: source)
        }
    }

    /// Folds an operation that was stored unopened, unless it is shown already.
    func fold(
        _ stored: StoredOperation, _ row: OperationStore.DocumentRow, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        let known = try store.view.message(
            arrival: stored.place.arrival, sort: stored.place.sort, document: row.number)
        guard known == nil, let content = try core.keys.content(of: stored, in: workspace) else {
            return
        }
        guard row.kind.access != .insiders else {
            return try sealed.foldPrivate(content, stored, in: workspace, from: source)
        }
        try fold(content, of: stored, row, in: workspace, from: source)
    }

    private func fold(
        _ content: ContentPayload, of stored: StoredOperation, _ row: OperationStore.DocumentRow,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let isValid = store.operations.isValid(stored.place.sequence, in: stored.place.branch)
        try fold(
            content,
            Folding(
                workspace: workspace, document: row, documentID: row.id,
                arrival: stored.place.arrival, sort: stored.place.sort,
                id: stored.place.link.id, timestamp: stored.entry.timestamp,
                grant: stored.entry.grant, device: stored.log.device,
                cited: stored.entry.dependencies.map(\.id), isValid: isValid, source: source))
    }

    /// Shows what the keys open that a run of operations has brought, and who it lets in: once for
    /// all of them, so that a run of very many goes through the channels once.
    func foldUnfolded(
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let keys = workspace.secrets.unfolded
        workspace.secrets.unfolded = []
        try foldOpened(by: keys, in: workspace, from: source)
        try core.channels.enqueueAssertions(onNewcomersTo: workspace, from: source)
    }

    /// Content that arrived before its key is displayed from now on.
    func foldOpened(
        by keys: [KeyID], in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard !keys.isEmpty else { return }
        try reviewRedactions(of: workspace)
        try core.channels.refreshChannels(of: workspace)
        // Usually there is nothing: keys come before what they seal.
        var sealing: Set<KeyID> = []
        for key in keys
        where try store.operations.mayBeSealed(under: key, in: workspace.number) {
            sealing.insert(key)
        }
        guard !sealing.isEmpty else { return }
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where store.operations.document(document, in: workspace.number)?.kind.access == .workspace {
            try refold(document, sealedUnder: sealing, in: workspace, from: source)
        }
    }
}
