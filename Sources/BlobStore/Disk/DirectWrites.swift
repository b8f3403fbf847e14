private import CLinux
private import Glibc

/// Writes that pass the kernel's cache (O_DIRECT), for bytes that nobody reads soon.
///
/// A piece that goes through the cache is copied into new pages, which are found, written and
/// dropped again one by one: 1.6 s of processor time a GiB, against 0.3 s past it. It also stands
/// in the disk's queue ahead of a message's COMMIT. The disk takes whole blocks from aligned memory
/// alone, so each piece is copied into one buffer first.
struct DirectWrites: ~Copyable {
    /// The kernel calls.
    struct Calls {
        /// Makes writes to a file pass the cache or not. Returns whether it can.
        let pass: (Int32, Bool) -> Bool
        /// Writes memory to a file at an offset. Returns the bytes written, or -1 and errno.
        let write: (Int32, UnsafeRawBufferPointer, Int64) -> Int

        static var kernel: Calls {
            Calls(
                pass: { wsx_pass_cache($0, $1 ? 1 : 0) == 0 },
                write: { pwrite($0, $1.baseAddress, $1.count, off_t(clamping: $2)) })
        }
    }

    /// Offset, length and memory are multiples of it: no disk has larger blocks.
    static let alignment = 4_096

    private let calls: Calls
    /// Taken with the first write, for the life of the disk.
    private var buffer: UnsafeMutableRawBufferPointer?
    /// Whether the file system takes such writes, as far as is known.
    private(set) var isPossible = true

    init(_ calls: Calls = .kernel) { self.calls = calls }

    deinit { buffer?.deallocate() }

    /// Writes a piece past the cache.
    ///
    /// - Returns: `false` if it has to be written the usual way, because it has no whole blocks, or
    ///   the file system does not take it so: some of it may be written by then.
    /// - Throws: what the disk says of it.
    mutating func write(
        _ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>
    ) throws(BlobError) -> Bool {
        let alignment = Self.alignment
        guard isPossible, !bytes.isEmpty, bytes.count <= BlobLimits.pieceBytesMax,
            bytes.count.isMultiple(of: alignment), offset.isMultiple(of: UInt64(alignment))
        else { return false }
        let whole =
            buffer
            ?? .allocate(byteCount: BlobLimits.pieceBytesMax, alignment: alignment)
        buffer = whole
        bytes.withUnsafeBytes { whole.copyMemory(from: $0) }
        guard calls.pass(file, true) else {
            isPossible = false
            return false
        }
        defer { _ = calls.pass(file, false) }
        return try writeAll(file, at: offset, UnsafeRawBufferPointer(whole), bytes.count)
    }

    private mutating func writeAll(
        _ file: Int32, at offset: UInt64, _ memory: UnsafeRawBufferPointer, _ byteCount: Int
    ) throws(BlobError) -> Bool {
        var done = 0
        while done < byteCount {
            let rest = UnsafeRawBufferPointer(rebasing: memory[done..<byteCount])
            let count = calls.write(file, rest, Int64(clamping: offset + UInt64(done)))
            if count < 0, errno == EINTR { continue }
            // A disk with blocks of another kind; or a file system that says so late.
            if count < 0, errno == EINVAL || errno == EOPNOTSUPP { isPossible = false }
            guard isPossible else { return false }
            guard count > 0 else { throw .last("pwrite") }
            done += count
            // It stopped within a block, as where the disk is full: the usual way finds out.
            guard done.isMultiple(of: Self.alignment) else { return false }
        }
        return true
    }
}
