import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

@Suite struct `The header of a backup` {
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
