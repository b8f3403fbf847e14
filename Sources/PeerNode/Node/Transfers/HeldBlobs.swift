import BlobStore
import CRDTStore
import WorkspaceModel

/// Which chunks of blobs are held, according to the tables, and about which blobs peers have not
/// been told yet.
final class HeldBlobs: FilePart {
    /// Blobs whose held chunks have changed since peers were told.
    private var changed: Set<BlobRoot> = []
    /// Those of them of which all was held, and no longer is.
    private var lost: Set<BlobRoot> = []
    /// When that is told, on the monotonic clock.
    private(set) var wordsDue: UInt64?
    /// Bytes of ciphertext that are still to come of all blobs that are wanted; `nil` until somebody asks.
    /// It is counted along, since many thousands may be wanted while each next one is asked for.
    private var comingBytes: UInt64?

    /// A blob that is at least partly held.
    func heldRow(_ root: BlobRoot) throws(StorageError) -> (BlobTable.Row, BlobName)? {
        for row in try store.blobs.rows(startingWith: root.bytes) where row.byteCount > 0 {
            if let blob = row.blob { return (row, blob) }
        }
        return nil
    }

    /// What peers are told about a blob; `nil` where nothing of it is held.
    func holding(of root: BlobRoot) throws(StorageError) -> BlobHolding? {
        guard let (row, blob) = try heldRow(root), !row.held.isEmpty else { return nil }
        return BlobHolding(shape: blob.shape, map: row.held)
    }

    /// Writes what is held of a blob, and has peers hear of it.
    func setHeld(_ held: HaveMap, of row: BlobTable.Row) throws(StorageError) {
        guard let blob = row.blob else { return }
        try write()
        try change(row.number) { () throws(StorageError) in
            try store.blobs.setHeld(
                held.encoded, byteCount: Int64(clamping: held.byteCount(of: blob.shape)),
                of: row.number, at: Int64(clamping: time.wall))
        }
        changed.insert(blob.root)
        if row.held.isWhole, !held.isWhole { lost.insert(blob.root) }
        wordsDue = wordsDue ?? time.monotonic
    }

    /// Writes whether a blob is being fetched.
    func setWanted(_ isOn: Bool, of number: Int64) throws(StorageError) {
        try write()
        try change(number) { () throws(StorageError) in
            try store.blobs.set(.wanted, isOn, of: number)
        }
    }

    /// Forgets all that the tables say of a blob.
    func remove(_ number: Int64) throws(StorageError) {
        try write()
        try change(number) { () throws(StorageError) in try store.blobs.remove(number) }
    }

    /// Bytes of ciphertext that are still to come of all blobs that are wanted, but for one.
    func missingBytes(besides number: Int64) throws(StorageError) -> UInt64 {
        var coming = comingBytes ?? 0
        if comingBytes == nil {
            for row in try store.blobs.wanted(from: 0, limit: .max) { coming &+= row.missingBytes }
            comingBytes = coming
        }
        return coming &- (try missingBytes(of: number))
    }

    private func missingBytes(of number: Int64) throws(StorageError) -> UInt64 {
        guard let row = try store.blobs.row(number), row.isWanted else { return 0 }
        return row.missingBytes
    }

    /// Changes the row of a blob, and counts along what is to come.
    private func change(
        _ number: Int64, _ body: () throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let coming = comingBytes else { return try body() }
        let before = try missingBytes(of: number)
        try body()
        comingBytes = coming &- before &+ (try missingBytes(of: number))
    }

    /// The blobs to tell peers about now; `isLost` where all of it was held, and no longer is.
    func takeChanged() -> [(root: BlobRoot, isLost: Bool)] {
        defer { (changed, lost, wordsDue) = ([], [], nil) }
        return changed.sorted().map { ($0, lost.contains($0)) }
    }
}

extension BlobTable {
    /// What is known of a blob.
    func row(_ blob: BlobName) throws(StorageError) -> Row? {
        try row(root: blob.root.bytes, size: Int64(clamping: blob.shape.byteCount))
    }

    /// Adds the row of a blob without chunks, unless it is there.
    ///
    /// - Parameter time: milliseconds since 1970.
    /// - Returns: its number.
    func enter(_ blob: BlobName, at time: UInt64) throws(StorageError) -> Int64 {
        try enter(
            root: blob.root.bytes, size: Int64(clamping: blob.shape.byteCount),
            map: HaveMap(blob.shape).encoded, at: Int64(clamping: time)
        ).number
    }
}

extension BlobTable.Row {
    /// The blob, `nil` where the row makes no sense.
    var blob: BlobName? {
        guard let root = BlobRoot(untrusted: root), size >= 0,
            let shape = BlobShape(byteCount: UInt64(size))
        else { return nil }
        return BlobName(root: root, shape: shape)
    }

    /// Bytes of its ciphertext that are not held; none where the row makes no sense.
    var missingBytes: UInt64 {
        let whole = blob?.shape.ciphertextByteCount ?? 0
        return whole - min(whole, UInt64(max(byteCount, 0)))
    }

    /// Which chunks are held; none where the row makes no sense.
    var held: HaveMap {
        guard let shape = blob?.shape else { return HaveMap(chunkCount: 0) }
        return (try? HaveMap(chunkCount: shape.chunkCount, decoding: map)) ?? HaveMap(shape)
    }
}
