import CRDTStore
import NoteText
import WorkspaceModel

/// A transient event: told only to open streams that ask for it, and not stored.
struct PassingEvent {
    /// Milliseconds since 1970.
    let at: Int64
    let type: PassingEventType
    /// `w_…`.
    let workspace: String
    let data: JSONValue
}

/// Events that are not stored.
extension Events {
    /// Gives something that passes to every stream that wants it.
    ///
    /// - Parameter document: the short number of the channel that it is about.
    func pass(
        _ type: PassingEventType, _ data: JSONValue, in workspace: Workspace,
        document: Int64? = nil,
        note: ViewStore.NotePlace? = nil
    ) {
        guard home != nil, !turn.session.lock.isLocked else { return }
        let event = PassingEvent(
            at: Int64(clamping: time.wall), type: type,
            workspace: PublicID.workspace(workspace.id), data: data)
        let channel = core.queries.channel(document, in: workspace)?.publicID
        subscriptions.offer(event) {
            $0.note == note
                && $0.wants(
                    type.rawValue, in: workspace.number, document: document, channel: channel)
        }
    }

    /// Tells those who watch notes how the texts have changed in this turn.
    func passNotes() {
        for move in core.notes.attendance.takeMoves() {
            guard let document = store.operations.document(numbered: move.place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            pass(
                .notePatch, data(of: move, in: workspace), in: workspace,
                document: move.place.document, note: move.place)
        }
        for news in core.notes.presenceSender.takePresenceEvents() {
            guard let document = store.operations.document(numbered: news.place.document),
                let workspace = core.workspaces[document.workspace]
            else { continue }
            pass(
                news.type, news.data, in: workspace, document: news.place.document,
                note: news.place)
        }
        core.notes.attendance.setWatched(subscriptions.notes)
    }

    /// `{id, channel, from, version, patch, by, self}`; `version` and `patch` are `null` where the text
    /// has to be read again.
    private func data(of move: NoteMove, in workspace: Workspace) -> JSONValue {
        let channel = core.queries.channel(move.place.document, in: workspace)?.publicID
        var data: JSONObject = [
            "id": .string(PublicID.note(move.place.key)), "channel": JSONValue(orNull: channel),
            "from": JSONValue(orNull: move.change?.from.text),
            "version": JSONValue(orNull: move.change?.to.text), "patch": .null,
            "by": move.member.map { core.membership.person($0, in: workspace).json } ?? .null,
            "self": .bool(move.member == workspace.member),
        ]
        guard let patches = move.change?.patches else { return .object(data) }
        let bytes = patches.reduce(0) { $0 + 64 + AnswerRoom.bytes(of: $1.inserted) }
        guard bytes <= Limits.noteTextPerAnswerBytesMax else {
            data["version"] = .null
            return .object(data)
        }
        data["patch"] = NotePatch.json(patches)
        return .object(data)
    }

    /// The transient events for a stream, and how many it missed.
    func passedEvents(for stream: SubscriptionTable.Subscription) -> [EventObject] {
        let (events, dropped) = subscriptions.takePassing(stream.key)
        // What was suppressed while the node was locked is not told afterwards either.
        guard !turn.session.lock.isLocked else { return [] }
        func object(_ type: EventName, at: Int64, _ data: JSONValue) -> EventObject {
            EventObject(
                sequence: stream.sequence, cursor: cursor(stream.sequence), at: at, type: type.word,
                data: data)
        }
        var objects = events.map { event in
            var object = object(.passing(event.type), at: event.at, event.data)
            object.workspace = event.workspace
            return object
        }
        if dropped > 0 {
            objects.append(
                object(
                    .made(.dropped), at: Int64(clamping: time.wall),
                    ["count": .integer(dropped)]))
        }
        return objects
    }
}
