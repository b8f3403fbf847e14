import CRDTStore
import WorkspaceModel

/// Event streams, waiting for events, and named readers.
final class EventHandler: CorePart, EventCommands {
    func subscribe(
        _ request: SubscriptionRequest, _ scope: CallScope
    ) throws(NodeError) -> SubscriptionObject {
        let filter = try filter(request, scope)
        let open = core.events.subscriptions.subscriptions(of: scope.call.connection).count
        guard open < Limits.controlSubscriptionsMax else {
            throw NodeError(
                .tooMany, "this connection already has \(open) subscriptions",
                hint: "end one, or open another connection", reason: "control.subscriptions")
        }
        let start = try start(request)
        let id = core.events.subscriptions.open(
            on: scope.call.connection, filter, after: start,
            keepalive: request.keepaliveSeconds.map { UInt64(max($0, 1)) * 1_000 },
            isEphemeral: request.ephemeral, now: time.monotonic)
        return SubscriptionObject(id: id, cursor: core.events.cursor(start))
    }

    func unsubscribe(_ subscription: Int64, _ scope: CallScope) throws(NodeError) {
        guard core.events.subscriptions.close(subscription, on: scope.call.connection) else {
            throw .notFound("subscription", String(subscription), field: "subscription")
        }
    }

    func waitForEvents(
        _ request: EventsRequest, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let filter = try filter(request.subscription, scope)
        let start = try start(request.subscription)
        var waiter = SubscriptionTable.Waiter(
            call: scope.call, filter: filter, limit: request.limit, after: start,
            deadline: time.monotonic &+ UInt64(max(request.timeoutMilliseconds, 0)))
        let page = try stored { () throws(StorageError) in try core.events.serve(&waiter) }
        if let page { return .reply(page) }
        core.events.subscriptions.waiters.append(waiter)
        return .later
    }

    func acknowledge(
        name: String, cursor: String, warning: String?, _ scope: CallScope
    ) throws(NodeError) -> ReaderObject {
        let sequence = try sequence(ofCursor: cursor, field: "cursor")
        try stored { () throws(StorageError) in
            try core.events.setReader(name, to: sequence)
            guard let warning else { return }
            try core.warn([
                "kind": "bot.failed", "message": .string(warning), "name": .string(name),
                "cursor": .string(cursor),
            ])
        }
        return ReaderObject(name: name, cursor: cursor, at: Int64(time.wall))
    }

    func readers(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ReaderObject> {
        let rows = try stored { () throws(StorageError) in
            try core.events.namedReaders(after: request.cursor ?? "", limit: request.limit + 1)
        }
        let objects = rows.prefix(request.limit).map {
            ReaderObject(name: $0.name, cursor: core.events.cursor($0.sequence), at: $0.at)
        }
        return Page(
            Array(objects), next: rows.count > request.limit ? objects.last?.name : nil)
    }

    // MARK: Where to start

    private func filter(
        _ request: SubscriptionRequest, _ scope: CallScope
    ) throws(NodeError) -> EventFilter {
        for type in request.types { try EventName.check(type) }
        var documents: Set<Int64> = []
        var channels: Set<String> = []
        // Only what is named narrows: the position of a reader is one for all workspaces.
        let only = try scope.workspace.map { (_) throws(NodeError) in
            try core.queries.shownWorkspace(scope)
        }
        if !request.channels.isEmpty {
            let workspace: Workspace = try core.queries.workspace(scope)
            for reference in request.channels {
                // A reader that resumes also gets the last events of channels that are gone by now.
                if case .id(let id) = reference, let gone = goneChannel(id, in: workspace) {
                    documents.insert(gone)
                    continue
                }
                let channel = try core.queries.channel(reference, in: workspace, field: "channels")
                if channel.isDirect {
                    channels.insert(channel.publicID)
                } else {
                    documents.insert(channel.number)
                }
            }
        }
        return EventFilter(
            types: request.types, workspace: only?.number, documents: documents,
            channels: channels)
    }

    /// The short number of a channel that was deleted.
    private func goneChannel(_ id: String, in workspace: Workspace) -> Int64? {
        let gone = workspace.book.deleted.first { PublicID.channel($0.key) == id }
        let hidden = workspace.sealed.documents.values.first { document in
            PublicID.channel(document.id) == id && core.events.isDeleted(document.id, in: workspace)
        }
        return gone?.value.number ?? hidden?.number
    }

    /// The event after which a reader starts: a cursor, `all`, `latest`, a duration, or the
    /// stored position of its name; a new name starts at the latest and is stored there.
    private func start(_ request: SubscriptionRequest) throws(NodeError) -> Int64 {
        if let since = request.since { return try start(since) }
        guard let name = request.name else { return store.events.newest }
        let known = try stored { () throws(StorageError) in try core.events.readerPosition(name) }
        if let known { return known }
        try stored { () throws(StorageError) in
            try core.events.setReader(name, to: store.events.newest)
        }
        return store.events.newest
    }

    private func start(_ since: String) throws(NodeError) -> Int64 {
        switch since {
        case "latest": return store.events.newest
        case "all":
            return try stored { () throws(StorageError) in try store.events.oldest() - 1 }
        default: break
        }
        if let duration = DurationText.milliseconds(since) {
            let at = time.wall &- min(time.wall, UInt64(max(duration, 0)))
            return try stored { () throws(StorageError) in try store.events.last(before: at) }
        }
        return try sequence(ofCursor: since, field: "since")
    }

    private func sequence(
        ofCursor text: String, field: String
    ) throws(NodeError) -> Int64 {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int64(parts[1]), sequence >= 0 else {
            throw NodeError(
                .badRequest,
                "\(NodeError.quoted(text)) is not a cursor, a duration, 'all' or 'latest'",
                hint: "a cursor looks like e1.42 and comes with events, a duration like 10m",
                reason: "bad_cursor", fields: [.init(name: field, reason: "form")])
        }
        // A cursor from before there was an identity precedes everything.
        if parts[0] == "e0", sequence == 0 {
            return try stored { () throws(StorageError) in try store.events.oldest() - 1 }
        }
        guard parts[0] == storeIdentity?.epoch ?? "e0", sequence <= store.events.newest else {
            let oldest = try stored { () throws(StorageError) in try store.events.oldest() - 1 }
            throw .cursorExpired(oldest: core.events.cursor(oldest))
        }
        return sequence
    }
}
