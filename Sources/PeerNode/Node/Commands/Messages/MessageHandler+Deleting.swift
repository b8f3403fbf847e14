import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Deletes and restores messages.
extension MessageHandler {
    func deleteMessage(
        _ id: String, undo: Bool, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        let aim = try aim(id, scope, isWriting: true)
        let (workspace, row, channel) = (aim.workspace, aim.row, aim.channel)
        try core.channels.refuseArchived(channel, in: workspace)
        let before = try stored { () throws(StorageError) in
            try store.view.redactions.deletion(of: row.position.arrival)
        }
        if undo {
            try takeBack(before, of: row, channel, in: workspace)
        } else {
            try delete(row, before, channel, in: workspace)
        }
        let object = try stored { () throws(StorageError) in
            try core.messages.settleRedactions(
                of: try references(
                    to: [row.position.arrival] + core.messages.saidAbout(row, in: workspace)),
                inDocument: row.document)
            return try self.core.queries.object(of: row, in: workspace)
        }
        guard let object else {
            throw .notFound("message", id, field: "message", hint: "wsx-node log CHANNEL")
        }
        return object
    }

    // MARK: Deleting

    private func delete(
        _ row: ViewStore.MessageRow, _ before: ViewStore.Deletion?,
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        let isOwn = core.membership.author(ofGrant: row.grant, in: workspace) == workspace.member
        // The author's own deletion erases what somebody else has only hidden so far.
        let isDone = before.map { !isOwn || $0.due == nil } ?? false
        let said = try stored { () throws(StorageError) in
            try isDone ? core.messages.leftOver(of: row, isOwn: isOwn, in: workspace) : nil
        }
        if isDone,
            said?.isEmpty != false
                || !core.messages.mayDelete(isOwn: isOwn, in: channel, of: workspace)
        {
            return
        }
        if !isOwn { try require(deletionIn: channel, in: workspace) }
        let isWritten = try stored { () throws(StorageError) in
            guard let target = try store.operations.operation(row.position.arrival) else {
                return false
            }
            if let said {
                return try core.messages.redact(
                    try references(to: said), nil, in: target.log.document,
                    isOwn: isOwn,
                    of: workspace)
            }
            let own = target.reference
            let said = try references(to: core.messages.saidAbout(row, in: workspace))
                .filter { $0.id != own.id }
            return try core.messages.redact(
                [own] + said, Messages.RedactedMessage(id: own.id, thread: row.thread),
                in: target.log.document, isOwn: isOwn, of: workspace)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    /// Other people's messages can be deleted by the owner and admins of the channel.
    private func require(
        deletionIn channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        try core.channels.refuseOutsider(of: channel, in: workspace)
        guard let role = workspace.ownRole else { throw core.membership.notAllowed(in: workspace) }
        guard !channel.allows(.edit, to: workspace.member, of: role) else { return }
        throw .forbidden(
            channel.isDirect
                ? "in direct messages you can only delete what you wrote"
                : "that message is not yours", reason: "message.not_yours",
            hint: channel.isDirect ? nil : "ask its author or the channel's owner")
    }

    // MARK: Taking back

    private func takeBack(
        _ before: ViewStore.Deletion?, of row: ViewStore.MessageRow,
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard let before else { return }
        let author = core.membership.author(ofGrant: row.grant, in: workspace)
        let found = try stored { () throws(StorageError) in
            try self.redaction(of: row.position.arrival, in: workspace)
        }
        guard before.due != nil, let (redaction, redactor) = found, redactor.member != author else {
            throw NodeError(
                .conflict, "the content of that message is erased, and nobody can bring it back",
                reason: "message.erased")
        }
        let own = Messages.RedactionAuthor(
            member: workspace.member, power: workspace.ownPower(in: channel))
        func mayUndo(_ redactor: Messages.RedactionAuthor) -> Bool {
            redactor.member == own.member || Messages.isStronger(own, than: redactor)
        }
        guard mayUndo(redactor) else {
            throw .forbidden(
                "\(NodeError.quoted(workspace.displayName(of: redactor.member)))"
                    + " deleted that message",
                reason: "message.deleted_by_another", hint: "ask them, or the channel's owner")
        }
        let isWritten = try stored { () throws(StorageError) in
            var undone = [redaction]
            // Later annotations of it were deleted by further redactions.
            for arrival in try core.messages.saidAbout(row, in: workspace) {
                guard let (other, redactor) = try self.redaction(of: arrival, in: workspace),
                    redactor.member != author, mayUndo(redactor),
                    !undone.contains(where: { $0.place.arrival == other.place.arrival })
                else { continue }
                undone.append(other)
            }
            for redaction in undone {
                guard try undo(redaction, in: workspace) else { return false }
            }
            return true
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    /// By which redaction an operation is deleted, and who says so with what weight about it.
    private func redaction(
        of arrival: Int64, in workspace: Workspace
    ) throws(StorageError) -> (StoredOperation, Messages.RedactionAuthor)? {
        guard let deletion = try store.view.redactions.deletion(of: arrival),
            let target = try store.operations.operation(arrival),
            let redaction = try store.operations.operation(deletion.by),
            let redactor = try core.messages.redactor(of: redaction, about: target, in: workspace)
        else { return nil }
        return (redaction, redactor)
    }

    /// Signs an undo of a redaction.
    ///
    /// - Returns: whether this device may write.
    func undo(
        _ redaction: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        try core.messages.authorRedaction(
            in: redaction.log.document, asAdmin: true, of: workspace
        ) { draft, sealing, key in
            draft.signed(undoing: redaction.reference, keyID: sealing?.id, with: key)
        }
    }

    // MARK: Writing
}

extension Workspace {
    /// The own right to delete what others wrote in a channel: the smaller the stronger.
    func ownPower(in channel: Channel) -> Int? {
        switch channel.rule {
        case .open:
            if let role = ownRole, role <= .admin { return role == .owner ? 0 : 1 }
            switch channel.role(of: member) {
            case .owner: return 2
            case .admin: return 3
            default: return nil
            }
        case .closed(let privateMembership):
            guard let role = privateMembership.powers[member] else { return nil }
            return role == .owner ? 0 : role == .admin ? 1 : nil
        }
    }
}
