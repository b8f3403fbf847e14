private import CSodium
public import WorkspaceModel

/// A message for the holder of one X25519 key, without an authenticated sender.
///
/// 32 bytes of ephemeral public key, a 16-byte tag, the ciphertext; the nonce is
/// BLAKE2b-192(ephemeral key || recipient key). These are libsodium's `crypto_box_seal` boxes,
/// made here by hand because the ephemeral key must come from the randomness that is passed in.
///
/// - Source: libsodium documentation, "Sealed boxes"; X25519, XSalsa20-Poly1305.
public enum SealedBox {
    /// By how many bytes a box is longer than its message.
    public static var overheadByteCount: Int { keyByteCount + tagByteCount }

    private static let keyByteCount = 32
    private static let tagByteCount = 16

    /// A box of `message.count + 48` bytes that only the holder of `recipient` opens.
    ///
    /// - Throws: `weakPublicKey` when anybody could open the box.
    public static func seal(
        _ message: [UInt8], to recipient: AgreementPublicKey, using random: any RandomSource
    ) throws(AgreementError) -> [UInt8] {
        let ephemeral = AgreementKey(using: random, lifetime: .brief)
        let prefix = ephemeral.publicKey.bytes
        let nonce = nonce(prefix, recipient.bytes)
        var sealed = [UInt8](repeating: 0, count: message.count + tagByteCount)
        let status = ephemeral.secret.withBytes { secret in
            crypto_box_easy(
                &sealed, message, UInt64(message.count), nonce, recipient.bytes, secret)
        }
        guard status == 0 else { throw .weakPublicKey }
        return prefix + sealed
    }

    /// Whether `seal` accepts this key: with a key of low order the shared secret is the same for
    /// everybody.
    public static func canSeal(to recipient: AgreementPublicKey) -> Bool {
        let any = [UInt8](repeating: 9, count: keyByteCount)
        var shared = [UInt8](repeating: 0, count: keyByteCount)
        return crypto_box_beforenm(&shared, recipient.bytes, any) == 0
    }

    /// The message, or `nil` when the box is not for this key. Takes any bytes.
    public static func open(_ box: [UInt8], with key: AgreementKey) -> [UInt8]? {
        guard box.count >= overheadByteCount else { return nil }
        let prefix = [UInt8](box.prefix(keyByteCount))
        let sealed = [UInt8](box.dropFirst(keyByteCount))
        let nonce = nonce(prefix, key.publicKey.bytes)
        var message = [UInt8](repeating: 0, count: sealed.count - tagByteCount)
        let status = key.secret.withBytes { secret in
            crypto_box_open_easy(&message, sealed, UInt64(sealed.count), nonce, prefix, secret)
        }
        return status == 0 ? message : nil
    }

    private static func nonce(_ ephemeral: [UInt8], _ recipient: [UInt8]) -> [UInt8] {
        Hash.keyed(nil, ephemeral + recipient, byteCount: 24)
    }
}
