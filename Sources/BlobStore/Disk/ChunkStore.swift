public import WorkspaceModel

/// A blob as a chunk store needs to know it, to find and verify its chunks.
public struct BlobName: Hashable, Sendable {
    /// Its root.
    public let root: BlobRoot
    /// Its division into chunks.
    public let shape: BlobShape

    /// A blob.
    public init(root: BlobRoot, shape: BlobShape) {
        self.root = root
        self.shape = shape
    }
}

/// The result of storing a piece.
public enum PieceOutcome: Hashable, Sendable {
    /// Other pieces of its chunk are still to come.
    case more
    /// Its chunk is complete and has the right hash. It is not claimed yet.
    case whole(chunk: Int)
    /// Its chunk is complete and wrong: none of it is kept.
    case wrong(chunk: Int)
}

/// Chunks that survive a power cut, so that their bits may be set.
public struct ChunkClaim: Hashable, Sendable {
    /// The blob.
    public let blob: BlobName
    /// The chunks.
    public let chunks: HaveMap
}

/// A put under way, valid for the store that returned it.
public struct PutTicket: Hashable, Sendable {
    let number: UInt64
}

/// The storage of chunks, on disk or, for simulations, in memory.
///
/// The node's tables say which chunks are held; the store says when that becomes true (`claim`).
/// Exactly what is stored and not claimed may be lost in a kill.
public protocol ChunkStore: AnyObject {
    /// Bytes stored and not claimed. From `BlobLimits.unclaimedBytesMax` on, claim.
    var unclaimedByteCount: Int { get }

    /// Stores a piece of a chunk, in any order.
    ///
    /// - Parameter leaf: the chunk's proven hash; `nil` for a blob's only chunk, which
    ///   the root verifies.
    /// - Throws: `badChunk` for a piece that the blob does not have, or of the wrong length;
    ///   `noSpace` and `disk`, after which the chunk's pieces have to be sent again.
    func store(
        _ bytes: ArraySlice<UInt8>, piece: Int, of blob: BlobName, leaf: TreeHash?
    ) throws(BlobError) -> PieceOutcome

    /// Discards the pieces of an incomplete chunk.
    func forget(chunk: Int, of blob: BlobName)

    /// Makes everything stored since the last claim durable, puts included.
    ///
    /// - Throws: `noSpace` and `disk`: none of what was stored since is held then.
    func claim() throws(BlobError) -> [ChunkClaim]

    /// The bytes of a piece.
    ///
    /// - Parameter head: what the result begins with, so that a message is made without a copy.
    /// - Throws: `missing` where they are not there, whatever the tables say.
    func piece(
        _ piece: Int, of blob: BlobName, after head: [UInt8]
    ) throws(BlobError) -> [UInt8]

    /// The bytes of a chunk.
    func chunk(_ chunk: Int, of blob: BlobName) throws(BlobError) -> [UInt8]

    /// Stores the tree of a blob that is partly held.
    func keep(_ tree: BlobTree) throws(BlobError)

    /// The stored tree, `nil` if there is none or it is damaged.
    func tree(of blob: BlobName) throws(BlobError) -> BlobTree?

    /// Begins a put; its root is not known yet.
    func beginPut(_ shape: BlobShape) throws(BlobError) -> PutTicket
    /// Stores the next chunk of a put.
    func put(_ chunk: BlobSealer.Chunk, _ ticket: PutTicket) throws(BlobError)
    /// Ends a put. The next `claim` turns it into a blob.
    func finishPut(_ ticket: PutTicket, tree: BlobTree) throws(BlobError)
    /// Discards a put.
    func abandonPut(_ ticket: PutTicket)

    /// Removes everything of a blob.
    func remove(_ root: BlobRoot) throws(BlobError)

    /// Removes all other blobs, at a start.
    ///
    /// - Returns: how many files it removed.
    func sweep(keeping roots: Set<BlobRoot>) throws(BlobError) -> Int

    /// The part of `held` that exists as far as file lengths tell, at a start or when in doubt.
    func reconcile(_ blob: BlobName, held: HaveMap) throws(BlobError) -> HaveMap
}

extension ChunkStore {
    /// The bytes of a piece alone.
    public func piece(_ piece: Int, of blob: BlobName) throws(BlobError) -> [UInt8] {
        try self.piece(piece, of: blob, after: [])
    }

    /// Whether a held chunk still has its hash (`blob.verify`, `check`).
    ///
    /// - Returns: `false` if it is wrong or missing: clear its bit, and fetch it again.
    /// - Throws: `badLeaves` if its hash is unknown, and errors of reading.
    public func verify(chunk: Int, of blob: BlobName) throws(BlobError) -> Bool {
        let bytes: [UInt8]
        do throws(BlobError) { bytes = try self.chunk(chunk, of: blob) } catch {
            if error == .missing { return false }
            throw error
        }
        let leaf = BlobTree.leaf(bytes.span)
        if blob.shape.chunkCount == 1 {
            return BlobTree.root(shape: blob.shape, top: leaf) == blob.root
        }
        guard let tree = try tree(of: blob) else { throw .badLeaves }
        return tree.leaf(chunk) == leaf
    }

    /// Puts a whole source, or discards everything on failure.
    ///
    /// - Returns: its tree. The blob is held once `claim` has returned it.
    public func put(
        _ source: any ByteSource, shape: BlobShape, key: BlobKey
    ) throws(BlobError) -> BlobTree {
        let ticket = try beginPut(shape)
        do throws(BlobError) {
            let tree = try BlobSealer.seal(source, shape: shape, key: key) {
                (chunk) throws(BlobError) in try put(chunk, ticket)
            }
            try finishPut(ticket, tree: tree)
            return tree
        } catch {
            abandonPut(ticket)
            throw error
        }
    }
}
