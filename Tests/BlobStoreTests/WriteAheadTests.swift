import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

/// How much of a file is being written to disk, and how much of it stays in the kernel's cache.
struct `Writing ahead` {
    /// What was asked of the kernel.
    private final class Kernel {
        var begun: [Range<Int64>] = []
        var awaited: [Range<Int64>] = []
        var dropped: [Range<Int64>] = []
        var closed: [Int32] = []
        var files: [Int32] = []
        var error: Int32 = 0

        var calls: WriteAhead.Calls {
            WriteAhead.Calls(
                begin: { [self] _, offset, count in begun.append(offset..<offset + count) },
                wait: { [self] file, offset, count in
                    files.append(file)
                    awaited.append(offset..<offset + count)
                    return error
                },
                drop: { [self] _, offset, count in dropped.append(offset..<offset + count) },
                close: { [self] file in closed.append(file) })
        }
    }

    private static let piece = Int64(BlobLimits.pieceBytesMax)
    private static let most = BlobLimits.writtenAheadBytesMax
    private let kernel = Kernel()

    @Test func `begins at once, and waits for the oldest once there is much`() {
        var ahead = WriteAhead(kernel.calls)
        let piece = Self.piece
        for number in 0..<10 {
            ahead.begin(3, at: UInt64(number) * UInt64(piece), byteCount: Int(piece))
            #expect(kernel.begun.count == number + 1)
            #expect(ahead.byteCount <= Self.most)
        }
        #expect(ahead.byteCount == Self.most, "the disk always has something to do")
        let waited = (0..<Int64(10) - Int64(Self.most) / piece).map {
            $0 * piece..<($0 + 1) * piece
        }
        #expect(kernel.awaited == waited)
    }

    @Test func `cuts what is large`() {
        var ahead = WriteAhead(kernel.calls)
        ahead.begin(3, at: 5, byteCount: 16 << 20)
        #expect(kernel.begun.count == 64)
        #expect(kernel.begun.first == 5..<5 + Self.piece)
        let last: Range<Int64> = 5 + (16 << 20) - Self.piece..<5 + (16 << 20)
        #expect(kernel.begun.last == last)
        #expect(ahead.byteCount == Self.most)
        ahead.begin(3, at: 0, byteCount: 0)
        #expect(kernel.begun.count == 64)
    }

    @Test func `waits for no file that is closed`() {
        var ahead = WriteAhead(kernel.calls)
        ahead.begin(3, at: 0, byteCount: 600_000)
        ahead.begin(4, at: 0, byteCount: 300_000)
        ahead.close(3)
        #expect(ahead.byteCount == 300_000 && kernel.closed == [3])
        for _ in 0..<8 { ahead.begin(5, at: 0, byteCount: 250_000) }
        #expect(kernel.files.contains(4) && !kernel.files.contains(3))
    }

    /// The kernel reports it once for each open file, to the caller that waits.
    @Test(arguments: [
        (EIO, BlobError.disk(call: "sync_file_range", number: EIO)), (ENOSPC, .noSpace),
    ])
    func `keeps that something could not be written for who syncs`(
        _ number: Int32, _ error: BlobError
    ) {
        var ahead = WriteAhead(kernel.calls)
        kernel.error = number
        ahead.begin(3, at: 0, byteCount: Self.most + 1)
        kernel.error = 0
        ahead.begin(4, at: 0, byteCount: Self.most)
        ahead.close(3)
        #expect(ahead.takeFailure() == error)
        #expect(ahead.takeFailure() == nil)
    }

    @Test(arguments: [EBADF, EINVAL, ESPIPE, ENOSYS])
    func `does without where a file system cannot wait`(_ number: Int32) {
        var ahead = WriteAhead(kernel.calls)
        kernel.error = number
        ahead.begin(3, at: 0, byteCount: Self.most + 1)
        #expect(ahead.takeFailure() == nil)
    }

    @Test func `drops the oldest of what need not stay cached, once it is on disk`() {
        var ahead = WriteAhead(kernel.calls)
        let piece = Self.piece
        let held = (BlobLimits.cachedBehindBytesMax + Self.most) / Int(piece)
        for number in 0..<held + 3 {
            ahead.begin(
                3, at: UInt64(number) * UInt64(piece), byteCount: Int(piece), staysCached: false)
            // What is being written counts as well: it was not waited for.
            let expected = (0..<Int64(max(0, number + 1 - held))).map {
                $0 * piece..<($0 + 1) * piece
            }
            #expect(kernel.dropped == expected)
        }
        #expect(kernel.dropped.allSatisfy { kernel.awaited.contains($0) })
    }

    @Test func `drops nothing of what is to stay, or could not be written`() {
        var ahead = WriteAhead(kernel.calls)
        let much = 2 * BlobLimits.cachedBehindBytesMax
        ahead.begin(3, at: 0, byteCount: much)
        kernel.error = EIO
        ahead.begin(3, at: 0, byteCount: much, staysCached: false)
        kernel.error = 0
        ahead.close(3)
        ahead.begin(4, at: 7, byteCount: BlobLimits.cachedBehindBytesMax, staysCached: false)
        ahead.begin(4, at: 0, byteCount: Self.most)
        #expect(kernel.dropped.isEmpty && kernel.closed == [3])
        ahead.begin(4, at: 0, byteCount: Int(Self.piece), staysCached: false)
        ahead.begin(4, at: 0, byteCount: Self.most)
        #expect(kernel.dropped == [7..<7 + Self.piece])
    }

    /// Writes small files, each of them closed when some others have followed.
    private func writeFiles(_ files: Range<Int32>, _ ahead: inout WriteAhead) {
        for file in files {
            ahead.begin(file, at: 0, byteCount: 100_000, staysCached: false)
            if files.contains(file - 32) { ahead.close(file - 32) }
        }
    }

    @Test func `keeps a file open as long as something of it is to be dropped`() {
        var ahead = WriteAhead(kernel.calls)
        let most = Int32(BlobLimits.leavingFilesMax)
        writeFiles(100..<132 + most, &ahead)
        #expect(kernel.closed.isEmpty && kernel.dropped.isEmpty)
        writeFiles(1_000..<1_032 + 2 * most, &ahead)
        #expect(kernel.closed == Array(100..<100 + most) + Array(1_000..<1_000 + most))
        // Those between were never closed, and are dropped like all others.
        #expect(kernel.dropped.count == kernel.closed.count + 32)
    }

    @Test func `closes what only waits for that before a file is removed`() {
        var ahead = WriteAhead(kernel.calls)
        writeFiles(100..<164, &ahead)
        #expect(kernel.closed.isEmpty)
        ahead.closeAll()
        #expect(kernel.closed == Array(100..<132))
        ahead.closeAll()
        #expect(kernel.closed.count == 32 && kernel.dropped.isEmpty)
    }

    @Test func `leaves real files as they are`() throws {
        try BlobBench.inFolder { folder in
            let disk = try KernelDisk(folder: folder)
            let bytes = BlobBench.text(3_000_000)
            var files: [Int32] = []
            for number in 0..<3 { files.append(try disk.open("\(number)", isNew: true)) }
            for start in stride(from: 0, to: bytes.count, by: 200_000) {
                let part = bytes[start..<min(bytes.count, start + 200_000)]
                for file in files {
                    try disk.write(file, at: UInt64(start), part, staysCached: file == files[1])
                }
            }
            disk.close(files[0])
            try disk.synchronize(files[1])
            try disk.synchronizeAll()
            for file in files[1...] { disk.close(file) }
            for number in 0..<3 {
                let found = FileManager.default.contents(atPath: "\(folder)/\(number)")
                #expect(found.map { [UInt8]($0) } == bytes)
            }
        }
    }
}
