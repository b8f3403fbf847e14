import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceTestKit

@testable import PeerNode

/// Concurrent puts, and how many claims they take: each is a flush of the disk.
struct `Puts that end at about one time` {
    private let worker = Worker()

    private final class Worker {
        let places = MemoryFilePlaces()
        let chunks = ChunkMemory()
        let worker: BlobWorker

        init() {
            let chunks = chunks
            worker = BlobWorker(
                places: places, store: { () throws(BlobError) -> any ChunkStore in chunks })
        }

        func put(_ number: UInt64, byteCount: Int) {
            let random = SeededRandom(seed: number)
            places.files["/\(number)"] = random.bytes(byteCount)
            worker.take(
                .put(
                    TaskID(number: number), path: "/\(number)", key: BlobKey(using: random),
                    PutBounds(byteCountMax: 1 << 30, inlineByteCountMax: 0)))
        }

        /// The numbers of puts that end with each claim, until all is done.
        func claims() -> [[UInt64]] {
            var claims: [[UInt64]] = []
            while worker.hasWork {
                let ended = worker.step().compactMap { outcome in
                    if case .put(let id, .success) = outcome { id.number } else { nil }
                }
                if !ended.isEmpty { claims.append(ended) }
            }
            return claims
        }
    }

    @Test func `are claimed together`() {
        for number in 1...5 as ClosedRange<UInt64> { worker.put(number, byteCount: 100_000) }
        #expect(worker.claims() == [[1, 2, 3, 4, 5]])
    }

    @Test func `are claimed together up to a bound`() {
        let count = UInt64(BlobLimits.putsClaimedTogetherMax)
        for number in 1...count + 3 { worker.put(number, byteCount: 20_000) }
        #expect(worker.claims().map(\.count) == [Int(count), 3])
    }

    @Test func `do not wait for a large one`() {
        worker.put(1, byteCount: 5_000_000)
        worker.put(2, byteCount: 100_000)
        worker.put(3, byteCount: 100_000)
        #expect(worker.claims() == [[2, 3], [1]])
    }

    @Test func `end though the rest is given up`() {
        worker.put(1, byteCount: 5_000_000)
        worker.put(2, byteCount: 100_000)
        // Both have begun, and the small one is sealed.
        var ended: [BlobOutcome] = []
        for _ in 0..<5 { ended += worker.worker.step() }
        #expect(ended.isEmpty)
        worker.worker.take(.abandon(TaskID(number: 1)))
        #expect(worker.claims() == [[2]])
    }

    @Test func `fail together where the disk does`() {
        for number in 1...3 as ClosedRange<UInt64> { worker.put(number, byteCount: 100_000) }
        worker.chunks.claimFailure = .disk(call: "syncfs", number: 5)
        var failures: [BlobError] = []
        while worker.worker.hasWork {
            for case .put(_, .failure(let error)) in worker.worker.step() { failures.append(error) }
        }
        #expect(failures == Array(repeating: .disk(call: "syncfs", number: 5), count: 3))
    }
}
