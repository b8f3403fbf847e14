import Foundation
import Testing

@testable import PeerNode

struct `Memory of a node` {
    /// Blocks as large as what a turn holds of a file, all of them written to.
    private static func takeBlocks(_ count: Int) -> [UnsafeMutableRawPointer] {
        let byteCount = 600 * 1024
        let blocks = (0..<count).compactMap { _ in malloc(byteCount) }
        for block in blocks { memset(block, 1, byteCount) }
        return blocks
    }

    private static func useBlocks() {
        for block in takeBlocks(3) { free(block) }
    }

    private static func pageFaultCount() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_minflt
    }

    @Test func `is used again for the next pieces of a file, and not given back after each`() async
    {
        await #expect(processExitsWith: .success) {
            NodeProcess.prepare()
            `Memory of a node`.useBlocks()
            let before = `Memory of a node`.pageFaultCount()
            for _ in 0..<20 { `Memory of a node`.useBlocks() }
            // Given back each time, they are 450 pages each time.
            exit(`Memory of a node`.pageFaultCount() - before < 900 ? 0 : 1)
        }
    }

    /// Pages of files that are mapped and in memory.
    private static func mappedFilePageCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text.split(separator: " ").dropFirst(2).first.flatMap { Int($0) } ?? 0
    }

    @Test func `holds the code that the start needed until the first rest, and no longer`() async {
        await #expect(processExitsWith: .success) {
            var memory = RestingMemory()
            let before = try `Memory of a node`.mappedFilePageCount()
            memory.giveBack()
            let after = try `Memory of a node`.mappedFilePageCount()
            guard after < before / 2 else { exit(1) }
            // What was used since is used all the time.
            let used = (0..<200).map { "\($0 * $0)" }.sorted().joined()
            let busy = try `Memory of a node`.mappedFilePageCount()
            memory.giveBack()
            guard try `Memory of a node`.mappedFilePageCount() >= busy else { exit(2) }
            exit(used.isEmpty ? 3 : 0)
        }
    }

    /// Memory of the process that is in use, in pages.
    private static func residentPageCount() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    @Test func `is kept while files arrive, and given back at rest`() async {
        await #expect(processExitsWith: .success) {
            NodeProcess.prepare()
            let before = try `Memory of a node`.residentPageCount()
            // The last one stays, as something always does above what is free.
            for block in `Memory of a node`.takeBlocks(40).dropLast() { free(block) }
            guard try `Memory of a node`.residentPageCount() - before > 5_000 else { exit(1) }
            HeapMemory.giveBack()
            exit(try `Memory of a node`.residentPageCount() - before < 1_000 ? 0 : 2)
        }
    }
}
