import CRDTStore
import WorkspaceModel

/// Folds content of private documents, as far as it can be opened.
final class SealedFolding: CorePart {
    /// Folds content of a private document, all of it or some. Rows that stay as they are cause no
    /// event.
    ///
    /// - Parameters:
    ///   - arrivals: what is folded, in order; `nil` for all.
    ///   - places: ranges that are folded too.
    func refoldPrivate(
        _ document: PrivateDocument, only arrivals: [Int64]? = nil,
        at places: Set<PrivateDocument.LimitPlace> = [], in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard arrivals?.isEmpty != true || !places.isEmpty else { return }
        // A full fold also covers the content that newly arrived keys open.
        if arrivals == nil { _ = document.sealed.take(document.keys.names) }
        if arrivals == nil || !places.isEmpty, workspace.isOwn(document) {
            return try core.own.refoldOwn(in: workspace, from: source)
        }
        for (stored, content) in try content(
            of: document, only: arrivals, at: places, in: workspace)
        {
            try foldPrivate(content, stored, in: workspace, from: source)
        }
    }

    /// The content of a private document that can be opened, in the form for `refoldPrivate`.
    private func content(
        of document: PrivateDocument, only arrivals: [Int64]?,
        at places: Set<PrivateDocument.LimitPlace>, in workspace: Workspace
    ) throws(StorageError) -> [(StoredOperation, ContentPayload)] {
        var found: [(StoredOperation, ContentPayload)] = []
        if let arrivals, places.isEmpty {
            for arrival in arrivals {
                guard let stored = try store.operations.operation(arrival),
                    let content = try core.keys.content(of: stored, in: workspace)
                else { continue }
                found.append((stored, content))
            }
            return found
        }
        let some = arrivals.map { Set($0) }
        try store.operations.forEachOperation(in: document.id, of: workspace.number) {
            (stored) throws(StorageError) in
            guard stored.entry.kind == OperationKind.content.rawValue,
                let key = stored.entry.keyID,
                some?.contains(stored.place.arrival) ?? true
                    || isOne(of: places, stored, key, in: workspace),
                let content = try core.keys.content(of: stored, in: workspace)
            else { return }
            found.append((stored, content))
        }
        return found
    }

    private func isOne(
        of places: Set<PrivateDocument.LimitPlace>, _ stored: StoredOperation, _ key: KeyID,
        in workspace: Workspace
    ) -> Bool {
        guard !places.isEmpty,
            let member = workspace.judged.subject(ofGrant: stored.entry.grant)
        else { return false }
        return places.contains(.init(log: stored.log, member: member, key: key))
    }

    /// Takes over what content of a private document says.
    func foldPrivate(
        _ content: ContentPayload, _ stored: StoredOperation, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        switch content {
        case .message(let message):
            try foldPrivate(message, stored, in: workspace, from: source)
        case .own(let register): try core.own.fold(register, stored, in: workspace, from: source)
        case .annotation(let annotation):
            // An own document contains no messages.
            guard let document = workspace.sealed.documents[stored.log.document],
                !workspace.isOwn(document)
            else { return }
            try core.messages.fold(
                annotation, AssertionSource(stored),
                isValid: try core.privates.visibility(of: stored, in: workspace) == .shown,
                in: workspace,
                from: source)
        case .note:
            guard let document = workspace.sealed.documents[stored.log.document],
                !workspace.isOwn(document)
            else { return }
            let isValid = try core.privates.visibility(of: stored, in: workspace) == .shown
            for family in core.contentFamilies {
                try family.fold(
                    content, AssertionSource(stored), isValid: isValid, in: workspace, from: source)
            }
        case .membership, .profile, .profileField, .device, .ledger, .attestation: break
        }
    }

    /// Takes up content of a private document, or an operation of the mailbox, that was stored while
    /// no key was at hand.
    func foldPrivate(
        _ stored: StoredOperation, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        switch OperationKind(rawValue: stored.entry.kind) {
        case .mailbox:
            let found = try core.keys.openMailbox(stored, in: workspace)
            for document in found.sorted() {
                try core.privates.placePrivate(document, in: workspace, from: source)
            }
        case .content:
            guard let content = try core.keys.content(of: stored, in: workspace) else { return }
            try foldPrivate(content, stored, in: workspace, from: source)
        case .authority, .privateAuthority, .redact, nil: break
        }
    }

    /// Folds a message of a private document.
    func foldPrivate(
        _ message: ContentPayload.Message, _ stored: StoredOperation, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        // All of it is folded when its channel is there to be seen (`settle`).
        guard workspace.channelIndex.channel(stored.document) != nil else { return }
        let position = ViewStore.Position(sort: stored.place.sort, arrival: stored.place.arrival)
        let visibility = try core.privates.visibility(of: stored, in: workspace)
        let before = try store.view.stored(at: position, in: stored.document)?.visibility
        guard before != visibility else { return }
        let unseen = try store.view.unseen([position], in: stored.document)
        let isNew = before == nil || !unseen.isEmpty
        try write()
        let row = try row(of: message, stored, in: workspace)
        try store.view.fold(row, as: visibility)
        core.queries.indexShown(row, isBackfill: source.isBackfill)
        try core.files.note(
            message,
            at: .init(
                arrival: position.arrival, document: stored.document,
                isShown: visibility == .shown, isBackfill: source.isBackfill))
        try core.own.noteLate(row, in: workspace)
        switch visibility {
        case .shown:
            if isNew { return try core.messages.recordCreated(row, in: workspace, source) }
            guard before == .refused else { return }
            try turn.record(
                .messageRestored, workspace: workspace.number, document: stored.document,
                arrival: position.arrival, isBackfill: source.isBackfill)
        case .refused:
            try core.events.recordRefused(stored, in: stored.document, workspace, source)
        case .hidden: break
        }
    }

    /// The row that a stored message gives.
    func row(
        of message: ContentPayload.Message, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> ViewStore.MessageRow {
        let key = MessageKey(
            timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix)
        var row = ViewStore.MessageRow(
            document: stored.document,
            position: .init(sort: stored.place.sort, arrival: stored.place.arrival), key: key,
            grant: stored.grantNumber, thread: message.thread)
        row.isMention = try core.messages.isMention(
            message, key, in: stored.document, grant: stored.grantNumber, workspace)
        return row
    }
}
