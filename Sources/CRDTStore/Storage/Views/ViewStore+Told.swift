import WorkspaceModel

/// What events say of messages that a store shows which was made anew. Both go through all messages.
extension ViewStore {
    /// Notes of messages that are hidden which of them were shown before: of those an event tells.
    ///
    /// - Parameter type: the number of the event that tells of a new message.
    public func noteShown(byEvents type: Int64) throws(StorageError) {
        try connection.statement(
            """
            UPDATE message SET hidden = 3 WHERE hidden = 1
                AND arr IN (SELECT arr FROM event WHERE type = ?)
            """
        ).run(.integer(type))
    }

    /// Messages that are shown, and not deleted, of which no event tells, in the order in which they
    /// came. Of what was written before the oldest event that is kept it is not known.
    ///
    /// - Parameter type: the number of the event that tells of a new message.
    public func untold(byEvents type: Int64) throws(StorageError) -> [MessageRow] {
        try connection.statement(
            """
            SELECT did, sort, arr, key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention
                FROM message WHERE hidden = 0
                AND key_hlc >= (SELECT CASE seq WHEN 1 THEN 0 ELSE at << 16 END
                    FROM event ORDER BY seq LIMIT 1)
                AND arr NOT IN (SELECT arr FROM event WHERE type = ? AND arr IS NOT NULL)
                AND arr NOT IN (SELECT arr FROM redacted)
                ORDER BY arr
            """
        ).rows(.integer(type)) { Self.message($0) }
    }
}
