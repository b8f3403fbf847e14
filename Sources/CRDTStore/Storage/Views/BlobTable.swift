/// The known blobs: what is held of each, which messages refer to them, and which other devices
/// hold all of one. Their chunks are in files beside the store.
///
/// Roots and maps are raw bytes here; the layers above decode them.
public final class BlobTable {
    private let connection: Connection
    /// Held bytes of ciphertext, of all blobs.
    public private(set) var byteCount: Int64 = 0

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        isInUse = try connection.statement("SELECT 1 FROM blob LIMIT 1").integer() != nil
        byteCount =
            try connection.statement("SELECT ifnull(sum(bytes), 0) FROM blob").integer() ?? 0
    }

    /// The key in `meta` while files of messages still have to be indexed, of which an earlier
    /// version indexed fewer.
    public static let unreadFiles = "files.unread"

    /// One blob.
    public struct Row: Sendable, Equatable {
        /// Its short number.
        public let number: Int64
        /// Its name, 32 bytes.
        public let root: [UInt8]
        /// Bytes of the file.
        public let size: Int64
        /// The held chunks, encoded.
        public let map: [UInt8]
        /// Their bytes of ciphertext.
        public let byteCount: Int64
        /// When it was last read, sent or received, milliseconds since 1970.
        public let usedAt: Int64
        /// Whether it is being fetched.
        public let isWanted: Bool
        /// Whether it is kept by request.
        public let isKept: Bool
        /// Whether it was put here.
        public let isOwn: Bool
    }

    private static let columns = "bid, root, size, map, bytes, used, wanted, kept, own"

    private static func row(_ row: borrowing CRDTStore.Row) -> Row {
        Row(
            number: row.integer(0), root: row.blob(1), size: row.integer(2), map: row.blob(3),
            byteCount: row.integer(4), usedAt: row.integer(5), isWanted: row.integer(6) == 1,
            isKept: row.integer(7) == 1, isOwn: row.integer(8) == 1)
    }

    /// The partly held blobs in a database that is not opened as a store.
    public static func stored(in connection: Connection) throws(StorageError) -> [Row] {
        try connection.statement("SELECT \(columns) FROM blob WHERE bytes > 0 ORDER BY bid")
            .rows { row($0) }
    }

    /// Whether there may be a blob.
    public private(set) var isInUse: Bool

    // MARK: Rows

    /// The blob with a number, `nil` where there is none.
    public func row(_ number: Int64) throws(StorageError) -> Row? {
        try connection.statement("SELECT \(Self.columns) FROM blob WHERE bid = ?")
            .firstRow(.integer(number)) { Self.row($0) }
    }

    /// The blobs whose names begin with these bytes, ascending by size; at most 16.
    public func rows(startingWith prefix: [UInt8]) throws(StorageError) -> [Row] {
        let padding = max(0, 32 - prefix.count)
        return try connection.statement(
            """
            SELECT \(Self.columns) FROM blob WHERE root >= ? AND root <= ? ORDER BY root, size
                LIMIT 16
            """
        ).rows(
            .blob(prefix + [UInt8](repeating: 0, count: padding)),
            .blob(prefix + [UInt8](repeating: 255, count: padding))
        ) { Self.row($0) }
    }

    /// The blob with this name and size.
    public func row(root: [UInt8], size: Int64) throws(StorageError) -> Row? {
        try connection.statement(
            "SELECT \(Self.columns) FROM blob WHERE root = ? AND size = ?"
        ).firstRow(.blob(root), .integer(size)) { Self.row($0) }
    }

    /// Every blob, by number. Only for scans: at a start, and by the cache.
    public func rows() throws(StorageError) -> [Row] {
        try connection.statement("SELECT \(Self.columns) FROM blob ORDER BY bid").rows {
            Self.row($0)
        }
    }

    /// The blobs that are being fetched, from a number on.
    public func wanted(from number: Int64, limit: Int) throws(StorageError) -> [Row] {
        try connection.statement(
            """
            SELECT \(Self.columns) FROM blob INDEXED BY blob_wanted
                WHERE wanted = 1 AND bid >= ? ORDER BY bid LIMIT ?
            """
        ).rows(.integer(number), .integer(Int64(limit))) { Self.row($0) }
    }

    /// Adds a blob of which nothing is held, unless it exists.
    ///
    /// - Parameter map: the empty map, encoded.
    /// - Returns: its number, and whether it is new.
    public func enter(
        root: [UInt8], size: Int64, map: [UInt8], at time: Int64
    ) throws(StorageError) -> (number: Int64, isNew: Bool) {
        if let known = try row(root: root, size: size) { return (known.number, false) }
        try connection.statement(
            """
            INSERT INTO blob(root, size, map, bytes, used, wanted, kept, own)
                VALUES(?, ?, ?, 0, ?, 0, 0, 0)
            """
        ).run(.blob(root), .integer(size), .blob(map), .integer(time))
        isInUse = true
        let number = try row(root: root, size: size)?.number
        guard let number else { throw StorageError(.other, "a row is not there", statement: "") }
        return (number, true)
    }

    /// Sets what is held of a blob.
    public func setHeld(
        _ map: [UInt8], byteCount: Int64, of number: Int64, at time: Int64
    ) throws(StorageError) {
        let before = try row(number)?.byteCount ?? 0
        try connection.statement("UPDATE blob SET map = ?, bytes = ?, used = ? WHERE bid = ?")
            .run(.blob(map), .integer(byteCount), .integer(time), .integer(number))
        self.byteCount += byteCount - before
    }

    /// Flags of a blob.
    public enum Mark: String, Sendable {
        /// It is being fetched.
        case wanted
        /// It is kept by request.
        case kept
        /// It was put here.
        case own
    }

    /// Sets or clears a flag of a blob.
    public func set(_ mark: Mark, _ isOn: Bool, of number: Int64) throws(StorageError) {
        try connection.statement("UPDATE blob SET \(mark.rawValue) = ? WHERE bid = ?")
            .run(.integer(isOn ? 1 : 0), .integer(number))
    }

    /// A blob was read or sent.
    public func touch(_ number: Int64, at time: Int64) throws(StorageError) {
        try connection.statement("UPDATE blob SET used = ? WHERE bid = ?")
            .run(.integer(time), .integer(number))
    }

    /// Removes an unreferenced blob, with its holders.
    public func remove(_ number: Int64) throws(StorageError) {
        byteCount -= try row(number)?.byteCount ?? 0
        try connection.statement("DELETE FROM blob_holder WHERE bid = ?").run(.integer(number))
        try connection.statement("DELETE FROM blob WHERE bid = ?").run(.integer(number))
    }

    // MARK: References

    /// A message's reference to a blob.
    public struct Reference: Sendable, Equatable {
        /// The message's arrival number.
        public let arrival: Int64
        /// The index in its manifest.
        public let item: Int64
        /// The blob.
        public let blob: Int64
        /// The short number of the document.
        public let document: Int64

        /// The message with arrival number `arrival` refers to this blob.
        public init(arrival: Int64, item: Int64, blob: Int64, document: Int64) {
            self.arrival = arrival
            self.item = item
            self.blob = blob
            self.document = document
        }
    }

    /// Adds a message's reference to a blob.
    public func refer(_ reference: Reference) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO blob_reference VALUES(?, ?, ?, ?)").run(
            .integer(reference.arrival), .integer(reference.item), .integer(reference.blob),
            .integer(reference.document))
    }

    private static func reference(_ row: borrowing CRDTStore.Row) -> Reference {
        Reference(
            arrival: row.integer(0), item: row.integer(1), blob: row.integer(2),
            document: row.integer(3))
    }

    /// The messages that refer to a blob, the first first.
    public func references(
        to number: Int64, limit: Int
    ) throws(StorageError) -> [Reference] {
        try connection.statement(
            """
            SELECT arr, item, bid, did FROM blob_reference INDEXED BY blob_reference_blob
                WHERE bid = ? ORDER BY arr LIMIT ?
            """
        ).rows(.integer(number), .integer(Int64(limit))) { Self.reference($0) }
    }

    /// Whether a message refers to a blob.
    public func isReferenced(_ number: Int64) throws(StorageError) -> Bool {
        try !references(to: number, limit: 1).isEmpty
    }

    /// The blobs that messages of a document refer to, the newest messages first.
    ///
    /// - Parameter arrival: only messages that arrived before this one.
    public func references(
        ofDocument document: Int64, before arrival: Int64, limit: Int
    ) throws(StorageError) -> [Reference] {
        try connection.statement(
            """
            SELECT arr, item, bid, did FROM blob_reference INDEXED BY blob_reference_document
                WHERE did = ? AND arr < ? ORDER BY arr DESC, item LIMIT ?
            """
        ).rows(.integer(document), .integer(arrival), .integer(Int64(limit))) {
            Self.reference($0)
        }
    }

    /// The blobs without references that are not kept. Scans all of them.
    public func unreferenced() throws(StorageError) -> [Row] {
        try connection.statement(
            """
            SELECT \(Self.columns) FROM blob WHERE kept = 0 AND NOT EXISTS(
                SELECT 1 FROM blob_reference r WHERE r.bid = blob.bid) ORDER BY bid
            """
        ).rows { Self.row($0) }
    }

    // MARK: Holders

    /// A device that announced holding all of a blob.
    public struct Holder: Sendable, Equatable {
        /// The device, 32 bytes.
        public let device: [UInt8]
        /// The announced chunks, encoded: all of them.
        public let map: [UInt8]
        /// When, milliseconds since 1970.
        public let heardAt: Int64

        /// A device's announcement of these chunks.
        public init(device: [UInt8], map: [UInt8], heardAt: Int64) {
            self.device = device
            self.map = map
            self.heardAt = heardAt
        }
    }

    /// Records that a device holds all of a blob; `nil` if it does not, or no longer.
    public func setHolder(
        _ device: [UInt8], _ map: [UInt8]?, of number: Int64, at time: Int64
    ) throws(StorageError) {
        guard let map else {
            return try connection.statement(
                "DELETE FROM blob_holder WHERE bid = ? AND device = ?"
            ).run(.integer(number), .blob(device))
        }
        try connection.statement("INSERT OR REPLACE INTO blob_holder VALUES(?, ?, ?, ?)")
            .run(.integer(number), .blob(device), .blob(map), .integer(time))
    }

    /// The holders of all of a blob, by device.
    public func holders(of number: Int64) throws(StorageError) -> [Holder] {
        try connection.statement(
            "SELECT device, map, heard FROM blob_holder WHERE bid = ? ORDER BY device"
        ).rows(.integer(number)) {
            Holder(device: $0.blob(0), map: $0.blob(1), heardAt: $0.integer(2))
        }
    }
}

extension ViewStore {
    /// Removes a message's references.
    func forgetBlobReferences(of arrival: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM blob_reference WHERE arr = ?").run(.integer(arrival))
    }
}
