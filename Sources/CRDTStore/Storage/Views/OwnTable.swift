public import WorkspaceModel

/// The content of our own documents, and unread messages.
public final class OwnTable {
    let connection: Connection
    private let memory: ViewMemory
    let citing: CitingAssertions

    init(_ connection: Connection, _ memory: ViewMemory) {
        (self.connection, self.memory) = (connection, memory)
        citing = CitingAssertions(connection: connection)
    }

    // MARK: Registers

    /// Stores a read marker if it counts; any order gives the same rows.
    ///
    /// - Returns: whether it counts.
    @discardableResult
    public func fold(_ register: ViewStore.Register) throws(StorageError) -> Bool {
        if let known = try self.register(register.place), !register.counts(before: known) {
            return false
        }
        try put(register)
        return true
    }

    /// Stores a register, replacing any other.
    public func put(_ register: ViewStore.Register) throws(StorageError) {
        memory.noteMarker(register.place)
        if register.place.kind == .star, let last = memory.starredThrough[register.place.workspace],
            last.lexicographicallyPrecedes(register.place.subject)
        {
            memory.starredThrough[register.place.workspace] = register.place.subject
        }
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

    /// The register at a place, `nil` if there is none.
    public func register(_ place: ViewStore.Register.Place) throws(StorageError) -> ViewStore
        .Register?
    {
        if let known = memory.marker(place) { return known }
        guard try mayBeSet(place) else { return nil }
        let found = try connection.statement(
            """
            SELECT hlc, id, arr, key_hlc, key_id FROM self_register
                WHERE workspace = ? AND kind = ? AND subject = ?
            """
        ).firstRow(
            .integer(place.workspace), .integer(place.kind.rawValue), .blob(place.subject)
        ) { (row) throws(StorageError) in
            ViewStore.Register(
                place, at: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(0))),
                by: try row.identifier32(1), arrival: row.integer(2),
                key: row.optionalInteger(3).map { ViewStore.messageKey($0, row.integer(4)) })
        }
        memory.keepMarker(found, at: place)
        return found
    }

    /// Whether there may be a register at a place. Stars have message names as subjects, so
    /// messages newer than all starred ones have none.
    private func mayBeSet(_ place: ViewStore.Register.Place) throws(StorageError) -> Bool {
        guard place.kind == .star else { return true }
        let last: [UInt8]
        if let known = memory.starredThrough[place.workspace] {
            last = known
        } else {
            last =
                try connection.statement(
                    "SELECT max(subject) FROM self_register WHERE workspace = ? AND kind = ?"
                ).firstRow(.integer(place.workspace), .integer(place.kind.rawValue)) {
                    $0.optionalBlob(0) ?? []
                } ?? []
            memory.starredThrough[place.workspace] = last
        }
        return !last.lexicographicallyPrecedes(place.subject)
    }

    /// All registers of a workspace, ascending by place.
    public func registers(of workspace: Int64) throws(StorageError) -> [ViewStore.Register] {
        let rows = try connection.statement(
            """
            SELECT kind, subject, hlc, id, arr, key_hlc, key_id FROM self_register
                WHERE workspace = ? ORDER BY kind, subject
            """
        ).rows(.integer(workspace)) { (row) throws(StorageError) -> ViewStore.Register? in
            guard let kind = ViewStore.Register.Kind(rawValue: row.integer(0)) else { return nil }
            return ViewStore.Register(
                ViewStore.Register.Place(workspace: workspace, kind: kind, subject: row.blob(1)),
                at: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(2))),
                by: try row.identifier32(3), arrival: row.integer(4),
                key: row.optionalInteger(5).map { ViewStore.messageKey($0, row.integer(6)) })
        }
        return rows.compactMap { $0 }
    }

    /// The registers of one kind that have a key, ascending by subject: for example stars,
    /// without cleared ones.
    ///
    /// - Parameter limit: how many at most.
    public func keyedRegisters(
        _ kind: ViewStore.Register.Kind, of workspace: Int64, limit: Int
    ) throws(StorageError) -> [ViewStore.Register] {
        try connection.statement(
            """
            SELECT subject, hlc, id, arr, key_hlc, key_id FROM self_register
                WHERE workspace = ? AND kind = ? AND key_hlc IS NOT NULL ORDER BY subject LIMIT ?
            """
        ).rows(.integer(workspace), .integer(kind.rawValue), .integer(Int64(limit))) {
            (row) throws(StorageError) in
            ViewStore.Register(
                ViewStore.Register.Place(workspace: workspace, kind: kind, subject: row.blob(0)),
                at: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(1))),
                by: try row.identifier32(2), arrival: row.integer(3),
                key: ViewStore.messageKey(row.integer(4), row.integer(5)))
        }
    }

    /// Removes one register.
    public func remove(_ place: ViewStore.Register.Place) throws(StorageError) {
        memory.noteMarker(place)
        try connection.statement(
            "DELETE FROM self_register WHERE workspace = ? AND kind = ? AND subject = ?"
        ).run(.integer(place.workspace), .integer(place.kind.rawValue), .blob(place.subject))
    }

    /// Removes every register of a workspace.
    public func clearRegisters(of workspace: Int64) throws(StorageError) {
        memory.forgetRows()
        for table in ["self_register", "setting", "setting_past", "read_frontier"] {
            try connection.statement("DELETE FROM \(table) WHERE workspace = ?")
                .run(.integer(workspace))
        }
    }
}

extension ViewStore {
    /// The operation that counts for one subject: for read markers by ``counts(before:)``,
    /// otherwise by `OwnSettings.swift`. Its content is decrypted from the operation; only the read
    /// position, which is no text, is in the row.
    public struct Register: Hashable, Sendable {
        /// The kind of subject.
        public enum Kind: Int64, Sendable, CaseIterable {
            case read = 1
            case preference = 2
            case mute = 3
            case level = 4
            case star = 5
            case reminder = 6
        }

        /// The key of a register.
        public struct Place: Hashable, Sendable, Comparable {
            /// The short number of the workspace.
            public let workspace: Int64
            /// The kind of subject.
            public let kind: Kind
            /// 16 bytes: the name of a conversation, a message or a reminder, or a keyed hash of a
            /// setting's name.
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

        /// The key of the register.
        public let place: Place
        /// When its operation was written.
        public let timestamp: HybridTimestamp
        /// Its operation.
        public let id: OperationID
        /// Its operation's arrival number.
        public let arrival: Int64
        /// How far was read; for a star the message, and for a reminder when it is due
        /// (`OwnRegister.mark`). Other registers have none.
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

        /// The same register with another key.
        func keyed(_ key: MessageKey?) -> Register {
            Register(place, at: timestamp, by: id, arrival: arrival, key: key)
        }

        /// Whether this read marker wins over another: the larger key, or for equal keys
        /// the larger (hlc, id).
        public func counts(before other: Register) -> Bool {
            let none = MessageKey(timestamp: .zero, idPrefix: 0)
            let (own, others) = (key ?? none, other.key ?? none)
            if own != others { return own > others }
            return (timestamp.rawValue, id) > (other.timestamp.rawValue, other.id)
        }
    }
}

extension ViewStore {
    static func messageKey(_ timestamp: Int64, _ prefix: Int64) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: timestamp)),
            idPrefix: UInt64(bitPattern: prefix))
    }
}
