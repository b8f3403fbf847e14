import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `What is missing of a frame` {
    private func wanted(after bytes: [UInt8], isAccepted: Bool = false) -> Int {
        var gauge = FrameGauge(isAccepted: isAccepted)
        gauge.take(bytes)
        return gauge.wanted
    }

    @Test(
        arguments: [
            ([], 1), ([0], 1), ([0, 0], 1), ([0, 5], 5), ([0, 5, 1, 2], 3), ([0, 2, 1, 2], 1),
            ([0, 2, 1, 2, 0], 1), ([0, 2, 1, 2, 0, 9], 9), ([4, 0], 1_024), ([4, 1], 1_024),
            ([255, 255], 1_024),
        ] as [([UInt8], Int)])
    func `is what the kernel gathers, up to its bound`(bytes: [UInt8], count: Int) {
        #expect(wanted(after: bytes) == count)
    }

    @Test func `begins with the hint of who has dialled`() {
        #expect(wanted(after: [], isAccepted: true) == 16)
        let hint = [UInt8](repeating: 255, count: 16)
        #expect(wanted(after: Array(hint.dropLast()), isAccepted: true) == 1)
        #expect(wanted(after: hint + [0, 48], isAccepted: true) == 48)
    }

    @Test(arguments: Seeds.explore(20))
    func `is the same however the bytes come`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        for _ in 0..<20 {
            let count = Int.random(in: 0...700, using: &generator)
            bytes += [UInt8(count >> 8), UInt8(count & 255)]
            bytes += (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
        var (whole, single) = (FrameGauge(isAccepted: false), FrameGauge(isAccepted: false))
        whole.take(bytes)
        for byte in bytes { single.take([byte]) }
        #expect(whole.wanted == single.wanted)
    }
}
