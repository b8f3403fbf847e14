import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Deleting a message, and taking that back.
extension NodeCore {
    func deleteMessage(
        _ id: String, undo: Bool, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        let workspace: Workspace = try workspace(scope)
        let (row, channel) = try deletable(id, in: workspace)
        try refuseArchived(channel, in: workspace)
        let before = try stored { () throws(StorageError) in
            try store.view.deletion(of: row.position.arrival)
        }
        if undo {
            try takeBack(before, of: row, channel, in: workspace)
        } else {
            try delete(row, before, channel, in: workspace)
        }
        let object = try stored { () throws(StorageError) in
            try settleRedactions()
            return try self.object(of: row, in: workspace)
        }
        guard let object else { throw .notFound("message", id, field: "message") }
        return object
    }

    private func deletable(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> (ViewStore.MessageRow, Workspace.Channel) {
        let row = try stored { () throws(StorageError) in
            try PublicID.messageKey(id).flatMap { (key) throws(StorageError) in
                try store.view.message(key)
            }
        }
        guard let row, let channel = channel(row.document, in: workspace) else {
            throw .notFound("message", id, field: "message", hint: "wsx-node log CHANNEL")
        }
        return (row, channel)
    }

    // MARK: Deleting

    private func delete(
        _ row: ViewStore.MessageRow, _ before: ViewStore.Deletion?,
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        let isOwn = author(ofGrant: row.grant, in: workspace) == workspace.member
        // One's own word erases what somebody else has only hidden so far.
        if let before, !isOwn || before.due == nil { return }
        if !isOwn { try require(deletionIn: channel, in: workspace) }
        let isWritten = try stored { () throws(StorageError) in
            guard let target = try store.operations.operation(row.position.arrival) else {
                return false
            }
            let own = target.reference
            let said = try saidAbout(row.key, by: target, in: workspace).filter { $0.id != own.id }
            return try redact(
                [own] + said, RedactedMessage(id: own.id, thread: row.thread),
                in: target.log.document, isOwn: isOwn, of: workspace)
        }
        guard isWritten else { throw notAllowed(in: workspace) }
    }

    /// What others wrote is deleted by who runs the channel.
    private func require(
        deletionIn channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        try refuseOutsider(of: channel, in: workspace)
        guard let role = workspace.ownRole else { throw notAllowed(in: workspace) }
        guard !channel.allows(.edit, to: workspace.member, of: role) else { return }
        throw .forbidden(
            channel.isDirect
                ? "in a direct conversation everybody deletes what is one's own"
                : "that message is somebody else's", reason: "message.not_yours",
            hint: channel.isDirect ? nil : "ask its author, or who owns the channel")
    }

    /// The message among the targets of a redaction.
    struct RedactedMessage {
        let id: OperationID
        /// What it replied to.
        let thread: MessageKey?
    }

    /// Writes as many redactions as it takes to name all targets.
    ///
    /// - Returns: whether this device may.
    func redact(
        _ targets: [OperationReference], _ message: RedactedMessage?, in document: DocumentID,
        isOwn: Bool, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        for start in stride(from: 0, to: targets.count, by: Limits.redactTargetsMax) {
            let ordered = targets[start...].prefix(Limits.redactTargetsMax)
                .sorted { $0.id < $1.id }
            let place = ordered.firstIndex { $0.id == message?.id }
            let messages = RedactedMessages(
                place.map { [.init(target: $0, thread: message?.thread)] } ?? [])
            let isWritten = try authorRedaction(
                in: document, asAdmin: !isOwn, of: workspace
            ) { draft, sealing, key in
                draft.signed(
                    redacting: ordered, messages, under: sealing, with: key,
                    using: environment.random)
            }
            guard isWritten else { return false }
        }
        return true
    }

    // MARK: Taking back

    private func takeBack(
        _ before: ViewStore.Deletion?, of row: ViewStore.MessageRow,
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard let before else { return }
        let redaction = try stored { () throws(StorageError) in
            try store.operations.operation(before.by)
        }
        let author = author(ofGrant: row.grant, in: workspace)
        guard before.due != nil, let redaction,
            let voice = try stored({ () throws(StorageError) in
                try self.voice(of: redaction, about: nil, in: workspace)
            }), voice.member != author
        else {
            throw NodeError(
                .conflict, "what that message said is erased, and nobody can bring it back",
                reason: "message.erased")
        }
        let own = RedactionVoice(
            member: workspace.member, power: workspace.ownPower(in: channel))
        guard voice.member == own.member || Self.isStronger(own, than: voice) else {
            throw .forbidden(
                "\(NodeError.quoted(workspace.displayName(of: voice.member))) deleted that message",
                reason: "message.deleted_by_another", hint: "ask them, or the channel's owner")
        }
        let isWritten = try stored { () throws(StorageError) in
            try authorRedaction(
                in: redaction.log.document, asAdmin: true, of: workspace
            ) { draft, sealing, key in
                draft.signed(undoing: redaction.reference, keyID: sealing?.id, with: key)
            }
        }
        guard isWritten else { throw notAllowed(in: workspace) }
    }

    // MARK: Writing

    /// Signs and stores a redaction or undo.
    ///
    /// - Parameter asAdmin: under a grant that gives a right over what others wrote, if there is
    ///   one.
    private func authorRedaction(
        in document: DocumentID, asAdmin: Bool, of workspace: Workspace,
        _ sign: (OperationDraft, (id: KeyID, key: SymmetricKey)?, SigningKey) -> SignedOperation
    ) throws(StorageError) -> Bool {
        guard let home else { return false }
        let known = workspace.privateDocuments[document]
        if known == nil { try answerEnds(in: workspace) }
        func grant(_ role: Role) -> OperationID? {
            workspace.evaluator.contentGrant(
                of: home.device, leastRole: role, as: workspace.member)
        }
        let least = known == nil ? Role.member : .guest
        guard let grant = (asAdmin ? grant(.admin) : nil) ?? grant(least) else { return false }
        var sealing = workspace.currentKey
        if let known {
            if sealingKey(of: known, in: workspace) == nil,
                known.authority.standing(of: workspace.member) != nil
            {
                _ = try changeKey(of: known, in: workspace)
            }
            sealing = sealingKey(of: known, in: workspace)
        }
        try write()
        let draft = try contentDraft(.redact, document, in: workspace, grant, home.device)
        try acceptOwn(sign(draft, sealing, home.signing), in: workspace, document: document)
        return true
    }
}

extension Workspace {
    /// The own right to delete what others wrote in a channel: the smaller the stronger.
    fileprivate func ownPower(in channel: Channel) -> Int? {
        switch channel.rule {
        case .open:
            if let role = ownRole, role <= .admin { return role == .owner ? 0 : 1 }
            switch channel.role(of: member) {
            case .owner: return 2
            case .admin: return 3
            default: return nil
            }
        case .closed(let circle):
            guard circle.kind == .channel, let role = circle.roles[member] else { return nil }
            return role == .owner ? 0 : role == .admin ? 1 : nil
        }
    }
}
