import WorkspaceModel

/// Comparing a rebuilt store's messages with its events. Both functions scan all messages.
extension ViewStore {
    /// Marks hidden messages that were shown before, which their events show.
    ///
    /// - Parameter type: the number of the event for a new message.
    public func noteShown(byEvents type: Int64) throws(StorageError) {
        try connection.statement(
            """
            UPDATE message SET hidden = 3 WHERE hidden = 1
                AND arr IN (SELECT arr FROM event WHERE type = ?)
            """
        ).run(.integer(type))
    }

    /// Shown, undeleted messages without an event, in order of arrival. Unknown for messages before
    /// the oldest event.
    ///
    /// - Parameter type: the number of the event for a new message.
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
