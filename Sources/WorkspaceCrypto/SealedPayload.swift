private import CSodium

/// XChaCha20-Poly1305: authenticated encryption with a nonce long enough to be drawn at random.
///
/// - Source: draft-irtf-cfrg-xchacha-03, by libsodium's `crypto_aead_xchacha20poly1305_ietf`.
public enum XChaCha20Poly1305 {
    /// How many bytes a nonce has.
    public static var nonceByteCount: Int { 24 }
    /// By how many bytes a ciphertext is longer than its plaintext.
    public static var tagByteCount: Int { 16 }

    /// `plaintext.count + 16` bytes that only `key` opens, and only beside `associatedData`.
    ///
    /// - Precondition: `nonce` holds 24 bytes. It must not be used again with this key.
    public static func seal(
        _ plaintext: [UInt8], under key: SymmetricKey, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8] {
        precondition(nonce.count == nonceByteCount, "a nonce of \(nonce.count) bytes")
        let byteCount = plaintext.count + tagByteCount
        return [UInt8](
            count: byteCount,
            surelyWrittenBy: { sealed in
                key.secret.withBytes { key in
                    crypto_aead_xchacha20poly1305_ietf_encrypt(
                        sealed, nil, plaintext, UInt64(plaintext.count),
                        associatedData, UInt64(associatedData.count), nil, nonce, key)
                }
            })
    }

    /// What was sealed, or `nil` when a single bit of `sealed`, the key, the nonce or the
    /// associated data differs. Takes any bytes.
    public static func open(
        _ sealed: [UInt8], under key: SymmetricKey, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8]? {
        guard nonce.count == nonceByteCount else { return nil }
        return sealed.withUnsafeBufferPointer { sealed in
            nonce.withUnsafeBufferPointer { nonce in
                open(sealed, under: key, nonce: nonce, associatedData: associatedData)
            }
        }
    }

    /// The same for bytes that lie in a larger array, without copying them out.
    ///
    /// - Precondition: `nonce` holds 24 bytes.
    fileprivate static func open(
        _ sealed: UnsafeBufferPointer<UInt8>, under key: SymmetricKey,
        nonce: UnsafeBufferPointer<UInt8>, associatedData: [UInt8]
    ) -> [UInt8]? {
        guard sealed.count >= tagByteCount, let start = sealed.baseAddress,
            let nonceStart = nonce.baseAddress
        else { return nil }
        return [UInt8](
            count: sealed.count - tagByteCount,
            writtenBy: { opened in
                key.secret.withBytes { key in
                    crypto_aead_xchacha20poly1305_ietf_decrypt(
                        opened, nil, nil, start, UInt64(sealed.count),
                        associatedData, UInt64(associatedData.count), nonceStart, key)
                }
            })
    }
}

/// A sealed payload (PROTOCOL.md, 3.2): 24 bytes of random nonce, then the ciphertext
/// of the padded plaintext, then a 16-byte tag.
public enum SealedPayload {
    /// Pads and seals `plaintext`.
    public static func seal(
        _ plaintext: [UInt8], under key: SymmetricKey, associatedData: [UInt8],
        using random: any RandomSource
    ) -> [UInt8] {
        let nonce = random.bytes(XChaCha20Poly1305.nonceByteCount)
        return nonce
            + XChaCha20Poly1305.seal(
                Padding.padded(plaintext), under: key, nonce: nonce, associatedData: associatedData)
    }

    /// What was sealed, or `nil` when it does not open or the padding is not exactly right.
    /// Takes any bytes.
    public static func open(
        _ sealed: [UInt8], under key: SymmetricKey, associatedData: [UInt8]
    ) -> [UInt8]? {
        let nonceByteCount = XChaCha20Poly1305.nonceByteCount
        guard sealed.count >= nonceByteCount else { return nil }
        let padded = sealed.withUnsafeBufferPointer { sealed in
            XChaCha20Poly1305.open(
                UnsafeBufferPointer(rebasing: sealed[nonceByteCount...]), under: key,
                nonce: UnsafeBufferPointer(rebasing: sealed[..<nonceByteCount]),
                associatedData: associatedData)
        }
        return padded.flatMap { Padding.unpadded($0) }
    }
}

/// pad32: hides a length up to the next multiple of 32 bytes.
///
/// The plaintext, one byte 0x80, then zeros up to a multiple of 32: one to 32 bytes are added, so
/// every plaintext has exactly one padded form.
public enum Padding {
    /// The lengths that a padded text can have are the multiples of this.
    public static var blockByteCount: Int { 32 }

    /// `plaintext` with 1 to 32 bytes added.
    public static func padded(_ plaintext: [UInt8]) -> [UInt8] {
        let byteCount = (plaintext.count / blockByteCount + 1) * blockByteCount
        var padded: [UInt8] = []
        padded.reserveCapacity(byteCount)
        padded.append(contentsOf: plaintext)
        padded.append(0x80)
        while padded.count < byteCount { padded.append(0) }
        return padded
    }

    /// What was padded, or `nil` for anything that `padded` cannot have made.
    public static func unpadded(_ padded: [UInt8]) -> [UInt8]? {
        guard !padded.isEmpty, padded.count % blockByteCount == 0 else { return nil }
        for index in padded.indices.suffix(blockByteCount).reversed() where padded[index] != 0 {
            return padded[index] == 0x80 ? [UInt8](padded[..<index]) : nil
        }
        return nil
    }
}
