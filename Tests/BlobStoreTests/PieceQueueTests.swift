import Testing
import WorkspaceModel

@testable import BlobStore

struct `What is asked and sent at a time` {
    // MARK: Pace

    @Test func `is two pieces until more is known, and then what comes in a second`() {
        var pace = PeerPace()
        #expect(pace.window == 2 * BlobLimits.pieceBytesMax)
        pace.begin(at: 1_000)
        pace.note(BlobLimits.pieceBytesMax, at: 1_050)
        #expect(pace.bytesPerSecond == nil, "a twentieth of a second says nothing")
        pace.note(BlobLimits.pieceBytesMax, at: 1_200)
        #expect(pace.bytesPerSecond == 2_621_440)
        #expect(pace.window == 2_621_440)
        pace.note(20_000_000, at: 1_400)
        #expect(pace.window == BlobLimits.windowBytesMax)
        for turn in 1...20 { pace.note(1_000, at: 1_400 + UInt64(turn) * 1_000) }
        #expect(pace.window == BlobLimits.windowBytesMin)
    }

    /// A peer that delivers `rate` bytes a second, each piece `way` milliseconds after its request at the
    /// earliest: the window after some seconds.
    private func settledWindow(rate: Int, way: UInt64) -> Int {
        var pace = PeerPace()
        var owed: [(piece: Int, at: UInt64)] = []
        var now: UInt64 = 0
        var free: UInt64 = 0
        pace.begin(at: 0)
        let piece = BlobLimits.pieceBytesMax
        for _ in 0..<4_000 {
            while (owed.count + 1) * piece <= pace.window {
                free = max(free, now + way) + UInt64(1_000 * piece / rate)
                owed.append((piece, free))
                pace.ask(owing: owed.count * piece, at: now)
            }
            let next = owed.removeFirst()
            now = max(now, next.at)
            pace.note(next.piece, at: now)
        }
        return pace.window
    }

    @Test(arguments: [
        // Bytes a second, milliseconds of the way; the least and most that then wait.
        (200_000_000, 1, 3_200_000, 5_000_000), (20_000_000, 1, 524_288, 1_200_000),
        (20_000_000, 100, 2_300_000, 5_500_000), (500_000, 20, 524_288, 524_288),
        (400_000_000, 300, 8_388_608, 8_388_608),
    ])
    func `is what fits on the way, and little more`(
        _ rate: Int, _ way: UInt64, _ least: Int, _ most: Int
    ) {
        let window = settledWindow(rate: rate, way: way)
        #expect((least...most).contains(window), "\(window)")
    }

    @Test func `is timed again after a cancelled request, and after a stall`() {
        var pace = PeerPace()
        pace.begin(at: 0)
        pace.ask(owing: 300_000, at: 0)
        // That one never comes; what it owes then is nothing, and the next request begins anew.
        pace.begin(at: 1_000)
        pace.ask(owing: 300_000, at: 1_000)
        pace.note(300_000, at: 1_200)
        pace.note(29_700_000, at: 1_300)
        #expect(pace.window == BlobLimits.windowBytesMax, "200 ms twice, at 150 MB/s")
        pace.begin(at: 2_000)
        pace.ask(owing: 1_000, at: 2_000)
        pace.note(1_000, at: 2_001)
        #expect(pace.window < 3_000_000)
        pace.stall()
        #expect(pace.window == BlobLimits.windowBytesMin)
        pace.begin(at: 3_000)
        pace.note(20_000_000, at: 3_200)
        #expect(pace.window == BlobLimits.windowBytesMax, "a way that nothing is known of")
    }

    @Test func `does not trap on clocks that stand still or go back`() {
        var pace = PeerPace()
        pace.begin(at: 5_000)
        pace.note(.max, at: 5_000)
        pace.note(1, at: 10)
        pace.hear(at: 0)
        #expect(pace.window >= BlobLimits.windowBytesMin)
    }

    @Test func `is waited for longer by who stalled before, and never above a minute`() {
        var pace = PeerPace()
        #expect(pace.patience == 10_000)
        var last: UInt64 = 0
        for _ in 0..<20 {
            #expect(pace.patience >= last)
            last = pace.patience
            pace.stall()
        }
        #expect(pace.patience == BlobLimits.stallMillisecondsMax)
        pace.begin(at: 0)
        pace.note(1 << 20, at: 1_000)
        #expect(pace.stallCount == 0)
        #expect(pace.patience == BlobLimits.stallMilliseconds + 4_000 / 4)
    }

    // MARK: Maps together

    @Test(arguments: BlobBench.seeds(60))
    func `is found by words of 64 chunks as by one chunk at a time`(_ seed: UInt64) {
        var dice = Dice(seed)
        let count = 1 + dice.below(300)
        func map(_ share: Int) -> HaveMap {
            var map = HaveMap(chunkCount: count)
            for chunk in 0..<count where dice.below(100) < share { map.insert(chunk) }
            return map
        }
        let inside = (0..<1 + dice.below(3)).map { _ in map(60) }
        let outside = (0..<dice.below(3)).map { _ in map(60) }
        let expected = (0..<count).first { chunk in
            inside.allSatisfy { $0.contains(chunk) } && !outside.contains { $0.contains(chunk) }
        }
        #expect(HaveMap.first(in: inside, outside: outside) == expected)
        #expect(HaveMap.first(in: [], outside: outside) == nil)
        #expect(HaveMap.first(in: inside + [HaveMap(chunkCount: count + 1)], outside: []) == nil)
    }

    @Test func `is named in ranges that ascend with gaps`() {
        #expect(PieceScheduler.merged([3..<4, 1..<2, 2..<3, 9..<12, 10..<11]) == [1..<4, 9..<12])
        #expect(PieceScheduler.merged([]) == [])
    }

    // MARK: Sending

    @Test(arguments: BlobBench.seeds(60))
    func `is sent once each, a MiB at a time, and no blob waits for another`(_ seed: UInt64) {
        var dice = Dice(seed)
        var queue = PieceQueue()
        let blobs = (1...4).map { number in
            BlobName(
                root: BlobBench.root(UInt8(number)),
                shape: BlobBench.shape(UInt64(1 + dice.below(8_000_000))))
        }
        var wanted: Set<PieceQueue.Item> = []
        var sent: [PieceQueue.Item] = []
        for _ in 0..<300 {
            let blob = blobs[dice.below(4)]
            let first = dice.below(blob.shape.pieceCount)
            let range = first..<min(blob.shape.pieceCount, first + 1 + dice.below(3))
            switch dice.below(5) {
            case 0:
                let before = queue.pieceCount
                let refused = queue.add([range], of: blob, held: .whole(blob.shape))
                let taken = range.filter { piece in !refused.contains { $0.contains(piece) } }
                for piece in taken { wanted.insert(.init(blob: blob, piece: piece)) }
                #expect(queue.pieceCount >= before)
            case 1:
                queue.cancel([range], of: blob.root)
                for piece in range { wanted.remove(.init(blob: blob, piece: piece)) }
            case 2: queue.sent(dice.below(600_000))
            default:
                guard let item = queue.next(bufferBytes: 0) else { continue }
                sent.append(item)
                #expect(wanted.remove(item) != nil, "it was wanted, and not sent before")
            }
            #expect(queue.queuedBytes <= BlobLimits.queuedPieceBytesPerLinkMax)
            #expect(queue.pieceCount == wanted.count)
            #expect(queue.isEmpty == wanted.isEmpty)
        }
        while !queue.isEmpty {
            queue.sent(.max)
            guard let item = queue.next(bufferBytes: 0) else { break }
            #expect(wanted.remove(item) != nil)
        }
        #expect(wanted.isEmpty && queue.isEmpty)
    }

    @Test func `goes by chunks where these have several pieces`() {
        var queue = PieceQueue()
        let shape = BlobBench.shape(4_294_705_153)
        let blobs = (1...2).map { BlobName(root: BlobBench.root($0), shape: shape) }
        for blob in blobs { _ = queue.add([0..<4], of: blob, held: .whole(shape)) }
        var order: [PieceQueue.Item] = []
        while !queue.isEmpty {
            queue.sent(.max)
            guard let item = queue.next(bufferBytes: 0) else { break }
            order.append(item)
        }
        #expect(order.map(\.piece) == [0, 1, 0, 1, 2, 3, 2, 3])
        #expect(order.prefix(4).map(\.blob.root) == [1, 1, 2, 2].map { BlobBench.root($0) })
    }

    // MARK: Assemblies

    @Test(arguments: BlobBench.seeds(20))
    func `has the hash of the whole in whatever order pieces come`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let count = 1 + dice.below(8)
        let pieces = (0..<count).map { _ in dice.bytes(1 + dice.below(1_000)) }
        var assembly = ChunkAssembly(10..<10 + count)
        var order = Array(0..<count) + [0]
        order.shuffle(using: &dice)
        for number in order {
            assembly.insert(number + 10, pieces[number][...])
            #expect(assembly.contains(number + 10))
        }
        assembly.insert(9, [1])
        assembly.insert(10 + count, [1])
        #expect(assembly.missing == 0)
        let leaf = try assembly.leaf { piece in pieces[piece - 10] }
        let whole = Array(pieces.joined())
        #expect(leaf == BlobTree.leaf(whole.span))
    }
}
