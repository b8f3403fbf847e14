private import CLinux
private import Glibc

/// Has the kernel write what files got on to the disk soon, and little of it at a time.
///
/// What nobody begins to write is written at the next sync, all at once. What is begun without end
/// stands in the queue of the disk before the COMMIT of a message. So each writer has a little under
/// way, and waits for its oldest part before it goes on.
struct WriteAhead {
    /// What it asks of the kernel, with a file, an offset and a length.
    struct Calls {
        /// Begins to write.
        let begin: (Int32, Int64, Int64) -> Void
        /// Waits for that. Returns an errno, 0 for none.
        let wait: (Int32, Int64, Int64) -> Int32

        static var kernel: Calls {
            Calls(
                begin: { _ = wsx_begin_writing($0, $1, $2) },
                wait: { wsx_await_writing($0, $1, $2) == 0 ? 0 : errno })
        }
    }

    private struct Part {
        let file: Int32
        let offset: UInt64
        let byteCount: Int
    }

    private let calls: Calls
    /// The oldest first.
    private var parts: [Part] = []
    /// Bytes that were begun and not waited for.
    private(set) var byteCount = 0
    private var failure: Int32?

    init(_ calls: Calls = .kernel) { self.calls = calls }

    /// Begins with bytes that were just written to a file, and waits for older ones.
    mutating func begin(_ file: Int32, at offset: UInt64, byteCount count: Int) {
        for start in stride(from: 0, to: count, by: BlobLimits.pieceBytesMax) {
            let part = Part(
                file: file, offset: offset &+ UInt64(start),
                byteCount: min(BlobLimits.pieceBytesMax, count - start))
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
        // Others say that this file system cannot wait.
        if [EIO, ENOSPC, EDQUOT].contains(number) { failure = number }
    }

    /// That bytes could not be written: who waits for them is told, and a sync of the same file says
    /// nothing of it any more. So whoever syncs, whichever file, has to ask here first.
    mutating func takeFailure() -> BlobError? {
        defer { failure = nil }
        return failure.map { .system("sync_file_range", $0) }
    }

    /// Waits no more for parts of a file, which is closed.
    mutating func forget(_ file: Int32) {
        parts.removeAll { $0.file == file }
        byteCount = parts.reduce(0) { $0 + $1.byteCount }
    }
}
