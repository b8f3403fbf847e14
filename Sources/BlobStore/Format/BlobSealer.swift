import WorkspaceCrypto

/// Seals a file chunk by chunk, as its bytes come, and names the blob at the end.
///
/// It holds at most one chunk, and of the tree all leaves: 512 KiB at most. A sealer that is not
/// finished is thrown away with its key: bytes that were sealed once are never sealed again under
/// it, since a source may give others the second time.
public struct BlobSealer {
    /// A chunk of ciphertext.
    public struct Chunk: Equatable, Sendable {
        /// Its number.
        public let number: Int
        /// The bytes, tag included.
        public let ciphertext: [UInt8]

        /// A chunk, as `append` gives it.
        public init(number: Int, ciphertext: [UInt8]) {
            self.number = number
            self.ciphertext = ciphertext
        }
    }

    /// How the blob is cut.
    public let shape: BlobShape
    private let key: SymmetricKey
    private var builder = TreeBuilder()
    private var leaves: [TreeHash] = []
    private var pending: [UInt8] = []

    /// A sealer at the start of a file.
    ///
    /// - Parameter key: drawn for this, and used for nothing else.
    public init(shape: BlobShape, key: BlobKey) {
        self.shape = shape
        self.key = key.cipherKey
        leaves.reserveCapacity(shape.chunkCount)
    }

    /// How many more bytes the next chunk takes, 0 after the last one; what to read is that.
    public var wantedByteCount: Int {
        shape.plaintextByteCount(of: leaves.count) - pending.count
    }

    /// Whether all that was announced is here.
    public var isWhole: Bool { leaves.count == shape.chunkCount }

    /// Takes the next bytes of the file, in whatever portions they come.
    ///
    /// - Returns: the chunks that are whole with them.
    /// - Throws: `tooLong` for a byte after those that were announced; the sealer is of no more use.
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
            // An announced size of 0 wants no byte at all.
            guard !taken.isEmpty else { throw .tooLong }
            pending.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            if wantedByteCount == 0 { chunks.append(sealPending()) }
        }
        return chunks
    }

    /// Ends the file.
    ///
    /// - Returns: the tree, and of an empty file its one chunk.
    /// - Throws: `tooShort` where bytes that were announced did not come.
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

/// Where the bytes of a file come from: a file, a client, a buffer.
public protocol ByteSource: AnyObject {
    /// The next bytes, at most `byteCountMax` of them; empty at the end and after it.
    func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8]
}

extension BlobSealer {
    /// Seals everything that a source gives, and hands each chunk on before it reads the next.
    ///
    /// - Throws: `tooShort` and `tooLong` where the source does not give what was announced, and
    ///   whatever the source or `take` throws. What was taken then is thrown away by the caller.
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
