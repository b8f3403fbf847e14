public import WorkspaceModel

/// Messages about blobs. Types from 0x80 on: peers that do not know them ignore them.
///
/// Knowing a root grants access to its ciphertext, so no message names a workspace, and no message
/// lists roots. A peer answers for a root that it does not hold as if it had never heard of it.
public enum BlobMessage: Hashable, Sendable {
    /// 80: requests pieces and leaves, and updates on what the peer holds.
    case want(BlobWant)
    /// 81: the chunks that the sender holds of a blob.
    case have(BlobRoot, BlobHolding?)
    /// 82: requested leaves, with their proof.
    case leaves(BlobRoot, TreeProof)
    /// 83: one requested piece.
    case piece(BlobPiece)
    /// 84: from the requester: no longer send these. From the requested peer: these will not come.
    /// `nil` means all, and from the requester that it needs no more updates.
    case cancel(BlobRoot, pieces: [Range<Int>]?)
}

/// A request for parts of a blob.
public struct BlobWant: Hashable, Sendable {
    /// The blob.
    public var root: BlobRoot
    /// The pieces, as ascending separate ranges; none to request only updates.
    public var pieces: [Range<Int>]
    /// The chunks whose leaves are requested.
    public var leaves: Range<Int>?

    /// A request.
    public init(root: BlobRoot, pieces: [Range<Int>] = [], leaves: Range<Int>? = nil) {
        self.root = root
        self.pieces = pieces
        self.leaves = leaves
    }
}

/// The part of a blob that a peer holds.
public struct BlobHolding: Hashable, Sendable {
    /// The blob's shape. It is part of the root, so a false one is detected with the first leaf.
    public let shape: BlobShape
    /// The chunks.
    public let map: HaveMap

    /// - Precondition: `map` has as many chunks as `shape`.
    public init(shape: BlobShape, map: HaveMap) {
        precondition(map.chunkCount == shape.chunkCount, "the map of another blob")
        self.shape = shape
        self.map = map
    }
}

/// A piece as a slice of its message: it reaches the disk without a copy.
public struct BlobPiece: Hashable, Sendable {
    /// The blob.
    public let root: BlobRoot
    /// The piece's number.
    public let number: Int
    /// Its bytes, 1 to `BlobLimits.pieceBytesMax`.
    public let bytes: ArraySlice<UInt8>

    /// A piece.
    public init(root: BlobRoot, number: Int, bytes: ArraySlice<UInt8>) {
        self.root = root
        self.number = number
        self.bytes = bytes
    }
}
