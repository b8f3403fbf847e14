import WorkspaceCrypto
import WorkspaceModel

/// The first 384 bytes of a backup, or 432 where it has files: what is in it, and whether it is whole.
///
/// ```
///   0   8  "wsxbkup2"; "wsxbkup3" with files; "wsxbkup1" of earlier versions, which have no proof
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
/// 352  48  in "wsxbkup3" alone: a fourth part, the files of blobs (BackupFiles), as the three above
/// then 32  H("wsx-backup2", all bytes before)
/// ```
/// Integers are little endian. The parts follow in that order, each in pieces of 64 KiB. A sealed
/// piece is XChaCha20-Poly1305 under the file's key, nonce = part 8 || piece 8 || zeros 8,
/// associated data = bytes 0 to 55. A part of length 0 is absent. The proof covers sizes and
/// hashes; in "wsxbkup3" it also covers those of the fourth part. Without it, somebody who cannot
/// open a backup could still cut off the last pieces of a part.
struct BackupHeader: Equatable {
    static let byteCount = 384
    /// Of one with files.
    static let filesByteCount = byteCount + 48
    static let pieceByteCount = 64 * 1024
    /// The size limit of the smaller parts: the identity and the settings.
    static let smallByteCountMax = 1024 * 1024
    static let vaultByteCount = 121
    static let partCount = 3
    static let proofByteCount = 16
    private static let magic = [UInt8]("wsxbkup2".utf8)
    private static let formerMagic = [UInt8]("wsxbkup1".utf8)
    private static let filesMagic = [UInt8]("wsxbkup3".utf8)
    private static let filesPartStart = 352
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

    /// - Parameter hasFiles: whether there is a fourth part.
    init(createdAt: UInt64, device: DeviceID, vault: [UInt8]?, hasFiles: Bool = false) {
        self.createdAt = createdAt
        self.device = device
        self.vault = vault
        if hasFiles { parts.append(Part()) }
    }

    /// Whether there is a fourth part, the files of blobs.
    var hasFiles: Bool { parts.count > Self.partCount }

    /// Bytes of this header.
    var headerByteCount: Int { hasFiles ? Self.filesByteCount : Self.byteCount }

    /// Bytes of the header that begins like this.
    static func byteCount(startingWith bytes: [UInt8]) -> Int {
        bytes.starts(with: filesMagic) ? filesByteCount : byteCount
    }

    var isSealed: Bool { vault != nil }

    /// The associated data of every sealed piece.
    var context: [UInt8] { [UInt8](body.prefix(Self.boundByteCount)) }

    /// All bytes of the file, as far as the header says.
    var fileByteCount: UInt64? {
        parts.reduce(UInt64(headerByteCount)) { sum, part in
            guard let sum else { return nil }
            let (total, overflows) = sum.addingReportingOverflow(part.storedByteCount)
            return overflows ? nil : total
        }
    }

    private var body: [UInt8] {
        let magic = hasFiles ? Self.filesMagic : isFormer ? Self.formerMagic : Self.magic
        var bytes = magic + [isSealed ? 1 : 0] + [UInt8](repeating: 0, count: 7)
        bytes += Self.bytes(createdAt) + device.bytes
        for part in parts.prefix(Self.partCount) { bytes += part.bytes }
        bytes += vault ?? [UInt8](repeating: 0, count: Self.vaultByteCount)
        bytes += proof
        bytes += [UInt8](repeating: 0, count: Self.filesPartStart - bytes.count)
        return hasFiles ? bytes + parts[Self.partCount].bytes : bytes
    }

    /// The bytes that the proof covers.
    private var proven: [UInt8] {
        let body = body
        return [UInt8](body.prefix(Self.provenByteCount)) + body.dropFirst(Self.filesPartStart)
    }

    /// All of it.
    var bytes: [UInt8] { body + Hash.personal("wsx-backup2", body) }

    /// Accepts arbitrary bytes; `nil` for anything but a complete header of this version.
    init?(_ bytes: [UInt8]) {
        let isFormer = bytes.starts(with: Self.formerMagic)
        let hasFiles = bytes.starts(with: Self.filesMagic)
        guard bytes.count == Self.byteCount(startingWith: bytes),
            isFormer || hasFiles || bytes.starts(with: Self.magic), bytes[8] <= 1,
            let device = DeviceID(untrusted: [UInt8](bytes[24..<56]))
        else { return nil }
        let isSealed = bytes[8] == 1
        let vault = isSealed ? [UInt8](bytes[200..<200 + Self.vaultByteCount]) : nil
        self.init(
            createdAt: Self.number(bytes[16..<24]), device: device, vault: vault,
            hasFiles: hasFiles)
        self.isFormer = isFormer
        if isSealed, !isFormer {
            let start = Self.provenByteCount
            proof = [UInt8](bytes[start..<start + Self.proofByteCount])
        }
        for index in parts.indices {
            let start =
                index < Self.partCount ? Self.boundByteCount + 48 * index : Self.filesPartStart
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
        proof = key.proof(of: proven)
    }

    /// Whether the holder of the key has written all of this.
    func isProven(under key: BackupKey) -> Bool {
        isFormer || proof == key.proof(of: proven)
    }

    /// The form of a number in a backup, 8 bytes.
    static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }

    /// The number that 8 bytes of a backup are.
    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension BackupHeader.Part {
    fileprivate var bytes: [UInt8] {
        BackupHeader.bytes(storedByteCount) + BackupHeader.bytes(byteCount) + hash
    }

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
        [UInt64(part), number, 0].flatMap(BackupHeader.bytes)
    }
}
