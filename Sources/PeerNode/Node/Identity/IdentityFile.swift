import WorkspaceCrypto
import WorkspaceModel

/// `identity/device.key` as it is on the disk: unprotected, or sealed by a passphrase.
///
/// ```
/// clear   the bytes of `HomeIdentity.fileBytes`
/// sealed  "wsxlock1" || device 32 || vault of the clear bytes || first 8 bytes of
///         H("wsx-keyfile2", all before)
/// ```
/// The device's name is outside the vault, so that a locked node can say who it is.
enum IdentityFile: Sendable {
    /// Unprotected: the file gives the keys to anyone who can read it.
    case clear(HomeIdentity)
    /// A passphrase opens it.
    case sealed(SealedIdentity)

    /// Reads the file's bytes, which the caller wipes: they may be keys.
    ///
    /// - Throws: `HomeFileError` for a file that is truncated, changed or of a later version. It is
    ///   never replaced, so that the owner can still restore it from a backup.
    init(fileBytes: [UInt8]) throws(HomeFileError) {
        if let sealed = try SealedIdentity(fileBytes: fileBytes) {
            self = .sealed(sealed)
        } else {
            self = .clear(try HomeIdentity(fileBytes: fileBytes))
        }
    }

    /// Whose keys they are.
    var device: DeviceID {
        switch self {
        case .clear(let identity): identity.device
        case .sealed(let sealed): sealed.device
        }
    }
}

/// Keys of a home under a passphrase.
struct SealedIdentity: Sendable {
    /// The device's name.
    let device: DeviceID
    /// The key derivation for the passphrase.
    let derivation: PassphraseVault.KeyDerivation
    private let vault: [UInt8]

    private static let magic = Array("wsxlock1".utf8)
    private static let headerByteCount = 40
    private static let checkByteCount = 8

    /// Seals `identity` under the key that `derivation` made of a passphrase.
    init(
        _ identity: HomeIdentity, under key: SymmetricKey,
        of derivation: PassphraseVault.KeyDerivation,
        using random: any RandomSource
    ) {
        var clear = identity.fileBytes
        defer { SecretBytes.wipe(&clear) }
        device = identity.device
        self.derivation = derivation
        vault = PassphraseVault.seal(clear, under: key, of: derivation, using: random)
    }

    /// Reads a sealed file, `nil` for one of another kind.
    init?(fileBytes: [UInt8]) throws(HomeFileError) {
        guard fileBytes.starts(with: Self.magic) else { return nil }
        let body = [UInt8](fileBytes.dropLast(Self.checkByteCount))
        guard body.count > Self.headerByteCount,
            Self.check(body) == [UInt8](fileBytes.suffix(Self.checkByteCount)),
            let device = DeviceID(untrusted: [UInt8](body[8..<Self.headerByteCount]))
        else { throw Self.damaged }
        self.device = device
        vault = [UInt8](body.dropFirst(Self.headerByteCount))
        do throws(PassphraseVault.OpenError) {
            derivation = try PassphraseVault.derivation(of: vault)
        } catch { throw Self.damaged }
    }

    /// The file's bytes.
    var fileBytes: [UInt8] {
        let body = Self.magic + device.bytes + vault
        return body + Self.check(body)
    }

    /// The identity, or `nil` under the key of a wrong passphrase.
    ///
    /// - Throws: `HomeFileError` when the sealed bytes are not an identity, or another device's.
    func opened(under key: SymmetricKey) throws(HomeFileError) -> HomeIdentity? {
        guard var clear = try? PassphraseVault.open(vault, under: key) else { return nil }
        defer { SecretBytes.wipe(&clear) }
        let identity = try HomeIdentity(fileBytes: clear)
        guard identity.device == device else { throw Self.damaged }
        return identity
    }

    private static let damaged = HomeFileError(
        "the identity file is truncated or damaged",
        hint: "restore identity/device.key from a backup")

    private static func check(_ body: [UInt8]) -> [UInt8] {
        [UInt8](Hash.personal("wsx-keyfile2", body).prefix(checkByteCount))
    }
}
