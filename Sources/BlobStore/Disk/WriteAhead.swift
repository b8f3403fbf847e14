private import CLinux
private import Glibc

/// Makes the kernel write file data to disk early, and little of it at a time.
///
/// Data that nobody flushes is written at the next sync, all at once; unlimited flushing fills the
/// disk's queue ahead of a message's COMMIT. So each writer keeps a small amount in flight, and
/// waits for the oldest part before it continues.
///
/// What is written may also leave the kernel's cache, but for the newest part of it: the memory is
/// used again for what follows. To take new memory for each page of a large file costs more than
/// to hash the file, and takes the cache from all other programs.
struct WriteAhead {
    /// The kernel calls, with a file, an offset and a length.
    struct Calls {
        /// Starts writing.
        let begin: (Int32, Int64, Int64) -> Void
        /// Waits for it. Returns an errno, 0 for success.
        let wait: (Int32, Int64, Int64) -> Int32
        /// Drops it from the cache, now that it is on disk.
        let drop: (Int32, Int64, Int64) -> Void
        /// Closes a file.
        let close: (Int32) -> Void

        static var kernel: Calls {
            Calls(
                begin: { _ = wsx_begin_writing($0, $1, $2) },
                wait: { wsx_await_writing($0, $1, $2) == 0 ? 0 : errno },
                drop: { _ = posix_fadvise($0, off_t($1), off_t($2), POSIX_FADV_DONTNEED) },
                close: { Glibc.close($0) })
        }
    }

    private struct Part {
        let file: Int32
        let offset: UInt64
        let byteCount: Int
        let staysCached: Bool
    }

    private let calls: Calls
    /// The oldest first.
    private var parts: [Part] = []
    /// Bytes in flight.
    private(set) var byteCount = 0
    /// Written, and still cached for a while. The oldest first.
    private var cached: [Part] = []
    private var cachedByteCount = 0
    /// Files that nobody uses any more, open until what they have in the cache is dropped.
    private var leaving: Set<Int32> = []
    private var failure: Int32?

    init(_ calls: Calls = .kernel) { self.calls = calls }

    /// Starts writing bytes just added to a file, and waits for older ones.
    ///
    /// - Parameter staysCached: `false` if they may leave the cache once enough others follow.
    mutating func begin(
        _ file: Int32, at offset: UInt64, byteCount count: Int, staysCached: Bool = true
    ) {
        for start in stride(from: 0, to: count, by: BlobLimits.pieceBytesMax) {
            let part = Part(
                file: file, offset: offset &+ UInt64(start),
                byteCount: min(BlobLimits.pieceBytesMax, count - start), staysCached: staysCached)
            calls.begin(file, Int64(clamping: part.offset), Int64(part.byteCount))
            parts.append(part)
            byteCount += part.byteCount
            while byteCount > BlobLimits.writtenAheadBytesMax, !parts.isEmpty { waitForOldest() }
        }
    }

    private mutating func waitForOldest() {
        let part = parts.removeFirst()
        byteCount -= part.byteCount
        let number = calls.wait(part.file, Int64(clamping: part.offset), Int64(part.byteCount))
        // Other errors mean that this file system cannot wait.
        if [EIO, ENOSPC, EDQUOT].contains(number) { failure = number }
        guard !part.staysCached, number == 0 else { return }
        cached.append(part)
        cachedByteCount += part.byteCount
        while cachedByteCount > BlobLimits.cachedBehindBytesMax { dropOldest() }
    }

    private mutating func dropOldest() {
        guard !cached.isEmpty else { return cachedByteCount = 0 }
        let part = cached.removeFirst()
        cachedByteCount -= part.byteCount
        calls.drop(part.file, Int64(clamping: part.offset), Int64(part.byteCount))
        guard leaving.contains(part.file), !cached.contains(where: { $0.file == part.file }) else {
            return
        }
        leaving.remove(part.file)
        calls.close(part.file)
    }

    /// A write error. The kernel reports it once, to the caller that waits; a later sync of the
    /// same file does not report it again. So every sync, of any file, must check here first.
    mutating func takeFailure() -> BlobError? {
        defer { failure = nil }
        return failure.map { .system("sync_file_range", $0) }
    }

    /// Closes a file: at once, or when what it has in the cache is dropped, which can only be asked
    /// for through an open file.
    mutating func close(_ file: Int32) {
        parts.removeAll { $0.file == file }
        byteCount = parts.reduce(0) { $0 + $1.byteCount }
        guard cached.contains(where: { $0.file == file }) else { return calls.close(file) }
        leaving.insert(file)
        while leaving.count > BlobLimits.leavingFilesMax { dropOldest() }
    }

    /// Closes all files whose closing was put off. A file that was removed takes room until then.
    mutating func closeAll() {
        cached.removeAll { leaving.contains($0.file) }
        cachedByteCount = cached.reduce(0) { $0 + $1.byteCount }
        for file in leaving.sorted() { calls.close(file) }
        leaving = []
    }
}
