public import WorkspaceCrypto
public import WorkspaceModel

/// Phantom types for names in file formats. No value of these types exists.
public enum NamedInBlobs {
    /// A blob: size, chunk size and tree of its ciphertext.
    public enum Blob {}
    /// A node of the tree: a chunk, or two nodes.
    public enum Node {}
}

/// The name of a blob. Knowing it grants access to the ciphertext.
public typealias BlobRoot = Identifier32<NamedInBlobs.Blob>
/// The hash of a chunk (a leaf), or of two nodes.
public typealias TreeHash = Identifier32<NamedInBlobs.Node>

/// The complete hash tree over a blob's chunks: at most 1 MiB.
///
/// leaf = H("wsx-leaf1", ciphertext of the chunk), node = H("wsx-node1", left || right), an
/// odd node moves up unchanged, root = H("wsx-blob1", Enc array [bytes, k, top]): so a wrong
/// size gives another name.
public struct BlobTree: Hashable, Sendable {
    /// The blob's shape.
    public let shape: BlobShape
    /// The leaves, then the nodes above them, up to the single top.
    let levels: [[TreeHash]]
    /// The blob's name.
    public let root: BlobRoot

    /// The tree over these leaves, `nil` unless there is one for each chunk.
    public init?(shape: BlobShape, leaves: [TreeHash]) {
        guard leaves.count == shape.chunkCount else { return nil }
        var levels = [leaves]
        var level = leaves
        while level.count > 1 {
            level = Self.above(level)
            levels.append(level)
        }
        guard let top = level.first else { return nil }
        self.shape = shape
        self.levels = levels
        root = Self.root(shape: shape, top: top)
    }

    /// The same, also `nil` if they do not lead to `root`.
    public init?(shape: BlobShape, leaves: [TreeHash], root: BlobRoot) {
        guard let tree = Self(shape: shape, leaves: leaves), tree.root == root else { return nil }
        self = tree
    }

    private static func above(_ level: [TreeHash]) -> [TreeHash] {
        stride(from: 0, to: level.count, by: 2).map { index in
            index + 1 < level.count ? node(level[index], level[index + 1]) : level[index]
        }
    }

    /// The hashes of all chunks.
    public var leaves: [TreeHash] { levels.first ?? [] }

    /// The hash of one chunk, `nil` for an invalid one.
    public func leaf(_ chunk: Int) -> TreeHash? {
        (0..<shape.chunkCount).contains(chunk) ? leaves[chunk] : nil
    }

    /// The hash of the node over the chunks from `start`: 2^`level` of them or the rest.
    func part(from start: Int, level: Int) -> TreeHash? {
        guard levels.indices.contains(level) else { return nil }
        let index = start >> level
        return levels[level].indices.contains(index) ? levels[level][index] : nil
    }
}

extension BlobTree {
    /// The hash of one chunk's ciphertext.
    public static func leaf(_ ciphertext: Span<UInt8>) -> TreeHash {
        Hash.name("wsx-leaf1", span: ciphertext)
    }

    /// The hash of a chunk whose ciphertext arrives in parts: finishing it gives the leaf.
    public static func leafStream() -> HashStream { HashStream("wsx-leaf1") }

    /// The hash of two adjacent nodes.
    public static func node(_ left: TreeHash, _ right: TreeHash) -> TreeHash {
        var both: [UInt8] = []
        both.reserveCapacity(64)
        left.append(to: &both)
        right.append(to: &both)
        return Hash.name("wsx-node1", both)
    }

    /// The name of a blob.
    public static func root(shape: BlobShape, top: TreeHash) -> BlobRoot {
        var encoder = CBOREncoder()
        encoder.array(count: 3)
        encoder.uint(shape.byteCount)
        encoder.int(shape.chunkBits)
        encoder.byteString(top)
        return Hash.name("wsx-blob1", encoder.bytes)
    }
}

/// Computes a tree's root from leaves in order, with one hash of memory per level.
public struct TreeBuilder: Sendable {
    /// Complete subtrees, the largest first, with the number of chunks in each.
    private var parts: [(hash: TreeHash, chunks: Int)] = []
    /// How many leaves were appended.
    public private(set) var count = 0

    /// A tree without leaves.
    public init() {}

    /// Appends the next chunk's leaf.
    public mutating func append(_ leaf: TreeHash) {
        count += 1
        var part = (hash: leaf, chunks: 1)
        while let last = parts.last, last.chunks == part.chunks {
            parts.removeLast()
            part = (BlobTree.node(last.hash, part.hash), part.chunks * 2)
        }
        parts.append(part)
    }

    /// The root, `nil` unless there is one leaf for each chunk.
    public func root(of shape: BlobShape) -> BlobRoot? {
        guard count == shape.chunkCount, var top = parts.last?.hash else { return nil }
        for part in parts.dropLast().reversed() { top = BlobTree.node(part.hash, top) }
        return BlobTree.root(shape: shape, top: top)
    }
}
