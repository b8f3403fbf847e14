private import CSodium

/// The hash function of a Noise protocol, with HMAC and HKDF built on it.
///
/// - Source: Noise specification, revision 34, sections 4.3 and 12; RFC 2104; RFC 5869.
public enum HashFunction: String, CaseIterable, Sendable {
    /// BLAKE2b-512, which wsx-node speaks.
    case blake2b = "BLAKE2b"
    /// SHA-256, for vectors and other Noise peers.
    case sha256 = "SHA256"
    /// SHA-512, for vectors and other Noise peers.
    case sha512 = "SHA512"

    /// HASHLEN: how many bytes a hash has.
    public var byteCount: Int { self == .sha256 ? 32 : 64 }

    /// BLOCKLEN: how many bytes the function takes at a time, which HMAC pads its key to.
    public var blockByteCount: Int { self == .sha256 ? 64 : 128 }

    /// HASH(message).
    public func hash(_ message: [UInt8]) -> [UInt8] {
        requireSodium()
        let length = UInt64(message.count)
        return [UInt8](
            count: byteCount,
            surelyWrittenBy: { hash in
                switch self {
                case .blake2b:
                    crypto_generichash_blake2b(hash, byteCount, message, length, nil, 0)
                case .sha256: crypto_hash_sha256(hash, message, length)
                case .sha512: crypto_hash_sha512(hash, message, length)
                }
            })
    }

    /// HMAC-HASH(key, message). A key longer than a block is hashed first.
    public func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let short = key.count > blockByteCount ? hash(key) : key
        let padding = [UInt8](repeating: 0, count: blockByteCount - short.count)
        var inner = (short + padding).map { $0 ^ 0x36 }
        var outer = (short + padding).map { $0 ^ 0x5c }
        defer {
            SecretBytes.wipe(&inner)
            SecretBytes.wipe(&outer)
        }
        inner.append(contentsOf: message)
        outer.append(contentsOf: hash(inner))
        return hash(outer)
    }

    /// HKDF(chaining key, input, outputCount): two or three outputs of HASHLEN bytes.
    ///
    /// - Precondition: `outputCount` is 2 or 3.
    public func hkdf(chainingKey: [UInt8], _ input: [UInt8], outputCount: Int) -> [[UInt8]] {
        precondition((2...3).contains(outputCount), "Noise derives two or three keys")
        var extracted = hmac(key: chainingKey, input)
        defer { SecretBytes.wipe(&extracted) }
        var outputs: [[UInt8]] = []
        var previous: [UInt8] = []
        for number in 1...UInt8(outputCount) {
            previous = hmac(key: extracted, previous + [number])
            outputs.append(previous)
        }
        return outputs
    }
}
