private import CSodium
public import WorkspaceModel

extension Named {
    /// The public half of an X25519 key pair.
    public enum AgreementKey {}
}

/// The public half of an X25519 key pair: 32 bytes, of which the highest bit means nothing.
public typealias AgreementPublicKey = Identifier32<Named.AgreementKey>

extension AgreementPublicKey {
    /// The canonical encoding of this point: below 2^255 - 19, so without the highest bit. Keys
    /// with the same canonical encoding agree on the same secrets.
    ///
    /// - Source: RFC 7748, 5.
    public var canonical: AgreementPublicKey {
        var bytes = self.bytes
        bytes[31] &= 0x7f
        let isAbove =
            bytes[0] >= 0xed && bytes[31] == 0x7f && bytes[1..<31].allSatisfy { $0 == 0xff }
        guard isAbove else { return AgreementPublicKey(bytes) }
        return AgreementPublicKey([bytes[0] - 0xed] + [UInt8](repeating: 0, count: 31))
    }

    /// Whether this key is the canonical encoding.
    public var isCanonical: Bool { self == canonical }
}

/// Why a key agreement failed.
public enum AgreementError: Error, Equatable, Sendable {
    /// The other public key is of low order, so anybody could know the result.
    case weakPublicKey
}

/// An X25519 key pair: a device's key for sealed boxes, a Noise static, or an ephemeral key.
///
/// - Source: RFC 7748, by libsodium's `crypto_scalarmult_curve25519`.
public struct AgreementKey: Sendable {
    /// How many bytes a secret has.
    public static var secretByteCount: Int { 32 }

    /// The public half.
    public let publicKey: AgreementPublicKey
    let secret: SecretBytes

    /// Makes a new key pair.
    public init(using random: any RandomSource, lifetime: SecretBytes.Lifetime = .long) {
        var bytes = random.bytes(Self.secretByteCount)
        self.init(secret: bytes, lifetime: lifetime)
        SecretBytes.wipe(&bytes)
    }

    /// The key pair of a secret that was stored or derived.
    ///
    /// - Precondition: `bytes` holds exactly 32 bytes.
    public init(secret bytes: [UInt8], lifetime: SecretBytes.Lifetime = .long) {
        requireSodium()
        precondition(bytes.count == Self.secretByteCount, "a secret of \(bytes.count) bytes")
        secret = SecretBytes(copying: bytes, lifetime: lifetime)
        var point = [UInt8](repeating: 0, count: AgreementPublicKey.byteCount)
        let status = crypto_scalarmult_curve25519_base(&point, bytes)
        precondition(status == 0)
        publicKey = AgreementPublicKey(point)
    }

    /// What this pair and the holder of `other` both know: the raw X25519 result, to be hashed
    /// before use.
    ///
    /// - Throws: `weakPublicKey` when the result would be zero.
    public func sharedSecret(
        with other: AgreementPublicKey
    ) throws(AgreementError) -> SymmetricKey {
        var status: Int32 = -1
        let shared = SymmetricKey { result in
            status = secret.withBytes { key in
                crypto_scalarmult_curve25519(
                    result, key, other.bytes)
            }
        }
        guard status == 0 else { throw .weakPublicKey }
        return shared
    }

    /// The 32-byte secret, only to be sealed at rest. Wipe it after.
    public func exposedSecret() -> [UInt8] { secret.exposedCopy() }
}
