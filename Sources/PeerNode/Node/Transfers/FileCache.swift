import BlobStore
import CRDTStore
import WorkspaceModel

/// How much space files may take, as the owner has set it.
final class FileCache: FilePart, FileCacheCommands {
    /// Since when no message names a blob, by its number.
    var orphans: [Int64: UInt64] = [:]
    /// When blobs that no message names are looked for, on the monotonic clock.
    var collectDue: UInt64 = 0

    /// The registry key of the retention period of unused files, stored as text; without a value
    /// the default applies.
    private static let periodName = "file.unused"
    /// The registry key of the limit for the bytes that files may take, stored as text; without a
    /// value the default applies.
    private static let quotaName = "file.quota"

    var nextDeadline: UInt64? {
        mayWrite && home != nil && store.blobs.isInUse ? collectDue : nil
    }

    func cache() throws(NodeError) -> CacheObject {
        try stored { () throws(StorageError) in try describeCache() }
    }

    func clearCache(unusedFor milliseconds: UInt64?) throws(NodeError) -> CacheObject {
        try stored { () throws(StorageError) in
            let before = store.blobs.byteCount
            try dropUnused(before: milliseconds.map { time.wall - min($0, time.wall) } ?? .max)
            var object = try describeCache()
            object.clearedBytes = before - store.blobs.byteCount
            return object
        }
    }

    func keepCached(_ period: CachePeriod) throws(NodeError) -> CacheObject {
        try stored { () throws(StorageError) in
            try write()
            let text = [UInt8](period.rawValue.utf8)
            try store.registry.setValue(text, of: Self.periodName)
            try dropOutdated()
            return try describeCache()
        }
    }

    func limitCache(to byteCount: Int64?) throws(NodeError) -> CacheObject {
        try stored { () throws(StorageError) in
            try write()
            let text = byteCount.map { [UInt8](String($0).utf8) }
            try store.registry.setValue(text, of: Self.quotaName)
            try keepWithinQuota(besides: 0)
            return try describeCache()
        }
    }

    /// How many bytes of ciphertext somebody allowed; `nil` where nobody did.
    var chosenQuota: BlobQuota? {
        get throws(StorageError) {
            let stored = try store.registry.value(Self.quotaName)
                .flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            return (stored ?? environment.fileDefaults.quota).map(BlobQuota.init(byteCountMax:))
        }
    }

    /// Bytes of ciphertext that may be held.
    var quota: BlobQuota {
        get throws(StorageError) {
            try chosenQuota
                ?? BlobQuota(diskByteCount: UInt64(max(environment.files.diskBytes, 0)))
        }
    }

    /// Drops what has not been used for as long as its owner said.
    func dropOutdated() throws(StorageError) {
        guard let period = try period.milliseconds else { return }
        try dropUnused(before: time.wall - min(period, time.wall))
    }

    private var period: CachePeriod {
        get throws(StorageError) {
            try store.registry.value(Self.periodName)
                .flatMap { CachePeriod(rawValue: String(decoding: $0, as: UTF8.self)) }
                ?? environment.fileDefaults.period
        }
    }

    /// Drops what others have and was not used since `moment`, milliseconds since 1970.
    private func dropUnused(before moment: UInt64) throws(StorageError) {
        for row in try store.blobs.rows()
        where row.byteCount > 0 && row.usedAt < Int64(clamping: moment) {
            if try isClearable(row) { try drop(row) }
        }
    }

    /// Whether others have it and nobody keeps it here. That no message names it now means nothing:
    /// the messages may be being read again.
    private func isClearable(_ row: BlobTable.Row) throws(StorageError) -> Bool {
        guard let blob = try cached(row) else { return false }
        return !blob.isKept && blob.holderCount > 0
    }

    private func describeCache() throws(StorageError) -> CacheObject {
        var object = CacheObject(
            quota: Int64(clamping: try quota.byteCountMax), keep: try period.rawValue)
        object.isQuotaChosen = try chosenQuota != nil
        object.bytes = store.blobs.byteCount
        for row in try store.blobs.rows() where row.byteCount > 0 {
            object.files += 1
            if row.isOwn { object.ownBytes += row.byteCount }
            if row.isKept { object.keptBytes += row.byteCount }
            if try isClearable(row) { object.clearableBytes += row.byteCount }
        }
        return object
    }
}
