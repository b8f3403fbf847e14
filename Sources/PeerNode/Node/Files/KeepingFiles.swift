import BlobStore
import CRDTStore
import WorkspaceModel

/// What is kept of files, and what goes.
extension Files {
    /// Looks for blobs that no message names any more, and for room where the quota is used up.
    func collectWhenDue() throws(StorageError) {
        guard store.blobs.isInUse, mayWrite, home != nil, collectDue <= time.monotonic else {
            return
        }
        collectDue = time.monotonic &+ Limits.blobCollectMilliseconds
        try leaveIdle()
        // What is not built yet, or lies sealed, names nothing so far.
        guard !turn.isBuilding, !turn.session.lock.isLocked,
            try store.registry.value(StoreSalvage.unbuilt) == nil
        else { return }
        dropOldDrafts()
        let drafted = Set(drafts.values.compactMap { $0.item.root?.bytes })
        var still: [Int64: UInt64] = [:]
        for row in try store.blobs.unreferenced() where !drafted.contains(row.root) {
            let since = orphans[row.number] ?? time.monotonic
            if since < time.monotonic {
                try remove(row)
            } else {
                still[row.number] = since
            }
        }
        orphans = still
        try dropOutdated()
        try keepWithinQuota(besides: 0)
    }

    /// Forgets a blob that no message names, with all that is held of it.
    func remove(_ row: BlobTable.Row) throws(StorageError) {
        try write()
        try store.blobs.remove(row.number)
        try dropChunks(of: row)
    }

    /// Has the desk remove a blob's file: its row goes first, so that a file without a row is all that a
    /// crash can leave.
    private func dropChunks(of row: BlobTable.Row) throws(StorageError) {
        guard let root = BlobRoot(untrusted: row.root) else { return }
        if transfers[root]?.number == row.number { endTransfer(root) }
        if row.byteCount > 0 { try ask(.remove(root)) }
    }

    /// Forgets what is held of a blob, which messages still name.
    func drop(_ row: BlobTable.Row) throws(StorageError) {
        guard let blob = row.blob else { return }
        try write()
        try store.blobs.set(.wanted, false, of: row.number)
        try dropChunks(of: row)
        try setHeld(HaveMap(blob.shape), of: row)
    }

    /// Bytes of ciphertext that may be held.
    var quota: BlobQuota {
        BlobQuota(diskByteCount: UInt64(max(environment.files.diskBytes, 0)))
    }

    /// Drops what others have and nobody needed for longest, where more is held than may be.
    ///
    /// - Returns: whether so many more bytes fit.
    @discardableResult
    func keepWithinQuota(besides incoming: UInt64) throws(StorageError) -> Bool {
        let held = UInt64(max(store.blobs.byteCount, 0))
        guard held &+ incoming > quota.byteCountMax else { return true }
        let rows = try store.blobs.rows()
        var blobs: [CachedBlob] = []
        for row in rows where row.byteCount > 0 {
            if let blob = try cached(row) { blobs.append(blob) }
        }
        guard let roots = quota.toDrop(blobs, incoming: incoming) else { return false }
        let gone = Set(roots.map(\.bytes))
        for row in rows where row.byteCount > 0 && gone.contains(row.root) { try drop(row) }
        return true
    }

    /// A blob as the cache sees it. What is being fetched is not dropped meanwhile.
    func cached(_ row: BlobTable.Row) throws(StorageError) -> CachedBlob? {
        guard let root = BlobRoot(untrusted: row.root) else { return nil }
        return CachedBlob(
            root: root, byteCount: UInt64(max(row.byteCount, 0)),
            usedAt: UInt64(max(row.usedAt, 0)),
            isReferenced: try store.blobs.isReferenced(row.number),
            isKept: row.isKept || row.isOwn || row.isWanted,
            holderCount: try store.blobs.holders(of: row.number).count)
    }

    /// Forgets files that were put long ago and are in no message; of very many the oldest.
    func dropOldDrafts() {
        let now = time.monotonic
        drafts = drafts.filter { $0.value.putAt &+ Limits.fileDraftMilliseconds > now }
        while drafts.count >= Limits.fileDraftsMax,
            let oldest = drafts.min(by: { ($0.value.putAt, $0.key) < ($1.value.putAt, $1.key) })
        {
            drafts[oldest.key] = nil
        }
    }
}
