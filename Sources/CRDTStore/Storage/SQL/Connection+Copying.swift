private import CSQLite

extension Connection {
    /// Writes a whole copy of the database, as of one moment, into the empty file at `path`.
    ///
    /// `VACUUM INTO` rather than SQLite's backup interface: it reads one snapshot and never starts
    /// over, however much is written meanwhile by the connection that serves; and what was deleted
    /// is not in the copy. For a connection of its own on a thread of its own: it takes as long as
    /// the disk needs. The copy is not synced.
    ///
    /// - Throws: `.misuse` on the connection that writes.
    public func copy(into path: String) throws(StorageError) {
        guard mode == .readOnly, !path.utf8.contains(0) else {
            throw StorageError(.misuse, "not a connection for copying", statement: "VACUUM INTO")
        }
        // The file stays read-only by the way it was opened; the ban is on all that it attaches.
        try execute("PRAGMA query_only = OFF")
        defer { try? execute("PRAGMA query_only = ON") }
        let quoted = path.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''")
        let status = sqlite3_exec(database.pointer, "VACUUM INTO '\(quoted)'", nil, nil, nil)
        guard status == SQLITE_OK else { throw database.failure(status, "VACUUM INTO") }
    }

    /// Takes single values out of the copy at `path`, of which nothing is left in the file then.
    ///
    /// - Parameter name: of the value; no quotation mark is in it.
    /// - Returns: whether it was there.
    /// - Throws: what SQLite says of a file that cannot be written.
    public static func removeValue(
        _ name: String, fromCopyAt path: String
    ) throws(StorageError) -> Bool {
        precondition(!name.utf8.contains(UInt8(ascii: "'")), "a name from outside")
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil)
        guard let opened else { throw StorageError(.noMemory, "no memory", statement: "open") }
        let copy = DatabaseHandle(opened)
        guard status == SQLITE_OK else { throw copy.failure(status, "open") }
        // The journal in memory: a file beside the copy would keep what is taken out.
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
