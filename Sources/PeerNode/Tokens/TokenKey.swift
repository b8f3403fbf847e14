import WorkspaceModel

/// A public key of a provider, with the one algorithm that it signs tokens with (PROTOCOL.md, Z-22,
/// Z-23).
public struct TokenKey: Equatable, Sendable {
    /// How tokens are signed. The list is closed.
    public enum Algorithm: String, CaseIterable, Sendable {
        /// RSA with PKCS #1 v1.5 and SHA-256.
        case rsa = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case ecdsa = "ES256"
        /// Ed25519.
        case ed25519 = "EdDSA"
    }

    /// Its `kid` at the provider; `nil` without one.
    public let name: String?
    /// How it signs.
    public let algorithm: Algorithm
    /// Its `SubjectPublicKeyInfo` in DER.
    public let info: [UInt8]

    /// The usable keys of a JWK set, in order.
    ///
    /// - Parameter bytes: from outside.
    /// - Throws: `badKeys` for anything but such a set, and for one that is too large.
    public static func all(of bytes: [UInt8]) throws(TokenFailure) -> [TokenKey] {
        guard bytes.count <= Limits.tokenKeySetBytesMax,
            let list = (try? JSONValue(parsing: bytes))?["keys"]?.arrayValue,
            list.count <= Limits.tokenKeysMax
        else { throw .unchecked(.badKeys) }
        return list.compactMap(TokenKey.init)
    }

    /// - Returns: `nil` for an unusable key: another type, another purpose, or malformed.
    private init?(_ key: JSONValue) {
        guard let type = key["kty"]?.stringValue,
            let algorithm = Self.algorithm(type, curve: key["crv"]?.stringValue)
        else { return nil }
        for (field, wanted) in [("use", "sig"), ("alg", algorithm.rawValue)] {
            guard let given = key[field], !given.isNull else { continue }
            guard given.stringValue.map({ $0.utf8.elementsEqual(wanted.utf8) }) ?? false else {
                return nil
            }
        }
        let info: [UInt8]?
        switch algorithm {
        case .rsa: info = Self.rsa(Self.bytes(key["n"]), Self.bytes(key["e"]))
        case .ecdsa:
            guard let x = Self.bytes(key["x"]), let y = Self.bytes(key["y"]), x.count == 32,
                y.count == 32
            else { return nil }
            info = PublicKeyText.p256(x: x, y: y)
        case .ed25519:
            guard let x = Self.bytes(key["x"]), x.count == 32 else { return nil }
            info = PublicKeyText.ed25519(x)
        }
        guard let info else { return nil }
        if let name = key["kid"], !name.isNull {
            guard let name = name.stringValue else { return nil }
            self.name = name
        } else {
            name = nil
        }
        (self.algorithm, self.info) = (algorithm, info)
    }

    private static func algorithm(_ type: String, curve: String?) -> Algorithm? {
        switch (type, curve) {
        case ("RSA", _): .rsa
        case ("EC", "P-256"): .ecdsa
        case ("OKP", "Ed25519"): .ed25519
        default: nil
        }
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        (value?.stringValue?.utf8).flatMap { Base64URL.decode($0) }
    }

    private static func rsa(_ modulus: [UInt8]?, _ exponent: [UInt8]?) -> [UInt8]? {
        guard let modulus, let exponent else { return nil }
        let digits = Array(modulus.drop { $0 == 0 })
        let power = exponent.drop { $0 == 0 }
        guard let first = digits.first, let last = digits.last, !last.isMultiple(of: 2),
            power.count <= 4
        else { return nil }
        let bits = digits.count * 8 - first.leadingZeroBitCount
        let number = power.reduce(0) { $0 << 8 | UInt64($1) }
        guard (2_048...8_192).contains(bits), number >= 3, !number.isMultiple(of: 2) else {
            return nil
        }
        return PublicKeyText.rsa(modulus: digits, exponent: Array(power))
    }
}
