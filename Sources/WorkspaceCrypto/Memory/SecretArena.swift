private import CSodium
private import Glibc

/// The memory of all long-lived secrets: a few chunks between guard pages, cut into slots.
///
/// A guarded allocation for each secret would take four memory maps and two pages; of some 65,000
/// maps that the kernel gives a process, 16,000 keys would take all. So one chunk holds a thousand.
///
/// What a slot promises: it is kept out of swap and of core files where the system allows it; guard
/// pages surround its chunk; its chunk is read-only except while one of its slots is written or
/// zeroed; and a free slot is all zeros. Not promised: a guard between two slots of one chunk.
///
/// There are at most `chunkCountMax` chunks, and a chunk is never returned to the system. When no
/// slot is free, `take` returns `nil` and never traps: others have a say in how many secrets a node
/// holds.
///
/// `@unchecked Sendable` is sound because what is `private` here is touched between lock and unlock
/// of the one mutex alone, and a slot's bytes are written before anybody else has its address.
final class SecretArena: @unchecked Sendable {
    /// The bytes of a slot: a signing key has 64, everything else that lives long 32 or less.
    static let slotByteCount = 64
    /// The slots of one chunk: with the 16 bytes that libsodium puts in front, just below 64 KiB.
    static let slotsPerChunk = 1_023

    /// The arena of the process. 16 chunks are 1 MiB of locked memory, an eighth of what Debian lets
    /// a process lock, and four times what the keys of a node take (`Limits.keysInMemoryMax`).
    static let shared = SecretArena(chunkCountMax: 16)

    /// Where a secret lies.
    struct Slot {
        fileprivate let chunk: Int
        let base: UnsafeMutablePointer<UInt8>
    }

    private let chunkCountMax: Int
    private let allocate: (Int) -> UnsafeMutableRawPointer?
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var chunks: [UnsafeMutableRawPointer] = []
    private var free: [Slot] = []
    private var outsideCount = 0

    /// An arena without chunks.
    ///
    /// - Parameter allocate: gives guarded memory of so many bytes, or `nil`; for tests.
    init(
        chunkCountMax: Int, allocate: @escaping (Int) -> UnsafeMutableRawPointer? = sodium_malloc
    ) {
        requireSodium()
        self.chunkCountMax = chunkCountMax
        self.allocate = allocate
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        // Zeroes them too.
        for chunk in chunks { sodium_free(chunk) }
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Lends the first `count` bytes of a zeroed slot to `fill`, which must take no other secret.
    ///
    /// - Returns: `nil` where the secret is longer than a slot, or there is no slot left.
    func take(_ count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) -> Slot? {
        guard count <= Self.slotByteCount else { return nil }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if free.isEmpty { addChunk() }
        guard let slot = free.last, sodium_mprotect_readwrite(chunks[slot.chunk]) == 0 else {
            return nil
        }
        free.removeLast()
        fill(slot.base)
        // A chunk that stays writable is worse protected, and as useful.
        sodium_mprotect_readonly(chunks[slot.chunk])
        return slot
    }

    /// Zeroes a slot and frees it. A slot that cannot be zeroed is never handed out again.
    func giveBack(_ slot: Slot) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard sodium_mprotect_readwrite(chunks[slot.chunk]) == 0 else { return }
        sodium_memzero(slot.base, Self.slotByteCount)
        sodium_mprotect_readonly(chunks[slot.chunk])
        free.append(slot)
    }

    /// Counts long-lived secrets that found no slot, less those released since.
    func noteOutside(_ difference: Int) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        outsideCount += difference
    }

    /// How full it is.
    var usage: SecretBytes.Usage {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return SecretBytes.Usage(
            slots: chunks.count * Self.slotsPerChunk - free.count, chunks: chunks.count,
            outside: outsideCount)
    }

    private func addChunk() {
        let byteCount = Self.slotsPerChunk * Self.slotByteCount
        guard chunks.count < chunkCountMax, let chunk = allocate(byteCount) else { return }
        sodium_memzero(chunk, byteCount)
        let bytes = chunk.bindMemory(to: UInt8.self, capacity: byteCount)
        free.reserveCapacity((chunks.count + 1) * Self.slotsPerChunk)
        for slot in (0..<Self.slotsPerChunk).reversed() {
            free.append(Slot(chunk: chunks.count, base: bytes + slot * Self.slotByteCount))
        }
        sodium_mprotect_readonly(chunk)
        chunks.append(chunk)
    }
}
