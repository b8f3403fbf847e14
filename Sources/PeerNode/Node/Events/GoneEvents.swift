import CRDTStore
import WorkspaceModel

/// The content of events whose channel is gone: deleted, or one that the local member is no longer
/// in. Ids stay, so that a program can drop its data; texts do not.
extension Events {
    /// The public id of the channel with a short number, whether or not it is still displayed.
    func publicID(ofChannel number: Int64?, in workspace: Workspace) -> String? {
        number.flatMap { store.operations.document(numbered: $0)?.id }
            .map { core.channels.publicID(ofChannel: $0, in: workspace) }
    }

    /// A channel as it can still be told: what it was called, and that it is gone.
    func goneChannelData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) -> JSONValue {
        guard let document = event.document.flatMap({ store.operations.document(numbered: $0)?.id })
        else { return .null }
        return goneChannel(document, in: workspace).json
    }

    /// The same by its document.
    func goneChannel(_ document: DocumentID, in workspace: Workspace) -> ChannelObject {
        let last = formerChannel(document, in: workspace)
        var object = ChannelObject(
            id: core.channels.publicID(ofChannel: document, in: workspace),
            workspace: PublicID.workspace(workspace.id), name: last?.name ?? "",
            createdAt: Int64(clamping: last?.createdAt ?? 0))
        object.isPrivate = workspace.sealed.documents[document] != nil
        object.isDeleted = isDeleted(document, in: workspace)
        guard let last else { return object }
        if last.isDirect { object.kind = "dm" }
        object.settings = core.queries.settings(of: last, in: workspace)
        return object
    }

    private func formerChannel(
        _ document: DocumentID, in workspace: Workspace
    ) -> Workspace.Channel? {
        workspace.book.deleted[document]?.last
            ?? workspace.sealed.documents[document].flatMap(workspace.deletedChannel(of:))
    }

    func isDeleted(_ document: DocumentID, in workspace: Workspace) -> Bool {
        workspace.book.deleted[document] != nil
            || workspace.sealed.documents[document]?.deletion != nil
    }

    /// A message as one that is deleted, with when and by whom where its channel was.
    func goneMessageData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let arrival = event.arrival, let stored = try store.operations.operation(arrival),
            let author = workspace.judged.subject(ofGrant: stored.entry.grant)
        else { return goneIDs(event, workspace) }
        let document = stored.log.document
        let key = MessageKey(
            timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix)
        var object = MessageObject(
            id: PublicID.message(key), workspace: PublicID.workspace(workspace.id),
            channel: core.channels.publicID(ofChannel: document, in: workspace),
            author: core.membership.person(author, in: workspace),
            at: Int64(key.timestamp.milliseconds), text: nil)
        object.isSelf = author == workspace.member
        if let gone = workspace.book.deleted[document] {
            object.deleted = gone.author.map {
                (Int64(clamping: gone.seen), core.membership.person($0, in: workspace))
            }
        }
        return object.json
    }

    /// Nothing is unread where nothing is left.
    func goneReadingData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) -> JSONValue {
        guard let channel = publicID(ofChannel: event.document, in: workspace) else {
            return .null
        }
        return ["channel": .string(channel), "message": .null, "unread": 0, "mentions": 0]
    }

    /// The remaining ids when the operation was erased, too.
    func goneIDs(_ event: EventStore.StoredEvent, _ workspace: Workspace) -> JSONValue {
        guard let channel = publicID(ofChannel: event.document, in: workspace) else {
            return .null
        }
        return ["id": .null, "channel": .string(channel)]
    }

    /// A peer that was heard on the local network, or as it is known by now.
    func discoveryData(_ event: EventStore.StoredEvent) -> JSONValue {
        guard let extra = event.extra, let text = String(validating: extra, as: UTF8.self) else {
            return .null
        }
        let known = network.registry.peers.first { peer in
            peer.addresses.contains { $0.address.text == text }
        }
        if let known { return core.queries.peerData(of: known).json }
        var object = PeerObject(state: "heard")
        object.address = text
        return object.json
    }
}
