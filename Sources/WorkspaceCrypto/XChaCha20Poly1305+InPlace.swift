private import CSodium

/// Sealing and opening in place: for the many large chunks of files, a second array each would cost
/// as much as the cipher.
extension XChaCha20Poly1305 {
    /// Turns a plaintext into its ciphertext, which is 16 bytes longer, without associated data.
    ///
    /// - Precondition: `nonce` holds 24 bytes. It must not be used again with this key.
    public static func seal(
        inPlace buffer: inout [UInt8], under key: SymmetricKey, nonce: [UInt8]
    ) {
        precondition(nonce.count == nonceByteCount, "a nonce of \(nonce.count) bytes")
        let plaintextByteCount = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: tagByteCount))
        let status = buffer.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return Int32(-1) }
            return key.secret.withBytes { key in
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    base, nil, base, UInt64(plaintextByteCount), nil, 0, nil, nonce, key)
            }
        }
        precondition(status == 0)
    }

    /// Turns a ciphertext into its plaintext. Takes any bytes.
    ///
    /// - Returns: `false` where a single bit of it, the key or the nonce differs. The buffer's
    ///   content is then undefined.
    public static func open(
        inPlace buffer: inout [UInt8], under key: SymmetricKey, nonce: [UInt8]
    ) -> Bool {
        guard buffer.count >= tagByteCount, nonce.count == nonceByteCount else { return false }
        let status = buffer.withUnsafeMutableBufferPointer { memory in
            guard let base = memory.baseAddress else { return Int32(-1) }
            return key.secret.withBytes { key in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    base, nil, nil, base, UInt64(memory.count), nil, 0, nonce, key)
            }
        }
        guard status == 0 else { return false }
        buffer.removeLast(tagByteCount)
        return true
    }
}
