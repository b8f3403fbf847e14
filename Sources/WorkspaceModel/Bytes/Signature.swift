/// An Ed25519 signature.
///
/// - Wire size: 64 bytes.
/// - Source: RFC 8032, section 5.1.6.
public struct Signature: Hashable, Sendable {
    /// How many bytes every signature has.
    public static var byteCount: Int { 64 }

    private enum Half {}
    private let point: Identifier32<Half>
    private let scalar: Identifier32<Half>

    /// - Precondition: `bytes` holds exactly 64 bytes. For bytes from outside use
    ///   `init(untrusted:)`.
    public init(_ bytes: [UInt8]) {
        guard let signature = Self(untrusted: bytes) else {
            preconditionFailure("a signature of \(bytes.count) bytes")
        }
        self = signature
    }

    /// 64 zeros: never a valid signature.
    public static var zero: Self { Self([UInt8](repeating: 0, count: byteCount)) }

    /// The signature in `bytes`, or `nil` unless there are exactly 64. Does not verify it.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let point = Identifier32<Half>(untrusted: bytes, in: 0..<32),
            let scalar = Identifier32<Half>(untrusted: bytes, in: 32..<64)
        else { return nil }
        (self.point, self.scalar) = (point, scalar)
    }

    /// The 64 bytes.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        point.append(to: &bytes)
        scalar.append(to: &bytes)
        return bytes
    }
}
