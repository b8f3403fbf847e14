import WorkspaceModel

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
        precondition(bytes.count == Self.byteCount, "a signature of \(bytes.count) bytes")
        point = Identifier32([UInt8](bytes[..<32]))
        scalar = Identifier32([UInt8](bytes[32...]))
    }

    /// The signature in `bytes`, or `nil` unless there are exactly 64. Says nothing about whether
    /// it is a good one.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(bytes)
    }

    /// The 64 bytes.
    public var bytes: [UInt8] { point.bytes + scalar.bytes }
}
