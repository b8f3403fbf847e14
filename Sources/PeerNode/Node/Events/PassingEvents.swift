import WorkspaceModel

/// Something that happened and is not kept: for the streams that want such, and only while they
/// are open.
struct PassingEvent {
    /// Milliseconds since 1970.
    let at: Int64
    let type: String
    /// `w_…`.
    let workspace: String
    let data: JSONValue
}

/// Events that are not kept (section 4.1.2).
extension Events {
    /// Gives something that passes to every stream that wants it.
    ///
    /// - Parameter document: the short number of the channel that it is about.
    func pass(
        _ type: String, _ data: JSONValue, in workspace: Workspace, document: Int64? = nil
    ) {
        guard home != nil, !turn.session.lock.isLocked else { return }
        let event = PassingEvent(
            at: Int64(clamping: time.wall), type: type,
            workspace: PublicID.workspace(workspace.id), data: data)
        let channel = core.queries.channel(document, in: workspace)?.publicID
        subscriptions.offer(event) {
            $0.wants(type, in: workspace.number, document: document, channel: channel)
        }
    }

    /// What a stream is given of what passed, and how much it missed.
    func passedEvents(for stream: SubscriptionTable.Subscription) -> [EventObject] {
        let (events, dropped) = subscriptions.takePassing(stream.key)
        // What was kept back while the node was locked is not told afterwards either.
        guard !turn.session.lock.isLocked else { return [] }
        func object(_ type: String, at: Int64, _ data: JSONValue) -> EventObject {
            EventObject(
                sequence: stream.sequence, cursor: cursor(stream.sequence), at: at, type: type,
                data: data)
        }
        var objects = events.map { event in
            var object = object(event.type, at: event.at, event.data)
            object.workspace = event.workspace
            return object
        }
        if dropped > 0 {
            objects.append(
                object(
                    "events.dropped", at: Int64(clamping: time.wall), ["count": .integer(dropped)]))
        }
        return objects
    }
}
