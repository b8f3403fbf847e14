public import WorkspaceModel

/// A 32-byte secret that seals, wraps, derives, or joins a handshake.
///
/// It cannot be printed, compared or encoded. Lives in ordinary memory unless made long-lived.
public struct SymmetricKey: Sendable {
    /// How many bytes every key has.
    public static var byteCount: Int { 32 }

    let secret: SecretBytes

    /// Draws a new key.
    public init(using random: any RandomSource, lifetime: SecretBytes.Lifetime = .brief) {
        var bytes = random.bytes(Self.byteCount)
        self.init(bytes, lifetime: lifetime)
        SecretBytes.wipe(&bytes)
    }

    /// - Precondition: `bytes` holds exactly 32 bytes. For bytes from outside use
    ///   `init(untrusted:)`.
    public init(_ bytes: [UInt8], lifetime: SecretBytes.Lifetime = .brief) {
        precondition(bytes.count == Self.byteCount, "a key of \(bytes.count) bytes")
        secret = SecretBytes(copying: bytes, lifetime: lifetime)
    }

    /// The key in `bytes`, or `nil` unless there are exactly 32.
    public init?(untrusted bytes: [UInt8], lifetime: SecretBytes.Lifetime = .brief) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(bytes, lifetime: lifetime)
    }

    /// The key in a part of an array, which the caller wipes.
    ///
    /// - Precondition: `bytes` holds exactly 32 bytes.
    public init(_ bytes: ArraySlice<UInt8>, lifetime: SecretBytes.Lifetime) {
        precondition(bytes.count == Self.byteCount, "a key of \(bytes.count) bytes")
        secret = SecretBytes(copying: bytes, lifetime: lifetime)
    }

    /// The same key in memory for long-lived secrets.
    public var longLived: SymmetricKey {
        var bytes = exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return SymmetricKey(bytes, lifetime: .long)
    }

    /// Lends 32 zeroed bytes to `fill`.
    init(filledBy fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        secret = SecretBytes(count: Self.byteCount, lifetime: .brief, fill: fill)
    }

    /// Hk(this key, all parts in a row) as a new key.
    public func derived(
        _ parts: [UInt8]..., lifetime: SecretBytes.Lifetime = .brief
    ) -> SymmetricKey {
        var bytes = Hash.keyed(self, concatenation(parts), byteCount: Self.byteCount)
        defer { SecretBytes.wipe(&bytes) }
        return SymmetricKey(bytes, lifetime: lifetime)
    }

    /// The name of an epoch key, which the key itself proves: the first half of H("wsx-keyid1",
    /// key).
    public var keyID: KeyID {
        var bytes = exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return KeyID([UInt8](Hash.personal("wsx-keyid1", bytes).prefix(KeyID.byteCount)))
    }

    /// The key in an ordinary array: to seal it at rest, in a box or in a wrap. Wipe it after.
    public func exposedCopy() -> [UInt8] { secret.exposedCopy() }
}
