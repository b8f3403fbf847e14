public import WorkspaceModel

/// Who follows a channel: of each member the word that counts.
///
/// What is said about one member in one channel is a register (PROTOCOL.md, 4.1). Every word of it is
/// a row of `following`, valid or not, so that one whose verdict turns or that is deleted gives way to
/// others without anything being opened, also while the keys are dropped. A word overwrites those that
/// say the opposite. Of those that nothing overwrites the member's own come first, then the largest
/// (hlc, id). The word that counts is a row of `subscription`; by which one the member came in is the
/// first of those that say the same, so that saying it again moves nothing.
public final class FollowingTable {
    let connection: Connection
    private let memory: ViewMemory
    private let citing: CitingWords

    init(_ connection: Connection, _ memory: ViewMemory) {
        (self.connection, self.memory) = (connection, memory)
        citing = CitingWords(connection: connection)
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
        _ word: ViewStore.FollowingWord, citing cited: [OperationID], isValid: Bool
    ) throws(StorageError) -> Bool {
        let register = word.register
        let meaning = FollowingMeaning(register, word.isJoined)
        let before = try isFollowing(register.member, register.document)
        if try citing.isValid(word.id, in: meaning) != nil {
            guard try citing.setValid(isValid, word.id, in: meaning) else { return false }
        } else {
            let coverCount = try citing.noteCited(cited, by: word.id, in: meaning)
            try connection.statement(
                "INSERT INTO following VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
            ).run(
                meaning.values + [
                    .blob(word.id.bytes), .integer(ViewStore.ordered(word.timestamp)),
                    .integer(word.arrival), .integer(word.isOwn ? 1 : 0),
                    .integer(isValid ? 0 : 1), .integer(coverCount),
                ])
            if isValid { try citing.cover(citedBy: word.id, in: meaning, by: 1) }
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
            for (meaning, id) in try words(at: arrival)
            where try citing.setValid(isValid, id, in: meaning) {
                try renewSubscription(meaning.register)
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
        for (meaning, id) in words {
            try citing.removeWord(id, from: meaning)
            try renewSubscription(meaning.register)
        }
        return !words.isEmpty
    }

    /// The rows of one operation: one for each whom it names.
    private func words(
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

    /// Has the word that counts stand for a member, and the one by which he came in.
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

    /// The words of a register that nothing overwrites, the one that counts first.
    private static let followingHeads = """
        FROM following WHERE did = ? AND member = ? AND hidden = 0 AND covered = 0
            ORDER BY own DESC, hlc DESC, id DESC
        """

    // MARK: Followers

    /// The words that nothing overwrites, the one that counts first: of these a new word about the
    /// member cites those that say the opposite.
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

    /// The arrival number of the word by which `member` came to follow the channel, `nil` for who does
    /// not.
    public func joiningWord(
        of member: MemberID, _ document: Int64
    ) throws(StorageError) -> Int64? {
        try connection.statement(
            "SELECT arr FROM subscription WHERE did = ? AND member = ? AND joined = 1"
        ).integer(.integer(document), .blob(member.bytes))
    }

    // MARK: What is no message

    /// That an operation is a message, or is said about one. It is named in full: a bare `sort` or
    /// `arr` would be the inner table's own.
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

/// The words of a register that say the one thing, or the other.
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

    /// A word that nothing overwrites.
    public struct FollowingHead: Hashable, Sendable {
        /// Its operation's arrival number.
        public let arrival: Int64
        /// Whether the member follows the channel.
        public let isJoined: Bool
        /// Whether it is the member's own word.
        public let isOwn: Bool
    }
}
