import CRDTStore
import WorkspaceModel

/// Streams of events, waiting for them, and named readers.
extension NodeCore {
    /// Most events that one page or one visit of a stream reads.
    private static let pageMax = 256

    func subscribe(
        _ request: SubscriptionRequest, _ scope: CallScope
    ) throws(NodeError) -> SubscriptionObject {
        let filter = try filter(request, scope)
        let open = subscriptions.subscriptions(of: scope.call.connection).count
        guard open < Limits.controlSubscriptionsMax else {
            throw NodeError(
                .tooMany, "this connection has \(open) subscriptions already",
                hint: "end one, or open another connection", reason: "control.subscriptions")
        }
        let start = try start(request)
        let id = subscriptions.open(
            on: scope.call.connection, filter, after: start,
            keepalive: request.keepaliveSeconds.map { UInt64(max($0, 1)) * 1_000 },
            isEphemeral: request.ephemeral, now: time.monotonic)
        return SubscriptionObject(id: id, cursor: cursor(start))
    }

    func unsubscribe(_ subscription: Int64, _ scope: CallScope) throws(NodeError) {
        guard subscriptions.close(subscription, on: scope.call.connection) else {
            throw .notFound("subscription", String(subscription), field: "subscription")
        }
    }

    func waitForEvents(
        _ request: EventsRequest, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        let filter = try filter(request.subscription, scope)
        let start = try start(request.subscription)
        let (events, last) = try stored { () throws(StorageError) in
            try read(filter, after: start, limit: request.limit, room: Limits.controlLineBytesMax)
        }
        if !events.isEmpty || request.timeoutMilliseconds <= 0 {
            return .reply(eventPage(events.map(\.event), next: cursor(last)))
        }
        let deadline = time.monotonic &+ UInt64(request.timeoutMilliseconds)
        subscriptions.waiters.append(
            .init(
                call: scope.call, filter: filter, limit: request.limit, sequence: last,
                deadline: deadline))
        return .later
    }

    func acknowledge(
        name: String, cursor: String, warning: String?, _ scope: CallScope
    ) throws(NodeError) -> ReaderObject {
        let sequence = try sequence(ofCursor: cursor, field: "cursor")
        try stored { () throws(StorageError) in
            try setReader(name, to: sequence)
            guard let warning else { return }
            try warn([
                "reason": "bot.failed", "message": .string(warning), "name": .string(name),
                "cursor": .string(cursor),
            ])
        }
        return ReaderObject(name: name, cursor: cursor, at: Int64(time.wall))
    }

    func readers(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ReaderObject> {
        let rows = try stored { () throws(StorageError) in
            try namedReaders(after: request.cursor ?? "", limit: request.limit + 1)
        }
        let objects = rows.prefix(request.limit).map {
            ReaderObject(name: $0.name, cursor: cursor($0.sequence), at: $0.at)
        }
        return Page(
            Array(objects), next: rows.count > request.limit ? objects.last?.name : nil)
    }

    // MARK: Where to start

    private func filter(
        _ request: SubscriptionRequest, _ scope: CallScope
    ) throws(NodeError) -> EventFilter {
        for type in request.types { try EventType.check(type) }
        var documents: Set<Int64> = []
        var channels: Set<String> = []
        if !request.channels.isEmpty {
            let workspace: Workspace = try workspace(scope)
            for reference in request.channels {
                let channel = try channel(reference, in: workspace)
                if channel.isDirect {
                    channels.insert(channel.publicID)
                } else {
                    documents.insert(channel.number)
                }
            }
        }
        return EventFilter(types: request.types, documents: documents, channels: channels)
    }

    /// The event after which a reader starts: a cursor, `all`, `latest`, a duration, or the
    /// stored position of its name; a new name starts at the latest and is stored there.
    private func start(_ request: SubscriptionRequest) throws(NodeError) -> Int64 {
        if let since = request.since { return try start(since) }
        guard let name = request.name else { return store.events.newest }
        let known = try stored { () throws(StorageError) in try readerPosition(name) }
        if let known { return known }
        try stored { () throws(StorageError) in
            try setReader(name, to: store.events.newest)
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
                .badRequest, "\(NodeError.quoted(text)) is no cursor, duration, 'all' or 'latest'",
                reason: "bad_cursor", fields: [.init(name: field, reason: "form")])
        }
        guard parts[0] == storeIdentity?.epoch ?? "e0", sequence <= store.events.newest else {
            let oldest = try stored { () throws(StorageError) in try store.events.oldest() - 1 }
            throw .cursorExpired(oldest: cursor(oldest))
        }
        return sequence
    }

    // MARK: Reading

    /// Events after `sequence` that the filter wants, until `limit` or `room` bytes.
    ///
    /// - Returns: the events with their sizes, and the last number that was looked at.
    private func read(
        _ filter: EventFilter, after sequence: Int64, limit: Int, room: Int
    ) throws(StorageError) -> (events: [(event: EventObject, bytes: Int)], last: Int64) {
        var found: [(event: EventObject, bytes: Int)] = []
        var last = sequence
        guard sequence < newestEvent else { return (found, last) }
        var used = 0
        if let gap = try gap(after: sequence) {
            found.append((gap.event, 256))
            last = gap.last
        }
        while found.count < limit {
            let rows = try store.events.events(after: last, limit: Self.pageMax)
            for row in rows {
                guard row.sequence <= newestEvent else { return (found, last) }
                guard found.count < limit else { return (found, last) }
                if let type = EventType(rawValue: row.type),
                    filter.wants(
                        type.word, document: row.document,
                        channel: channel(row.document, in: row.workspace)?.publicID),
                    let object = try object(of: row)
                {
                    let bytes = object.json.bytes.count + 128
                    guard used + bytes <= room || found.isEmpty && used == 0 && bytes <= room * 2
                    else { return (found, last) }
                    used += bytes
                    found.append((object, bytes))
                }
                last = row.sequence
            }
            if rows.count < Self.pageMax { break }
        }
        return (found, last)
    }

    /// The newest event that readers are given: while the node is locked, that it is.
    private var newestEvent: Int64 { lock.lastEvent ?? store.events.newest }

    /// What a reader is told who comes back after its next events were trimmed.
    private func gap(
        after sequence: Int64
    ) throws(StorageError) -> (event: EventObject, last: Int64)? {
        guard sequence < store.events.newest else { return nil }
        let last = try store.events.oldest() - 1
        guard last > sequence else { return nil }
        let event = EventObject(
            sequence: last, cursor: cursor(last), at: Int64(clamping: time.wall),
            type: "events.gap",
            data: ["from": .string(cursor(sequence)), "to": .string(cursor(last))])
        return (event, last)
    }

    /// Events are kept for 30 days, and a million of them at most. Done where a transaction is
    /// open anyway.
    func trimEvents() throws(StorageError) {
        guard store.connection.isInTransaction, store.events.newest >= nextTrim else { return }
        nextTrim = store.events.newest + 4_096
        let month: UInt64 = 30 * 24 * 3_600 * 1_000
        try store.events.trim(
            olderThan: time.wall &- min(time.wall, month), keeping: 1_000_000)
    }

    private func eventPage(_ events: [EventObject], next: String) -> JSONValue {
        ["items": .array(events.map(\.json)), "next": .string(next)]
    }

    /// Control connections that have a stream.
    var subscribers: [UInt64] { subscriptions.connections }

    /// What the streams of a connection can be given now.
    func nextEvents(
        for connection: UInt64, room: Int
    ) throws(StorageError) -> [(subscription: Int64, event: EventObject)] {
        var left = room
        var given: [(subscription: Int64, event: EventObject)] = []
        for stream in subscriptions.subscriptions(of: connection) where left > 0 {
            let passed = passedEvents(for: stream)
            given += passed.map { (stream.id, $0) }
            left -= passed.reduce(0) { $0 + $1.json.bytes.count + 128 }
            if !passed.isEmpty { subscriptions.gave(stream.key, at: time.monotonic) }
            guard stream.sequence < newestEvent, left > 0 else {
                if passed.isEmpty, stream.owesKeepalive {
                    given.append((stream.id, keepalive(of: stream)))
                    subscriptions.gave(stream.key, at: time.monotonic)
                }
                continue
            }
            let (events, last) = try read(
                stream.filter, after: stream.sequence, limit: Self.pageMax, room: left)
            given += events.map { (stream.id, $0.event) }
            left -= events.reduce(0) { $0 + $1.bytes }
            subscriptions.advance(stream.key, to: last)
            if !events.isEmpty { subscriptions.gave(stream.key, at: time.monotonic) }
        }
        return given
    }

    private func keepalive(of stream: SubscriptionTable.Subscription) -> EventObject {
        EventObject(
            sequence: stream.sequence, cursor: cursor(stream.sequence),
            at: Int64(clamping: time.wall), type: "keepalive", data: [:])
    }

    /// Answers the calls that waited for an event of this turn, or waited long enough.
    func serveWaiters() throws(StorageError) {
        guard !subscriptions.waiters.isEmpty else { return }
        var left: [SubscriptionTable.Waiter] = []
        for var waiter in subscriptions.waiters {
            let isOver = waiter.deadline <= time.monotonic
            guard waiter.sequence < newestEvent || isOver else {
                left.append(waiter)
                continue
            }
            let (events, last) = try read(
                waiter.filter, after: waiter.sequence, limit: waiter.limit,
                room: Limits.controlLineBytesMax)
            waiter.sequence = last
            if events.isEmpty && !isOver {
                left.append(waiter)
            } else {
                effects.append(
                    .answer(
                        waiter.call,
                        .success(eventPage(events.map(\.event), next: cursor(last)))))
            }
        }
        subscriptions.waiters = left
    }
}
