public import WorkspaceModel

/// Follow operations that must be read again: because they are no longer deleted, or name members
/// who were not admitted when they arrived.
///
/// Each is one row, so that thousands of invented names in one cost only their bytes, and the rows
/// survive a restart and a lock.
extension FollowingTable {
    /// Stored bytes per member: enough to find the operations that name a member. A false match
    /// costs a useless read.
    private static let notedByteCount = 4

    /// Marks an operation to be read.
    public func enqueue(_ assertion: ViewStore.PendingAssertion) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO unheard VALUES(?, ?, x'')")
            .run(.integer(assertion.arrival), .integer(assertion.telling.rawValue))
    }

    /// The operations to be read, the newest first: older ones then change nothing.
    public func pendingAssertions(limit: Int) throws(StorageError) -> [ViewStore.PendingAssertion] {
        try connection.statement(
            "SELECT arr, due FROM unheard WHERE due > 0 ORDER BY arr DESC LIMIT ?"
        ).rows(.integer(Int64(limit))) {
            ViewStore.PendingAssertion(
                arrival: $0.integer(0), telling: .init(rawValue: $0.integer(1)) ?? .nothing)
        }
    }

    /// Records the members of an operation that are not admitted yet, replacing earlier ones.
    public func noteUnheard(_ members: [MemberID], in arrival: Int64) throws(StorageError) {
        guard !members.isEmpty else { return try forgetUnheard(arrival) }
        let names = members.flatMap { $0.bytes.prefix(Self.notedByteCount) }
        try connection.statement("INSERT OR REPLACE INTO unheard VALUES(?, 0, ?)")
            .run(.integer(arrival), .blob(names))
    }

    /// The operations that may name one of these people, by arrival number, ascending. Reads the
    /// rows of all such operations: ``notedByteCount`` bytes a member.
    public func unheard(of members: Set<MemberID>) throws(StorageError) -> [Int64] {
        let wanted = Set(members.map { Self.noted($0.bytes[...]) })
        return try connection.statement("SELECT arr, names FROM unheard ORDER BY arr").rows {
            (row) -> Int64? in
            var names = row.blob(1)[...]
            while !names.isEmpty {
                if wanted.contains(Self.noted(names)) { return row.integer(0) }
                names = names.dropFirst(Self.notedByteCount)
            }
            return nil
        }.compactMap { $0 }
    }

    private static func noted(_ name: ArraySlice<UInt8>) -> UInt32 {
        name.prefix(notedByteCount).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Drops the record of an operation: it does not count, or nobody in it is missing.
    public func forgetUnheard(_ arrival: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM unheard WHERE arr = ?").run(.integer(arrival))
    }

    /// Marks all possible follow operations to be read, and clears the followers: everything in
    /// channels that is neither a message nor an annotation of one. Decrypts nothing.
    static func enqueueAllAssertions(in connection: Connection) throws(StorageError) {
        for table in ["following", "following_past", "subscription", "unheard"] {
            try connection.execute("DELETE FROM \(table)")
        }
        try connection.statement(
            """
            INSERT INTO unheard SELECT operation.arr, ?3, x'' FROM document JOIN log USING(did)
                JOIN operation USING(lid) WHERE document.kind = ?1 AND operation.kind = ?2
                AND NOT \(aboutMessages("log.did", "operation.sort", "operation.arr"))
            """
        ).run(
            .integer(DocumentKind.channel.rawValue),
            .integer(Int64(bitPattern: OperationKind.content.rawValue)),
            .integer(ViewStore.PendingAssertion.Telling.nothing.rawValue))
    }
}

extension ViewStore {
    /// An operation to be read.
    public struct PendingAssertion: Sendable, Equatable {
        /// How its effect is reported.
        public enum Telling: Int64, Sendable {
            /// As an event, as for a new operation.
            case news = 1
            /// As an event about the distant past.
            case backfill = 2
            /// Not at all: it was reported before.
            case nothing = 3
        }

        /// The arrival number of the operation.
        public let arrival: Int64
        /// How it is reported.
        public let telling: Telling

        /// The operation with arrival number `arrival`.
        public init(arrival: Int64, telling: Telling) {
            self.arrival = arrival
            self.telling = telling
        }
    }
}
