import WorkspaceModel

/// Messages of the view on their way into the table.
final class MessageInsert: GatheredRows {
    private var rows: [(message: ViewStore.MessageRow, visibility: ViewStore.Visibility)] = []

    init(_ connection: Connection) throws(StorageError) {
        try super.init(
            """
            INSERT INTO message VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT(did, sort, arr) DO UPDATE SET key_hlc = excluded.key_hlc,
                key_id = excluded.key_id, gid = excluded.gid, thread_hlc = excluded.thread_hlc,
                thread_id = excluded.thread_id, mention = excluded.mention, hidden = CASE WHEN excluded.hidden = 1
                AND hidden IN (0, 3) THEN 3 ELSE excluded.hidden END
            """, on: connection)
    }

    func add(
        _ message: ViewStore.MessageRow, as visibility: ViewStore.Visibility
    ) throws(StorageError) {
        try willAdd()
        rows.append((message, visibility))
        try didAdd()
    }

    override var count: Int { rows.count }

    override func write() throws(StorageError) {
        try insert.run(rows.count) { index, row in
            let (message, visibility) = rows[index]
            row.bind(1, message.document)
            row.bind(2, message.position.sort)
            row.bind(3, message.position.arrival)
            row.bind(4, Int64(bitPattern: message.key.timestamp.rawValue))
            row.bind(5, Int64(bitPattern: message.key.idPrefix))
            row.bind(6, message.grant)
            row.bind(7, message.thread.map { Int64(bitPattern: $0.timestamp.rawValue) })
            row.bind(8, message.thread.map { Int64(bitPattern: $0.idPrefix) })
            row.bind(9, visibility.rawValue)
            row.bind(10, message.isMention ? 1 : 0)
        }
        discard()
    }

    override func discard() { rows.removeAll(keepingCapacity: true) }
}
