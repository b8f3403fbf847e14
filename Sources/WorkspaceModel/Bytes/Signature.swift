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
        self.init(untrusted: bytes, in: bytes.indices)
    }

    /// The signature in `range` of `bytes`, or `nil` unless that is exactly 64 bytes of them. Does
    /// not verify it.
    public init?(untrusted bytes: [UInt8], in range: Range<Int>) {
        guard range.count == Self.byteCount else { return nil }
        let middle = range.lowerBound + 32
        guard let point = Identifier32<Half>(untrusted: bytes, in: range.lowerBound..<middle),
            let scalar = Identifier32<Half>(untrusted: bytes, in: middle..<range.upperBound)
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

    /// Lends the 64 bytes to `body`, without an array for them.
    public func lendBytes(to body: (UnsafeRawBufferPointer) -> Void) {
        let (first, second) = (point.words, scalar.words)
        let words = (
            first.0.bigEndian, first.1.bigEndian, first.2.bigEndian, first.3.bigEndian,
            second.0.bigEndian, second.1.bigEndian, second.2.bigEndian, second.3.bigEndian
        )
        withUnsafeBytes(of: words, body)
    }
}
