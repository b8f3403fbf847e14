public import WorkspaceModel

/// The followers of channels: for each member the operation that counts.
///
/// Following is a register per member and channel (PROTOCOL.md, 4.1). Every operation of it is a
/// row of `following`, valid or not, so that an invalidated or deleted one is replaced by others
/// without decrypting anything, even while the keys are dropped. An operation overwrites those that
/// say the opposite. Among the heads the member's own come first, then the largest (hlc, id). The
/// one that counts is a row of `subscription`; the member joined by the first of those that say the
/// same, so that repeating it changes nothing.
public final class FollowingTable {
    let connection: Connection
    private let memory: ViewMemory
    private let citing: CitingAssertions

    init(_ connection: Connection, _ memory: ViewMemory) {
        (self.connection, self.memory) = (connection, memory)
        citing = CitingAssertions(connection: connection)
    }

    // MARK: Operations

    /// Records what an operation says about one member, or its changed validity. Any order gives
    /// the same rows.
    ///
    /// - Parameter cited: what it overwrites, as far as it is of its register; empty for an
    ///   operation that names several members.
    /// - Returns: whether the member now follows the channel and did not before, or the reverse.
    @discardableResult
    public func fold(
        _ assertion: ViewStore.FollowingAssertion, citing cited: [OperationID], isValid: Bool
    ) throws(StorageError) -> Bool {
        let register = assertion.register
        let meaning = FollowingMeaning(register, assertion.isJoined)
        let before = try isFollowing(register.member, register.document)
        if try citing.isValid(assertion.id, in: meaning) != nil {
            guard try citing.setValid(isValid, assertion.id, in: meaning) else { return false }
        } else {
            let coverCount = try citing.noteCited(cited, by: assertion.id, in: meaning)
            try connection.statement(
                "INSERT INTO following VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ).run(
                meaning.values + [
                    .blob(assertion.id.bytes), .integer(ViewStore.ordered(assertion.timestamp)),
                    .integer(assertion.arrival), .integer(assertion.isOwn ? 1 : 0),
                    .integer(isValid ? 0 : 1), .integer(coverCount),
                ])
            if isValid { try citing.cover(citedBy: assertion.id, in: meaning, by: 1) }
        }
        try renewSubscription(register)
        return try isFollowing(register.member, register.document) != before
    }

    /// Sets the validity of the follow operations among these arrival numbers.
    ///
    /// - Returns: whether there were any.
    public func setValid(
        _ isValid: Bool, assertionsAt arrivals: [Int64]
    ) throws(StorageError) -> Bool {
        var hasChanged = false
        for arrival in arrivals {
            for (meaning, id) in try assertions(at: arrival)
            where try citing.setValid(isValid, id, in: meaning) {
                try renewSubscription(meaning.register)
                hasChanged = true
            }
        }
        return hasChanged
    }

    /// Removes an operation's rows as if it had never arrived: it was deleted, or
    /// is no longer stored.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    public func forgetAssertion(_ arrival: Int64) throws(StorageError) -> Bool {
        let assertions = try assertions(at: arrival)
        for (meaning, id) in assertions {
            try citing.removeWord(id, from: meaning)
            try renewSubscription(meaning.register)
        }
        return !assertions.isEmpty
    }

    /// The rows of one operation: one for each member it names.
    private func assertions(
        at arrival: Int64
    ) throws(StorageError) -> [(FollowingMeaning, OperationID)] {
        try connection.statement(
            "SELECT did, member, joined, id FROM following WHERE arr = ? ORDER BY did, member"
        ).rows(.integer(arrival)) { (row) throws(StorageError) in
            let register = ViewStore.FollowingRegister(
                document: row.integer(0), member: try row.identifier16(1))
            return (.init(register, row.integer(2) == 1), try row.identifier32(3))
        }
    }

    /// Updates a member's row of `subscription`: the operation that counts, and the one
    /// by which they joined.
    private func renewSubscription(_ register: ViewStore.FollowingRegister) throws(StorageError) {
        memory.changes.documents.insert(register.document)
        let head = try connection.statement(
            "SELECT joined, own \(Self.followingHeads) LIMIT 1"
        ).firstRow(register.values) { ($0.integer(0), $0.integer(1)) }
        guard let (joined, own) = head else {
            return try connection.statement("DELETE FROM subscription WHERE did = ? AND member = ?")
                .run(register.values)
        }
        try connection.statement(
            """
            INSERT INTO subscription SELECT ?1, ?2, ?3, arr FROM following
                WHERE did = ?1 AND member = ?2 AND own = ?4 AND joined = ?3 AND hidden = 0
                AND covered = 0 ORDER BY hlc, id LIMIT 1
                ON CONFLICT(did, member) DO UPDATE SET joined = excluded.joined, arr = excluded.arr
                WHERE (joined, arr) <> (excluded.joined, excluded.arr)
            """
        ).run(register.values + [.integer(joined), .integer(own)])
    }

    /// The heads of a register, the one that counts first.
    private static let followingHeads = """
        FROM following WHERE did = ? AND member = ? AND hidden = 0 AND covered = 0
            ORDER BY own DESC, hlc DESC, id DESC
        """

    // MARK: Followers

    /// The heads, the one that counts first: a new operation about the member cites those
    /// that say the opposite.
    public func heads(
        _ register: ViewStore.FollowingRegister, limit: Int
    ) throws(StorageError) -> [ViewStore.FollowingHead] {
        try connection.statement("SELECT arr, joined, own \(Self.followingHeads) LIMIT ?")
            .rows(register.values + [.integer(Int64(limit))]) { row in
                ViewStore.FollowingHead(
                    arrival: row.integer(0), isJoined: row.integer(1) == 1,
                    isOwn: row.integer(2) == 1)
            }
    }

    /// The followers of a channel, by member id.
    public func followers(of document: Int64) throws(StorageError) -> [MemberID] {
        try connection.statement(
            "SELECT member FROM subscription WHERE did = ? AND joined = 1 ORDER BY member"
        ).rows(.integer(document)) { (row) throws(StorageError) in try row.identifier16(0) }
    }

    /// Whether `member` follows the channel.
    public func isFollowing(
        _ member: MemberID, _ document: Int64
    ) throws(StorageError) -> Bool {
        try connection.statement(
            "SELECT joined FROM subscription WHERE did = ? AND member = ?"
        ).integer(.integer(document), .blob(member.bytes)) == 1
    }

    /// The arrival number of the operation by which `member` started to follow the channel, `nil`
    /// for a non-follower.
    public func joiningWord(
        of member: MemberID, _ document: Int64
    ) throws(StorageError) -> Int64? {
        try connection.statement(
            "SELECT arr FROM subscription WHERE did = ? AND member = ? AND joined = 1"
        ).integer(.integer(document), .blob(member.bytes))
    }

    // MARK: Other operations

    /// The condition that an operation is a message, or an annotation of one. Column names are
    /// qualified: a bare `sort` or `arr` would be the inner table's.
    static func aboutMessages(
        _ document: String, _ sort: String, _ arrival: String
    ) -> String {
        """
        (EXISTS(SELECT 1 FROM message AS m
                WHERE m.did = \(document) AND m.sort = \(sort) AND m.arr = \(arrival))
            OR EXISTS(SELECT 1 FROM annotation AS a WHERE a.arr = \(arrival)))
        """
    }
}

extension ViewStore.FollowingRegister {
    fileprivate var values: [SQLValue] { [.integer(document), .blob(member.bytes)] }
}

/// The operations of a register that say the same.
private struct FollowingMeaning: CitingRegister {
    let register: ViewStore.FollowingRegister
    let isJoined: Bool

    static let statements = CoveringStatements(
        "following", citing: "following_past", by: "following_citing", place: ["did", "member"],
        others: ["joined"])

    init(_ register: ViewStore.FollowingRegister, _ isJoined: Bool) {
        self.register = register
        self.isJoined = isJoined
    }

    var place: [SQLValue] { register.values }
    var values: [SQLValue] { register.values + [.integer(isJoined ? 1 : 0)] }
    var overwritten: Self { Self(register, !isJoined) }
}

extension ViewStore {
    /// The register for one member in one channel.
    public struct FollowingRegister: Hashable, Sendable {
        /// The short number of the channel.
        public let document: Int64
        /// The member.
        public let member: MemberID

        /// The register of `member` in the channel with this number.
        public init(document: Int64, member: MemberID) {
            self.document = document
            self.member = member
        }
    }

    /// What one operation says about one member.
    public struct FollowingAssertion: Hashable, Sendable {
        /// The member and channel.
        public let register: FollowingRegister
        /// The operation.
        public let id: OperationID
        /// When it was written.
        public let timestamp: HybridTimestamp
        /// Its arrival number.
        public let arrival: Int64
        /// Whether the member follows the channel.
        public let isJoined: Bool
        /// Whether the member wrote it.
        public let isOwn: Bool

        /// A row with the given fields.
        public init(
            _ register: FollowingRegister, id: OperationID, at timestamp: HybridTimestamp,
            arrival: Int64, isJoined: Bool, isOwn: Bool
        ) {
            self.register = register
            self.id = id
            self.timestamp = timestamp
            self.arrival = arrival
            self.isJoined = isJoined
            self.isOwn = isOwn
        }
    }

    /// A head of a register.
    public struct FollowingHead: Hashable, Sendable {
        /// Its operation's arrival number.
        public let arrival: Int64
        /// Whether the member follows the channel.
        public let isJoined: Bool
        /// Whether the member wrote it.
        public let isOwn: Bool
    }
}
