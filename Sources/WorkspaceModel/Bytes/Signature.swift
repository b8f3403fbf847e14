/// An Ed25519 signature (RFC 8032): 64 bytes that prove nothing until they are verified.
///
/// - Wire size: 64 bytes.
public struct Signature: Hashable, Sendable {
    /// How many bytes every signature has.
    public static var byteCount: Int { 64 }

    /// The 64 bytes.
    public let bytes: [UInt8]

    /// - Precondition: `bytes` holds exactly 64 bytes. For bytes from outside use `init(untrusted:)`.
    public init(_ bytes: [UInt8]) {
        precondition(bytes.count == Self.byteCount, "a signature of \(bytes.count) bytes")
        self.bytes = bytes
    }

    /// The signature in `bytes`, or `nil` unless there are exactly 64.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
