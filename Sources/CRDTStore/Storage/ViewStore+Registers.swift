public import WorkspaceModel

/// What the own documents say, and what was not read.
extension ViewStore {
    /// The word that counts about one subject. What it says is opened from its operation; up to
    /// where was read is no text, and stands in the row.
    public struct Register: Hashable, Sendable {
        /// What a register is about.
        public enum Kind: Int64, Sendable, CaseIterable {
            case read = 1
            case preference = 2
            case mute = 3
            case level = 4
        }

        /// Where it stands.
        public struct Place: Hashable, Sendable, Comparable {
            /// The short number of the workspace.
            public let workspace: Int64
            /// What it is about.
            public let kind: Kind
            /// 16 bytes: a conversation's name, or a keyed hash of a setting's.
            public let subject: [UInt8]

            /// The register of `kind` about `subject`.
            public init(workspace: Int64, kind: Kind, subject: [UInt8]) {
                self.workspace = workspace
                self.kind = kind
                self.subject = subject
            }

            /// By workspace, kind and subject.
            public static func < (left: Self, right: Self) -> Bool {
                let (a, b) = (
                    (left.workspace, left.kind.rawValue), (right.workspace, right.kind.rawValue)
                )
                return a == b ? left.subject.lexicographicallyPrecedes(right.subject) : a < b
            }
        }

        /// Where it stands.
        public let place: Place
        /// When its operation was written.
        public let timestamp: HybridTimestamp
        /// Its operation.
        public let id: OperationID
        /// Under which that is stored.
        public let arrival: Int64
        /// Up to where was read; of a read marker alone.
        public let key: MessageKey?

        /// A register with the given fields.
        public init(
            _ place: Place, at timestamp: HybridTimestamp, by id: OperationID, arrival: Int64,
            key: MessageKey? = nil
        ) {
            self.place = place
            self.timestamp = timestamp
            self.id = id
            self.arrival = arrival
            self.key = key
        }

        /// Whether this one counts where both stand: the largest key of what was read, else the
        /// larger (hlc, id).
        public func counts(before other: Register) -> Bool {
            let none = MessageKey(timestamp: .zero, idPrefix: 0)
            let (own, others) = (key ?? none, other.key ?? none)
            if own != others { return own > others }
            return (timestamp.rawValue, id) > (other.timestamp.rawValue, other.id)
        }
    }

    // MARK: Registers

    /// Takes a register over where it counts; any order gives the same rows.
    ///
    /// - Returns: whether it counts.
    @discardableResult
    public func fold(_ register: Register) throws(StorageError) -> Bool {
        if let known = try self.register(register.place), !register.counts(before: known) {
            return false
        }
        try put(register)
        return true
    }

    /// Puts a register in its place, whatever stands there.
    public func put(_ register: Register) throws(StorageError) {
        try connection.statement(
            "INSERT OR REPLACE INTO self_register VALUES(?, ?, ?, ?, ?, ?, ?, ?)"
        ).run { row in
            row.bind(1, register.place.workspace)
            row.bind(2, register.place.kind.rawValue)
            row.bind(3, register.place.subject)
            row.bind(4, Int64(bitPattern: register.timestamp.rawValue))
            row.bind(5, register.id)
            row.bind(6, register.arrival)
            row.bind(7, register.key.map { Int64(bitPattern: $0.timestamp.rawValue) })
            row.bind(8, register.key.map { Int64(bitPattern: $0.idPrefix) })
        }
    }

    /// The register in a place, `nil` where nothing was said.
    public func register(_ place: Register.Place) throws(StorageError) -> Register? {
        try connection.statement(
            """
            SELECT hlc, id, arr, key_hlc, key_id FROM self_register
                WHERE workspace = ? AND kind = ? AND subject = ?
            """
        ).firstRow(
            .integer(place.workspace), .integer(place.kind.rawValue), .blob(place.subject)
        ) { (row) throws(StorageError) in
            Register(
                place, at: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(0))),
                by: try row.identifier32(1), arrival: row.integer(2),
                key: row.optionalInteger(3).map { Self.messageKey($0, row.integer(4)) })
        }
    }

    /// All registers of a workspace, ascending by place.
    public func registers(of workspace: Int64) throws(StorageError) -> [Register] {
        let rows = try connection.statement(
            """
            SELECT kind, subject, hlc, id, arr, key_hlc, key_id FROM self_register
                WHERE workspace = ? ORDER BY kind, subject
            """
        ).rows(.integer(workspace)) { (row) throws(StorageError) -> Register? in
            guard let kind = Register.Kind(rawValue: row.integer(0)) else { return nil }
            return Register(
                Register.Place(workspace: workspace, kind: kind, subject: row.blob(1)),
                at: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(2))),
                by: try row.identifier32(3), arrival: row.integer(4),
                key: row.optionalInteger(5).map { Self.messageKey($0, row.integer(6)) })
        }
        return rows.compactMap { $0 }
    }

    /// Removes one register.
    public func remove(_ place: Register.Place) throws(StorageError) {
        try connection.statement(
            "DELETE FROM self_register WHERE workspace = ? AND kind = ? AND subject = ?"
        ).run(.integer(place.workspace), .integer(place.kind.rawValue), .blob(place.subject))
    }

    /// Forgets every register of a workspace.
    public func clearRegisters(of workspace: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM self_register WHERE workspace = ?")
            .run(.integer(workspace))
    }

    // MARK: What was not read

    /// What stands behind a place in a conversation.
    public struct Unread: Equatable, Sendable {
        /// How many messages there are under the grant with each number.
        public var counts: [Int64: Int64] = [:]
        /// How many of them mention the own member, likewise.
        public var mentions: [Int64: Int64] = [:]
        /// The largest key among them.
        public var last: MessageKey?
    }

    /// The shown messages behind `key` among the newest `Limits.unreadScanMax` of each document.
    ///
    /// A message of an author whose clock is ahead stands where it is displayed: else one of them
    /// could be read by nobody, or everything with it.
    public func unread(
        _ filter: Filter, after key: MessageKey
    ) throws(StorageError) -> Unread {
        var unread = Unread()
        let first = Int64(clamping: key.timestamp.rawValue)
        for document in [filter.document] + filter.others {
            try connection.statement(
                """
                SELECT sort, key_hlc, key_id, gid, hidden, mention,
                    EXISTS(SELECT 1 FROM redacted WHERE redacted.arr = message.arr) FROM message
                    WHERE did = ? AND sort >= ? ORDER BY sort DESC, arr DESC LIMIT ?
                """
            ).forEachRow(
                .integer(document), .integer(first), .integer(Limits.unreadScanMax)
            ) { row in
                guard row.integer(4) == Visibility.shown.rawValue, row.integer(6) == 0 else {
                    return
                }
                let found = Self.readKey(
                    Self.messageKey(row.integer(1), row.integer(2)), sort: row.integer(0))
                guard found > key else { return }
                unread.counts[row.integer(3), default: 0] += 1
                if row.integer(5) == 1 { unread.mentions[row.integer(3), default: 0] += 1 }
                unread.last = max(unread.last ?? found, found)
            }
        }
        return unread
    }

    /// Up to where somebody has read who has read this message and what stands before it.
    public static func readKey(of message: MessageRow) -> MessageKey {
        readKey(message.key, sort: message.position.sort)
    }

    private static func readKey(_ key: MessageKey, sort: Int64) -> MessageKey {
        let shown = UInt64(max(sort, 0))
        guard key.timestamp.rawValue > shown else { return key }
        return MessageKey(timestamp: HybridTimestamp(rawValue: shown), idPrefix: key.idPrefix)
    }

    private static func messageKey(_ timestamp: Int64, _ prefix: Int64) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: timestamp)),
            idPrefix: UInt64(bitPattern: prefix))
    }
}
