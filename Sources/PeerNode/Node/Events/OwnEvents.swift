import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Events about what a person stores for their own devices.
extension Events {
    /// `{id, channel, starred, starred_at}`, as of the time it is told.
    func starData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let id = event.extra.map({ "m_" + Base32.encode($0) }),
            let message = PublicID.messageKey(id)
        else { return .null }
        let at = try core.queries.starredAt(message, in: workspace)
        return [
            "id": .string(id),
            "channel": JSONValue(
                orNull: core.queries.channel(event.document, in: workspace).map(\.publicID)),
            "starred": .bool(at != nil), "starred_at": JSONValue(orNull: at),
        ]
    }

    /// `{channel, message, unread, mentions}`, as of the time it is told.
    func readData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let channel = core.queries.channel(event.document, in: workspace),
            let name = channel.conversation
        else { return .null }
        let key = try core.own.marker(core.own.place(.read, name, in: workspace), in: workspace)
        let unread = try core.own.unread(channel, in: workspace)
        return [
            "channel": .string(channel.publicID),
            "message": JSONValue(orNull: key.map(PublicID.message)),
            "unread": .integer(unread.count), "mentions": .integer(unread.mentions),
        ]
    }

    /// `{message, channel, emoji, member, self}` of a reaction that came or went.
    func reactionData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard
            let stored = try event.arrival.flatMap({ (arrival) throws(StorageError) in
                try store.operations.operation(arrival)
            }), let channel = publicID(ofChannel: event.document, in: workspace),
            case .annotation(let annotation)? = try core.keys.content(of: stored, in: workspace),
            case .reaction(let emoji, _) = annotation.change,
            let member = workspace.judged.subject(ofGrant: stored.entry.grant)
        else { return goneIDs(event, workspace) }
        let isShown = self.core.queries.channel(event.document, in: workspace) != nil
        return [
            "message": .string(PublicID.message(annotation.target)),
            "channel": .string(channel), "emoji": isShown ? .string(emoji) : .null,
            "member": core.membership.person(member, in: workspace).json,
            "self": .bool(member == workspace.member),
        ]
    }
}
