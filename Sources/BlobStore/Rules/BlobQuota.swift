/// One blob of which something is held, as the tables know it.
public struct CachedBlob: Hashable, Sendable {
    /// Which.
    public let root: BlobRoot
    /// Bytes of ciphertext that are held.
    public let byteCount: UInt64
    /// When it was read, sent or received last, in milliseconds.
    public let usedAt: UInt64
    /// Whether a message that this node opened, and that is not deleted, has it.
    public let isReferenced: Bool
    /// Whether it was put here, or is kept on purpose (`file keep`).
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

    /// Whether it may go without being asked for: nobody misses it, or others have it.
    public var mayGo: Bool { !isKept && (!isReferenced || holderCount > 0) }
}

/// What the cache drops to stay below its quota.
public struct BlobQuota: Hashable, Sendable {
    /// Bytes of ciphertext that may be held.
    public var byteCountMax: UInt64

    /// A quota that somebody chose.
    public init(byteCountMax: UInt64) { self.byteCountMax = byteCountMax }

    /// The default: a tenth of the disk, at most `BlobLimits.quotaBytesDefaultMax`.
    public init(diskByteCount: UInt64) {
        byteCountMax = min(diskByteCount / 10, BlobLimits.quotaBytesDefaultMax)
    }

    /// What to drop so that `incoming` more bytes fit: first what no message has, then what has not
    /// been used for longest. What was put here, is kept, or is the only known copy never goes.
    ///
    /// - Returns: the blobs in the order in which they go, or `nil` where all that may go is not
    ///   enough: then nothing goes.
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
