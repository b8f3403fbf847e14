private import CSQLite
public import WorkspaceModel

/// Takes the values of one run of a statement. Parameters count from 1, as in `?1`.
///
/// A value that cannot be bound (no such parameter, over SQLite's size limit) makes the run throw.
///
/// It can be copied, because the compiler (6.3.1) stops where it inlines one that cannot. Nobody
/// keeps it beyond the run.
public struct Binder {
    private let statement: Statement

    init(_ statement: Statement) { self.statement = statement }

    /// An integer.
    public func bind(_ parameter: Int32, _ number: Int64) {
        statement.bind(statement.rowStart + parameter, number)
    }

    /// An integer, or NULL.
    public func bind(_ parameter: Int32, _ number: Int64?) {
        guard let number else { return bindNull(parameter) }
        statement.bind(statement.rowStart + parameter, number)
    }

    /// Bytes; empty ones are an empty blob, not NULL.
    public func bind(_ parameter: Int32, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { statement.bind(statement.rowStart + parameter, blob: $0) }
    }

    /// Bytes, or NULL.
    public func bind(_ parameter: Int32, _ bytes: [UInt8]?) {
        guard let bytes else { return bindNull(parameter) }
        bind(parameter, bytes)
    }

    /// Part of an array, without copying it out first.
    public func bind(_ parameter: Int32, _ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { statement.bind(statement.rowStart + parameter, blob: $0) }
    }

    /// Text as UTF-8. A zero byte inside is kept.
    public func bind(_ parameter: Int32, _ text: String) {
        var text = text
        text.withUTF8 {
            statement.bind(statement.rowStart + parameter, text: UnsafeRawBufferPointer($0))
        }
    }

    /// Text, or NULL.
    public func bind(_ parameter: Int32, _ text: String?) {
        guard let text else { return bindNull(parameter) }
        bind(parameter, text)
    }

    /// A name as a blob of 32 bytes.
    public func bind<Named>(_ parameter: Int32, _ name: Identifier32<Named>) {
        let words = name.words
        let bytes = (
            words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian
        )
        withUnsafeBytes(of: bytes) { statement.bind(statement.rowStart + parameter, blob: $0) }
    }

    /// A name as a blob of 16 bytes.
    public func bind<Named>(_ parameter: Int32, _ name: Identifier16<Named>) {
        let words = name.words
        let bytes = (words.0.bigEndian, words.1.bigEndian)
        withUnsafeBytes(of: bytes) { statement.bind(statement.rowStart + parameter, blob: $0) }
    }

    /// A signature as a blob of 64 bytes.
    public func bind(_ parameter: Int32, _ signature: Signature) {
        signature.lendBytes { statement.bind(statement.rowStart + parameter, blob: $0) }
    }

    /// NULL, which is also what a parameter holds that nothing is bound to.
    public func bindNull(_ parameter: Int32) {
        statement.bindNull(statement.rowStart + parameter)
    }

    /// All parameters in order, from the first.
    public func bind(_ values: [SQLValue]) {
        var parameter: Int32 = 0
        for value in values {
            parameter += 1
            switch value {
            case .null: bindNull(parameter)
            case .integer(let number): bind(parameter, number)
            case .text(let text): bind(parameter, text)
            case .blob(let bytes): bind(parameter, bytes)
            }
        }
    }
}

extension Statement {
    fileprivate func bind(_ parameter: Int32, _ number: Int64) {
        note(sqlite3_bind_int64(pointer, parameter, number))
    }

    fileprivate func bindNull(_ parameter: Int32) {
        note(sqlite3_bind_null(pointer, parameter))
    }

    fileprivate func bind(_ parameter: Int32, blob bytes: UnsafeRawBufferPointer) {
        // An empty array has no address, and no address means NULL to SQLite.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return note(sqlite3_bind_zeroblob(pointer, parameter, 0))
        }
        if let copy = keep(base, bytes.count) {
            note(sqlite3_bind_blob64(pointer, parameter, copy, UInt64(bytes.count), nil))
        } else {
            let count = UInt64(bytes.count)
            note(sqlite3_bind_blob64(pointer, parameter, base, count, wsx_transient()))
        }
    }

    fileprivate func bind(_ parameter: Int32, text bytes: UnsafeRawBufferPointer) {
        let encoding = UInt8(SQLITE_UTF8)
        let count = UInt64(bytes.count)
        // An empty text may have no address either; the arena always has one.
        let base = bytes.baseAddress ?? UnsafeRawPointer(arena)
        if let copy = keep(base, bytes.count) {
            let text = copy.assumingMemoryBound(to: CChar.self)
            note(sqlite3_bind_text64(pointer, parameter, text, count, nil, encoding))
        } else {
            let text = base.assumingMemoryBound(to: CChar.self)
            note(sqlite3_bind_text64(pointer, parameter, text, count, wsx_transient(), encoding))
        }
    }

    /// A copy of the bytes that stays until the run is over, or `nil` when the arena is full.
    private func keep(_ base: UnsafeRawPointer, _ count: Int) -> UnsafeRawPointer? {
        guard count <= arenaCapacity - arenaUsed else { return nil }
        let copy = arena + arenaUsed
        copy.copyMemory(from: base, byteCount: count)
        arenaUsed += count
        return UnsafeRawPointer(copy)
    }

    private func note(_ status: Int32) {
        if status != SQLITE_OK, bindStatus == SQLITE_OK { bindStatus = status }
    }
}
