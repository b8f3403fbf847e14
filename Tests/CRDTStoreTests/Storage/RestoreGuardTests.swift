import Testing
import WorkspaceModel

@testable import CRDTStore

struct `A restore guard` {
    static let facts = StoreFileFacts(
        machine: 0x0807_0605_0403_0201, device: 0xfe00, inode: 42,
        birthNanoseconds: 1_700_000_000_000_000_001)
    static let store = StoreID([UInt8](0x10..<0x20))
    static let counter: UInt64 = 1_000_000

    final class File: GuardFile {
        var bytes: [UInt8]?
        func read() -> [UInt8]? { bytes }
        func write(slot: Int, bytes: [UInt8]) {
            var all = self.bytes ?? [UInt8](repeating: 0, count: 128)
            all.replaceSubrange(slot * 64..<slot * 64 + 64, with: bytes)
            self.bytes = all
        }
    }

    static func guardian(
        _ counter: UInt64, store: StoreID = store, facts: StoreFileFacts = facts
    ) -> RestoreGuard {
        RestoreGuard(storeID: store, facts: facts, commitCounter: counter)
    }

    /// The file after these commits.
    static func file(_ counters: [UInt64]) -> [UInt8] {
        let file = File()
        for counter in counters { guardian(counter).write(to: file) }
        return file.bytes ?? []
    }

    static func judge(_ bytes: [UInt8]?, commitCounter: UInt64 = counter) -> RestoreGuard.Verdict {
        RestoreGuard.judge(bytes, facts: facts, storeID: store, commitCounter: commitCounter)
    }

    @Test func `has the bytes that the format says`() {
        let golden: [UInt8] =
            [0x57, 0x53, 0x47, 1] + (0x10..<0x20)
            + [1, 2, 3, 4, 5, 6, 7, 8] + [0, 0xfe, 0, 0, 0, 0, 0, 0] + [42, 0, 0, 0, 0, 0, 0, 0]
            + [0x01, 0x00, 0x2a, 0x36, 0xfe, 0x9c, 0x97, 0x17]
            + [0x40, 0x42, 0x0f, 0, 0, 0, 0, 0]
        let slot = Self.guardian(Self.counter).slotBytes
        #expect(slot.count == 64)
        #expect(Array(slot.dropLast(4)) == golden)
        #expect(RestoreGuard(slot: slot[...]) == Self.guardian(Self.counter))
    }

    // The check value of the CRC catalogue.
    @Test func `uses the CRC-32 of IEEE 802.3`() {
        #expect(crc32([UInt8]("123456789".utf8)[...]) == 0xcbf4_3926)
        #expect(crc32([]) == 0)
    }

    @Test func `carries extreme numbers`() {
        let facts = StoreFileFacts(
            machine: .max, device: 0, inode: .max, birthNanoseconds: 1 << 63)
        let extreme = Self.guardian(.max, facts: facts)
        #expect(RestoreGuard(slot: extreme.slotBytes[...]) == extreme)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]?
        let reason: RestoreGuard.Reason?
    }

    static let other = StoreID([UInt8](repeating: 9, count: 16))

    static func changed(
        machine: UInt64? = nil, device: UInt64? = nil, inode: UInt64? = nil, birth: UInt64? = nil
    ) -> [UInt8] {
        let facts = StoreFileFacts(
            machine: machine ?? facts.machine, device: device ?? facts.device,
            inode: inode ?? facts.inode, birthNanoseconds: birth ?? facts.birthNanoseconds)
        return guardian(counter, facts: facts).slotBytes
    }

    static let cases = [
        Case(testDescription: "up to date", bytes: file([counter - 1, counter]), reason: nil),
        Case(
            testDescription: "killed between COMMIT and guard: one behind",
            bytes: file([counter - 2, counter - 1]), reason: nil),
        Case(
            testDescription: "power cut: as far behind as is explained",
            bytes: file([counter - RestoreGuard.toleratedLag]), reason: nil),
        Case(
            testDescription: "a guard from a backup",
            bytes: file([counter - RestoreGuard.toleratedLag - 1]), reason: .guardIsOlder),
        Case(
            testDescription: "a store from a backup, or its log lost",
            bytes: file([counter, counter + 1]), reason: .storeIsOlder),
        Case(
            testDescription: "a guard at the end of numbers",
            bytes: guardian(.max).slotBytes, reason: .storeIsOlder),
        Case(testDescription: "no guard", bytes: nil, reason: .missing),
        Case(testDescription: "an empty guard", bytes: [], reason: .unreadable),
        Case(
            testDescription: "zeros", bytes: [UInt8](repeating: 0, count: 128),
            reason: .unreadable),
        Case(
            testDescription: "the guard of another store",
            bytes: guardian(counter, store: other).slotBytes, reason: .otherStore),
        Case(testDescription: "another machine", bytes: changed(machine: 1), reason: .otherMachine),
        Case(testDescription: "another device", bytes: changed(device: 1), reason: .otherFile),
        Case(testDescription: "another inode", bytes: changed(inode: 1), reason: .otherFile),
        Case(
            testDescription: "a copy with the inode of the original",
            bytes: changed(birth: 1), reason: .otherFile),
    ]

    @Test(arguments: cases)
    func `tells a store that may continue from one that needs a new id`(_ sample: Case) {
        let expected = sample.reason.map(RestoreGuard.Verdict.newStoreNeeded) ?? .same
        #expect(Self.judge(sample.bytes) == expected)
    }

    @Test func `survives a torn write at every byte of either slot`() {
        let before = Self.file([Self.counter - 2, Self.counter - 1])
        let after = Self.file([Self.counter - 1, Self.counter])
        let slot = Int(Self.counter % 2) * 64
        for cut in 0...64 {
            var torn = before
            torn.replaceSubrange(slot..<slot + cut, with: after[slot..<slot + cut])
            #expect(Self.judge(torn) == .same, "cut at \(cut)")
        }
    }

    @Test func `finds every flipped bit, and is unreadable when both slots are hit`() {
        let whole = Self.guardian(Self.counter).slotBytes
        for bit in 0..<512 {
            var slot = whole
            slot[bit / 8] ^= 1 << (bit % 8)
            #expect(RestoreGuard(slot: slot[...]) == nil, "bit \(bit)")
            #expect(Self.judge(slot + slot) == .newStoreNeeded(.unreadable))
            #expect(Self.judge(slot + whole) == .same)
        }
    }

    @Test(arguments: 0...130)
    func `reads a file of any length`(_ count: Int) {
        let bytes = [UInt8](Self.file([Self.counter - 1, Self.counter]).prefix(count))
        let verdict = Self.judge(bytes)
        #expect(verdict == (count < 64 ? .newStoreNeeded(.unreadable) : .same))
    }

    @Test func `uses both slots in turn, so that the last but one stays`() {
        let bytes = Self.file([7, 8])
        #expect(RestoreGuard(slot: bytes[..<64])?.commitCounter == 8)
        #expect(RestoreGuard(slot: bytes[64...])?.commitCounter == 7)
        #expect(RestoreGuard.newest(in: bytes)?.commitCounter == 8)
        #expect(RestoreGuard.newest(in: Self.file([8, 9]))?.commitCounter == 9)
    }

    @Test func `forgets the higher counter of the store before a restore`() {
        let file = File()
        Self.guardian(90).write(to: file)
        Self.guardian(91).write(to: file)
        Self.guardian(50, store: Self.other).writeAnew(to: file)
        let verdict = RestoreGuard.judge(
            file.read(), facts: Self.facts, storeID: Self.other, commitCounter: 50)
        #expect(verdict == .same)
    }
}
