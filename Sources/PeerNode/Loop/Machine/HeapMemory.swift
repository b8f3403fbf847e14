private import CLinux

/// What the process keeps of memory that it does not use.
enum HeapMemory {
    /// Blocks of this size or more are allocated from the system and returned to it individually.
    private static let mappedByteCountMin: Int32 = 1024 * 1024
    /// Free memory that is kept for the next allocation. While files arrive, their pieces are allocated
    /// and freed all the time, most of what the buffers may hold; each would otherwise be returned to
    /// the kernel, requested again and zeroed.
    private static let keptByteCount: Int32 = 24 * 1024 * 1024
    /// Free memory that is not worth giving back at rest.
    private static let keptAtRestByteCount = 4 * 1024 * 1024

    /// To be called before memory is used.
    static func prepare() {
        // Refused by an allocator that does not know it, and then only time is lost.
        _ = wsx_keep_free_memory(mappedByteCountMin, keptByteCount)
    }

    /// Gives back what a busy time needed. To be called once it is over.
    static func giveBack() { wsx_give_back_memory(keptAtRestByteCount) }
}

/// What the process gives back when it is at rest.
struct RestingMemory {
    private var isStarted = false

    /// Gives back what a busy time needed, and the first time also the program's own code and
    /// constants: the start reads most of them, and what follows a small part.
    mutating func giveBack() {
        HeapMemory.giveBack()
        if !isStarted { wsx_leave_program_pages() }
        isStarted = true
    }
}
