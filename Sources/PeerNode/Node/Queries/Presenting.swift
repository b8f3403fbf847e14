import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Builds the objects that people and scripts see from what the other rooms hold.
extension Queries {
    // MARK: People

    func object(of member: MemberID, in workspace: Workspace) -> MemberObject? {
        let standing = workspace.members.first { $0.member == member }
        guard let admission = core.membership.admission(of: member, in: workspace) else {
            return nil
        }
        var object = MemberObject(
            id: PublicID.member(member), name: workspace.displayName(of: member),
            role: (standing?.role ?? workspace.judged.lastRole(of: member) ?? .member)
                .word,
            joinedAt: Int64(admission.timestamp.milliseconds))
        object.isSelf = member == workspace.member
        object.isTwin = workspace.hasTwin(member)
        let devices = standing?.devices ?? []
        object.devices = Int64(devices.count { !workspace.recoveryDevices.contains($0) })
        object.isRemoved = standing == nil
        object.removedAt = core.membership.removed(member, from: workspace)?.at
        object.profile = workspace.shownFields(of: member)
        object.verified = core.profiles.verifiedEmail(of: member, in: workspace)
        object.presence = core.presence.presence(of: member, in: workspace)
        return object
    }

    // MARK: Workspaces

    func object(of workspace: Workspace) throws(StorageError) -> WorkspaceObject {
        core.log.refreshDigest(of: workspace)
        let create = workspace.authority[OperationID(sameBytesAs: workspace.id)]
        let members = workspace.members
        var object = WorkspaceObject(
            id: PublicID.workspace(workspace.id), name: workspace.displayName,
            createdAt: Int64(create?.timestamp.milliseconds ?? 0),
            digest: workspace.ownRole == .guest
                ? nil : Hexadecimal.text(workspace.held.digest.root().bytes))
        let fields = workspace.fields
        object.description = fields.description
        object.image = Picture.shown(fields.image)
        object.successor = fields.successor.flatMap { heir in
            workspace.role(of: heir).map { _ in core.membership.person(heir, in: workspace) }
        }
        object.isDeleted = fields.deletion != nil
        object.acknowledged = try fields.deletion.map { (deletion) throws(StorageError) in
            try acknowledgements(of: deletion, in: workspace)
        }
        object.role = members.first { $0.member == workspace.member }?.role.word
        object.owner = members.first { $0.role == .owner }.map {
            core.membership.person($0.member, in: workspace)
        }
        object.members = Int64(workspace.visibleMembers.count)
        object.channels = Int64(
            workspace.ownRole == .guest
                ? workspace.channelIndex.all.count { !$0.isDirect } : workspace.book.channels.count)
        let selected = try core.membership.selectedWorkspace()
        object.isSelected = selected === workspace && !core.membership.isOver(workspace)
        let end = core.membership.ownEnd(in: workspace)
        object.address = end == nil ? core.links.address(of: workspace) : nil
        object.removedAt = end?.at
        object.removedBy = end?.by
        object.removedHow = end?.cause.rawValue
        if end?.cause == .deviceRevoked { object.role = nil }
        object.note = end.map { "\($0.message); \($0.hint)" }
        object.state = state(of: workspace)
        return object
    }

    /// A word for this person's state in a workspace.
    func state(of workspace: Workspace) -> String {
        if workspace.fields.deletion != nil { return "deleted" }
        return core.membership.ownEnd(in: workspace)?.cause.rawValue ?? "member"
    }

    func identityObject() -> IdentityObject? {
        if turn.session.lock.isLocked { return lockedIdentityObject }
        guard let home else { return nil }
        var object = IdentityObject(
            id: PublicID.device(home.device), name: core.membership.personName(of: home),
            createdAt: Int64(home.createdAt))
        object.hasPassphrase = turn.session.lock.sealed != nil
        object.recovery = core.membership.recoveryState
        object.members = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
            .map { (PublicID.workspace($0.id), PublicID.member($0.member), $0.displayName) }
        return object
    }

    /// What may be told about this home's owner while it is locked.
    private var lockedIdentityObject: IdentityObject? {
        guard let device = turn.session.ownDevice else { return nil }
        var object = IdentityObject(id: PublicID.device(device), name: nil, createdAt: nil)
        object.hasPassphrase = turn.session.lock.sealed != nil
        object.isLocked = true
        object.recovery = nil
        return object
    }

    // MARK: Channels

    func channel(_ number: Int64?, in workspace: Workspace) -> Workspace.Channel? {
        workspace.channel(numbered: number)
    }

    func channel(_ number: Int64?, in workspace: Int64?) -> Workspace.Channel? {
        workspace.flatMap { core.workspaces[$0] }.flatMap { channel(number, in: $0) }
    }

    func object(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> ChannelObject {
        var object = ChannelObject(
            id: channel.publicID, workspace: PublicID.workspace(workspace.id),
            name: workspace.shownName(of: channel), createdAt: Int64(channel.createdAt))
        if channel.isDirect {
            object.kind = channel.people == [workspace.member] ? "self" : "dm"
            object.people = channel.people.map { core.membership.person($0, in: workspace) }
        }
        object.isPrivate = channel.isPrivate
        let followers = try core.channels.followers(of: channel, in: workspace)
        object.isDefault = channel.isDefault
        object.isTwin = !channel.isDirect && workspace.hasTwin(channel)
        object.settings = settings(of: channel, in: workspace)
        object.members = Int64(followers.count)
        object.isJoined = followers.contains(workspace.member)
        object.last = try preview(of: channel, in: workspace)
        object.reading = try reading(of: channel, in: workspace)
        return object
    }

    /// How a channel is set up, also one that is deleted.
    func settings(
        of channel: Workspace.Channel, in workspace: Workspace
    ) -> ChannelObject.Settings {
        var settings = ChannelObject.Settings()
        settings.description = channel.description
        settings.topic = channel.topic
        settings.image = Picture.shown(channel.image)
        settings.copies = Int64(channel.copies)
        settings.owner = channel.owner.map { core.membership.person($0, in: workspace) }
        settings.admins = channel.admins.sorted().map { core.membership.person($0, in: workspace) }
        settings.isArchived = channel.isArchived
        if channel.privateMembership?.isFromJoin == true { settings.history = "from-join" }
        return settings
    }

    private func preview(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> PreviewObject? {
        guard let row = try core.channels.previewed(in: channel) else { return nil }
        return try preview(of: row, in: workspace)
    }

    func preview(
        of key: MessageKey, in workspace: Workspace
    ) throws(StorageError) -> PreviewObject? {
        guard let row = try store.view.message(key) else { return nil }
        return try preview(of: row, in: workspace)
    }

    private func preview(
        of row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) -> PreviewObject? {
        guard let message = try object(of: row, in: workspace) else { return nil }
        var text = message.text.map { String($0.prefix(120)) }
        if text?.isEmpty == true, let place = message.location {
            text = place.label.map { "(\(String($0.prefix(118))))" } ?? "(location)"
        } else if text?.isEmpty == true, let file = message.attachments.first {
            text = "(\(String(file.name.prefix(118))))"
        }
        return PreviewObject(
            id: message.id, author: message.author, at: message.at, text: text)
    }

    // MARK: Messages

    /// A message of the view with its text, or `nil` when its operation cannot be opened.
    func object(
        of row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) -> MessageObject? {
        guard let stored = try store.operations.operation(row.position.arrival) else { return nil }
        return try object(of: row, stored, in: workspace)
    }

    /// The same, of a row whose operation is at hand.
    func object(
        of row: ViewStore.MessageRow, _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> MessageObject? {
        guard let document = store.operations.document(numbered: row.document)?.id,
            let author = core.membership.author(ofGrant: row.grant, in: workspace)
        else { return nil }
        let channel = self.channel(row.document, in: workspace)
        var object = MessageObject(
            id: PublicID.message(row.key), workspace: PublicID.workspace(workspace.id),
            channel: channel?.publicID ?? PublicID.channel(document),
            author: core.membership.person(author, in: workspace),
            at: Int64(row.key.timestamp.milliseconds), text: nil)
        object.isTimeDoubtful = isDoubtful(row.key.timestamp, seen: stored.seen, in: workspace)
        object.thread = row.thread.map(PublicID.message)
        object.deleted = try deletion(of: stored, in: workspace)
        // Of a deleted or missing message only its place in the channel is left.
        if object.deleted == nil, stored.entry.absent == nil {
            guard case .message(let message)? = try core.keys.content(of: stored, in: workspace)
            else {
                return nil
            }
            object.text = message.text
            object.format = message.format == .code ? "code" : "text"
            object.location = message.location
            object.mentions = message.mentions.members.map(PublicID.member)
            object.mentionsChannel = message.mentions.isEverybody
            object.version = PublicID.operation(stored.place.link.id)
            object.isBot = message.isBot
            object.attachments = try attachments(
                of: message, row.key, copies: channel?.copies ?? 0)
        }
        // Anybody may name anything as what they reply to.
        object.replies = try store.view.replyCount(
            to: row.key, in: Set([row.document] + (channel.map { [$0.number] + $0.others } ?? [])))
        // A deleted message has no text any more, whatever annotations it has.
        if object.deleted == nil { try addAnnotations(to: &object, row, in: workspace) }
        object.isSelf = author == workspace.member
        object.starredAt = try starredAt(row.key, in: workspace)
        let others = store.peers.holders(
            of: stored.place.branch, through: stored.place.sequence,
            arrival: stored.place.arrival, workspace: workspace.number
        ).filter { $0 != turn.session.ownDevice }
        object.holders = Int64(others.count) + 1
        object.state = others.isEmpty ? "local" : "held_by_others"
        if row.isRefused { object.state = "refused" }
        return object
    }

    /// Whether a message cannot have been written when it says: not yet when it came, or not yet
    /// now, or a day before the workspace was made.
    ///
    /// - Parameter seen: when this node stored it, milliseconds since 1970.
    func isDoubtful(_ written: HybridTimestamp, seen: Int64, in workspace: Workspace) -> Bool {
        let moment = written.milliseconds
        let known = min(UInt64(max(seen, 0)), time.wall)
        if moment > known &+ Limits.clockLeadMillisecondsMax { return true }
        let create = workspace.authority[OperationID(sameBytesAs: workspace.id)]
        let day: UInt64 = 24 * 3_600_000
        return moment &+ day < create?.timestamp.milliseconds ?? 0
    }

    /// The annotations of a message: its current text, reactions, whether it is pinned.
    private func addAnnotations(
        to object: inout MessageObject, _ row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) {
        if let edit = try core.membership.edit(
            of: row.key, in: row.document, grant: row.grant, workspace),
            case .edit(let text, let format, let mentions)? = try change(edit, in: workspace)
        {
            object.text = text
            object.format = format == .code ? "code" : "text"
            object.mentions = mentions.members.map(PublicID.member)
            object.mentionsChannel = mentions.isEverybody
            object.editedAt = Int64(clamping: edit.timestamp.milliseconds)
            object.version = PublicID.operation(edit.id)
        }
        let pin = try store.view.current(.init(document: row.document, target: row.key, .pin))
        object.isPinned = pin?.isOn ?? false
        object.reactions = try reactions(to: row, in: workspace)
    }

    /// The content of an annotation, opened from its operation.
    func change(
        _ annotation: ViewStore.Annotation, in workspace: Workspace
    ) throws(StorageError) -> MessageAnnotation.Change? {
        guard let stored = try store.operations.operation(annotation.arrival),
            case .annotation(let said)? = try core.keys.content(of: stored, in: workspace)
        else { return nil }
        return said.change
    }

    /// If there are very many emoji, those that most people gave, in the order in which they were
    /// first given.
    private func reactions(
        to row: ViewStore.MessageRow, in workspace: Workspace
    ) throws(StorageError) -> [MessageObject.Reaction] {
        var signs: [[UInt8]: (first: ViewStore.Annotation, count: Int64, isSelf: Bool)] = [:]
        for reaction in try store.view.reactions(to: row.key, in: row.document)
        where reaction.isOn {
            let tag = reaction.register.tag
            let isSelf = reaction.register.member == workspace.member.bytes
            guard let known = signs[tag] else {
                signs[tag] = (reaction, 1, isSelf)
                continue
            }
            let first = known.first.counts(before: reaction) ? reaction : known.first
            signs[tag] = (first, known.count + 1, known.isSelf || isSelf)
        }
        let most = signs.values.sorted {
            $0.count == $1.count ? $1.first.counts(before: $0.first) : $0.count > $1.count
        }.prefix(Limits.reactionsShownMax).sorted { $1.first.counts(before: $0.first) }
        var shown: [MessageObject.Reaction] = []
        for sign in most {
            guard case .reaction(let emoji, _)? = try change(sign.first, in: workspace) else {
                continue
            }
            shown.append((emoji, sign.count, sign.isSelf))
        }
        return shown
    }

    /// When and by whom an operation was deleted.
    private func deletion(
        of stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> (at: Int64, by: PersonObject)? {
        guard let deletion = try store.view.redactions.deletion(of: stored.place.arrival),
            let redaction = try store.operations.operation(deletion.by),
            let author = workspace.judged.subject(ofGrant: redaction.entry.grant)
        else { return nil }
        return (
            Int64(redaction.entry.timestamp.milliseconds),
            core.membership.person(author, in: workspace)
        )
    }

    /// The devices that say they know of the end of the workspace, by key.
    func acknowledgements(
        of deletion: OperationID, in workspace: Workspace
    ) throws(StorageError) -> [AcknowledgementObject] {
        guard let record = workspace.authority[deletion] else { return [] }
        let place = try store.operations.find(
            OperationReference(
                device: record.log.device, incarnation: record.log.incarnation,
                sequence: record.sequence, id: deletion), in: workspace.id, of: workspace.number)
        guard let place else { return [] }
        let devices = store.peers.holders(
            of: place.branch, through: place.sequence, arrival: place.arrival,
            workspace: workspace.number)
        return devices.filter { $0 != home?.device }.map { device in
            let owner = workspace.members.first { $0.devices.contains(device) }
            return AcknowledgementObject(
                device: PublicID.device(device),
                member: owner.map { core.membership.person($0.member, in: workspace) })
        }
    }

    /// What the caller has read of a conversation, and wants to hear of it.
    private func reading(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> ChannelObject.Reading {
        var reading = ChannelObject.Reading()
        guard channel.conversation != nil else { return reading }
        let unread = try core.own.unread(channel, in: workspace)
        reading.unread = unread.count
        reading.mentions = unread.mentions
        let mute = try core.own.isMuted(channel, in: workspace)
        reading.isMuted = mute.isMuted
        reading.mutedUntil = mute.until.map(Int64.init(clamping:))
        reading.notify = try core.own.noticeLevel(of: channel, in: workspace).word
        return reading
    }

    /// When this person has starred a message, milliseconds since 1970; `nil` where they have not.
    func starredAt(
        _ message: MessageKey, in workspace: Workspace
    ) throws(StorageError) -> Int64? {
        let row = try store.view.own.register(
            .init(workspace: workspace.number, kind: .star, subject: message.bytes))
        guard let row, row.key != nil else { return nil }
        return Int64(row.timestamp.milliseconds)
    }

    /// A reminder as a stored operation made it, with what became of it; `nil` where the operation
    /// makes none, or cannot be opened.
    func reminder(arrival: Int64) throws(StorageError) -> ReminderObject? {
        guard let stored = try store.operations.operation(arrival),
            let number = store.operations.document(numbered: stored.document)?.workspace,
            let workspace = workspaces[number],
            case .own(let register)? = try core.keys.content(of: stored, in: workspace),
            case .reminder(let name, let reminder?) = register
        else { return nil }
        var object = ReminderObject(
            id: PublicID.reminder(name), workspace: PublicID.workspace(workspace.id),
            channel: PublicID.conversation(reminder.conversation.bytes),
            at: Int64(clamping: reminder.due),
            createdAt: Int64(stored.entry.timestamp.milliseconds))
        object.text = reminder.text
        object.message = reminder.message.map(PublicID.message)
        let counting = try core.own.place(of: register, in: workspace).flatMap {
            (place) throws(StorageError) in try store.view.own.register(place)
        }
        if counting?.arrival != arrival {
            object.state = .cancelled
        } else if reminder.due <= time.wall {
            object.state = .due
        }
        guard let index = workspace.channelIndex.place(of: object.channel) else { return object }
        let channel = workspace.channelIndex.all[index]
        object.channelName = workspace.shownName(of: channel)
        if let message = reminder.message, let row = try store.view.message(message),
            channel.contains(document: row.document)
        {
            object.preview = try preview(of: message, in: workspace)
        }
        return object
    }
}
