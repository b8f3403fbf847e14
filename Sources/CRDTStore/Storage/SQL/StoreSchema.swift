import WorkspaceCrypto
import WorkspaceModel

/// A store's tables with the root page of each: what SQLite keeps in a few pages of the file,
/// without which the rest is unreadable.
///
/// A copy is kept beside the store. It changes only with the version of the schema: tables never
/// move, since the file is never vacuumed.
///
/// - Source: https://www.sqlite.org/fileformat2.html, 1.3, 1.6 and 2.6
public struct StoreSchema: Equatable, Sendable {
    /// One row of `sqlite_schema`.
    struct Entry: Equatable, Sendable {
        let type: String
        let name: String
        let table: String
        let root: UInt64
        /// `nil` for an automatic index.
        let sql: String?
    }

    let version: UInt64
    let entries: [Entry]

    /// The schema of an open store.
    public init(of connection: Connection) throws(StorageError) {
        version = UInt64(max(try connection.schemaVersion(), 0))
        entries = try connection.statement(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid"
        ).rows { (row) throws(StorageError) in
            Entry(
                type: try row.text(0), name: try row.text(1), table: try row.text(2),
                root: UInt64(max(row.integer(3), 0)), sql: try row.optionalText(4))
        }
    }

    // MARK: Its file

    /// Far more than there are.
    private static let entriesMax = 1_024
    private static let textBytesMax = 64 * 1_024
    /// A longer file is not ours.
    public static let fileBytesMax = 1_024 * 1_024

    /// The content of the file beside the store: a 32-byte hash of the rest, and an array.
    public var fileBytes: [UInt8] {
        var encoder = CBOREncoder()
        encoder.array(count: 1 + entries.count)
        encoder.uint(version)
        for entry in entries {
            encoder.array(count: 5)
            for text in [entry.type, entry.name, entry.table] { encoder.text(text) }
            encoder.uint(entry.root)
            if let sql = entry.sql { encoder.text(sql) } else { encoder.null() }
        }
        return Self.hash(encoder.bytes[...]) + encoder.bytes
    }

    /// - Parameter fileBytes: gives `nil` if they have changed since they were written.
    public init?(fileBytes: [UInt8]) {
        let body = fileBytes.dropFirst(32)
        guard fileBytes.count > 32, Self.hash(body) == Array(fileBytes.prefix(32)) else {
            return nil
        }
        do throws(Malformed) {
            var decoder = CBORDecoder(Array(body))
            let count = try decoder.arrayCount(max: 1 + Self.entriesMax)
            version = try decoder.uint()
            var entries: [Entry] = []
            for _ in 1..<max(count, 1) {
                try decoder.arrayCount(exactly: 5)
                entries.append(
                    Entry(
                        type: try decoder.text(maxBytes: 16),
                        name: try decoder.text(maxBytes: 256),
                        table: try decoder.text(maxBytes: 256), root: try decoder.uint(),
                        sql: try decoder.nullOr { (d) throws(Malformed) in
                            try d.text(maxBytes: Self.textBytesMax)
                        }))
            }
            try decoder.finish()
            self.entries = entries
        } catch { return nil }
    }

    private static func hash(_ body: ArraySlice<UInt8>) -> [UInt8] {
        Hash.personal("wsx-schema1", Array(body))
    }

    // MARK: Restoring it

    /// Bytes of a page of a store.
    public static let pageBytes = 8_192

    /// Whether a damaged store's schema equals the copy. One flipped bit may give a table
    /// another one's pages.
    ///
    /// - Throws: errors other than damage: a disk that fails to return a page may do so later.
    public func isReadable(in connection: Connection) throws(StorageError) -> Bool {
        do throws(StorageError) {
            return try StoreSchema(of: connection).entries == entries
        } catch {
            guard error.isDamage else { throw error }
            return false
        }
    }

    /// A first page without a schema, to replace a damaged one.
    ///
    /// - Parameter pageCount: of the file.
    public func firstPage(pageCount: UInt32) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: Self.pageBytes)
        func put(_ bytes: [UInt8], at offset: Int) {
            for (index, byte) in bytes.enumerated() { page[offset + index] = byte }
        }
        func number(_ value: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        put([UInt8]("SQLite format 3\0".utf8), at: 0)
        // Pages of 8 KiB, a write-ahead log, nothing reserved, and the prescribed fractions.
        put([0x20, 0, 2, 2, 0, 64, 32, 32], at: 16)
        // The size is valid if the two change counters are equal. No page is free.
        put(number(1) + number(pageCount), at: 24)
        // The schema cookie, its format, and UTF-8.
        put(number(1) + number(4), at: 40)
        put(number(1), at: 56)
        put(number(UInt32(truncatingIfNeeded: version)), at: 60)
        put(number(Connection.Mode.main.applicationID), at: 68)
        put(number(1) + number(3_040_000), at: 92)
        // A table leaf without rows: its content begins at the end of the page.
        put([0x0d, 0, 0, 0, 0, 0x20, 0, 0], at: 100)
        return page
    }

    /// Writes the schema into a store whose first page is `firstPage`. The store must be reopened
    /// to read its tables.
    ///
    /// - Parameter connection: opened as damaged.
    public func write(into connection: Connection) throws(StorageError) {
        try connection.begin()
        let insert = try connection.statement("INSERT INTO sqlite_schema VALUES(?, ?, ?, ?, ?)")
        for entry in entries {
            try insert.run(
                .text(entry.type), .text(entry.name), .text(entry.table),
                .integer(Int64(truncatingIfNeeded: entry.root)),
                entry.sql.map(SQLValue.text) ?? .null)
        }
        try connection.commit()
    }

    /// A damaged store's image, with its schema restored if it was unreadable.
    public func mended(_ image: [UInt8]) throws(StorageError) -> [UInt8] {
        do throws(StorageError) {
            if try isReadable(in: Connection(image: image, isDamaged: true)) { return image }
        } catch {
            guard error.isDamage, image.count >= Self.pageBytes else { throw error }
        }
        let count = UInt32(clamping: image.count / Self.pageBytes)
        let connection = try Connection(
            image: firstPage(pageCount: count) + image.dropFirst(Self.pageBytes), isDamaged: true)
        try write(into: connection)
        return try connection.serialized()
    }
}
