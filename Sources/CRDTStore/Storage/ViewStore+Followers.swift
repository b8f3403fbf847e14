public import WorkspaceModel

/// Who follows a channel: of each member the word that counts.
///
/// What is said about one member in one channel is a register (PROTOCOL.md, 4.3). Every word of it is
/// a row of `following`, valid or not, so that one whose verdict turns or that is deleted gives way to
/// others without anything being opened, also while the keys are dropped. Of those that nothing
/// overwrites the member's own come first, then the largest (hlc, id). The word that counts is a row
/// of `subscription`.
extension ViewStore {
    /// What is said about one member in one channel.
    public struct FollowingRegister: Hashable, Sendable {
        /// The short number of the channel.
        public let document: Int64
        /// Whom it is about.
        public let member: MemberID

        /// What is said about `member` in the channel with this number.
        public init(document: Int64, member: MemberID) {
            self.document = document
            self.member = member
        }
    }

    /// What one operation says about one member.
    public struct FollowingWord: Hashable, Sendable {
        /// About whom, and where.
        public let register: FollowingRegister
        /// The operation.
        public let id: OperationID
        /// When it was written.
        public let timestamp: HybridTimestamp
        /// The number under which it is stored.
        public let arrival: Int64
        /// Whether the member follows the channel.
        public let isJoined: Bool
        /// Whether it is the member's own word.
        public let isOwn: Bool

        /// A word with the given fields.
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

    // MARK: Words

    /// Takes over what an operation says about one member, or whether it is valid now. Every order
    /// gives the same rows.
    ///
    /// - Parameter cited: what it overwrites where that is of its register; nothing for a word that
    ///   names several.
    /// - Returns: whether the member follows the channel now and did not before, or the reverse.
    @discardableResult
    public func fold(
        _ word: FollowingWord, citing cited: [OperationID], isValid: Bool
    ) throws(StorageError) -> Bool {
        let register = word.register
        let before = try isFollowing(register.member, register.document)
        if try state(of: word.id, in: register) != nil {
            guard try setValid(isValid, word.id, in: register) else { return false }
        } else {
            let coverCount = try noteCited(cited, by: word.id, in: register)
            try connection.statement(
                "INSERT INTO following VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ).run(
                register.values + [
                    .blob(word.id.bytes), .integer(Self.ordered(word.timestamp)),
                    .integer(word.arrival), .integer(word.isJoined ? 1 : 0),
                    .integer(word.isOwn ? 1 : 0), .integer(isValid ? 0 : 1), .integer(coverCount),
                ])
            if isValid || coverCount > 0 { try coverPast(of: word.id, in: register) }
        }
        try renewSubscription(register)
        return try isFollowing(register.member, register.document) != before
    }

    /// Changes whether the words with these arrival numbers are valid; others are passed over.
    ///
    /// - Returns: whether there were any.
    public func setValid(
        _ isValid: Bool, wordsAt arrivals: [Int64]
    ) throws(StorageError) -> Bool {
        var hasChanged = false
        for arrival in arrivals {
            for (register, id) in try words(at: arrival)
            where try setValid(isValid, id, in: register) {
                try renewSubscription(register)
                hasChanged = true
            }
        }
        return hasChanged
    }

    /// Forgets what an operation says about following a channel, as if it had never come: it is
    /// deleted, or not stored any more.
    ///
    /// - Returns: whether it said anything.
    @discardableResult
    public func forgetWord(_ arrival: Int64) throws(StorageError) -> Bool {
        let words = try words(at: arrival)
        for (register, id) in words {
            try removeWord(id, from: register)
            try renewSubscription(register)
        }
        return !words.isEmpty
    }

    /// The rows of one operation: one for each whom it names.
    private func words(
        at arrival: Int64
    ) throws(StorageError) -> [(FollowingRegister, OperationID)] {
        try connection.statement(
            "SELECT did, member, id FROM following WHERE arr = ? ORDER BY did, member"
        ).rows(.integer(arrival)) { (row) throws(StorageError) in
            (
                .init(document: row.integer(0), member: try row.identifier16(1)),
                try row.identifier32(2)
            )
        }
    }

    /// Has the word that counts stand for a member.
    private func renewSubscription(_ register: FollowingRegister) throws(StorageError) {
        let head = try connection.statement(
            "SELECT joined, arr \(Self.followingHeads) LIMIT 1"
        ).firstRow(register.values) { ($0.integer(0), $0.integer(1)) }
        guard let (joined, arrival) = head else {
            return try connection.statement("DELETE FROM subscription WHERE did = ? AND member = ?")
                .run(register.values)
        }
        try connection.statement(
            """
            INSERT INTO subscription VALUES(?1, ?2, ?3, ?4) ON CONFLICT(did, member)
                DO UPDATE SET joined = ?3, arr = ?4 WHERE (joined, arr) <> (?3, ?4)
            """
        ).run(register.values + [.integer(joined), .integer(arrival)])
    }

    /// The words of a register that nothing overwrites, the one that counts first.
    private static let followingHeads = """
        FROM following \(FollowingRegister.statements.match) AND hidden = 0 AND covered = 0
            ORDER BY own DESC, hlc DESC, id DESC
        """

    // MARK: Followers

    /// The operations that nothing overwrites, by arrival number, the one that counts first: what a
    /// new word about the member has to cite.
    public func heads(
        _ register: FollowingRegister, limit: Int
    ) throws(StorageError) -> [Int64] {
        try connection.statement("SELECT arr \(Self.followingHeads) LIMIT ?")
            .rows(register.values + [.integer(Int64(limit))]) { $0.integer(0) }
    }

    /// Who follows a channel, by member id.
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

    /// The arrival number of the word by which `member` follows the channel, `nil` for who does not.
    public func joiningWord(
        of member: MemberID, _ document: Int64
    ) throws(StorageError) -> Int64? {
        try connection.statement(
            "SELECT arr FROM subscription WHERE did = ? AND member = ? AND joined = 1"
        ).integer(.integer(document), .blob(member.bytes))
    }

    // MARK: What is no message

    /// That an operation is a message, or is said about one. It is named in full: a bare `sort` or `arr` would be the inner table's own.
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

extension ViewStore.FollowingRegister: CitingRegister {
    static let statements = CoveringStatements(
        "following", citing: "following_past", by: "following_citing", place: ["did", "member"])

    var place: [SQLValue] { [.integer(document), .blob(member.bytes)] }
    var values: [SQLValue] { place }
}
