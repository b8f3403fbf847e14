private import CSodium
public import WorkspaceModel

/// The purpose of a hash: up to 16 bytes that keep the hashes of different things apart.
///
/// - Source: BLAKE2's `personal` parameter (RFC 7693, section 2.8), padded with zeros.
public struct Personal: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The 16 bytes as they lie in memory.
    fileprivate let words: (UInt64, UInt64)

    /// - Precondition: the literal has at most 16 bytes of UTF-8.
    public init(stringLiteral text: StaticString) {
        // Made anew for each hash, so nothing is allocated for it.
        var words: (UInt64, UInt64) = (0, 0)
        text.withUTF8Buffer { buffer in
            precondition(buffer.count <= 16, "a hash's purpose has at most 16 bytes")
            withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: buffer) }
        }
        self.words = words
    }

    /// Lends the 16 bytes to `body`.
    fileprivate func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        withUnsafeBytes(of: words) { bytes in
            body(bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Whether both name the same purpose.
    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    /// Feeds both words.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// The hash functions of the protocol (PROTOCOL.md, 1): H, with a purpose, and Hk, with
/// a key. Both are BLAKE2b-256.
///
/// - Source: RFC 7693, by libsodium's `crypto_generichash_blake2b`.
public enum Hash {
    /// How many bytes a hash has.
    public static var byteCount: Int { 32 }

    /// H(purpose, message): 32 bytes.
    public static func personal(_ purpose: Personal, _ message: [UInt8]) -> [UInt8] {
        requireSodium()
        return [UInt8](
            count: 32,
            surelyWrittenBy: { hash in
                purpose.withBytes { purpose in
                    crypto_generichash_blake2b_salt_personal(
                        hash, 32, message, UInt64(message.count), nil, 0, nil, purpose)
                }
            })
    }

    /// H(purpose, all parts in a row): 32 bytes.
    public static func personal(_ purpose: Personal, _ parts: [UInt8]...) -> [UInt8] {
        personal(purpose, concatenation(parts))
    }

    /// H(purpose, message) as the name of something.
    public static func name<Thing>(
        _ purpose: Personal, _ message: [UInt8]
    ) -> Identifier32<Thing> {
        name(purpose, span: message.span)
    }

    /// H(purpose, message) of bytes that lie in a larger array, which is not copied.
    public static func name<Thing>(
        _ purpose: Personal, span message: Span<UInt8>
    ) -> Identifier32<Thing> {
        requireSodium()
        // Two for each operation that comes: into words on the stack, not into an array.
        var hash: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        let status = withUnsafeMutableBytes(of: &hash) { hash in
            purpose.withBytes { purpose in
                message.withUnsafeBufferPointer { message in
                    crypto_generichash_blake2b_salt_personal(
                        hash.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self), 32,
                        message.baseAddress, UInt64(message.count), nil, 0, nil, purpose)
                }
            }
        }
        precondition(status == 0, "libsodium refused what it cannot refuse")
        return Identifier32(
            words: (hash.0.bigEndian, hash.1.bigEndian, hash.2.bigEndian, hash.3.bigEndian))
    }

    /// H(purpose, all parts in a row) as the name of something.
    public static func name<Thing>(
        _ purpose: Personal, _ parts: [UInt8]...
    ) -> Identifier32<Thing> {
        Identifier32(personal(purpose, concatenation(parts)))
    }

    /// Hk(key, all parts in a row): 32 bytes. To derive another key use `SymmetricKey.derived`.
    public static func keyed(_ key: SymmetricKey, _ parts: [UInt8]...) -> [UInt8] {
        keyed(key, concatenation(parts), byteCount: 32)
    }

    /// BLAKE2b of `byteCount` bytes, keyed or not, without a purpose.
    static func keyed(_ key: SymmetricKey?, _ message: [UInt8], byteCount: Int) -> [UInt8] {
        requireSodium()
        return [UInt8](
            count: byteCount,
            surelyWrittenBy: { hash in
                func digest(_ key: UnsafePointer<UInt8>?, _ keyByteCount: Int) -> Int32 {
                    crypto_generichash_blake2b(
                        hash, byteCount, message, UInt64(message.count), key, keyByteCount)
                }
                return key?.secret.withBytes { digest($0, 32) } ?? digest(nil, 0)
            })
    }
}

/// H of bytes that arrive in pieces, such as a file's.
///
/// A stream is used by one thread and ends with `finish`.
public final class HashStream {
    private let memory: UnsafeMutableRawPointer
    private var isFinished = false

    /// Starts H(purpose, …).
    public init(_ purpose: Personal) {
        requireSodium()
        // The state wants a cache line's alignment, which is why Swift does not import its type.
        memory = .allocate(byteCount: crypto_generichash_blake2b_statebytes(), alignment: 64)
        let status = purpose.withBytes { purpose in
            crypto_generichash_blake2b_init_salt_personal(state, nil, 0, 32, nil, purpose)
        }
        precondition(status == 0)
    }

    deinit { memory.deallocate() }

    private var state: OpaquePointer { OpaquePointer(memory) }

    /// Appends `bytes` to the message.
    public func update(_ bytes: [UInt8]) {
        precondition(!isFinished, "a hash stream goes on after its end")
        let status = crypto_generichash_blake2b_update(state, bytes, UInt64(bytes.count))
        precondition(status == 0)
    }

    /// Appends bytes that lie in a larger array, which is not copied.
    public func update(span bytes: Span<UInt8>) {
        precondition(!isFinished, "a hash stream goes on after its end")
        let status = bytes.withUnsafeBufferPointer { bytes in
            crypto_generichash_blake2b_update(state, bytes.baseAddress, UInt64(bytes.count))
        }
        precondition(status == 0)
    }

    /// The 32-byte hash of everything appended. The stream is over.
    public func finish() -> [UInt8] {
        precondition(!isFinished, "a hash stream ends twice")
        isFinished = true
        var hash = [UInt8](repeating: 0, count: 32)
        let status = crypto_generichash_blake2b_final(state, &hash, 32)
        precondition(status == 0)
        return hash
    }
}

/// The parts in a row, copied once.
func concatenation(_ parts: [[UInt8]]) -> [UInt8] {
    if parts.count == 1 { return parts[0] }
    var whole: [UInt8] = []
    whole.reserveCapacity(parts.reduce(0) { $0 + $1.count })
    for part in parts { whole.append(contentsOf: part) }
    return whole
}
