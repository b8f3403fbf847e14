public import WorkspaceModel

/// Messages after a read marker.
///
/// A count visits each message once. It is cached until something other than a new message changes
/// in its document: a list of a hundred conversations with many unread messages would otherwise
/// count a million rows on every call.
extension ViewStore {
    /// The messages after a place in a conversation.
    public struct Unread: Equatable, Sendable {
        /// Counts by the grant's number.
        public private(set) var tallies: [Int64: Tally] = [:]
        /// The largest key of all: the marker once everything is read.
        public private(set) var last: MessageKey?

        /// The messages of one grant.
        public struct Tally: Equatable, Sendable {
            /// How many there are.
            public var count: Int64 = 0
            /// How many of them mention this member.
            public var mentions: Int64 = 0
            /// The first in display order.
            public var oldest: Place
            /// The last in display order.
            public var newest: Place

            /// Merges the counts of other messages.
            public mutating func merge(_ other: Tally) {
                count += other.count
                mentions += other.mentions
                oldest = min(oldest, other.oldest)
                newest = max(newest, other.newest)
            }
        }

        /// A message's display position.
        public struct Place: Comparable, Sendable {
            /// Display order.
            public let sort: Int64
            /// Its name, which breaks ties.
            public let key: MessageKey

            /// In the order of display.
            public static func < (left: Self, right: Self) -> Bool {
                (left.sort, left.key) < (right.sort, right.key)
            }
        }

        mutating func add(_ key: MessageKey, sort: Int64, grant: Int64, isMention: Bool) {
            let read = ViewStore.readKey(key, sort: sort)
            last = max(last ?? read, read)
            let place = Place(sort: sort, key: key)
            add(
                Tally(count: 1, mentions: isMention ? 1 : 0, oldest: place, newest: place),
                of: grant)
        }

        private mutating func add(_ tally: Tally, of grant: Int64) {
            guard tallies[grant] != nil else { return tallies[grant] = tally }
            tallies[grant]?.merge(tally)
        }

        mutating func merge(_ other: Unread) {
            for (grant, tally) in other.tallies { add(tally, of: grant) }
            last = [last, other.last].compactMap { $0 }.max()
        }
    }

    /// The cached count of one document, after one place.
    struct UnreadCount {
        let key: MessageKey
        var unread = Unread()
        /// Messages visited, hidden ones too.
        var scanned: Int64 = 0
        /// The largest arrival number among them: larger ones are new.
        var newest: Int64 = 0

        /// The display order from which messages are visited.
        var first: Int64 { Int64(clamping: key.timestamp.rawValue) }
    }

    /// The shown messages after `key` among the newest `Limits.unreadScanMax` of each document, and
    /// the late ones.
    ///
    /// A message from a clock that is ahead counts at its display position: otherwise it could
    /// never be read, or reading it would mark everything else as read.
    public func unread(
        _ filter: Filter, after key: MessageKey
    ) throws(StorageError) -> Unread {
        var unread = try unread(in: filter.document, after: key)
        for document in filter.others {
            unread.merge(try self.unread(in: document, after: key))
        }
        return unread
    }

    private func unread(
        in document: Int64, after key: MessageKey
    ) throws(StorageError) -> Unread {
        var unread: Unread
        if let known = memory.unreadCounts[document], known.key == key {
            unread = known.unread
        } else {
            let count = try counted(in: document, after: key)
            memory.unreadCounts[document] = count
            unread = count.unread
        }
        try addLate(in: document, upTo: key, to: &unread)
        return unread
    }

    private func counted(
        in document: Int64, after key: MessageKey
    ) throws(StorageError) -> UnreadCount {
        var count = UnreadCount(key: key)
        try connection.statement(
            """
            SELECT sort, key_hlc, key_id, gid, hidden, mention, arr,
                EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = message.arr) FROM message
                WHERE did = ? AND sort >= ? ORDER BY sort DESC, arr DESC LIMIT ?
            """
        ).forEachRow(
            .integer(document), .integer(count.first), .integer(Limits.unreadScanMax)
        ) { row in
            count.scanned += 1
            count.newest = max(count.newest, row.integer(6))
            guard row.integer(4) == Visibility.shown.rawValue, row.integer(7) == 0 else { return }
            let found = Self.messageKey(row.integer(1), row.integer(2))
            guard Self.readKey(found, sort: row.integer(0)) > key else { return }
            count.unread.add(
                found, sort: row.integer(0), grant: row.integer(3),
                isMention: row.integer(5) == 1)
        }
        return count
    }

    /// A message was inserted: a new one is counted, otherwise all are counted again.
    func countUnread(
        _ message: MessageRow, as visibility: Visibility
    ) throws(StorageError) {
        memory.changes.documents.insert(message.document)
        guard let known = memory.unreadCounts[message.document] else { return }
        guard message.position.sort >= known.first else { return }
        guard message.position.arrival > known.newest, known.scanned < Limits.unreadScanMax,
            try redactions.deletion(of: message.position.arrival) == nil
        else { return memory.forgetUnread(in: message.document) }
        var count = known
        count.scanned += 1
        count.newest = message.position.arrival
        if visibility == .shown, Self.readKey(of: message) > known.key {
            count.unread.add(
                message.key, sort: message.position.sort, grant: message.grant,
                isMention: message.isMention)
        }
        memory.unreadCounts[message.document] = count
    }

    /// The read marker's key after reading this message and everything before it.
    public static func readKey(of message: MessageRow) -> MessageKey {
        readKey(message.key, sort: message.position.sort)
    }

    static func readKey(_ key: MessageKey, sort: Int64) -> MessageKey {
        let shown = UInt64(max(sort, 0))
        guard key.timestamp.rawValue > shown else { return key }
        return MessageKey(timestamp: HybridTimestamp(rawValue: shown), idPrefix: key.idPrefix)
    }
}
