import WorkspaceCrypto
import WorkspaceModel

/// The first 384 bytes of a backup: what is in it, and whether it is whole.
///
/// ```
///   0   8  "wsxbkup2"; "wsxbkup1" of earlier versions, which have no proof
///   8   1  1 when sealed by a passphrase, else 0
///   9   7  zeros
///  16   8  when it was made, milliseconds since 1970
///  24  32  the device whose backup it is
///  56 144  three parts (node.db, identity, settings), each: bytes in this file 8,
///          bytes of the part itself 8, H("wsx-backup1", its bytes in this file) 32
/// 200 121  `PassphraseVault` of the file's key; zeros when not sealed
/// 321  16  sealed: the proof, the first half of Hk(file key, "wsx-backup" || bytes 0 to 320);
///          else zeros
/// 337  15  zeros
/// 352  32  H("wsx-backup2", bytes 0 to 351)
/// ```
/// Integers are little endian. The parts follow in that order, each in pieces of 64 KiB. A sealed
/// piece is XChaCha20-Poly1305 under the file's key, nonce = part 8 || piece 8 || zeros 8,
/// associated data = bytes 0 to 55. A part of length 0 is not there. Sizes and hashes are bound by the
/// proof: without it, whoever cannot open a backup could still leave the last pieces of a part out.
struct BackupHeader: Equatable {
    static let byteCount = 384
    static let pieceByteCount = 64 * 1024
    static let vaultByteCount = 121
    static let partCount = 3
    static let proofByteCount = 16
    private static let magic = [UInt8]("wsxbkup2".utf8)
    private static let formerMagic = [UInt8]("wsxbkup1".utf8)
    private static let provenByteCount = 321
    private static let boundByteCount = 56

    struct Part: Equatable {
        var storedByteCount: UInt64 = 0
        var byteCount: UInt64 = 0
        var hash = [UInt8](repeating: 0, count: 32)
    }

    var createdAt: UInt64
    var device: DeviceID
    var parts = [Part](repeating: Part(), count: partCount)
    /// `nil` when the backup is not sealed.
    var vault: [UInt8]?
    /// Whether an earlier version made it, which wrote no proof.
    private(set) var isFormer = false
    /// Zeros until `prove`, and when it is not sealed.
    private(set) var proof = [UInt8](repeating: 0, count: proofByteCount)

    init(createdAt: UInt64, device: DeviceID, vault: [UInt8]?) {
        self.createdAt = createdAt
        self.device = device
        self.vault = vault
    }

    var isSealed: Bool { vault != nil }

    /// What every sealed piece is bound to.
    var context: [UInt8] { [UInt8](body.prefix(Self.boundByteCount)) }

    /// All bytes of the file, as far as the header says.
    var fileByteCount: UInt64? {
        parts.reduce(UInt64(Self.byteCount)) { sum, part in
            guard let sum else { return nil }
            let (total, overflows) = sum.addingReportingOverflow(part.storedByteCount)
            return overflows ? nil : total
        }
    }

    private var body: [UInt8] {
        var bytes =
            (isFormer ? Self.formerMagic : Self.magic) + [isSealed ? 1 : 0]
            + [UInt8](repeating: 0, count: 7)
        bytes += Self.bytes(createdAt) + device.bytes
        for part in parts {
            bytes += Self.bytes(part.storedByteCount) + Self.bytes(part.byteCount) + part.hash
        }
        bytes += vault ?? [UInt8](repeating: 0, count: Self.vaultByteCount)
        bytes += proof
        return bytes + [UInt8](repeating: 0, count: 352 - bytes.count)
    }

    /// The 384 bytes.
    var bytes: [UInt8] { body + Hash.personal("wsx-backup2", body) }

    /// Any bytes are safe; `nil` for what is no whole header of this version.
    init?(_ bytes: [UInt8]) {
        let isFormer = bytes.starts(with: Self.formerMagic)
        guard bytes.count == Self.byteCount, isFormer || bytes.starts(with: Self.magic),
            bytes[8] <= 1, let device = DeviceID(untrusted: [UInt8](bytes[24..<56]))
        else { return nil }
        let isSealed = bytes[8] == 1
        let vault = isSealed ? [UInt8](bytes[200..<200 + Self.vaultByteCount]) : nil
        self.init(createdAt: Self.number(bytes[16..<24]), device: device, vault: vault)
        self.isFormer = isFormer
        if isSealed, !isFormer {
            let start = Self.provenByteCount
            proof = [UInt8](bytes[start..<start + Self.proofByteCount])
        }
        for index in parts.indices {
            let start = Self.boundByteCount + 48 * index
            parts[index] = Part(
                storedByteCount: Self.number(bytes[start..<start + 8]),
                byteCount: Self.number(bytes[start + 8..<start + 16]),
                hash: [UInt8](bytes[start + 16..<start + 48]))
        }
        guard self.bytes == bytes, parts.allSatisfy({ $0.isPlausible(isSealed: isSealed) }) else {
            return nil
        }
    }

    /// Binds everything that is said here to the key.
    mutating func prove(under key: BackupKey) {
        proof = key.proof(of: [UInt8](body.prefix(Self.provenByteCount)))
    }

    /// Whether whoever had the key has said all of this.
    func isProven(under key: BackupKey) -> Bool {
        isFormer || proof == key.proof(of: [UInt8](body.prefix(Self.provenByteCount)))
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension BackupHeader.Part {
    /// Whether both sizes fit each other: a sealed piece is 16 bytes longer.
    fileprivate func isPlausible(isSealed: Bool) -> Bool {
        let piece = UInt64(BackupHeader.pieceByteCount)
        let pieces = byteCount / piece + (byteCount % piece == 0 ? 0 : 1)
        let extra = isSealed ? 16 * pieces : 0
        return storedByteCount >= byteCount && storedByteCount - byteCount == extra
    }
}

/// The key of a sealed backup, for its pieces.
struct BackupKey {
    let key: SymmetricKey
    let context: [UInt8]

    func seal(_ piece: [UInt8], part: Int, number: UInt64) -> [UInt8] {
        XChaCha20Poly1305.seal(
            piece, under: key, nonce: nonce(part, number), associatedData: context)
    }

    func open(_ piece: [UInt8], part: Int, number: UInt64) -> [UInt8]? {
        XChaCha20Poly1305.open(
            piece, under: key, nonce: nonce(part, number), associatedData: context)
    }

    func proof(of header: [UInt8]) -> [UInt8] {
        Array(
            Hash.keyed(key, Array("wsx-backup".utf8), header).prefix(BackupHeader.proofByteCount))
    }

    private func nonce(_ part: Int, _ number: UInt64) -> [UInt8] {
        [UInt64(part), number, 0].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
    }
}
