import CRDTStore
import WorkspaceModel

/// The events that were read from the table in one pass.
struct EventReading {
    /// Why it ended.
    enum End {
        /// There is nothing behind it yet.
        case newest
        /// As many, or as many bytes, as were asked for.
        case full
        /// The pass is long enough: the reader continues after `last` at once.
        case pause
    }

    /// The events that match the filter, with their size.
    var events: [(event: EventObject, bytes: Int)] = []
    /// The last number that was read.
    var last: Int64
    /// How many rows were looked at.
    var rows = 0
    var end = End.newest
}

/// Reads events, for streams and for waiting calls: a part at a time, so that a narrow filter over
/// a long table does not block others.
extension Events {
    /// Most events that are read at once, and that one visit of a stream is given.
    private static let pageMax = 256

    /// Events after `sequence` that the filter wants, until `limit`, `room` bytes, or `rows` rows.
    private func read(
        _ filter: EventFilter, after sequence: Int64, limit: Int, room: Int, rows: Int
    ) throws(StorageError) -> EventReading {
        var reading = EventReading(last: sequence)
        guard sequence < newestEvent else { return reading }
        var used = 0
        var page = try store.events.events(after: sequence, limit: Self.pageMax)
        // Of a table that still has the next row, nothing has to be asked. The rows behind a gap are
        // the first ones there are.
        if page.first?.sequence != sequence + 1, let gap = try gap(after: sequence) {
            reading.events.append((gap.event, 256))
            reading.last = gap.last
        }
        while reading.rows < rows {
            for row in page {
                guard row.sequence <= newestEvent else { return reading }
                reading.end = .full
                guard reading.events.count < limit else { return reading }
                if var object = try wanted(row, filter) {
                    let bytes = object.encode() + 128
                    let isFirst = reading.events.isEmpty && used == 0
                    guard used + bytes <= room || isFirst && bytes <= room * 2 else {
                        return reading
                    }
                    used += bytes
                    reading.events.append((object, bytes))
                }
                reading.end = .newest
                reading.last = row.sequence
                reading.rows += 1
            }
            guard page.count == Self.pageMax else { return reading }
            guard reading.rows < rows else { break }
            page = try store.events.events(after: reading.last, limit: Self.pageMax)
        }
        reading.end = .pause
        return reading
    }

    /// The object of a row that the filter wants.
    private func wanted(
        _ row: EventStore.StoredEvent, _ filter: EventFilter
    ) throws(StorageError) -> EventObject? {
        guard let type = EventType(rawValue: row.type),
            filter.wants(
                type.word, in: row.workspace, document: row.document,
                channel: core.queries.channel(row.document, in: row.workspace)?.publicID)
        else { return nil }
        guard let note = filter.note else { return try object(of: row) }
        guard row.document == note.document, let object = try object(of: row),
            object.data["id"]?.stringValue == PublicID.note(note.key)
        else { return nil }
        return object
    }

    /// The newest event that readers are given: while the node is locked, that it is.
    private var newestEvent: Int64 { turn.session.lock.lastEvent ?? store.events.newest }

    /// The gap report for a reader whose next events were trimmed while it was away.
    private func gap(
        after sequence: Int64
    ) throws(StorageError) -> (event: EventObject, last: Int64)? {
        guard sequence < store.events.newest else { return nil }
        let last = try store.events.oldest() - 1
        guard last > sequence else { return nil }
        let event = EventObject(
            sequence: last, cursor: cursor(last), at: Int64(clamping: time.wall),
            type: StreamEventType.gap.rawValue,
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

    // MARK: Streams

    /// Control connections that have a stream.
    var subscribers: [UInt64] { subscriptions.connections }

    /// Whether there may be something for a stream of a connection: a row that it has not come to, or
    /// what is kept nowhere.
    func mayHaveEvents(for connection: UInt64) -> Bool {
        subscriptions.subscriptions.values.contains {
            $0.connection == connection
                && ($0.isLooking || $0.sequence < newestEvent || $0.hasUnstored)
        }
    }

    /// What the streams of a connection can be given now. Together they read no more rows than a
    /// single one would. When the store cannot be read, what is known without it is reported all
    /// the same, such as that writing has stopped.
    func nextEvents(
        for connection: UInt64, room: Int
    ) -> [(subscription: Int64, event: EventObject)] {
        var left = room
        var given: [(subscription: Int64, event: EventObject)] = []
        let streams = subscriptions.subscriptions(of: connection)
        let rows = max(Limits.eventsLookedAtMax / max(streams.count, 1), Self.pageMax)
        for stream in streams where left > 0 {
            let passed = passedEvents(for: stream)
            given += passed.map { (stream.id, $0) }
            left -= passed.reduce(0) { $0 + $1.json.bytes.count + 128 }
            if !passed.isEmpty { subscriptions.gave(stream.key, at: time.monotonic) }
            guard stream.sequence < newestEvent, left > 0 else {
                if passed.isEmpty, stream.owesKeepalive {
                    given.append((stream.id, made(.made(.keepalive), for: stream)))
                    subscriptions.gave(stream.key, at: time.monotonic)
                }
                continue
            }
            guard
                let reading = try? read(
                    stream.filter, after: stream.sequence, limit: Self.pageMax, room: left,
                    rows: rows)
            else { continue }
            given += reading.events.map { (stream.id, $0.event) }
            left -= reading.events.reduce(0) { $0 + $1.bytes }
            subscriptions.advance(
                stream.key, to: reading.last, isLooking: reading.end == .pause)
            if !reading.events.isEmpty { subscriptions.gave(stream.key, at: time.monotonic) }
        }
        for stream in streams
        where !stream.owed.isEmpty && subscriptions.take(.writingStopped, for: stream.key) {
            given.append((stream.id, made(.kept(.nodeWarning), turn.stopData, for: stream)))
        }
        for stream in streams
        where !stream.owed.isEmpty && subscriptions.take(.stopping, for: stream.key) {
            given.append((stream.id, made(.made(.nodeStopping), for: stream)))
        }
        return given
    }

    /// An event that is not stored, at the stream's position.
    private func made(
        _ type: EventName, _ data: JSONValue = [:], for stream: SubscriptionTable.Subscription
    ) -> EventObject {
        let sequence = subscriptions.place(of: stream.key) ?? stream.sequence
        return EventObject(
            sequence: sequence, cursor: cursor(sequence), at: Int64(clamping: time.wall),
            type: type.word, data: data)
    }

    // MARK: Calls that wait

    /// Answers the calls that waited for an event of this turn, or waited long enough. One that has
    /// not read everything continues in the next turn, after the others.
    func serveWaiters() throws(StorageError) {
        guard !subscriptions.waiters.isEmpty else { return }
        var left: [SubscriptionTable.Waiter] = []
        var looking: [SubscriptionTable.Waiter] = []
        for var waiter in subscriptions.waiters {
            let isOver = waiter.deadline <= time.monotonic
            guard waiter.sequence < newestEvent || isOver else {
                left.append(waiter)
                continue
            }
            if let page = try serve(&waiter) {
                turn.emit(.answer(waiter.call, .success(page)))
            } else if waiter.isLooking {
                looking.append(waiter)
            } else {
                left.append(waiter)
            }
        }
        subscriptions.waiters = left + looking
    }

    /// Reads on for a call, and returns its answer when there is one. All calls of a turn together
    /// look at `Limits.eventsLookedAtMax` rows.
    func serve(
        _ waiter: inout SubscriptionTable.Waiter
    ) throws(StorageError) -> JSONValue? {
        let reading = try read(
            waiter.filter, after: waiter.sequence, limit: waiter.limit - waiter.found.count,
            room: Limits.controlLineBytesMax - waiter.bytes, rows: eventRowsLeft)
        eventRowsLeft -= reading.rows
        waiter.sequence = reading.last
        waiter.found += reading.events.map(\.event)
        waiter.bytes += reading.events.reduce(0) { $0 + $1.bytes }
        waiter.isLooking = reading.end == .pause && waiter.found.count < waiter.limit
        if waiter.isLooking {
            turn.hasMoreToDo = true
            return nil
        }
        guard !waiter.found.isEmpty || waiter.deadline <= time.monotonic else { return nil }
        return eventPage(waiter.found, next: cursor(waiter.sequence))
    }

    private func eventPage(_ events: [EventObject], next: String) -> JSONValue {
        ["items": .array(events.map(\.json)), "next": .string(next)]
    }
}
