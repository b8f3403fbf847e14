/// Public keys and signatures in the encoding that OpenSSL takes: DER (X.690), for the few types
/// that tokens are signed with.
enum PublicKeyText {
    /// `SubjectPublicKeyInfo` of an RSA key (RFC 8017, A.1.1).
    ///
    /// - Parameters:
    ///   - modulus: big endian.
    ///   - exponent: big endian.
    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
        // 1.2.840.113549.1.1.1, with NULL.
        let algorithm: [UInt8] = [
            0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let key = item(0x30, integer(modulus) + integer(exponent))
        return item(0x30, item(0x30, algorithm) + item(0x03, [0] + key))
    }

    /// The same of a point on P-256 (RFC 5480), whose coordinates have 32 bytes each.
    static func p256(x: [UInt8], y: [UInt8]) -> [UInt8] {
        // 1.2.840.10045.2.1 and 1.2.840.10045.3.1.7.
        let algorithm: [UInt8] = [
            0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01,
            0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
        ]
        return item(0x30, item(0x30, algorithm) + item(0x03, [0, 4] + x + y))
    }

    /// The same of an Ed25519 key of 32 bytes (RFC 8410).
    static func ed25519(_ key: [UInt8]) -> [UInt8] {
        item(0x30, item(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70]) + item(0x03, [0] + key))
    }

    /// An ECDSA signature (RFC 3279, 2.2.3) of one that is two numbers of one length in a row.
    static func ecdsa(_ signature: [UInt8]) -> [UInt8] {
        let half = signature.count / 2
        return item(
            0x30, integer(Array(signature.prefix(half))) + integer(Array(signature.dropFirst(half)))
        )
    }

    /// A number that is not negative.
    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        let isHigh = digits.first.map { $0 >= 0x80 } ?? true
        return item(0x02, (isHigh ? [0] : []) + digits)
    }

    /// - Parameter content: fewer than 65,536 bytes.
    private static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)]
            : count < 0x100
                ? [0x81, UInt8(count)]
                : [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)]
        return [tag] + length + content
    }
}
