public import WorkspaceCrypto

/// The key of one blob: drawn for one put, and in the manifests of the messages that have it.
///
/// Equal and hashable, because a message is; nothing prints it.
public struct BlobKey: Hashable, Sendable {
    /// How many bytes every key has.
    public static let byteCount = 32

    /// The key itself: to write it into a manifest that is sealed.
    public let exposedBytes: [UInt8]

    /// Draws the key of a put, which nothing else is ever sealed under.
    public init(using random: any RandomSource) {
        exposedBytes = random.bytes(Self.byteCount)
    }

    /// The key in `bytes`, or `nil` unless there are exactly 32.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        exposedBytes = bytes
    }

    /// The same for the cipher.
    public var cipherKey: SymmetricKey { SymmetricKey(exposedBytes) }
}

extension BlobKey: CustomStringConvertible, CustomReflectable {
    /// Says what it is and nothing else, whoever prints it.
    public var description: String { "BlobKey" }

    /// Nothing to look into.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
