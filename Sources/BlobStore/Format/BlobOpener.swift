import WorkspaceCrypto

/// Decrypts chunks of a blob, in any order.
///
/// Chunks come from this device's store, where each was verified against its leaf. So a chunk that
/// does not open was damaged since, or its author sealed it wrongly.
public struct BlobOpener {
    /// The blob's division into chunks.
    public let shape: BlobShape
    private let key: SymmetricKey

    /// An opener of one blob.
    public init(shape: BlobShape, key: BlobKey) {
        self.shape = shape
        self.key = key.cipherKey
    }

    /// The nonce of a chunk: its number in 8 bytes, little endian, and 16 zeros.
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
    /// - Throws: `badChunk` if its length is wrong or it does not open.
    public func open(_ ciphertext: [UInt8], chunk: Int) throws(BlobError) -> [UInt8] {
        guard (0..<shape.chunkCount).contains(chunk),
            ciphertext.count == shape.ciphertextByteCount(of: chunk)
        else { throw .badChunk(chunk) }
        var buffer = ciphertext
        guard XChaCha20Poly1305.open(inPlace: &buffer, under: key, nonce: Self.nonce(of: chunk))
        else { throw .badChunk(chunk) }
        return buffer
    }

    /// Passes the plaintext in `range` to `take`, chunk by chunk; calls `read` only for the chunks
    /// that contain it.
    ///
    /// - Throws: `badChunk`, and errors of `read` and `take`; `tooLong` for a
    ///   range outside the file.
    public func open(
        _ range: Range<UInt64>, read: (Int) throws(BlobError) -> [UInt8],
        take: (ArraySlice<UInt8>) throws(BlobError) -> Void
    ) throws(BlobError) {
        guard range.upperBound <= shape.byteCount else { throw .tooLong }
        for part in shape.chunkRanges(of: range) {
            let plaintext = try open(try read(part.chunk), chunk: part.chunk)
            guard part.bytes.upperBound <= plaintext.count else {
                throw .badChunk(part.chunk)
            }
            try take(plaintext[part.bytes])
        }
    }
}
