import BlobStore
import CRDTStore
import WorkspaceModel

/// Decides which files are kept and which are evicted.
extension FileCache {
    /// Begins to look for what is not needed here, where that is due.
    ///
    /// - Returns: whether it is.
    func beginCollection() -> Bool {
        guard store.blobs.isInUse, mayWrite, home != nil, collectDue <= time.monotonic else {
            return false
        }
        collectDue = time.monotonic &+ Limits.blobCollectMilliseconds
        return true
    }

    /// Forgets the blobs that no message names, and named none when it was looked before.
    ///
    /// - Parameter used: roots of blobs that are needed all the same.
    func dropOrphans(besides used: Set<[UInt8]>) throws(StorageError) {
        var still: [Int64: UInt64] = [:]
        for row in try store.blobs.unreferenced() where !used.contains(row.root) {
            let since = orphans[row.number] ?? time.monotonic
            if since < time.monotonic {
                try remove(row)
            } else {
                still[row.number] = since
            }
        }
        orphans = still
    }

    /// Forgets a blob that no message names, with all that is held of it.
    private func remove(_ row: BlobTable.Row) throws(StorageError) {
        try room.blobs.remove(row.number)
        try dropChunks(of: row)
    }

    /// Asks the worker to remove a blob's file: its row is deleted first, so that a crash can only
    /// leave a file without a row.
    private func dropChunks(of row: BlobTable.Row) throws(StorageError) {
        guard let root = BlobRoot(untrusted: row.root) else { return }
        room.transfers.end(root, numbered: row.number)
        if row.byteCount > 0 { try room.jobs.ask(.remove(root)) }
    }

    /// Forgets what is held of a blob, which messages still name.
    func drop(_ row: BlobTable.Row) throws(StorageError) {
        guard let blob = row.blob else { return }
        try room.blobs.setWanted(false, of: row.number)
        try dropChunks(of: row)
        try room.blobs.setHeld(HaveMap(blob.shape), of: row)
    }

    /// Drops what others have and nobody needed for longest, where more is held than may be.
    ///
    /// - Parameter number: the blob for which room is made, which stays.
    /// - Returns: whether so many more bytes fit.
    @discardableResult
    func keepWithinQuota(
        besides incoming: UInt64, for number: Int64? = nil
    ) throws(StorageError) -> Bool {
        let quota = try self.quota
        let held = UInt64(max(store.blobs.byteCount, 0))
        guard held &+ incoming > quota.byteCountMax else { return true }
        let rows = try store.blobs.rows()
        var blobs: [CachedBlob] = []
        for row in rows where row.byteCount > 0 {
            if let blob = try cached(row, staying: row.number == number) { blobs.append(blob) }
        }
        guard let roots = quota.toDrop(blobs, incoming: incoming) else { return false }
        let gone = Set(roots.map(\.bytes))
        for row in rows where row.byteCount > 0 && gone.contains(row.root) { try drop(row) }
        return true
    }

    /// Whether what is missing of a blob fits, once others have made room for it.
    func fits(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard row.blob != nil else { return false }
        let missing = row.missingBytes
        guard mayWrite, missing > 0 else { return true }
        let coming = try room.blobs.missingBytes(besides: row.number)
        return try keepWithinQuota(besides: missing &+ coming, for: row.number)
    }

    /// A requested file is fetched, unless the owner has set a quota and it does not fit.
    ///
    /// - Throws: `storage_full`.
    func refuseOverQuota(
        _ row: BlobTable.Row, titled title: () throws(NodeError) -> String
    ) throws(NodeError) {
        let mayCome = try stored { () throws(StorageError) in
            if try chosenQuota == nil { return true }
            return try fits(row)
        }
        guard mayCome else {
            var error = NodeError(BlobError.overQuota, file: try title())
            error.hint = "'wsx-node cache quota SIZE' allows more"
            throw error
        }
    }

    /// A blob as the cache sees it. One that is being fetched is not evicted meanwhile.
    func cached(
        _ row: BlobTable.Row, staying: Bool = false
    ) throws(StorageError) -> CachedBlob? {
        guard let root = BlobRoot(untrusted: row.root) else { return nil }
        return CachedBlob(
            root: root, byteCount: UInt64(max(row.byteCount, 0)),
            usedAt: UInt64(max(row.usedAt, 0)),
            isReferenced: try room.mentions.isNamed(row),
            isKept: staying || row.isKept || row.isOwn || row.isWanted,
            holderCount: try room.heldElsewhere.holders(of: row.number).count)
    }
}
