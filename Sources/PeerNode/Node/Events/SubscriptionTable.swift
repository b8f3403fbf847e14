import CRDTStore
import WorkspaceModel

/// Who listens for events: open streams, and calls that wait for the next one.
struct SubscriptionTable {
    /// One open stream on a control connection.
    struct Subscription {
        let key: Key
        let filter: EventFilter
        /// The last event it was given, or passed over.
        var sequence: Int64
        /// Silence after which it gets a sign of life, milliseconds; `nil` for never.
        let keepalive: UInt64?
        /// When it was given something last, on the monotonic clock.
        var lastGiven: UInt64
        /// Pending transient events; `nil` for a stream that does not want them.
        var passing: [PassingEvent]?
        /// How much of that was dropped.
        var dropped: Int64 = 0
        /// Whether it gets a sign of life as soon as its connection takes one.
        var owesKeepalive = false
        /// Messages to send once, as soon as its connection takes them.
        var owed: Set<Word> = []
        /// Whether there is more to look at than was in one go, and nothing else to wait for.
        var isLooking = false

        /// Its number on its connection.
        var id: Int64 { key.id }
        /// The control connection that opened it.
        var connection: UInt64 { key.connection }

        /// Whether there is anything for it that no row tells.
        var hasUnstored: Bool {
            owesKeepalive || !owed.isEmpty || dropped > 0 || passing?.isEmpty == false
        }

        /// When its next sign of life is due.
        var keepaliveDue: UInt64? { keepalive.map { lastGiven &+ $0 } }
    }

    /// Messages that every stream gets and that are not stored.
    enum Word {
        /// Nothing is written any more.
        case writingStopped
        /// The node stops.
        case stopping
    }

    /// Streams are numbered from 1 on each connection, so that a script sees the same numbers
    /// however many others listen.
    struct Key: Hashable {
        let connection: UInt64
        let id: Int64
    }

    /// A call of `events.wait` that has found nothing yet, or has not read everything.
    struct Waiter {
        let call: CallID
        let filter: EventFilter
        let limit: Int
        /// The event behind which it begins.
        let start: Int64
        /// On the monotonic clock.
        let deadline: UInt64
        /// The last event that was looked at.
        var sequence: Int64
        /// What was found so far, and its bytes.
        var found: [EventObject] = []
        var bytes = 0
        /// Whether it continues at once.
        var isLooking = false

        init(
            call: CallID, filter: EventFilter, limit: Int, after start: Int64, deadline: UInt64
        ) {
            self.call = call
            self.filter = filter
            self.limit = limit
            self.start = start
            self.deadline = deadline
            sequence = start
        }

        /// Starts over, with nothing buffered.
        mutating func forget() {
            sequence = start
            found = []
            bytes = 0
        }
    }

    private(set) var subscriptions: [Key: Subscription] = [:]
    /// Connections with at least one stream.
    private(set) var connections: [UInt64] = []
    var waiters: [Waiter] = []
    /// The number given last on each connection that ever had a stream: none is given twice.
    private var lastIDs: [UInt64: Int64] = [:]

    /// When the next sign of life is due.
    var nextKeepalive: UInt64? { subscriptions.values.lazy.compactMap(\.keepaliveDue).min() }

    /// The notes that streams are about.
    var notes: Set<ViewStore.NotePlace> { Set(subscriptions.values.compactMap(\.filter.note)) }

    /// The streams of a connection, oldest first.
    func subscriptions(of connection: UInt64) -> [Subscription] {
        subscriptions.values.filter { $0.connection == connection }.sorted { $0.id < $1.id }
    }

    mutating func open(
        on connection: UInt64, _ filter: EventFilter, after sequence: Int64,
        keepalive: UInt64?, isEphemeral: Bool = false, now: UInt64
    ) -> Int64 {
        let id = (lastIDs[connection] ?? 0) + 1
        lastIDs[connection] = id
        let key = Key(connection: connection, id: id)
        subscriptions[key] = Subscription(
            key: key, filter: filter, sequence: sequence, keepalive: keepalive, lastGiven: now,
            passing: isEphemeral ? [] : nil)
        noteConnections()
        return id
    }

    /// Keeps what passes for every stream that wants it, as much as fits.
    mutating func offer(_ event: PassingEvent, where isWanted: (EventFilter) -> Bool) {
        for (key, stream) in subscriptions {
            guard let passing = stream.passing, isWanted(stream.filter) else { continue }
            if passing.count < Limits.passingEventsMax {
                subscriptions[key]?.passing?.append(event)
            } else {
                subscriptions[key]?.dropped += 1
            }
        }
    }

    /// Tells every stream something that is not stored, if it wants to hear of it.
    ///
    /// - Parameter type: the event that says it.
    mutating func say(_ word: Word, as type: EventName) {
        for (key, stream) in subscriptions where stream.filter.wants(type.word, document: nil) {
            subscriptions[key]?.owed.insert(word)
        }
    }

    /// Whether a stream has to be told this now; once.
    mutating func take(_ word: Word, for key: Key) -> Bool {
        subscriptions[key]?.owed.remove(word) != nil
    }

    /// Whether any stream wants what passes.
    var wantPassing: Bool { subscriptions.values.contains { $0.passing != nil } }

    /// Drops all buffered transient events: they must not be told any more.
    ///
    /// - Parameter isCounted: whether streams are told how much of it there was.
    mutating func forgetPassing(isCounted: Bool) {
        for (key, stream) in subscriptions {
            guard let passing = stream.passing else { continue }
            subscriptions[key]?.passing = []
            subscriptions[key]?.dropped = isCounted ? stream.dropped + Int64(passing.count) : 0
        }
        for place in waiters.indices { waiters[place].forget() }
    }

    /// Takes what passed, and how much of it was dropped.
    mutating func takePassing(_ key: Key) -> (events: [PassingEvent], dropped: Int64) {
        guard let stream = subscriptions[key], let passing = stream.passing,
            !passing.isEmpty || stream.dropped > 0
        else { return ([], 0) }
        subscriptions[key]?.passing = []
        subscriptions[key]?.dropped = 0
        return (passing, stream.dropped)
    }

    /// The last event that a stream was given, or passed over.
    func place(of key: Key) -> Int64? { subscriptions[key]?.sequence }

    mutating func advance(_ key: Key, to sequence: Int64, isLooking: Bool = false) {
        subscriptions[key]?.sequence = sequence
        subscriptions[key]?.isLooking = isLooking
    }

    mutating func gave(_ key: Key, at now: UInt64) {
        subscriptions[key]?.lastGiven = now
        subscriptions[key]?.owesKeepalive = false
    }

    /// Notes the signs of life that are due. Their deadlines move on, whether or not the
    /// connection takes anything now: a reader that stopped must not keep the loop awake.
    mutating func noteKeepalives(now: UInt64) {
        for (key, stream) in subscriptions {
            guard let due = stream.keepaliveDue, due <= now else { continue }
            subscriptions[key]?.owesKeepalive = true
            subscriptions[key]?.lastGiven = now
        }
    }

    /// Closes a stream of this connection; `false` when the connection has no stream of that
    /// number.
    mutating func close(_ id: Int64, on connection: UInt64) -> Bool {
        let closed = subscriptions.removeValue(forKey: Key(connection: connection, id: id))
        noteConnections()
        return closed != nil
    }

    private mutating func noteConnections() {
        connections = Set(subscriptions.values.map(\.connection)).sorted()
    }

    mutating func close(connection: UInt64) {
        subscriptions = subscriptions.filter { $0.key.connection != connection }
        noteConnections()
        lastIDs[connection] = nil
        waiters.removeAll { $0.call.connection == connection }
    }
}

/// Which events a listener asks for.
struct EventFilter {
    /// Globs over event types; empty for all.
    let types: [String]
    /// The short number of the only workspace whose events are wanted, besides those that are of
    /// none; `nil` for all.
    var workspace: Int64?
    /// Short numbers of channels; empty for all.
    let documents: Set<Int64>
    /// The only note whose events are wanted, those of its text too; `nil` where no note is watched.
    var note: ViewStore.NotePlace?
    /// Public ids of channels, for conversations whose documents may still come.
    var channels: Set<String> = []

    /// Whether the event is wanted.
    ///
    /// - Parameters:
    ///   - origin: the short number of the workspace in which it happened, `nil` outside of all.
    ///   - channel: the public id of what has the number `document`.
    func wants(
        _ type: String, in origin: Int64? = nil, document: Int64?,
        channel: @autoclosure () -> String? = nil
    ) -> Bool {
        if let workspace, let origin, workspace != origin { return false }
        if !documents.isEmpty || !channels.isEmpty {
            guard let document else { return false }
            guard documents.contains(document) || channel().map(channels.contains) == true else {
                return false
            }
        }
        return types.isEmpty || types.contains { Self.matches(type, glob: $0) }
    }

    /// Whether `text` matches `glob`, where `*` matches any bytes. Linear except for backtracking
    /// to the last star.
    static func matches(_ text: String, glob: String) -> Bool {
        let text = Array(text.utf8)
        let glob = Array(glob.utf8)
        let star = UInt8(ascii: "*")
        var position = 0
        var pattern = 0
        var resume: (pattern: Int, position: Int)?
        while position < text.count {
            if pattern < glob.count, glob[pattern] == star {
                resume = (pattern + 1, position)
                pattern += 1
            } else if pattern < glob.count, glob[pattern] == text[position] {
                pattern += 1
                position += 1
            } else if let last = resume {
                pattern = last.pattern
                position = last.position + 1
                resume = (last.pattern, position)
            } else {
                return false
            }
        }
        return glob[pattern...].allSatisfy { $0 == star }
    }
}
