private import CSodium
public import WorkspaceModel

/// The private half of a device's identity.
///
/// A signing key can sign and can name its public half. It cannot be printed, compared or
/// encoded; its seed comes out in one place, to be sealed at rest.
///
/// - Source: Ed25519 (RFC 8032), by libsodium's `crypto_sign`.
public struct SigningKey: Sendable {
    /// How many bytes a seed has.
    public static var seedByteCount: Int { 32 }

    /// The public half, which is also the device's name.
    public let device: DeviceID
    private let secret: SecretBytes

    /// Makes a new identity.
    public init(using random: any RandomSource) {
        var seed = random.bytes(Self.seedByteCount)
        self.init(seed: seed)
        SecretBytes.wipe(&seed)
    }

    /// The identity of a seed that was made by `init(using:)` or derived from an invite.
    ///
    /// - Precondition: `seed` holds exactly 32 bytes.
    public init(seed: [UInt8], lifetime: SecretBytes.Lifetime = .long) {
        precondition(seed.count == Self.seedByteCount, "a signing seed of \(seed.count) bytes")
        var point = [UInt8](repeating: 0, count: DeviceID.byteCount)
        secret = SecretBytes(
            count: Int(crypto_sign_ed25519_SECRETKEYBYTES), lifetime: lifetime
        ) { key in
            let status = crypto_sign_ed25519_seed_keypair(
                &point, key, seed)
            precondition(status == 0)
        }
        device = DeviceID(point)
    }

    /// Signs `message`. The same key and message always give the same signature.
    public func signature(for message: [UInt8]) -> Signature {
        var bytes = [UInt8](repeating: 0, count: Signature.byteCount)
        let status = secret.withBytes { key in
            crypto_sign_ed25519_detached(&bytes, nil, message, UInt64(message.count), key)
        }
        precondition(status == 0)
        return Signature(bytes)
    }

    /// The 32-byte seed, only to be sealed at rest. Wipe it after.
    public func exposedSeed() -> [UInt8] {
        secret.withBytes { key in
            [UInt8](UnsafeBufferPointer(start: key, count: Self.seedByteCount))
        }
    }
}

extension DeviceID {
    /// Whether this device signed exactly `message`.
    ///
    /// Every node must answer alike, or histories diverge: libsodium rejects points of low order,
    /// encodings that are not canonical, and scalars that are too large.
    public func signed(_ message: [UInt8], _ signature: Signature) -> Bool {
        requireSodium()
        return crypto_sign_ed25519_verify_detached(
            signature.bytes, message, UInt64(message.count), bytes) == 0
    }
}
