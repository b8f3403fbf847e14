import WorkspaceCrypto

/// Opens chunks of a blob, in any order.
///
/// Chunks come from the own store, where each was compared with its leaf. So one that does not open
/// was damaged since, or was sealed wrongly by whoever made the blob.
public struct BlobOpener {
    /// How the blob is cut.
    public let shape: BlobShape
    private let key: SymmetricKey

    /// An opener of one blob.
    public init(shape: BlobShape, key: BlobKey) {
        self.shape = shape
        self.key = key.cipherKey
    }

    /// The nonce of a chunk: its number in 8 bytes, the lowest first, and 16 zeros.
    static func nonce(of chunk: Int) -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: XChaCha20Poly1305.nonceByteCount)
        var rest = UInt64(chunk)
        for index in 0..<8 {
            nonce[index] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
        return nonce
    }

    /// A chunk's plaintext.
    ///
    /// - Throws: `badChunk` where it has not the right length or does not open.
    public func open(_ ciphertext: [UInt8], chunk: Int) throws(BlobError) -> [UInt8] {
        guard (0..<shape.chunkCount).contains(chunk),
            ciphertext.count == shape.ciphertextByteCount(of: chunk)
        else { throw .badChunk(chunk) }
        var buffer = ciphertext
        guard XChaCha20Poly1305.open(inPlace: &buffer, under: key, nonce: Self.nonce(of: chunk))
        else { throw .badChunk(chunk) }
        return buffer
    }

    /// The plaintext in `range`, which is given to `take` chunk by chunk; `read` is asked for no
    /// other chunks than those that hold it.
    ///
    /// - Throws: `badChunk`, and whatever `read` and `take` throw. A range that does not lie within
    ///   the file is `tooLong`.
    public func open(
        _ range: Range<UInt64>, read: (Int) throws(BlobError) -> [UInt8],
        take: (ArraySlice<UInt8>) throws(BlobError) -> Void
    ) throws(BlobError) {
        guard range.upperBound <= shape.byteCount else { throw .tooLong }
        for stretch in shape.stretches(of: range) {
            let plaintext = try open(try read(stretch.chunk), chunk: stretch.chunk)
            guard stretch.bytes.upperBound <= plaintext.count else {
                throw .badChunk(stretch.chunk)
            }
            try take(plaintext[stretch.bytes])
        }
    }
}
