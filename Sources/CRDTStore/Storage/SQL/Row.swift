private import CSQLite
public import WorkspaceModel

/// The current row, lent for one call. It is not copyable, so it cannot outlive its step.
///
/// Columns count from 0.
public struct Row: ~Copyable {
    private let pointer: OpaquePointer
    private let sql: String

    init(_ pointer: OpaquePointer, _ sql: String) {
        self.pointer = pointer
        self.sql = sql
    }

    /// Whether the column holds NULL.
    public func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    /// The integer; 0 for NULL.
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    /// The integer, or `nil` for NULL.
    public func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    /// The bytes; none for NULL.
    public func blob(_ column: Int32) -> [UInt8] {
        // SQLite gives no address for an empty blob.
        guard let base = sqlite3_column_blob(pointer, column) else { return [] }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The bytes, or `nil` for NULL. An empty blob is not NULL.
    public func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// The value as the table has it; a fractional number, which our tables never contain, is
    /// truncated, and text that is not UTF-8 is returned as bytes.
    func value(_ column: Int32) -> SQLValue {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_NULL: nil
        case SQLITE_INTEGER, SQLITE_FLOAT: .integer(integer(column))
        case SQLITE_TEXT: (try? text(column)).map(SQLValue.text) ?? .blob(blob(column))
        default: .blob(blob(column))
        }
    }

    /// How many bytes the blob or text has, without copying it.
    public func byteCount(_ column: Int32) -> Int { Int(sqlite3_column_bytes(pointer, column)) }

    /// The text; empty for NULL.
    ///
    /// - Throws: `.corrupt` when it is not UTF-8, since only valid text is ever bound.
    public func text(_ column: Int32) throws(StorageError) -> String {
        guard let base = sqlite3_column_text(pointer, column) else { return "" }
        let count = Int(sqlite3_column_bytes(pointer, column))
        let bytes = UnsafeBufferPointer(start: base, count: count)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StorageError(.corrupt, "column \(column) is not UTF-8", statement: sql)
        }
        return text
    }

    /// The text, or `nil` for NULL.
    ///
    /// - Throws: `.corrupt` when it is not UTF-8.
    public func optionalText(_ column: Int32) throws(StorageError) -> String? {
        isNull(column) ? nil : try text(column)
    }

    /// A name of 32 bytes.
    ///
    /// - Throws: `.corrupt` unless the column is a blob of exactly 32 bytes.
    public func identifier32<Named>(
        _ column: Int32, as: Named.Type = Named.self
    ) throws(StorageError) -> Identifier32<Named> {
        let bytes = try fixedBlob(column, byteCount: 32)
        return Identifier32(
            words: (word(bytes, 0), word(bytes, 8), word(bytes, 16), word(bytes, 24)))
    }

    /// A name of 16 bytes.
    ///
    /// - Throws: `.corrupt` unless the column is a blob of exactly 16 bytes.
    public func identifier16<Named>(
        _ column: Int32, as: Named.Type = Named.self
    ) throws(StorageError) -> Identifier16<Named> {
        let bytes = try fixedBlob(column, byteCount: 16)
        return Identifier16(words: (word(bytes, 0), word(bytes, 8)))
    }

    /// The column's bytes in place, valid until the next call on this row.
    private func fixedBlob(
        _ column: Int32, byteCount: Int
    ) throws(StorageError) -> UnsafeRawBufferPointer {
        guard sqlite3_column_type(pointer, column) == SQLITE_BLOB,
            let base = sqlite3_column_blob(pointer, column),
            Int(sqlite3_column_bytes(pointer, column)) == byteCount
        else {
            throw StorageError(
                .corrupt, "column \(column) is no blob of \(byteCount) bytes", statement: sql)
        }
        return UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
