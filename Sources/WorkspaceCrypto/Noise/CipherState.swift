private import CSodium

/// A cipher key with its nonce counter: one direction of a connection.
///
/// A class, so that no copy can use a nonce a second time. For one thread.
///
/// - Source: Noise specification, section 5.1; ChaCha20-Poly1305 of RFC 8439, whose nonce is four
///   zero bytes and the little-endian counter.
public final class CipherState {
    /// By how many bytes a ciphertext is longer than its plaintext.
    public static var tagByteCount: Int { 16 }

    private var key: SymmetricKey?
    private var counter: UInt64 = 0

    /// InitializeKey.
    init(_ key: SymmetricKey?) {
        requireSodium()
        self.key = key
    }

    /// Whether there is a key. Without one, bytes pass unchanged, as the specification requires at
    /// the start of a handshake.
    public var hasKey: Bool { key != nil }

    /// Starts again with another key, or forgets the key.
    func initialize(_ key: SymmetricKey?) {
        self.key = key
        counter = 0
    }

    /// Sets the counter, so that a test can reach its end.
    func setCounterForTest(_ value: UInt64) { counter = value }

    /// EncryptWithAd: the ciphertext and its tag.
    ///
    /// - Throws: `exhausted`.
    public func encrypt(
        _ plaintext: [UInt8], associatedData: [UInt8] = []
    ) throws(NoiseError) -> [UInt8] {
        guard hasKey else { return plaintext }
        var sealed: [UInt8] = []
        try encrypt(plaintext, associatedData: associatedData, appendingTo: &sealed)
        return sealed
    }

    /// EncryptWithAd, straight to the end of a send buffer.
    ///
    /// - Precondition: there is a key.
    func encrypt(
        _ plaintext: [UInt8], associatedData: [UInt8], appendingTo buffer: inout [UInt8]
    ) throws(NoiseError) {
        guard let key else { preconditionFailure("no key to encrypt with") }
        guard counter < .max else { throw .exhausted }
        let byteCount = plaintext.count + Self.tagByteCount
        buffer.append(addingCapacity: byteCount) { output in
            output.withUnsafeMutableBufferPointer { memory, initializedCount in
                let status = key.secret.withBytes { key in
                    withNonce { nonce in
                        crypto_aead_chacha20poly1305_ietf_encrypt(
                            memory.baseAddress.unsafelyUnwrapped, nil,
                            plaintext, UInt64(plaintext.count),
                            associatedData, UInt64(associatedData.count), nil, nonce, key)
                    }
                }
                precondition(status == 0)
                initializedCount = byteCount
            }
        }
        counter += 1
    }

    /// DecryptWithAd. A failure leaves the counter where it was.
    ///
    /// - Throws: `truncated`, `badMAC`, `exhausted`.
    public func decrypt(
        _ sealed: ArraySlice<UInt8>, associatedData: [UInt8] = []
    ) throws(NoiseError) -> [UInt8] {
        guard let key else { return [UInt8](sealed) }
        guard sealed.count >= Self.tagByteCount else { throw .truncated }
        guard counter < .max else { throw .exhausted }
        let plaintext = sealed.withUnsafeBufferPointer { sealed in
            [UInt8](
                count: sealed.count - Self.tagByteCount,
                writtenBy: { opened in
                    key.secret.withBytes { key in
                        withNonce { nonce in
                            crypto_aead_chacha20poly1305_ietf_decrypt(
                                opened, nil, nil, sealed.baseAddress.unsafelyUnwrapped,
                                UInt64(sealed.count),
                                associatedData, UInt64(associatedData.count), nonce, key)
                        }
                    }
                })
        }
        guard let plaintext else { throw .badMAC }
        counter += 1
        return plaintext
    }

    /// Lends the 12 bytes of the current nonce to `body`.
    private func withNonce(_ body: (UnsafePointer<UInt8>) -> Int32) -> Int32 {
        let words = (
            UInt32(0), UInt32(truncatingIfNeeded: counter).littleEndian,
            UInt32(truncatingIfNeeded: counter >> 32).littleEndian
        )
        return withUnsafeBytes(of: words) { bytes in
            body(bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }
}
