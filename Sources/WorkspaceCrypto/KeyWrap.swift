private import CSodium

/// One key sealed under another: a rekey wraps the keys before it this way. 24 bytes of random
/// nonce, a 16-byte tag, 32 bytes of ciphertext.
///
/// - Source: XSalsa20-Poly1305, by libsodium's `crypto_secretbox_easy`.
public enum KeyWrap {
    /// How many bytes every wrap has.
    public static var byteCount: Int { 72 }

    private static let nonceByteCount = Int(crypto_secretbox_xsalsa20poly1305_NONCEBYTES)

    /// `older` sealed under `newer`: 72 bytes.
    public static func wrap(
        _ older: SymmetricKey, under newer: SymmetricKey, using random: any RandomSource
    ) -> [UInt8] {
        let nonce = random.bytes(nonceByteCount)
        var sealed = [UInt8](repeating: 0, count: byteCount - nonceByteCount)
        let status = older.secret.withBytes { older in
            newer.secret.withBytes { newer in
                crypto_secretbox_easy(&sealed, older, UInt64(SymmetricKey.byteCount), nonce, newer)
            }
        }
        precondition(status == 0)
        return nonce + sealed
    }

    /// The older key, or `nil` when `wrapped` is not a wrap under `newer`. Takes any bytes.
    public static func unwrap(
        _ wrapped: [UInt8], under newer: SymmetricKey
    ) -> SymmetricKey? {
        guard wrapped.count == byteCount else { return nil }
        let sealed = [UInt8](wrapped.dropFirst(nonceByteCount))
        var status: Int32 = -1
        let older = SymmetricKey { older in
            status = newer.secret.withBytes { newer in
                crypto_secretbox_open_easy(
                    older, sealed,
                    UInt64(sealed.count), wrapped, newer)
            }
        }
        return status == 0 ? older : nil
    }
}
