import BlobStore
import CRDTStore
import WorkspaceModel

/// Which chunks of blobs are held, as the tables say, and of which blobs peers have not heard it yet.
final class HeldBlobs: FilePart {
    /// Blobs of which more or less is held since peers were told.
    private var changed: Set<BlobRoot> = []
    /// When that is told, on the monotonic clock.
    private(set) var wordsDue: UInt64?

    /// A blob of which something is held.
    func heldRow(_ root: BlobRoot) throws(StorageError) -> (BlobTable.Row, BlobName)? {
        for row in try store.blobs.rows(startingWith: root.bytes) where row.byteCount > 0 {
            if let blob = row.blob { return (row, blob) }
        }
        return nil
    }

    /// What peers hear of a blob; `nil` where nothing of it is held.
    func holding(of root: BlobRoot) throws(StorageError) -> BlobHolding? {
        guard let (row, blob) = try heldRow(root), !row.held.isEmpty else { return nil }
        return BlobHolding(shape: blob.shape, map: row.held)
    }

    /// Writes what is held of a blob, and has peers hear of it.
    func setHeld(_ held: HaveMap, of row: BlobTable.Row) throws(StorageError) {
        guard let blob = row.blob else { return }
        try write()
        try store.blobs.setHeld(
            held.encoded, byteCount: Int64(clamping: held.byteCount(of: blob.shape)),
            of: row.number, at: Int64(clamping: time.wall))
        changed.insert(blob.root)
        wordsDue = wordsDue ?? time.monotonic
    }

    /// The blobs of which peers are to hear now.
    func takeChanged() -> [BlobRoot] {
        defer { (changed, wordsDue) = ([], nil) }
        return changed.sorted()
    }
}

extension BlobTable {
    /// What is known of a blob.
    func row(_ blob: BlobName) throws(StorageError) -> Row? {
        try row(root: blob.root.bytes, size: Int64(clamping: blob.shape.byteCount))
    }

    /// Enters a blob of which nothing is held, unless it is there.
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

    /// Which chunks are held; none where the row makes no sense.
    var held: HaveMap {
        guard let shape = blob?.shape else { return HaveMap(chunkCount: 0) }
        return (try? HaveMap(chunkCount: shape.chunkCount, decoding: map)) ?? HaveMap(shape)
    }
}
