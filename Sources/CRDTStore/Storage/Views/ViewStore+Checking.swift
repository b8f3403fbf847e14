import WorkspaceModel

/// Comparing the view with the operations, and repairing it.
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

    /// The position of a message.
    public struct MessagePlace: Sendable, Equatable {
        /// The short number of its document.
        public let document: Int64
        /// Its place there.
        public let position: Position
        /// Whether people see it.
        public let isShown: Bool
    }

    /// Messages of all documents, shown or hidden, by document and position: for scans in batches.
    ///
    /// - Parameter place: only those after it; `nil` for the first.
    public func messages(
        behind place: MessagePlace?, limit: Int
    ) throws(StorageError) -> [MessagePlace] {
        try connection.statement(
            """
            SELECT did, sort, arr, hidden FROM message WHERE (did, sort, arr) > (?, ?, ?)
                ORDER BY did, sort, arr LIMIT ?
            """
        ).rows(
            .integer(place?.document ?? .min), .integer(place?.position.sort ?? .min),
            .integer(place?.position.arrival ?? .min), .integer(Int64(limit))
        ) {
            MessagePlace(
                document: $0.integer(0),
                position: Position(sort: $0.integer(1), arrival: $0.integer(2)),
                isShown: $0.integer(3) == Visibility.shown.rawValue)
        }
    }

    private static func name(_ timestamp: Int64, _ prefix: Int64) -> MessageKey {
        MessageKey(
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: timestamp)),
            idPrefix: UInt64(bitPattern: prefix))
    }

    /// Removes a row without an operation.
    public func remove(at position: Position, in document: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM message WHERE did = ? AND sort = ? AND arr = ?")
            .run(.integer(document), .integer(position.sort), .integer(position.arrival))
        try removeLate(position, in: document)
        memory.forgetUnread(in: document)
    }
}
