import WorkspaceModel

/// Comparing the view with what the operations give, and putting it right.
extension ViewStore {
    /// The row of a message, shown or hidden.
    public func stored(
        at position: Position, in document: Int64
    ) throws(StorageError) -> (row: MessageRow, visibility: Visibility)? {
        let sql = """
            SELECT key_hlc, key_id, gid, thread_hlc, thread_id, hidden, mention FROM message
                WHERE did = ? AND sort = ? AND arr = ?
            """
        return try connection.statement(sql).firstRow(
            .integer(document), .integer(position.sort), .integer(position.arrival)
        ) { row in
            let thread = row.optionalInteger(3).map { Self.name($0, row.integer(4)) }
            var message = MessageRow(
                document: document, position: position,
                key: Self.name(row.integer(0), row.integer(1)),
                grant: row.integer(2), thread: thread)
            message.isMention = row.integer(6) == 1
            return (message, Visibility(rawValue: row.integer(5)) ?? .hidden)
        }
    }

    private static func name(_ timestamp: Int64, _ prefix: Int64) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: timestamp)),
            idPrefix: UInt64(bitPattern: prefix))
    }

    /// Removes a row that no operation gives.
    public func remove(at position: Position, in document: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM message WHERE did = ? AND sort = ? AND arr = ?")
            .run(.integer(document), .integer(position.sort), .integer(position.arrival))
        try removeLate(position, in: document)
        memory.forgetUnread(in: document)
    }
}
