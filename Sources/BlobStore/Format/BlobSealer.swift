import WorkspaceCrypto

/// Encrypts a file chunk by chunk as its bytes arrive, and names the blob at the end.
///
/// It holds at most one chunk, and all leaves of the tree: 512 KiB at most. An unfinished sealer is
/// discarded with its key: bytes sealed once are never sealed again under it, since the source may
/// return different ones the second time.
public struct BlobSealer {
    /// A chunk of ciphertext.
    public struct Chunk: Equatable, Sendable {
        /// Its number.
        public let number: Int
        /// The bytes, tag included.
        public let ciphertext: [UInt8]
    }

    /// The blob's division into chunks.
    public let shape: BlobShape
    private let key: SymmetricKey
    private var builder = TreeBuilder()
    private var leaves: [TreeHash] = []
    private var pending: [UInt8] = []

    /// A sealer at the start of a file.
    ///
    /// - Parameter key: drawn for this file, and used for nothing else.
    public init(shape: BlobShape, key: BlobKey) {
        self.shape = shape
        self.key = key.cipherKey
        leaves.reserveCapacity(shape.chunkCount)
    }

    /// How many more bytes the next chunk takes, 0 after the last one; read this many next.
    public var wantedByteCount: Int {
        shape.plaintextByteCount(of: leaves.count) - pending.count
    }

    /// Whether all announced bytes have arrived.
    public var isWhole: Bool { leaves.count == shape.chunkCount }

    /// Takes the next bytes of the file, in portions of any size.
    ///
    /// - Returns: the chunks that they complete.
    /// - Throws: `tooLong` for bytes beyond the announced size; the sealer must not
    ///   be used afterwards.
    public mutating func append(_ bytes: ArraySlice<UInt8>) throws(BlobError) -> [Chunk] {
        var chunks: [Chunk] = []
        var rest = bytes
        while !rest.isEmpty {
            guard !isWhole else { throw .tooLong }
            if pending.isEmpty {
                let expected = shape.plaintextByteCount(of: leaves.count)
                pending.reserveCapacity(expected + BlobShape.tagByteCount)
            }
            let taken = rest.prefix(wantedByteCount)
            // An announced size of 0 allows no byte at all.
            guard !taken.isEmpty else { throw .tooLong }
            pending.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            if wantedByteCount == 0 { chunks.append(sealPending()) }
        }
        return chunks
    }

    /// Ends the file.
    ///
    /// - Returns: the tree, and for an empty file its only chunk.
    /// - Throws: `tooShort` if announced bytes are missing.
    public mutating func finish() throws(BlobError) -> (tree: BlobTree, last: Chunk?) {
        var last: Chunk?
        if shape.byteCount == 0, leaves.isEmpty { last = sealPending() }
        guard isWhole, let tree = BlobTree(shape: shape, leaves: leaves) else { throw .tooShort }
        return (tree, last)
    }

    private mutating func sealPending() -> Chunk {
        let number = leaves.count
        var buffer: [UInt8] = []
        swap(&buffer, &pending)
        XChaCha20Poly1305.seal(
            inPlace: &buffer, under: key, nonce: BlobOpener.nonce(of: number))
        leaves.append(BlobTree.leaf(buffer.span))
        return Chunk(number: number, ciphertext: buffer)
    }
}

/// A source of a file's bytes: a file, a client, a buffer.
public protocol ByteSource: AnyObject {
    /// The next bytes, at most `byteCountMax` of them; empty at the end and after it.
    func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8]
}

extension BlobSealer {
    /// Seals everything from a source, passing each chunk on before reading the next.
    ///
    /// - Throws: `tooShort` and `tooLong` if the source does not match the announced size, and
    ///   errors of the source or `take`. The caller then discards what was passed on.
    public static func seal(
        _ source: any ByteSource, shape: BlobShape, key: BlobKey,
        take: (Chunk) throws(BlobError) -> Void
    ) throws(BlobError) -> BlobTree {
        var sealer = BlobSealer(shape: shape, key: key)
        while !sealer.isWhole, sealer.wantedByteCount > 0 {
            let bytes = try source.read(min(sealer.wantedByteCount, 256 * 1024))
            guard !bytes.isEmpty else { throw .tooShort }
            for chunk in try sealer.append(bytes[...]) { try take(chunk) }
        }
        guard try source.read(1).isEmpty else { throw .tooLong }
        let (tree, last) = try sealer.finish()
        if let last { try take(last) }
        return tree
    }
}
