public import WorkspaceModel

/// Chunks in memory, for simulations: `crash` loses what was not claimed.
public final class ChunkMemory: ChunkStore {
    private struct Key: Hashable {
        let root: BlobRoot
        let chunk: Int
    }

    private var chunks: [Key: [UInt8]] = [:]
    private var trees: [BlobRoot: BlobTree] = [:]
    private var loose: [BlobName: HaveMap] = [:]
    private var looseTrees: Set<BlobRoot> = []
    private var assemblies: [Key: (assembly: ChunkAssembly, pieces: [Int: [UInt8]])] = [:]
    private var puts: [UInt64: (shape: BlobShape, chunks: [Int: [UInt8]])] = [:]
    private var nextTicket: UInt64 = 1
    /// `ChunkStore.unclaimedByteCount`.
    public private(set) var unclaimedByteCount = 0

    /// The capacity in bytes of ciphertext, so that simulations have full disks.
    public var byteCountMax: Int
    /// The error of the next claim, so that simulations have bad disks.
    public var claimFailure: BlobError?
    /// Bytes in use.
    public private(set) var byteCount = 0

    /// An empty store.
    public init(byteCountMax: Int = .max) { self.byteCountMax = byteCountMax }

    /// Loses what was not claimed, as a power cut does.
    public func crash() {
        for (blob, map) in loose {
            for run in map.runs { for chunk in run { drop(Key(root: blob.root, chunk: chunk)) } }
        }
        for root in looseTrees { trees[root] = nil }
        for put in puts.values { byteCount -= put.chunks.values.reduce(0) { $0 + $1.count } }
        (loose, looseTrees, assemblies, puts) = ([:], [], [:], [:])
        unclaimedByteCount = 0
    }

    /// Flips one bit of a chunk, as a bad disk does.
    public func damage(chunk: Int, of root: BlobRoot, byte: Int) {
        let key = Key(root: root, chunk: chunk)
        guard let bytes = chunks[key], bytes.indices.contains(byte) else { return }
        chunks[key]?[byte] ^= 1
    }

    private func drop(_ key: Key) {
        byteCount -= chunks.removeValue(forKey: key)?.count ?? 0
    }

    /// `ChunkStore.store`.
    public func store(
        _ bytes: ArraySlice<UInt8>, piece: Int, of blob: BlobName, leaf: TreeHash?
    ) throws(BlobError) -> PieceOutcome {
        guard let chunk = blob.shape.chunk(ofPiece: piece) else { throw .badChunk(piece) }
        guard bytes.count == blob.shape.byteCount(ofPiece: piece) else { throw .badChunk(chunk) }
        let key = Key(root: blob.root, chunk: chunk)
        guard bytes.count <= byteCountMax - byteCount else {
            assemblies[key] = nil
            throw .noSpace
        }
        guard assemblies[key] != nil || assemblies.count < BlobLimits.assembliesMax else {
            throw .overQuota
        }
        var (assembly, pieces) =
            assemblies[key] ?? (ChunkAssembly(blob.shape.pieces(of: chunk)), [:])
        assembly.insert(piece, bytes)
        pieces[piece] = [UInt8](bytes)
        guard assembly.missing == 0 else {
            assemblies[key] = (assembly, pieces)
            return .more
        }
        assemblies[key] = nil
        let found = try assembly.leaf { piece in pieces[piece] ?? [] }
        guard ChunkFiles.isRight(found, leaf, of: blob) else { return .wrong(chunk: chunk) }
        insert(assembly.pieces.flatMap { pieces[$0] ?? [] }, key)
        var map = loose[blob] ?? HaveMap(blob.shape)
        map.insert(chunk)
        loose[blob] = map
        unclaimedByteCount += blob.shape.ciphertextByteCount(of: chunk)
        return .whole(chunk: chunk)
    }

    private func insert(_ bytes: [UInt8], _ key: Key) {
        drop(key)
        chunks[key] = bytes
        byteCount += bytes.count
    }

    /// `ChunkStore.forget`.
    public func forget(chunk: Int, of blob: BlobName) {
        assemblies[Key(root: blob.root, chunk: chunk)] = nil
    }

    /// `ChunkStore.claim`.
    public func claim() throws(BlobError) -> [ChunkClaim] {
        if let failure = claimFailure {
            claimFailure = nil
            crash()
            throw failure
        }
        let claims = loose.map { ChunkClaim(blob: $0.key, chunks: $0.value) }
        (loose, looseTrees) = ([:], [])
        unclaimedByteCount = 0
        return claims.sorted { $0.blob.root < $1.blob.root }
    }

    /// `ChunkStore.piece`.
    public func piece(
        _ piece: Int, of blob: BlobName, after head: [UInt8]
    ) throws(BlobError) -> [UInt8] {
        guard let chunk = blob.shape.chunk(ofPiece: piece) else { throw .missing }
        let offset = (piece - blob.shape.pieces(of: chunk).lowerBound) * BlobLimits.pieceBytesMax
        let bytes = try self.chunk(chunk, of: blob)
        return head + [UInt8](bytes.dropFirst(offset).prefix(BlobLimits.pieceBytesMax))
    }

    /// `ChunkStore.chunk`.
    public func chunk(_ chunk: Int, of blob: BlobName) throws(BlobError) -> [UInt8] {
        guard let bytes = chunks[Key(root: blob.root, chunk: chunk)] else { throw .missing }
        return bytes
    }

    /// `ChunkStore.keep`.
    public func keep(_ tree: BlobTree) throws(BlobError) {
        guard tree.shape.chunkCount > 1, trees[tree.root] == nil else { return }
        trees[tree.root] = tree
        looseTrees.insert(tree.root)
    }

    /// `ChunkStore.tree`.
    public func tree(of blob: BlobName) throws(BlobError) -> BlobTree? {
        guard blob.shape.chunkCount > 1 else {
            let bytes = try chunk(0, of: blob)
            let leaf = BlobTree.leaf(bytes.span)
            return BlobTree(shape: blob.shape, leaves: [leaf], root: blob.root)
        }
        return trees[blob.root]
    }

    /// `ChunkStore.beginPut`.
    public func beginPut(_ shape: BlobShape) throws(BlobError) -> PutTicket {
        defer { nextTicket += 1 }
        puts[nextTicket] = (shape, [:])
        return PutTicket(number: nextTicket)
    }

    /// `ChunkStore.put`.
    public func put(_ chunk: BlobSealer.Chunk, _ ticket: PutTicket) throws(BlobError) {
        guard puts[ticket.number] != nil else { throw .closed }
        guard chunk.ciphertext.count <= byteCountMax - byteCount else { throw .noSpace }
        puts[ticket.number]?.chunks[chunk.number] = chunk.ciphertext
        byteCount += chunk.ciphertext.count
        unclaimedByteCount += chunk.ciphertext.count
    }

    /// `ChunkStore.finishPut`.
    public func finishPut(_ ticket: PutTicket, tree: BlobTree) throws(BlobError) {
        guard let put = puts.removeValue(forKey: ticket.number), put.shape == tree.shape else {
            throw .closed
        }
        byteCount -= put.chunks.values.reduce(0) { $0 + $1.count }
        for (chunk, bytes) in put.chunks { insert(bytes, Key(root: tree.root, chunk: chunk)) }
        try keep(tree)
        loose[BlobName(root: tree.root, shape: tree.shape)] = .whole(tree.shape)
    }

    /// `ChunkStore.abandonPut`.
    public func abandonPut(_ ticket: PutTicket) {
        guard let put = puts.removeValue(forKey: ticket.number) else { return }
        byteCount -= put.chunks.values.reduce(0) { $0 + $1.count }
    }

    /// `ChunkStore.remove`.
    public func remove(_ root: BlobRoot) throws(BlobError) {
        for key in chunks.keys where key.root == root { drop(key) }
        for key in assemblies.keys where key.root == root { assemblies[key] = nil }
        for blob in loose.keys where blob.root == root { loose[blob] = nil }
        trees[root] = nil
        looseTrees.remove(root)
    }

    /// `ChunkStore.sweep`.
    public func sweep(keeping roots: Set<BlobRoot>) throws(BlobError) -> Int {
        let gone = Set(chunks.keys.map(\.root)).union(trees.keys).subtracting(roots)
        for root in gone { try remove(root) }
        return gone.count
    }

    /// `ChunkStore.reconcile`.
    public func reconcile(_ blob: BlobName, held: HaveMap) throws(BlobError) -> HaveMap {
        guard held.chunkCount == blob.shape.chunkCount else { return HaveMap(blob.shape) }
        var map = held
        for run in held.runs {
            for chunk in run where chunks[Key(root: blob.root, chunk: chunk)] == nil {
                map.remove(chunk)
            }
        }
        return map
    }
}
