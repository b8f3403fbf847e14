private import CSQLite

extension Connection {
    /// Writes a complete copy of the database, as of one moment, into the empty file at `path`.
    ///
    /// `VACUUM INTO` rather than SQLite's backup interface: it reads one snapshot and never
    /// restarts, however much the serving connection writes meanwhile; and the copy has no deleted
    /// data. For a separate connection on a separate thread: it takes as long as the disk needs.
    /// The copy is not synced.
    ///
    /// - Throws: `.misuse` on the connection that writes.
    public func copy(into path: String) throws(StorageError) {
        guard mode == .readOnly, !path.utf8.contains(0) else {
            throw StorageError(.misuse, "not a connection for copying", statement: "VACUUM INTO")
        }
        // The file was opened read-only; this setting would also forbid writing to attached files.
        try execute("PRAGMA query_only = OFF")
        defer { try? execute("PRAGMA query_only = ON") }
        let quoted = path.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        let status = sqlite3_exec(database.pointer, "VACUUM INTO '\(quoted)'", nil, nil, nil)
        guard status == SQLITE_OK else { throw database.failure(status, "VACUUM INTO") }
    }

    /// Removes single values from the copy at `path`, leaving no trace in the file.
    ///
    /// - Parameter name: of the value; without quotation marks.
    /// - Returns: whether it existed.
    /// - Throws: SQLite's error for a file that cannot be written.
    public static func removeValue(
        _ name: String, fromCopyAt path: String
    ) throws(StorageError) -> Bool {
        precondition(!name.utf8.contains(UInt8(ascii: "'")), "a name from outside")
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
        guard let opened else { throw StorageError(.noMemory, "no memory", statement: "open") }
        let copy = DatabaseHandle(opened)
        guard status == SQLITE_OK else { throw copy.failure(status, "open") }
        // The journal in memory: a file beside the copy would keep the removed values.
        for sql in [
            "PRAGMA journal_mode = MEMORY", "PRAGMA secure_delete = ON",
            "DELETE FROM meta WHERE name = '\(name)'",
        ] {
            let status = sqlite3_exec(copy.pointer, sql, nil, nil, nil)
            guard status == SQLITE_OK else { throw copy.failure(status, sql) }
        }
        return sqlite3_changes(copy.pointer) > 0
    }
}
