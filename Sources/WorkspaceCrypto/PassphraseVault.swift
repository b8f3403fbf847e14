private import CSodium
private import WorkspaceModel

/// Seals a node's secret keys on disk under a passphrase.
///
/// ```
/// offset  bytes
///      0      8  "wsxvault"
///      8      1  version, 1
///      9      4  passes of Argon2id, little endian
///     13      4  memory of Argon2id in KiB, little endian
///     17     16  salt
///     33     24  nonce
///     57      n  XChaCha20-Poly1305 ciphertext and tag; the 57 bytes before are its
///                associated data
///   57+n     16  first half of H("wsx-vault1", all bytes before)
/// ```
/// The hash at the end protects nothing. It tells a damaged file from a wrong passphrase.
///
/// - Source: Argon2id (RFC 9106) by libsodium's `crypto_pwhash`, with one lane.
public enum PassphraseVault {
    /// What one guess of the passphrase costs.
    public struct Cost: Equatable, Sendable {
        /// How often the memory is filled.
        public let passes: UInt32
        /// How much memory is filled, in KiB.
        public let memoryKiB: UInt32

        /// - Precondition: both are within what `open` accepts, at least one pass and 8 KiB.
        public init(passes: UInt32, memoryKiB: UInt32) {
            self.passes = passes
            self.memoryKiB = memoryKiB
            precondition(isAcceptable, "a passphrase cost that could not be opened again")
        }

        fileprivate init?(untrustedPasses passes: UInt32, memoryKiB: UInt32) {
            self.passes = passes
            self.memoryKiB = memoryKiB
            guard isAcceptable else { return nil }
        }

        private var isAcceptable: Bool {
            (1...UInt32(Limits.passphrasePassesMax)).contains(passes)
                && (8...UInt32(Limits.passphraseMemoryBytes / 1_024)).contains(memoryKiB)
        }

        /// The cost for a person's passphrase: 4 passes over 64 MiB, about a tenth of a second.
        public static let standard = Cost(
            passes: 4, memoryKiB: UInt32(Limits.passphraseMemoryBytes / 1_024))
    }

    /// Why a vault does not open.
    public enum OpenError: Error, Equatable, Sendable {
        /// The file is whole, but it was not sealed with this passphrase.
        case wrongPassphrase
        /// This is not a vault, or some of its bytes were lost or changed.
        case malformed
        /// The file asks for more time or memory than `Limits` allows. Nothing was allocated.
        case excessiveCost
        /// The system has no memory for Argon2id now. Trying later may help.
        case outOfMemory
    }

    private static let magic = [UInt8]("wsxvault".utf8)
    private static let version: UInt8 = 1
    private static let headerByteCount = 57
    private static let checkByteCount = 16
    private static let purpose: Personal = "wsx-vault1"

    /// The key derivation of one vault: the cost, and a salt that no other vault has.
    public struct KeyDerivation: Equatable, Sendable {
        /// What it costs.
        public let cost: Cost
        /// 16 bytes.
        public let salt: [UInt8]

        /// Draws a salt for a new vault.
        public init(cost: Cost, using random: any RandomSource) {
            self.cost = cost
            salt = random.bytes(Int(crypto_pwhash_argon2id_SALTBYTES))
        }

        fileprivate init(cost: Cost, salt: [UInt8]) {
            self.cost = cost
            self.salt = salt
        }

        /// The key of a passphrase. Takes as long as `cost` says: a job, not a step of the loop.
        ///
        /// - Throws: `outOfMemory` only.
        public func key(of passphrase: SecretBytes) throws(OpenError) -> SymmetricKey {
            var status: Int32 = -1
            let key = SymmetricKey { key in
                status = passphrase.withBytes { text in
                    text.withMemoryRebound(to: CChar.self, capacity: passphrase.count) {
                        crypto_pwhash_argon2id(
                            key, UInt64(SymmetricKey.byteCount), $0, UInt64(passphrase.count),
                            salt, UInt64(cost.passes), Int(cost.memoryKiB) * 1_024,
                            crypto_pwhash_argon2id_ALG_ARGON2ID13)
                    }
                }
            }
            guard status == 0 else { throw .outOfMemory }
            return key
        }
    }

    /// Seals `secrets`. Takes as long as `cost` says: a job, not a step of the loop.
    ///
    /// - Throws: `outOfMemory` only.
    public static func seal(
        _ secrets: [UInt8], passphrase: [UInt8], cost: Cost = .standard,
        using random: any RandomSource
    ) throws(OpenError) -> [UInt8] {
        let derivation = KeyDerivation(cost: cost, using: random)
        let key = try derivation.key(of: secret(passphrase))
        return seal(secrets, under: key, of: derivation, using: random)
    }

    /// Seals `secrets` under the key that `derivation` derived from a passphrase, at no cost.
    public static func seal(
        _ secrets: [UInt8], under key: SymmetricKey, of derivation: KeyDerivation,
        using random: any RandomSource
    ) -> [UInt8] {
        let nonce = random.bytes(XChaCha20Poly1305.nonceByteCount)
        let header =
            magic + [version] + bytes(derivation.cost.passes) + bytes(derivation.cost.memoryKiB)
            + derivation.salt + nonce
        let body =
            header
            + XChaCha20Poly1305.seal(secrets, under: key, nonce: nonce, associatedData: header)
        return body + check(body)
    }

    /// The secrets in `file`. Takes any bytes.
    public static func open(
        _ file: [UInt8], passphrase: [UInt8]
    ) throws(OpenError) -> [UInt8] {
        let key = try derivation(of: file).key(of: secret(passphrase))
        return try open(file, under: key)
    }

    /// The key derivation that opens `file`, read from its head. Takes any bytes.
    ///
    /// - Throws: `malformed`, `excessiveCost`; nothing was allocated.
    public static func derivation(of file: [UInt8]) throws(OpenError) -> KeyDerivation {
        let byteCountMin = headerByteCount + XChaCha20Poly1305.tagByteCount + checkByteCount
        guard file.count >= byteCountMin, file.starts(with: magic), file[8] == version,
            check([UInt8](file.dropLast(checkByteCount)))
                == [UInt8](file.suffix(checkByteCount))
        else { throw .malformed }
        let passes = number(file[9..<13])
        guard let cost = Cost(untrustedPasses: passes, memoryKiB: number(file[13..<17])) else {
            throw .excessiveCost
        }
        return KeyDerivation(cost: cost, salt: [UInt8](file[17..<33]))
    }

    /// The secrets in `file`, by the key of its `derivation`, at no cost. Takes any bytes.
    ///
    /// - Throws: `wrongPassphrase`, `malformed`.
    public static func open(
        _ file: [UInt8], under key: SymmetricKey
    ) throws(OpenError) -> [UInt8] {
        guard file.count > headerByteCount + checkByteCount else { throw .malformed }
        let secrets = XChaCha20Poly1305.open(
            [UInt8](file.dropLast(checkByteCount).dropFirst(headerByteCount)), under: key,
            nonce: [UInt8](file[33..<57]),
            associatedData: [UInt8](file.prefix(headerByteCount)))
        guard let secrets else { throw .wrongPassphrase }
        return secrets
    }

    /// An empty passphrase becomes one zero byte: `SecretBytes` cannot be empty.
    private static func secret(_ passphrase: [UInt8]) -> SecretBytes {
        SecretBytes(copying: passphrase.isEmpty ? [0] : passphrase, lifetime: .brief)
    }

    private static func check(_ body: [UInt8]) -> [UInt8] {
        [UInt8](Hash.personal(purpose, body).prefix(checkByteCount))
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [UInt8](littleEndianBytes(UInt64(number)).prefix(4))
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
