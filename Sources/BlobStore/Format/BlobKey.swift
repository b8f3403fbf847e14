public import WorkspaceCrypto

/// The key of one blob: drawn for one put, and contained in the manifests of the
/// messages that attach it.
///
/// Equatable and hashable because messages are; nothing prints it.
public struct BlobKey: Hashable, Sendable {
    /// How many bytes every key has.
    public static let byteCount = 32

    /// The raw key, for writing it into a manifest that will be sealed.
    public let exposedBytes: [UInt8]

    /// Draws the key of a put; nothing else is ever sealed under it.
    public init(using random: any RandomSource) {
        exposedBytes = random.bytes(Self.byteCount)
    }

    /// The key in `bytes`, or `nil` unless there are exactly 32.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        exposedBytes = bytes
    }

    /// The key for the cipher.
    public var cipherKey: SymmetricKey { SymmetricKey(exposedBytes) }
}

extension BlobKey: CustomStringConvertible, CustomReflectable {
    /// Prints only the type, so that printing a key never leaks it.
    public var description: String { "BlobKey" }

    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
