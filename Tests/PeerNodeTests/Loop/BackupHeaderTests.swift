import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The header of a backup` {
    private func header(isSealed: Bool) -> BackupHeader {
        let random = SeededRandom(seed: 5)
        var header = BackupHeader(
            createdAt: 1_795_150_800_123, device: DeviceID(random.bytes(32)),
            vault: isSealed ? random.bytes(BackupHeader.vaultByteCount) : nil)
        for index in 0..<2 {
            let size: UInt64 = index == 0 ? 200_000 : 300
            let pieces: UInt64 = index == 0 ? 4 : 1
            header.parts[index] = .init(
                storedByteCount: size + (isSealed ? 16 * pieces : 0), byteCount: size,
                hash: random.bytes(32))
        }
        return header
    }

    @Test(arguments: [false, true])
    func `round-trips`(isSealed: Bool) throws {
        let header = header(isSealed: isSealed)
        #expect(header.bytes.count == BackupHeader.byteCount)
        #expect(BackupHeader(header.bytes) == header)
        #expect(header.fileByteCount == 384 + 200_300 + (isSealed ? 80 : 0))
    }

    @Test(arguments: [false, true])
    func `is refused with any bit changed, and at any other length`(isSealed: Bool) {
        let bytes = header(isSealed: isSealed).bytes
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                #expect(BackupHeader(changed) == nil)
            }
        }
        for length in [0, 1, 351, 352, 383] {
            #expect(BackupHeader([UInt8](bytes.prefix(length))) == nil)
        }
        #expect(BackupHeader(bytes + [0]) == nil)
    }

    /// A forger can compute the hash again; sizes that contradict each other stay refused.
    @Test func `is refused with sizes that cannot be`() {
        for (stored, plain) in [(10, 11), (.max, 1), (27, 10), (1, .max), (0, 1)]
            as [(UInt64, UInt64)]
        {
            for isSealed in [false, true] {
                var header = header(isSealed: isSealed)
                header.parts[0] = .init(
                    storedByteCount: stored, byteCount: plain, hash: header.parts[0].hash)
                #expect(BackupHeader(header.bytes) == nil)
            }
        }
        var header = header(isSealed: false)
        for index in header.parts.indices {
            header.parts[index].storedByteCount = 1 << 63
            header.parts[index].byteCount = 1 << 63
        }
        #expect(header.fileByteCount == nil)
    }

    /// Without the key nobody leaves the last pieces of a part out, or a whole part.
    @Test func `binds sizes and hashes to the key, and no key to another header`() throws {
        let random = SeededRandom(seed: 9)
        var header = header(isSealed: true)
        let key = BackupKey(key: SymmetricKey(using: random), context: header.context)
        #expect(!header.isProven(under: key))
        header.prove(under: key)
        #expect(try #require(BackupHeader(header.bytes)).isProven(under: key))
        var shorter = header
        shorter.parts[0] = .init(
            storedByteCount: 65_552, byteCount: 65_536, hash: [UInt8](repeating: 1, count: 32))
        #expect(try !#require(BackupHeader(shorter.bytes)).isProven(under: key))
        var without = header
        without.parts[1] = .init()
        #expect(try !#require(BackupHeader(without.bytes)).isProven(under: key))
        let other = BackupKey(key: SymmetricKey(using: random), context: header.context)
        #expect(!header.isProven(under: other))
    }

    @Test(arguments: [false, true])
    func `has another version and a fourth part with files, bound like the others`(
        isSealed: Bool
    ) throws {
        let random = SeededRandom(seed: 6)
        var header = BackupHeader(
            createdAt: 7, device: DeviceID(random.bytes(32)),
            vault: isSealed ? random.bytes(BackupHeader.vaultByteCount) : nil, hasFiles: true)
        for index in header.parts.indices {
            header.parts[index] = .init(
                storedByteCount: 300 + (isSealed ? 16 : 0), byteCount: 300, hash: random.bytes(32))
        }
        let key = BackupKey(key: SymmetricKey(using: random), context: header.context)
        if isSealed { header.prove(under: key) }
        let bytes = header.bytes
        #expect(bytes.count == BackupHeader.filesByteCount && bytes[7] == UInt8(ascii: "3"))
        #expect(BackupHeader.byteCount(startingWith: bytes) == bytes.count)
        #expect(BackupHeader(bytes) == header && header.hasFiles)
        #expect(header.fileByteCount == 432 + 4 * (isSealed ? 316 : 300))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(BackupHeader(changed) == nil)
        }
        for length in [0, 8, 384, 431] {
            #expect(BackupHeader([UInt8](bytes.prefix(length))) == nil)
        }
        guard isSealed else { return }
        #expect(try #require(BackupHeader(bytes)).isProven(under: key))
        var without = header
        without.parts[3] = .init()
        #expect(try !#require(BackupHeader(without.bytes)).isProven(under: key))
    }

    /// It is read as it was written, and nobody makes one of a newer one: its pieces open no more.
    @Test func `of an earlier version has no proof, and none passes for one`() throws {
        var bytes = [UInt8](header(isSealed: true).bytes.prefix(352))
        bytes[7] = UInt8(ascii: "1")
        let former = try #require(
            BackupHeader(bytes + Hash.personal("wsx-backup2", bytes) as [UInt8]))
        let secret = SymmetricKey(using: SeededRandom(seed: 2))
        #expect(former.isFormer && former.isProven(under: .init(key: secret, context: [])))
        let sealed = BackupKey(key: secret, context: header(isSealed: true).context)
            .seal([1, 2, 3], part: 2, number: 0)
        let asFormer = BackupKey(key: secret, context: former.context)
        #expect(asFormer.open(sealed, part: 2, number: 0) == nil)
    }

    @Test func `binds every piece to its place`() {
        let header = header(isSealed: true)
        let key = BackupKey(
            key: SymmetricKey(using: SeededRandom(seed: 1)), context: header.context)
        let sealed = key.seal([1, 2, 3], part: 0, number: 7)
        #expect(key.open(sealed, part: 0, number: 7) == [1, 2, 3])
        #expect(key.open(sealed, part: 0, number: 8) == nil)
        #expect(key.open(sealed, part: 1, number: 7) == nil)
    }
}
