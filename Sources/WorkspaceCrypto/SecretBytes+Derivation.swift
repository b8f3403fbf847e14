private import CSodium
private import WorkspaceModel

extension SecretBytes {
    /// Hk(this secret, all parts in a row) as a key. Used for an invite's 16-byte seed, which is
    /// too short to be a `SymmetricKey` itself.
    ///
    /// - Precondition: the secret has 16 to 64 bytes, which is what BLAKE2b takes as a key.
    public func derivedKey(
        _ parts: [UInt8]..., lifetime: Lifetime = .brief
    ) -> SymmetricKey {
        precondition((16...64).contains(count), "a hash key of \(count) bytes")
        let message = concatenation(parts)
        var key = [UInt8](repeating: 0, count: SymmetricKey.byteCount)
        defer { SecretBytes.wipe(&key) }
        let status = withBytes { secret in
            crypto_generichash_blake2b(
                &key, key.count, message, UInt64(message.count), secret, count)
        }
        precondition(status == 0)
        return SymmetricKey(key, lifetime: lifetime)
    }
}
