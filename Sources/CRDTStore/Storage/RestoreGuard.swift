public import WorkspaceModel

/// Detects that a store was copied, restored or rolled back, before it signs anything.
///
/// A store that continued from an old copy of itself would reuse places of its log. So a guard file
/// beside the store records the store's file and machine, and its number of commits. Any mismatch
/// causes a new store id, and with it a new log.
///
/// The file has two slots of 64 bytes, written alternately, each after a COMMIT and never synced. A
/// torn write destroys one slot and leaves the other. Integers are little endian.
///
/// ```
///  0   3  "WSG"
///  3   1  format version, 1
///  4  16  store id
/// 20   8  first bytes of a hash of the machine id
/// 28   8  device number of the store's file
/// 36   8  inode of the store's file
/// 44   8  birth time of the store's file, nanoseconds since 1970
/// 52   8  commit counter
/// 60   4  CRC-32 of bytes 0 to 59 (IEEE 802.3)
/// ```
///
/// What it cannot detect: a whole machine, or store and guard together and in place, restored to an
/// earlier moment. Then everything matches, and only peers know better (PROTOCOL.md, 5.4, Y-11 and
/// Y-41 to Y-43).
public struct RestoreGuard: Equatable, Sendable {
    /// Bytes of one slot.
    public static let slotByteCount = 64
    /// Bytes of the whole file.
    public static let byteCount = 128

    /// Commits by which the guard may be behind the store.
    ///
    /// After a kill it is one behind at most. After a power cut it lacks what the kernel had not
    /// written yet: Linux keeps a dirty page for up to 35 s, in which a busy node commits about
    /// 6,000 times a second, hence 2^18. A guard behind the store never proves that the *store* is
    /// old; but a guard further behind than a power cut explains came from a backup, and the store
    /// perhaps with it. A false alarm costs a new log and loses nothing.
    public static let toleratedLag: UInt64 = 1 << 18

    /// The store that the guard belongs to.
    public let storeID: StoreID
    /// The facts about that store's file.
    public let facts: StoreFileFacts
    /// The number of that store's commits.
    public let commitCounter: UInt64

    /// A slot to write after a commit.
    public init(storeID: StoreID, facts: StoreFileFacts, commitCounter: UInt64) {
        self.storeID = storeID
        self.facts = facts
        self.commitCounter = commitCounter
    }
}

/// Facts from the operating system about the store's file and the machine. Supplied by a layer with
/// system access, always from the open file.
public struct StoreFileFacts: Equatable, Sendable {
    /// First 8 bytes of a hash of the machine id, as a number. 0 where there is none.
    public let machine: UInt64
    /// Device number of the file.
    public let device: UInt64
    /// Inode of the file. A copy may get the same one, once the original is deleted.
    public let inode: UInt64
    /// Birth time of the file in nanoseconds since 1970, which a copy never shares. 0 if the file
    /// system does not record it.
    public let birthNanoseconds: UInt64

    /// All four, as they are now.
    public init(machine: UInt64, device: UInt64, inode: UInt64, birthNanoseconds: UInt64) {
        self.machine = machine
        self.device = device
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }
}

// MARK: - Judging

extension RestoreGuard {
    /// The guard's verdict on a store that was just opened.
    public enum Verdict: Equatable, Sendable {
        /// The store may continue.
        case same
        /// The store needs a new id before its first write.
        case newStoreNeeded(Reason)
    }

    /// Why a store needs a new id.
    public enum Reason: String, Equatable, Sendable, CaseIterable {
        /// No guard file: a home assembled from a backup, or a deleted file.
        case missing
        /// Neither slot is readable.
        case unreadable
        /// The guard belongs to another store: one of the two files was replaced.
        case otherStore
        /// Another machine id: a moved or cloned home.
        case otherMachine
        /// Another file than before: copied, or restored from a backup.
        case otherFile
        /// The guard has seen more commits than the store has: the store is an older copy, or its
        /// write-ahead log is lost.
        case storeIsOlder
        /// The guard is older than a power cut explains.
        case guardIsOlder
    }

    /// Compares the guard with the store beside it.
    ///
    /// - Parameters:
    ///   - bytes: the guard file, or `nil` when there is none. Any bytes are safe.
    ///   - facts: the store's file as it is now.
    ///   - storeID: the id inside the store.
    ///   - commitCounter: the counter inside the store.
    public static func judge(
        _ bytes: [UInt8]?, facts: StoreFileFacts, storeID: StoreID, commitCounter: UInt64
    ) -> Verdict {
        guard let bytes else { return .newStoreNeeded(.missing) }
        guard let last = newest(in: bytes) else { return .newStoreNeeded(.unreadable) }
        guard last.storeID == storeID else { return .newStoreNeeded(.otherStore) }
        guard last.facts.machine == facts.machine else { return .newStoreNeeded(.otherMachine) }
        guard last.facts == facts else { return .newStoreNeeded(.otherFile) }
        guard last.commitCounter <= commitCounter else { return .newStoreNeeded(.storeIsOlder) }
        guard commitCounter - last.commitCounter <= toleratedLag else {
            return .newStoreNeeded(.guardIsOlder)
        }
        return .same
    }

    /// The readable slot with the higher counter.
    public static func newest(in bytes: [UInt8]) -> RestoreGuard? {
        let first = RestoreGuard(slot: bytes.prefix(slotByteCount))
        let second = RestoreGuard(slot: bytes.dropFirst(slotByteCount).prefix(slotByteCount))
        guard let first else { return second }
        guard let second else { return first }
        return second.commitCounter > first.commitCounter ? second : first
    }
}

// MARK: - Writing

/// The guard's file, opened by a layer with disk access.
public protocol GuardFile: AnyObject {
    /// The whole file, or `nil` when there is none.
    func read() -> [UInt8]?
    /// Writes 64 bytes at 64 times `slot`, without syncing. Failures are ignored: the guard then
    /// falls behind, which is tolerated.
    func write(slot: Int, bytes: [UInt8])
}

extension RestoreGuard {
    /// Writes it after a COMMIT, into the slot that the previous commit did not use.
    public func write(to file: any GuardFile) {
        file.write(slot: Int(commitCounter % 2), bytes: slotBytes)
    }

    /// Writes both slots, for a new store id. The old slot may have a higher counter than the
    /// restored store, and would always win.
    public func writeAnew(to file: any GuardFile) {
        file.write(slot: 0, bytes: slotBytes)
        file.write(slot: 1, bytes: slotBytes)
    }

    /// The 64 bytes of a slot.
    public var slotBytes: [UInt8] {
        var bytes = Self.magic
        bytes.reserveCapacity(Self.slotByteCount)
        bytes += storeID.bytes
        let numbers = [
            facts.machine, facts.device, facts.inode, facts.birthNanoseconds, commitCounter,
        ]
        for number in numbers { appendLittleEndian(number, byteCount: 8, to: &bytes) }
        appendLittleEndian(UInt64(crc32(bytes[...])), byteCount: 4, to: &bytes)
        return bytes
    }

    /// The content of a slot, or `nil` unless it is intact and of this format.
    public init?(slot bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.slotByteCount, bytes.starts(with: Self.magic),
            littleEndian(bytes.suffix(4)) == UInt64(crc32(bytes.dropLast(4))),
            let storeID = StoreID(untrusted: [UInt8](bytes.dropFirst(4).prefix(16)))
        else { return nil }
        let numbers = [0, 8, 16, 24, 32].map { offset in
            littleEndian(bytes.dropFirst(20 + offset).prefix(8))
        }
        self.storeID = storeID
        facts = StoreFileFacts(
            machine: numbers[0], device: numbers[1], inode: numbers[2],
            birthNanoseconds: numbers[3])
        commitCounter = numbers[4]
    }

    /// "WSG" and the format version.
    private static let magic = [UInt8]("WSG".utf8) + [1]
}

private func appendLittleEndian(_ number: UInt64, byteCount: Int, to bytes: inout [UInt8]) {
    for index in 0..<byteCount {
        bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index)))
    }
}

private func littleEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
}

/// CRC-32 of IEEE 802.3: it detects a torn or decayed slot. It does not protect against
/// forgery, but a forger could as well change the store. Without a table, since 60 bytes
/// per commit need none.
func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var remainder: UInt32 = 0xffff_ffff
    for byte in bytes {
        remainder ^= UInt32(byte)
        for _ in 0..<8 {
            let polynomial: UInt32 = remainder & 1 == 1 ? 0xedb8_8320 : 0
            remainder = remainder >> 1 ^ polynomial
        }
    }
    return ~remainder
}
