public import WorkspaceModel

/// Who follows a channel: of each member the latest word.
extension ViewStore {
    /// Takes over what somebody said last about following a channel: the larger (hlc, id) wins,
    /// so every order gives the same rows.
    public func fold(
        _ member: MemberID, joined: Bool, in document: Int64, at timestamp: HybridTimestamp,
        by id: OperationID
    ) throws(StorageError) {
        let sql = """
            INSERT INTO subscription VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(did, member)
                DO UPDATE SET joined = ?3, hlc = ?4, id = ?5
                WHERE (hlc < 0, hlc, id) < (?4 < 0, ?4, ?5)
            """
        try connection.statement(sql).run { row in
            row.bind(1, document)
            row.bind(2, member)
            row.bind(3, joined ? 1 : 0)
            row.bind(4, Int64(bitPattern: timestamp.rawValue))
            row.bind(5, id)
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

    /// When `member` began to follow the channel, by the latest word; `nil` for who does not.
    public func joined(
        _ member: MemberID, _ document: Int64
    ) throws(StorageError) -> HybridTimestamp? {
        try connection.statement(
            "SELECT hlc FROM subscription WHERE did = ? AND member = ? AND joined = 1"
        ).integer(.integer(document), .blob(member.bytes))
            .map { HybridTimestamp(rawValue: UInt64(bitPattern: $0)) }
    }

    /// Forgets what somebody said last about following a channel, if it is this word.
    ///
    /// - Returns: whether it was.
    public func forget(
        _ member: MemberID, in document: Int64, saidBy id: OperationID
    ) throws(StorageError) -> Bool {
        try connection.statement(
            "DELETE FROM subscription WHERE did = ? AND member = ? AND id = ?"
        ).run(.integer(document), .blob(member.bytes), .blob(id.bytes))
        return connection.changedRowCount > 0
    }

    /// Whether an operation is a message, or is said about one.
    public func isAboutMessages(
        _ position: Position, in document: Int64
    ) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 WHERE \(Self.aboutMessages("?1", "?2", "?3"))")
            .integer(
                .integer(document), .integer(position.sort), .integer(position.arrival)) != nil
    }

    /// The operations of a channel that are neither messages nor said about one, by their arrival
    /// numbers, ascending. Reads the index of all and opens none.
    public func wordsBesideMessages(in document: Int64) throws(StorageError) -> [Int64] {
        try connection.statement(
            """
            SELECT operation.arr FROM log JOIN operation USING(lid) WHERE log.did = ?1
                AND NOT \(Self.aboutMessages("?1", "operation.sort", "operation.arr"))
                ORDER BY operation.arr
            """
        ).rows(.integer(document)) { $0.integer(0) }
    }

    /// The operation is named in full: a bare `sort` or `arr` would be the inner table's own.
    private static func aboutMessages(
        _ document: String, _ sort: String, _ arrival: String
    ) -> String {
        """
        (EXISTS(SELECT 1 FROM message AS m
                WHERE m.did = \(document) AND m.sort = \(sort) AND m.arr = \(arrival))
            OR EXISTS(SELECT 1 FROM annotation AS a WHERE a.arr = \(arrival)))
        """
    }
}
