import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Folds annotations of messages: edits, reactions, pins. A pure fold, like all content.
extension Messages {
    /// The row that an annotation gives; `nil` where nobody wrote it, and while the home's key is
    /// not at hand.
    func row(
        of annotation: MessageAnnotation, _ source: AssertionSource, in workspace: Workspace
    ) -> ViewStore.Annotation? {
        guard let author = workspace.judged.subject(ofGrant: source.grant),
            let register = register(
                of: annotation.change, about: annotation.target, by: author,
                in: source.document)
        else { return nil }
        var (isOn, isMention) = (true, false)
        switch annotation.change {
        case .edit(_, _, let mentions): isMention = mentions.includes(workspace.member)
        case .reaction(_, let on), .pin(let on): isOn = on
        }
        return ViewStore.Annotation(
            register, id: source.id, at: source.timestamp, arrival: source.arrival, isOn: isOn,
            isMention: isMention)
    }

    /// Which register a change belongs to. A reaction's sign is text, which no table holds.
    func register(
        of change: MessageAnnotation.Change, about target: MessageKey, by member: MemberID,
        in document: Int64
    ) -> ViewStore.Annotation.Register? {
        switch change {
        case .edit: return .init(document: document, target: target, .edit, of: member)
        case .pin: return .init(document: document, target: target, .pin)
        case .reaction(let emoji, _):
            guard let home else { return nil }
            let hash = Hash.keyed(home.homeKey, Array("reaction".utf8), Array(emoji.utf8))
            return .init(
                document: document, target: target, .reaction, of: member,
                tag: Array(hash.prefix(16)))
        }
    }

    /// Takes over what an operation says about a message, or whether it counts now, and tells
    /// what follows.
    func fold(
        _ annotation: MessageAnnotation, _ operation: AssertionSource, isValid: Bool,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let isDeleted = try isDeleted(operation.arrival)
        let isValid = isValid && !isDeleted
        guard try store.view.isValid(annotationAt: operation.arrival) != isValid,
            let row = row(of: annotation, operation, in: workspace)
        else { return }
        try write()
        let before = try store.view.current(row.register)
        try store.view.fold(row, citing: operation.cited, isValid: isValid)
        try follow(row.register, from: before, in: workspace, source)
        if row.register.kind == .edit { try noteLateEdit(row, in: workspace) }
    }

    /// Whether a new edit belongs to a message that is deleted: it has to go with it.
    private func noteLateEdit(
        _ edit: ViewStore.Annotation, in workspace: Workspace
    ) throws(StorageError) {
        guard redactedDocuments.contains(edit.register.document),
            let (row, _) = try store.view.anyMessage(
                edit.register.target, in: edit.register.document),
            core.membership.author(ofGrant: row.grant, in: workspace)?.bytes == edit.register.member
        else { return }
        try noteSaid(edit.arrival, about: row, in: workspace)
    }

    /// Whether what an operation says about a message counts.
    func doesCount(
        annotation stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        if try isDeleted(stored.place.arrival) { return false }
        return try core.privates.visibility(of: stored, in: workspace) == .shown
    }

    /// Whether a redaction that counts names an operation.
    func isDeleted(_ arrival: Int64) throws(StorageError) -> Bool {
        if redactedDocuments.isEmpty { return false }
        return try store.view.redactions.deletion(of: arrival) != nil
    }

    /// Changes whether the annotations among these operations count. Deleted ones never do.
    func judgeAnnotations(
        _ judged: [Int64], isValid: Bool, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        var arrivals: [Int64] = []
        for arrival in judged {
            if isValid, try isDeleted(arrival) { continue }
            arrivals.append(arrival)
        }
        var before: [(register: ViewStore.Annotation.Register, row: ViewStore.Annotation?)] = []
        var seen: Set<ViewStore.Annotation.Register> = []
        for arrival in arrivals {
            guard let row = try store.view.annotation(arrival: arrival),
                seen.insert(row.register).inserted
            else { continue }
            before.append((row.register, try store.view.current(row.register)))
        }
        guard !before.isEmpty else { return }
        try store.view.setValid(isValid, annotationsAt: arrivals)
        for (register, row) in before {
            try follow(register, from: row, in: workspace, source)
        }
    }

    // MARK: What follows

    private func follow(
        _ register: ViewStore.Annotation.Register, from before: ViewStore.Annotation?,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        guard !register.kind.isOfNote else {
            for family in core.contentFamilies {
                try family.follow(register, from: before, in: workspace, source)
            }
            return
        }
        let after = try store.view.current(register)
        guard before != after,
            let (row, isHidden) = try store.view.anyMessage(
                register.target, in: register.document)
        else { return }
        let (was, now) = (before?.isOn ?? false, after?.isOn ?? false)
        switch register.kind {
        case .edit:
            // An edit of somebody's message by another person is not one.
            guard
                core.membership.author(ofGrant: row.grant, in: workspace)?.bytes == register.member
            else {
                return
            }
            core.queries.reindex(row)
            let isMention = try isMention(row, in: workspace)
            if row.isMention != isMention { try store.view.setMention(isMention, of: row) }
            try tell(.messageEdited, row, isHidden, row.position.arrival, workspace, source)
        case .reaction where was != now:
            guard let arrival = (after ?? before)?.arrival else { return }
            try tell(
                now ? .reactionAdded : .reactionRemoved, row, isHidden, arrival, workspace,
                source)
        case .pin where was != now:
            try tell(
                now ? .messagePinned : .messageUnpinned, row, isHidden, row.position.arrival,
                workspace, source)
        case .reaction, .pin, .note, .noteTitle, .noteDeletion: break
        }
    }

    /// Records what happened to a message that is shown, and not deleted.
    private func tell(
        _ type: EventType, _ row: ViewStore.MessageRow, _ isHidden: Bool, _ arrival: Int64,
        _ workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        guard !isHidden || row.isRefused,
            let document = store.operations.document(numbered: row.document),
            workspace.isTold(of: document),
            try !isDeleted(row.position.arrival)
        else { return }
        try turn.record(
            type, workspace: workspace.number, document: row.document, arrival: arrival,
            isBackfill: source.isBackfill)
    }

    // MARK: Mentions

    /// Whether the current text of a message mentions the local member.
    func isMention(
        _ message: ContentPayload.Message, _ key: MessageKey, in document: Int64, grant: Int64,
        _ workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.membership.edit(of: key, in: document, grant: grant, workspace)?.isMention
            ?? message.mentions.includes(workspace.member)
    }

    private func isMention(
        _ row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        if let edit = try core.membership.edit(
            of: row.key, in: row.document, grant: row.grant, workspace)
        {
            return edit.isMention
        }
        guard let stored = try store.operations.operation(row.position.arrival),
            case .message(let message)? = try core.keys.content(of: stored, in: workspace)
        else { return false }
        return message.mentions.includes(workspace.member)
    }

    /// Records that a message is there, and that it mentions somebody who is at this node.
    func recordCreated(
        _ row: ViewStore.MessageRow, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        try turn.record(
            .messageCreated, workspace: workspace.number, document: row.document,
            arrival: row.position.arrival, isBackfill: source.isBackfill)
        core.events.noteFresh(row, in: workspace, source)
        guard row.isMention,
            core.membership.author(ofGrant: row.grant, in: workspace) != workspace.member,
            let channel = workspace.channel(numbered: row.document), !channel.isDirect,
            let since = try core.own.beginning(channel, workspace),
            since.rawValue
                < max(row.key.timestamp.rawValue, UInt64(max(row.position.sort, 0)))
        else { return }
        try turn.record(
            .mentionReceived, workspace: workspace.number, document: row.document,
            arrival: row.position.arrival, isBackfill: source.isBackfill)
    }

    // MARK: Telling
}
