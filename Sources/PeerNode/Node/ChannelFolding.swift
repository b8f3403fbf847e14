import CRDTStore
import WorkspaceModel

/// The operation because of which channels are looked at again, for the events that follow.
struct ChannelCause {
    let arrival: Int64
    let isBackfill: Bool
}

/// The public channels of a workspace, from its valid authority operations: a pure fold.
extension NodeCore {
    /// Keeps in mind what an authority operation says about a channel, valid or not.
    func note(_ payload: AuthorityPayload, _ id: OperationID, in workspace: Workspace) {
        switch payload {
        case .createDocument(1, _):
            workspace.channelCreations.append(id)
        case .setDocument(let settings):
            workspace.channelClaims[settings.document, default: []].append(
                ChannelClaim(id: id, link: settings.replaces, change: settings.change))
            for cut in settings.cuts ?? [] {
                workspace.channelCuts[cut.log, default: []].insert(cut.sequence)
            }
        case .deleteDocument(let document, let link):
            workspace.channelClaims[document, default: []].append(
                ChannelClaim(id: id, link: link, change: nil))
        default:
            break
        }
    }

    /// Judges channels anew and tells what changed.
    ///
    /// - Parameters:
    ///   - documents: those that may have changed; `nil` for all.
    ///   - cause: without one nothing is told.
    func refreshChannels(
        of workspace: Workspace, only documents: [DocumentID]? = nil,
        because cause: ChannelCause? = nil
    ) throws(StorageError) {
        var touched = documents ?? workspace.channelCreations.map { DocumentID(sameBytesAs: $0) }
        let first = workspace.evaluator.defaultChannel(among: workspace.channelCreations)
        if first != workspace.defaultChannel {
            touched += [first, workspace.defaultChannel].compactMap { $0 }
            workspace.defaultChannel = first
        }
        for document in touched {
            let before = workspace.channels[document]
            let wasDeleted = workspace.deletedChannels[document] != nil
            let (channel, deleted) = try judge(document, in: workspace)
            workspace.channels[document] = channel
            workspace.deletedChannels[document] = deleted
            if wasDeleted != (deleted != nil) { compareAnew(document, in: workspace) }
            guard let cause else { continue }
            try reviewRedactions(of: channel, since: before)
            guard workspace.ownRole != .guest else { continue }
            if let deleted {
                guard !wasDeleted else { continue }
                try record(
                    .channelDeleted, workspace: workspace, document: deleted.number,
                    arrival: cause.arrival, extra: deleted.author?.bytes,
                    isBackfill: cause.isBackfill)
            } else if let channel {
                try tell(channel, before, wasDeleted: wasDeleted, in: workspace, cause)
            }
        }
    }

    /// Digests leave a deleted channel out, and peers hear of one that came back.
    func compareAnew(_ document: DocumentID, in workspace: Workspace) {
        workspace.staleDocuments.insert(document)
        for branch in store.operations.branches(in: document, of: workspace.number) {
            moved[workspace.number, default: []].insert(branch.number)
        }
    }

    private func judge(
        _ document: DocumentID, in workspace: Workspace
    ) throws(StorageError) -> (Workspace.Channel?, Workspace.DeletedChannel?) {
        let id = OperationID(sameBytesAs: document)
        let isDefault = document == workspace.defaultChannel
        guard let record = workspace.authority[id], case .createDocument(1, _) = record.payload,
            let number = store.operations.document(document, in: workspace.number)?.number,
            let lamport = workspace.evaluator.lamport(of: id),
            let ruling = workspace.evaluator.ruling(
                on: document, claims: workspace.channelClaims[document] ?? [],
                isDefault: isDefault)
        else { return (nil, nil) }
        var channel = Workspace.Channel(
            id: document, publicID: PublicID.channel(document), number: number,
            createdAt: record.timestamp.milliseconds, rank: (lamport, id), rule: .open(ruling),
            isDefault: isDefault)
        for setting in ruling.counting { apply(setting, to: &channel, in: workspace) }
        guard let deletion = ruling.deletion, let deleting = workspace.authority[deletion] else {
            return (channel, nil)
        }
        let seen = try store.operations.operation(deleting.arrival)?.seen ?? 0
        return (
            nil,
            Workspace.DeletedChannel(
                number: number, author: workspace.evaluator.author(of: deletion),
                seen: UInt64(max(seen, 0)), last: channel)
        )
    }

    private func apply(
        _ id: OperationID, to channel: inout Workspace.Channel, in workspace: Workspace
    ) {
        guard case .setDocument(let settings)? = workspace.authority[id]?.payload else { return }
        if let name = workspace.name(settings.name, key: 5, of: id),
            (try? CheckedName.checkWire(name)) != nil
        {
            channel.name = name
        }
        if let topic = workspace.name(settings.topic, key: 6, of: id) {
            channel.topic = topic.isEmpty ? nil : topic
        }
        if let text = workspace.name(settings.description, key: 7, of: id) {
            channel.description = text.isEmpty ? nil : text
        }
    }

    // MARK: Events

    func tell(
        _ channel: Workspace.Channel, _ before: Workspace.Channel?, wasDeleted: Bool,
        in workspace: Workspace, _ cause: ChannelCause
    ) throws(StorageError) {
        for type in Self.changes(of: channel, since: before, wasDeleted: wasDeleted) {
            try record(
                type, workspace: workspace, document: channel.number, arrival: cause.arrival,
                isBackfill: cause.isBackfill)
        }
        guard let before, before.ruling?.chain != channel.ruling?.chain || channel.isPrivate else {
            return
        }
        let people = [before, channel].flatMap { [$0.owner].compactMap { $0 } + $0.admins }
        for member in Set(people).sorted()
        where before.role(of: member) != channel.role(of: member)
            && before.includes(member) && channel.includes(member)
        {
            let role = UInt8(channel.role(of: member).rawValue)
            try record(
                .channelRoleChanged, workspace: workspace, document: channel.number,
                arrival: cause.arrival, extra: member.bytes + [role],
                isBackfill: cause.isBackfill)
        }
    }

    private static func changes(
        of channel: Workspace.Channel, since before: Workspace.Channel?, wasDeleted: Bool
    ) -> [EventType] {
        guard let before else { return wasDeleted ? [.channelEdited] : [.channelCreated] }
        var changes: [EventType] = []
        // The first settings of a channel are part of its creation.
        let isEdited =
            before.name != channel.name || before.topic != channel.topic
            || before.description != channel.description
        if isEdited, before.name != nil { changes.append(.channelEdited) }
        if before.isArchived != channel.isArchived {
            changes.append(channel.isArchived ? .channelArchived : .channelUnarchived)
        }
        return changes
    }
}

extension AuthorityPayload.DocumentSettings {
    /// What the settings change, as far as authority goes.
    var change: ChannelChange {
        ChannelChange(
            owner: owner, admins: roles.map { $0.filter { $0.role <= .admin }.map(\.member) },
            archived: archived, history: history)
    }
}
