public import WorkspaceModel

/// What a store needs to know of a blob to find and judge its chunks.
public struct BlobName: Hashable, Sendable {
    /// Its root.
    public let root: BlobRoot
    /// How it is cut.
    public let shape: BlobShape

    /// A blob.
    public init(root: BlobRoot, shape: BlobShape) {
        self.root = root
        self.shape = shape
    }
}

/// What came of a piece that was stored.
public enum PieceOutcome: Hashable, Sendable {
    /// Other pieces of its chunk are still to come.
    case more
    /// Its chunk is whole and has the right hash. It is not claimed yet.
    case whole(chunk: Int)
    /// Its chunk is whole and wrong: nothing is kept of it.
    case wrong(chunk: Int)
}

/// Chunks that a power cut does not take any more, so that their bits may be set.
public struct ChunkClaim: Hashable, Sendable {
    /// Of which blob.
    public let blob: BlobName
    /// Which of its chunks.
    public let chunks: HaveMap

    /// What `claim` gives.
    public init(blob: BlobName, chunks: HaveMap) {
        self.blob = blob
        self.chunks = chunks
    }
}

/// A put that is under way, of the store that gave it.
public struct PutTicket: Hashable, Sendable {
    let number: UInt64
}

/// Where chunks are: the desk's side of files, on the disk or, for simulations, in memory.
///
/// The node's tables say which chunks are held; the store says when that becomes true (`claim`).
/// What is stored and not claimed may be gone after a kill, and nothing else is.
public protocol ChunkStore: AnyObject {
    /// Bytes that are stored and not claimed. From `BlobLimits.unclaimedBytesMax` on, claim.
    var unclaimedByteCount: Int { get }

    /// Takes a piece of a chunk, in any order.
    ///
    /// - Parameter leaf: the chunk's hash, proven; `nil` of a blob's only chunk, which the root
    ///   judges.
    /// - Throws: `badChunk` for a piece that is none of the blob's or has another length, `noSpace`
    ///   and `disk`: then the chunk's pieces have to come again.
    func store(
        _ bytes: ArraySlice<UInt8>, piece: Int, of blob: BlobName, leaf: TreeHash?
    ) throws(BlobError) -> PieceOutcome

    /// Forgets the pieces of a chunk that is not whole.
    func forget(chunk: Int, of blob: BlobName)

    /// Makes what was stored since the last time survive a power cut, puts too.
    ///
    /// - Throws: `noSpace` and `disk`: of what was stored since, nothing is held then.
    func claim() throws(BlobError) -> [ChunkClaim]

    /// The bytes of a piece.
    ///
    /// - Throws: `missing` where they are not there, whatever the tables say.
    func piece(_ piece: Int, of blob: BlobName) throws(BlobError) -> [UInt8]

    /// The bytes of a chunk.
    func chunk(_ chunk: Int, of blob: BlobName) throws(BlobError) -> [UInt8]

    /// Keeps the tree of a blob of which something is held.
    func keep(_ tree: BlobTree) throws(BlobError)

    /// The tree that was kept, `nil` where there is none, or a damaged one.
    func tree(of blob: BlobName) throws(BlobError) -> BlobTree?

    /// Begins a put, of which nobody knows the root yet.
    func beginPut(_ shape: BlobShape) throws(BlobError) -> PutTicket
    /// Stores the next chunk of a put.
    func put(_ chunk: BlobSealer.Chunk, _ ticket: PutTicket) throws(BlobError)
    /// Ends a put, which the next `claim` makes a blob.
    func finishPut(_ ticket: PutTicket, tree: BlobTree) throws(BlobError)
    /// Throws a put away.
    func abandonPut(_ ticket: PutTicket)

    /// Removes everything of a blob.
    func remove(_ root: BlobRoot) throws(BlobError)

    /// Removes everything that is of none of these blobs, at a start.
    ///
    /// - Returns: how many files that were.
    func sweep(keeping roots: Set<BlobRoot>) throws(BlobError) -> Int

    /// What of `held` is there as far as the lengths of files tell, at a start or after a doubt.
    func reconcile(_ blob: BlobName, held: HaveMap) throws(BlobError) -> HaveMap
}

extension ChunkStore {
    /// Whether a chunk that is held still has its hash (`blob.verify`, `check`).
    ///
    /// - Returns: `false` for one that is wrong or not there: clear its bit, and fetch it again.
    /// - Throws: `badLeaves` where nothing says what its hash is, and what reading throws besides.
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

    /// Puts a whole source, and nothing of it where that fails.
    ///
    /// - Returns: its tree. It is held once `claim` has said so.
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
