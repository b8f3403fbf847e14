import CRDTStore
import WorkspaceModel

/// Annotates an existing message: edits, reactions and pins. And who has it.
extension MessageHandler {
    /// A message that a call names, and where it is.
    struct Aim {
        let workspace: Workspace
        let channel: Workspace.Channel
        let row: ViewStore.MessageRow
    }

    func edit(
        _ id: String, to text: String, base: String?, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        let aim = try aimToWrite(id, scope)
        let (workspace, row) = (aim.workspace, aim.row)
        guard core.membership.author(ofGrant: row.grant, in: workspace) == workspace.member else {
            throw .forbidden(
                "only the author of a message can edit it", reason: "message.not_author",
                hint: "reply instead: wsx-node send CHANNEL TEXT --thread \(id)")
        }
        let before = try shown(row, in: workspace)
        let text = try checkedText(
            text, isOptional: before.location != nil || !before.attachments.isEmpty)
        if let base, base != before.version {
            throw NodeError(
                .conflict, "the message has changed since", hint: "wsx-node message show \(id)",
                reason: "message.base")
        }
        if before.text?.utf8.elementsEqual(text.utf8) == true { return before }
        let format = before.format == "code" ? ContentPayload.Message.Format.code : .text
        return try annotate(
            .edit(
                text: text, format: format,
                mentions: core.messages.mentions(in: text, format, aim.channel, of: workspace)), aim
        )
    }

    func react(
        _ id: String, with emoji: String, isOn: Bool, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        let aim = try aimToWrite(id, scope)
        let sign = try checkedSign(emoji, field: "emoji")
        // Signs are compared byte by byte, and another program may have written this one in
        // another spelling.
        var spellings: [String] = []
        for other in [sign, emoji, ReactionSign.bare(sign)]
        where !spellings.contains(where: { $0.utf8.elementsEqual(other.utf8) }) {
            if try isSaid(.reaction(other, isOn: true), aim) { spellings.append(other) }
        }
        if isOn {
            guard spellings.isEmpty else { return try shown(aim.row, in: aim.workspace) }
            try refuseMoreReactions(to: aim)
            return try annotate(.reaction(sign, isOn: true), aim)
        }
        for spelling in spellings { _ = try annotate(.reaction(spelling, isOn: false), aim) }
        return try shown(aim.row, in: aim.workspace)
    }

    func pin(
        _ id: String, isOn: Bool, _ scope: CallScope
    ) throws(NodeError) -> MessageObject {
        try annotate(.pin(isOn: isOn), try aimToWrite(id, scope))
    }

    /// The devices of those who are to read a message, first those that are known to hold it, and of
    /// each person whether one of theirs does.
    func holders(_ id: String, _ scope: CallScope) throws(NodeError) -> Page<HolderObject> {
        let aim = try aim(id, scope, isWriting: false)
        return try stored { () throws(StorageError) in
            guard let stored = try store.operations.operation(aim.row.position.arrival) else {
                return Page([])
            }
            let others = store.peers.holders(
                of: stored.place.branch, through: stored.place.sequence,
                arrival: stored.place.arrival, workspace: aim.workspace.number)
            let holders =
                [turn.session.ownDevice].compactMap { $0 }
                + others.filter { $0 != turn.session.ownDevice }
            let readers = try core.syncing.readers(
                of: aim.channel, sealedUnder: stored.entry.keyID, in: aim.workspace)
            let holding = Set(holders)
            let rows =
                holders.map { (device: $0, hasIt: true) }
                + readers.allDevices.subtracting(holding).sorted()
                .map { (device: $0, hasIt: false) }
            return Page(
                rows.compactMap { row -> HolderObject? in
                    guard let owner = aim.workspace.owner(of: row.device) else { return nil }
                    var object = holder(row.device, of: owner, row.hasIt, in: aim.workspace)
                    object.verdict = core.syncing.verdict(on: owner, readers, holding)?.rawValue
                    object.joinedAt = core.membership.admission(of: owner, in: aim.workspace)
                        .map { Int64(clamping: $0.timestamp.milliseconds) }
                    return object
                })
        }
    }

    /// What is known of one device: nothing for one that was never heard of.
    func holder(
        _ device: DeviceID, of owner: MemberID, _ hasIt: Bool, in workspace: Workspace
    ) -> HolderObject {
        let seen = core.links.lastSeen(device)
        return HolderObject(
            device: PublicID.device(device), member: core.membership.person(owner, in: workspace),
            have: hasIt ? 1 : seen == nil ? nil : 0, isComplete: hasIt, at: seen)
    }

    // MARK: Aiming

    /// A message that the caller may annotate, which requires the right to write there.
    private func aimToWrite(_ id: String, _ scope: CallScope) throws(NodeError) -> Aim {
        let aim = try aim(id, scope, isWriting: true)
        try core.channels.refuseArchived(aim.channel, in: aim.workspace)
        try core.channels.refuseOutsider(of: aim.channel, in: aim.workspace)
        try core.channels.refuseDeserted(aim.channel, in: aim.workspace)
        guard aim.workspace.ownRole != nil else {
            throw core.membership.notAllowed(in: aim.workspace)
        }
        try refuseDeleted(aim)
        return aim
    }

    /// A message that nobody can see any more cannot be annotated.
    private func refuseDeleted(_ aim: Aim) throws(NodeError) {
        let deletion = try stored { () throws(StorageError) in
            try store.view.redactions.deletion(of: aim.row.position.arrival)
        }
        guard let deletion else { return }
        let id = PublicID.message(aim.row.key)
        throw NodeError(
            .conflict, "that message was deleted",
            hint: deletion.due ?? 0 > 0
                ? "the person who deleted it can undo that: wsx-node message delete \(id) --undo"
                : "send a new one: wsx-node send CHANNEL TEXT",
            reason: "message.deleted")
    }

    /// Finds a message. Its id decides in which workspace, where the call does not.
    func aim(
        _ id: String, _ scope: CallScope, isWriting: Bool
    ) throws(NodeError) -> Aim {
        let found = try stored { () throws(StorageError) -> ViewStore.MessageRow? in
            try PublicID.messageKey(id).flatMap { (key) throws(StorageError) in
                try store.view.message(key)
            }
        }
        var home = found.flatMap { store.operations.document(numbered: $0.document) }
            .flatMap { core.workspaces[$0.workspace] }
        if scope.workspace != nil || home?.standing != .member || home?.fields.deletion != nil {
            home =
                isWriting
                ? try core.queries.workspace(scope) : try core.queries.shownWorkspace(scope)
        }
        guard let row = found, let workspace = home,
            let channel = core.queries.channel(row.document, in: workspace)
        else { throw .notFound("message", id, field: "message", hint: "wsx-node log CHANNEL") }
        return Aim(workspace: workspace, channel: channel, row: row)
    }

    // MARK: Writing

    /// Writes a change, unless that is what counts already.
    private func annotate(
        _ change: MessageAnnotation.Change, _ aim: Aim
    ) throws(NodeError) -> MessageObject {
        if try !isSaid(change, aim) {
            guard let document = store.operations.document(numbered: aim.row.document)?.id,
                let register = register(of: change, aim)
            else { throw core.membership.notAllowed(in: aim.workspace) }
            try sayUntilItCounts(
                .annotation(MessageAnnotation(change, of: aim.row.key)), in: register,
                isOwn: register.kind != .pin, to: document, of: aim.workspace)
        }
        return try shown(aim.row, in: aim.workspace)
    }

    private func register(
        of change: MessageAnnotation.Change, _ aim: Aim
    ) -> ViewStore.Annotation.Register? {
        core.messages.register(
            of: change, about: aim.row.key, by: aim.workspace.member, in: aim.row.document)
    }

    /// Whether a reaction or a pin is already in the requested state.
    private func isSaid(
        _ change: MessageAnnotation.Change, _ aim: Aim
    ) throws(NodeError) -> Bool {
        let wanted: Bool
        switch change {
        case .edit: return false
        case .reaction(_, let isOn), .pin(let isOn): wanted = isOn
        }
        return try stored { () throws(StorageError) in
            guard let register = register(of: change, aim) else { return false }
            return (try store.view.current(register)?.isOn ?? false) == wanted
        }
    }

    private func refuseMoreReactions(to aim: Aim) throws(NodeError) {
        let own = aim.workspace.member.bytes
        let count = try stored { () throws(StorageError) in
            try store.view.reactions(to: aim.row.key, in: aim.row.document)
                .count { $0.isOn && $0.register.member == own }
        }
        guard count >= Limits.reactionsPerMemberMax else { return }
        throw NodeError(
            .tooMany, "you can leave at most \(Limits.reactionsPerMemberMax) reactions",
            hint: "wsx-node message react MSG EMOJI --remove", reason: "message.reactions")
    }

    /// One emoji, normalized. `thumbsup` and `:+1:` are how people type some of them.
    func checkedSign(_ typed: String, field: String) throws(NodeError) -> String {
        let known = typed.count > 1 ? SlackEmoji.named(typed) : nil
        guard let sign = ReactionSign.checked(known ?? typed) else {
            throw NodeError(
                .badRequest,
                "\(NodeError.quoted(typed)) is not an emoji or a known name",
                hint: "for example 👍, or :thumbsup:", reason: "bad_text",
                fields: [.init(name: field, reason: "form")])
        }
        return sign
    }

    func shown(
        _ row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(NodeError) -> MessageObject {
        let found = try stored { () throws(StorageError) in
            try core.queries.object(of: row, in: workspace)
        }
        guard let found else { throw .messageNoLongerShown }
        return found
    }
}
