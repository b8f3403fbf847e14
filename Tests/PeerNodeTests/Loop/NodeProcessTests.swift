import Foundation
import Testing

@testable import PeerNode

struct `Memory of a node` {
    /// Takes, fills and frees what a turn holds of a file: several pieces at once.
    private static func useBlocks() {
        let byteCount = 600 * 1024
        let blocks = (0..<3).compactMap { _ in malloc(byteCount) }
        for block in blocks { memset(block, 1, byteCount) }
        for block in blocks { free(block) }
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
}
