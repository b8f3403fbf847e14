public import WorkspaceModel

/// Who follows a channel: of each member the latest word that counts.
///
/// Every word that counts is a row of `following`, so that one that ceases to, because its verdict
/// turned or because it is deleted, gives way to the one before it without anything being opened,
/// also while the keys are dropped. The latest of each member is a row of `subscription`.
extension ViewStore {
    // MARK: Words

    /// Takes over what somebody said about following a channel, where that counts: the largest
    /// (hlc, id) of a member wins, so every order gives the same rows.
    ///
    /// - Parameter arrival: the arrival number of the operation.
    /// - Returns: whether the member follows the channel now and did not before, or the reverse.
    @discardableResult
    public func fold(
        _ member: MemberID, joined: Bool, in document: Int64, at timestamp: HybridTimestamp,
        by id: OperationID, arrival: Int64
    ) throws(StorageError) -> Bool {
        let before = try isFollowing(member, document)
        try connection.statement("INSERT OR IGNORE INTO following VALUES(?, ?, ?, ?, ?, ?)").run {
            row in
            row.bind(1, document)
            row.bind(2, member)
            row.bind(3, Self.ordered(timestamp))
            row.bind(4, id)
            row.bind(5, arrival)
            row.bind(6, joined ? 1 : 0)
        }
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
        return connection.changedRowCount > 0 && before != joined
    }

    /// Forgets what an operation says about following a channel: it does not count any more.
    ///
    /// - Returns: about whom it was the latest word.
    @discardableResult
    public func forgetWord(_ arrival: Int64) throws(StorageError) -> [MemberID] {
        let rows = try connection.statement(
            "SELECT did, member, id FROM following WHERE arr = ? ORDER BY did, member"
        ).rows(.integer(arrival)) { (row) throws(StorageError) in
            (
                document: row.integer(0), member: try row.identifier16(1) as MemberID,
                id: try row.identifier32(2) as OperationID
            )
        }
        guard !rows.isEmpty else { return [] }
        try connection.statement("DELETE FROM following WHERE arr = ?").run(.integer(arrival))
        var changed: [MemberID] = []
        for row in rows {
            try connection.statement(
                "DELETE FROM subscription WHERE did = ? AND member = ? AND id = ?"
            ).run(.integer(row.document), .blob(row.member.bytes), .blob(row.id.bytes))
            guard connection.changedRowCount > 0 else { continue }
            changed.append(row.member)
            try foldLatest(of: row.member, in: row.document)
        }
        return changed
    }

    /// Has the latest word of a member that counts stand for him, where none does.
    private func foldLatest(of member: MemberID, in document: Int64) throws(StorageError) {
        let latest = try connection.statement(
            """
            SELECT hlc, id, arr, joined FROM following WHERE did = ? AND member = ?
                ORDER BY hlc DESC, id DESC LIMIT 1
            """
        ).firstRow(.integer(document), .blob(member.bytes)) { (row) throws(StorageError) in
            (
                timestamp: Self.timestamp(row.integer(0)),
                id: try row.identifier32(1) as OperationID, arrival: row.integer(2),
                isJoined: row.integer(3) == 1
            )
        }
        guard let latest else { return }
        try fold(
            member, joined: latest.isJoined, in: document, at: latest.timestamp, by: latest.id,
            arrival: latest.arrival)
    }

    // MARK: Followers

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

    // MARK: What is no message

    /// Whether an operation is a message, or is said about one.
    public func isAboutMessages(
        _ position: Position, in document: Int64
    ) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 WHERE \(Self.aboutMessages("?1", "?2", "?3"))")
            .integer(
                .integer(document), .integer(position.sort), .integer(position.arrival)) != nil
    }

    /// The operation is named in full: a bare `sort` or `arr` would be the inner table's own.
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
