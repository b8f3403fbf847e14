import Foundation
import Glibc
import Testing
import WorkspaceModel

@testable import BlobStore

/// Pieces that are written past the kernel's cache.
struct `Direct writes` {
    /// What was asked of the kernel, and what it says.
    private final class Kernel {
        var isDirect = false
        var passes = 0
        var writes: [(offset: Int64, byteCount: Int, isDirect: Bool, isAligned: Bool)] = []
        /// Whether a file can pass the cache.
        var takesFlag = true
        /// What the next writes give: bytes, or an errno below zero. Then all is written.
        var answers: [Int] = []

        var calls: DirectWrites.Calls {
            DirectWrites.Calls(
                pass: { [self] _, isOn in
                    isDirect = isOn && takesFlag
                    passes += 1
                    return takesFlag
                },
                write: { [self] _, memory, offset in
                    let address = UInt(bitPattern: memory.baseAddress)
                    writes.append(
                        (
                            offset, memory.count, isDirect,
                            address.isMultiple(of: UInt(DirectWrites.alignment))
                        ))
                    let answer = answers.isEmpty ? memory.count : answers.removeFirst()
                    if answer < 0 { errno = Int32(-answer) }
                    return max(-1, answer)
                })
        }
    }

    private static let block = DirectWrites.alignment
    private let kernel = Kernel()

    private static func bytes(_ count: Int) -> ArraySlice<UInt8> {
        // A slice that begins anywhere, as in a frame.
        ([7, 7, 7] + (0..<count).map { UInt8(truncatingIfNeeded: $0) })[3...]
    }

    @Test func `are made of whole blocks in aligned memory, and change the file back`() throws {
        var direct = DirectWrites(kernel.calls)
        let piece = BlobLimits.pieceBytesMax
        #expect(try direct.write(3, at: UInt64(piece), Self.bytes(piece)))
        let write = try #require(kernel.writes.first)
        #expect(kernel.writes.count == 1 && write.offset == piece && write.byteCount == piece)
        #expect(write.isDirect && write.isAligned)
        #expect(!kernel.isDirect && kernel.passes == 2)
    }

    @Test func `are not tried for anything else`() throws {
        var direct = DirectWrites(kernel.calls)
        let others: [(UInt64, Int)] = [
            (0, 0), (0, Self.block - 1), (1, Self.block), (UInt64(Self.block) - 1, Self.block),
            (0, BlobLimits.pieceBytesMax + Self.block),
        ]
        for (offset, count) in others {
            #expect(try !direct.write(3, at: offset, Self.bytes(count)))
        }
        #expect(kernel.passes == 0 && kernel.writes.isEmpty && direct.isPossible)
    }

    @Test func `go on after a part and after a signal`() throws {
        var direct = DirectWrites(kernel.calls)
        kernel.answers = [2 * Self.block, Int(-EINTR), Self.block]
        #expect(try direct.write(3, at: 0, Self.bytes(4 * Self.block)))
        #expect(kernel.writes.map(\.offset) == [0, 2, 2, 3].map { Int64($0 * Self.block) })
        #expect(kernel.writes.allSatisfy { $0.isAligned && $0.isDirect })
    }

    @Test(arguments: [EINVAL, EOPNOTSUPP])
    func `are given up where the file system does not take them`(_ number: Int32) throws {
        var direct = DirectWrites(kernel.calls)
        kernel.answers = [Int(-number)]
        #expect(try !direct.write(3, at: 0, Self.bytes(Self.block)))
        #expect(!direct.isPossible && !kernel.isDirect)
        #expect(try !direct.write(3, at: 0, Self.bytes(Self.block)))
        #expect(kernel.writes.count == 1, "not tried again")
        let other = Kernel()
        other.takesFlag = false
        var refused = DirectWrites(other.calls)
        #expect(try !refused.write(3, at: 0, Self.bytes(Self.block)))
        #expect(!refused.isPossible && other.writes.isEmpty)
    }

    @Test func `leave what ends within a block to a usual write`() throws {
        var direct = DirectWrites(kernel.calls)
        kernel.answers = [Self.block + 512]
        #expect(try !direct.write(3, at: 0, Self.bytes(3 * Self.block)))
        #expect(direct.isPossible && !kernel.isDirect)
    }

    @Test(arguments: [
        (ENOSPC, BlobError.noSpace), (EDQUOT, .noSpace), (EIO, .disk(call: "pwrite", number: EIO)),
    ])
    func `say what the disk says`(_ number: Int32, _ error: BlobError) {
        var direct = DirectWrites(kernel.calls)
        kernel.answers = [Int(-number)]
        let found = BlobBench.error { _ = try direct.write(3, at: 0, Self.bytes(Self.block)) }
        #expect(found == error)
        #expect(direct.isPossible && !kernel.isDirect)
    }

    /// On a real file system, whichever it is: what is read is what was written, in any order and mixed.
    @Test(arguments: BlobBench.seeds(6))
    func `leave the same file as usual ones`(_ seed: UInt64) throws {
        try BlobBench.inFolder { folder in
            var dice = Dice(seed)
            let disk = try KernelDisk(folder: folder)
            let file = try disk.open("a", isNew: true)
            defer { disk.close(file) }
            var expected: [UInt8] = []
            for _ in 0..<30 {
                let isWhole = dice.oneIn(2)
                let unit = isWhole ? Self.block : 1
                let offset = dice.below(200_000 / unit) * unit
                let count = dice.below(100_000 / unit) * unit
                let bytes = (0..<count).map { _ in UInt8(dice.below(256)) }
                if dice.oneIn(3) {
                    try disk.write(file, at: UInt64(offset), bytes[...])
                } else {
                    try disk.writeUncached(file, at: UInt64(offset), bytes[...])
                }
                guard count > 0 else { continue }
                let missing = max(0, offset + count - expected.count)
                expected += [UInt8](repeating: 0, count: missing)
                expected.replaceSubrange(offset..<offset + count, with: bytes)
                if dice.oneIn(4) { try disk.synchronize(file) }
                let found = try disk.read(file, at: 0, byteCount: expected.count + 1)
                #expect(found == expected, "WSX_SEED=\(seed)")
            }
        }
    }
}
