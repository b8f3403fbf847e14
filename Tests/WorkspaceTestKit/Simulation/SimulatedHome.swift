public import CRDTStore
public import PeerNode

/// The files of a home in memory. They survive crashes, as real files do.
public final class SimulatedHome: HomeFiles {
    private var identity: [UInt8]?
    private var guardSlots: [[UInt8]?] = [nil, nil]
    private var lastGuardWrite: (slot: Int, before: [UInt8]?)?
    /// What the machine says about node.db; a test changes it to play a copied store.
    public var storeFacts = StoreFileFacts(machine: 1, device: 1, inode: 1, birthNanoseconds: 1)
    /// Free bytes on the disk.
    public var freeBytes: Int64 = 1 << 40
    /// All bytes of the disk.
    public var diskBytes: Int64 = 1 << 41
    /// Bytes of node.db and its log.
    public var storeBytes: Int64 = 0

    /// An empty home, or the files of another one.
    public init(copying original: SimulatedHome? = nil) {
        identity = original?.identity
        guardSlots = original?.guardSlots ?? [nil, nil]
    }

    /// What is put into an empty home from a backup: the keys, and no guard file.
    init(identity: [UInt8]) { self.identity = identity }

    /// Takes over the files of another home, as they were copied.
    func become(_ other: SimulatedHome) {
        identity = other.identity
        guardSlots = other.guardSlots
        lastGuardWrite = nil
    }

    /// What was made, or `nil`.
    public func readIdentity() throws(HomeFileError) -> [UInt8]? { identity }

    /// Keeps the identity; a second one is refused.
    public func createIdentity(_ bytes: [UInt8]) throws(HomeFileError) {
        guard identity == nil else { throw HomeFileError("there is an identity already") }
        identity = bytes
    }

    /// Replaces the identity.
    public func replaceIdentity(_ bytes: [UInt8]) throws(HomeFileError) { identity = bytes }

    /// Both slots, as far as they were written.
    public func read() -> [UInt8]? {
        guard guardSlots.contains(where: { $0 != nil }) else { return nil }
        let empty = [UInt8](repeating: 0, count: RestoreGuard.slotByteCount)
        return guardSlots.flatMap { $0 ?? empty }
    }

    /// Keeps one slot.
    public func write(slot: Int, bytes: [UInt8]) {
        lastGuardWrite = (slot, guardSlots[slot])
        guardSlots[slot] = bytes
    }

    /// Takes the last write of the guard file back: it is never synced, and a crash may come
    /// between the COMMIT and the write. A new store's guard was written twice and stays.
    func loseLastGuardWrite() {
        guard let (slot, before) = lastGuardWrite, before != nil else { return }
        guardSlots[slot] = before
        lastGuardWrite = nil
    }
}
