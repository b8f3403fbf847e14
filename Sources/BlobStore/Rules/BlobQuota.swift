/// A blob that is at least partly held, as the tables know it.
public struct CachedBlob: Hashable, Sendable {
    /// The blob.
    public let root: BlobRoot
    /// Held bytes of ciphertext.
    public let byteCount: UInt64
    /// When it was last read, sent or received, in milliseconds.
    public let usedAt: UInt64
    /// Whether a message that this node has opened, and that is not deleted, refers to it.
    public let isReferenced: Bool
    /// Whether it was put here, or is kept by request (`file keep`).
    public let isKept: Bool
    /// How many other devices are known to hold all of it.
    public let holderCount: Int

    /// A row of the table.
    public init(
        root: BlobRoot, byteCount: UInt64, usedAt: UInt64, isReferenced: Bool, isKept: Bool,
        holderCount: Int
    ) {
        self.root = root
        self.byteCount = byteCount
        self.usedAt = usedAt
        self.isReferenced = isReferenced
        self.isKept = isKept
        self.holderCount = holderCount
    }

    /// Whether it may be evicted: nothing refers to it, or others have it.
    public var mayGo: Bool { !isKept && (!isReferenced || holderCount > 0) }
}

/// The cache eviction policy.
public struct BlobQuota: Hashable, Sendable {
    /// Bytes of ciphertext that may be held.
    public var byteCountMax: UInt64

    /// A configured quota.
    public init(byteCountMax: UInt64) { self.byteCountMax = byteCountMax }

    /// The default: a tenth of the disk, at most `BlobLimits.quotaBytesDefaultMax`.
    public init(diskByteCount: UInt64) {
        byteCountMax = min(diskByteCount / 10, BlobLimits.quotaBytesDefaultMax)
    }

    /// The blobs to evict for `incoming` more bytes: unreferenced ones first, then the
    /// least recently used. Blobs that were put here, are kept, or have no other known
    /// copy are never evicted.
    ///
    /// - Returns: the blobs in order of eviction, or `nil` if evicting all of them is not enough:
    ///   then none is evicted.
    public func toDrop(_ blobs: [CachedBlob], incoming: UInt64) -> [BlobRoot]? {
        var held: UInt64 = 0
        for blob in blobs { held = Self.sum(held, blob.byteCount) }
        var roots: [BlobRoot] = []
        let candidates = blobs.filter(\.mayGo).sorted { one, two in
            (one.isReferenced ? 1 : 0, one.usedAt, one.root)
                < (two.isReferenced ? 1 : 0, two.usedAt, two.root)
        }
        for blob in candidates {
            if Self.sum(held, incoming) <= byteCountMax { break }
            held -= min(held, blob.byteCount)
            roots.append(blob.root)
        }
        return Self.sum(held, incoming) <= byteCountMax ? roots : nil
    }

    private static func sum(_ one: UInt64, _ two: UInt64) -> UInt64 {
        let sum = one.addingReportingOverflow(two)
        return sum.overflow ? .max : sum.partialValue
    }
}
