public import WorkspaceModel

/// What peers say to each other about blobs. Types from 0x80 on: who does not know them ignores them.
///
/// Knowing a root is the right to its ciphertext, so no message names a workspace, and no message
/// lists roots. Who is asked about a root that it does not hold answers as if it had never heard it.
public enum BlobMessage: Hashable, Sendable {
    /// 80: asks for pieces and leaves, and for word of what the other holds now and later.
    case want(BlobWant)
    /// 81: what the sender holds of a blob.
    case have(BlobRoot, BlobHolding?)
    /// 82: leaves that were asked for, with their proof.
    case leaves(BlobRoot, TreeProof)
    /// 83: one piece that was asked for.
    case piece(BlobPiece)
    /// 84: from who asked: do not send these any more. From who was asked: these will not come.
    /// `nil` means all, and of the asker that it wants no more word.
    case cancel(BlobRoot, pieces: [Range<Int>]?)
}

/// What somebody wants of a blob.
public struct BlobWant: Hashable, Sendable {
    /// Which blob.
    public var root: BlobRoot
    /// Which pieces, ascending and apart; none where only word of what is held is wanted.
    public var pieces: [Range<Int>]
    /// The chunks whose leaves are wanted, too.
    public var leaves: Range<Int>?

    /// A request.
    public init(root: BlobRoot, pieces: [Range<Int>] = [], leaves: Range<Int>? = nil) {
        self.root = root
        self.pieces = pieces
        self.leaves = leaves
    }
}

/// What somebody holds of a blob.
public struct BlobHolding: Hashable, Sendable {
    /// How it is cut. Part of the root, so a lie is found with the first leaf.
    public let shape: BlobShape
    /// Which chunks.
    public let map: HaveMap

    /// - Precondition: `map` is of as many chunks as `shape` has.
    public init(shape: BlobShape, map: HaveMap) {
        precondition(map.chunkCount == shape.chunkCount, "the map of another blob")
        self.shape = shape
        self.map = map
    }
}

/// A piece as it lies in the message that carried it: nothing is copied on the way to the disk.
public struct BlobPiece: Hashable, Sendable {
    /// Which blob.
    public let root: BlobRoot
    /// Which piece.
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
