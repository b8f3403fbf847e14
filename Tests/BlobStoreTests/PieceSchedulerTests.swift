import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel

struct `The scheduler of pieces` {
    static let megabyte = 1_000_000

    @Test func `fetches all from one, and not a byte twice`() throws {
        var world = try TransferWorld(byteCount: 6 * Self.megabyte, seed: 1)
        world.fetch()
        world.add(1, rate: 10_000)
        try world.run(milliseconds: 5_000)
        #expect(try world.isRight())
        #expect(world.lateBytes == 0 && world.unasked == 0)
        #expect(world.receivedBytes < Int(world.blob.shape.ciphertextByteCount) + 4_000)
        #expect(world.now < 2_500)
        #expect(world.progress == world.progress.sorted(), "never backwards")
        #expect(world.progress.last == UInt64(6 * Self.megabyte))
        #expect(world.scheduler.tree(of: world.blob.root) == world.tree)
        #expect(world.scheduler.bufferBytes == 0)
    }

    @Test func `asks who is fast for several pieces at a time`() throws {
        let shape = BlobBench.shape(UInt64(200 * Self.megabyte))
        let leaves = [TreeHash](repeating: BlobTree.leaf([1].span), count: shape.chunkCount)
        let tree = try #require(BlobTree(shape: shape, leaves: leaves))
        let blob = BlobName(root: tree.root, shape: shape)
        var scheduler = PieceScheduler()
        _ = scheduler.fetch(blob, held: HaveMap(shape), chunks: 0..<shape.chunkCount, at: 0)
        scheduler.know(tree)
        scheduler.note(BlobHolding(shape: shape, map: .whole(shape)), of: blob.root, from: 1)
        var owed: [Int] = []
        var (wants, pieces) = (0, 0)
        // A piece each millisecond, of which the second half is counted.
        for now: UInt64 in 0..<600 {
            for message in scheduler.plan(at: now) {
                guard case .want(let want) = message.message else { continue }
                owed += want.pieces.flatMap { $0 }
                if now >= 300 { wants += 1 }
            }
            let number = owed.removeFirst()
            let bytes = [UInt8](repeating: 0, count: shape.byteCount(ofPiece: number))
            let piece = BlobPiece(root: blob.root, number: number, bytes: bytes[...])
            #expect(scheduler.take(piece, from: 1, at: now).0 == .store(blob, leaf: leaves[0]))
            _ = scheduler.settle(number, of: blob, .whole(chunk: number))
            if now >= 300 { pieces += 1 }
        }
        #expect(pieces == 300 && pieces >= 3 * wants, "\(wants) requests")
    }

    @Test func `needs no leaves where there is one chunk, and one round trip`() throws {
        var world = try TransferWorld(byteCount: 100, seed: 2)
        world.fetch()
        world.add(1, rate: 10_000)
        try world.run(milliseconds: 1_000)
        #expect(try world.isRight())
        #expect(world.receivedBytes == 37 + 116)
        #expect(world.now <= 1_000 + world.latency + 10)
    }

    @Test func `takes nearly three times as much from three`() throws {
        func time(_ peers: ClosedRange<UInt64>) throws -> UInt64 {
            var world = try TransferWorld(byteCount: 20 * Self.megabyte, seed: 3)
            world.fetch()
            for peer in peers { world.add(peer, rate: 1_000) }
            try world.run(milliseconds: 60_000)
            #expect(try world.isRight())
            #expect(world.lateBytes < Self.megabyte)
            return world.now - 1_000
        }
        let (one, three) = (try time(1...1), try time(1...3))
        #expect(three * 5 < one * 2, "\(one) ms from one, \(three) from three")
    }

    @Test(arguments: BlobBench.seeds(12))
    func `fetches all where of three one lies and one leaves`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        var world = try TransferWorld(byteCount: 8 * Self.megabyte, seed: seed)
        world.fetch()
        world.add(1, rate: 500 + dice.below(3_000))
        world.add(2, rate: 500 + dice.below(3_000), .lying)
        world.add(
            3, rate: 500 + dice.below(3_000), .leaving(at: 1_000 + UInt64(dice.below(2_000))))
        try world.run(milliseconds: 120_000)
        #expect(try world.isRight())
        #expect(world.banned.contains(2), "a liar is asked no more")
        #expect(!world.banned.contains(1) && !world.banned.contains(3))
        let size = Int(world.blob.shape.ciphertextByteCount)
        #expect(world.receivedBytes < size + 5 * BlobLimits.windowBytesMin + 100_000)
        #expect(world.mostBuffered <= BlobLimits.bufferBytesMax)
        #expect(world.unasked == 0)
        let after = try #require(world.sources[2]).asked.count
        #expect(after <= 2 * BlobLimits.windowBytesMin / BlobLimits.pieceBytesMax)
    }

    @Test(arguments: BlobBench.seeds(8))
    func `asks elsewhere what a silent peer, or one that lies about leaves, holds up`(
        _ seed: UInt64
    ) throws {
        var dice = Dice(seed)
        var world = try TransferWorld(byteCount: 4 * Self.megabyte, seed: seed)
        world.fetch()
        world.add(1, rate: 2_000, [.silent, .lyingLeaves][dice.below(2)])
        world.add(2, rate: 500 + dice.below(500))
        try world.run(milliseconds: 60_000)
        #expect(try world.isRight())
        #expect(world.now < 35_000)
    }

    @Test func `waits for nobody, and says since when, while nobody has it`() throws {
        var world = try TransferWorld(byteCount: Self.megabyte, seed: 5)
        world.fetch()
        try world.run(milliseconds: 100)
        let state = try #require(world.scheduler.state(of: world.blob.root))
        #expect(state.waitingSince == 1_000 && state.sources == [] && !state.isComplete)
        world.add(1, rate: 1_000)
        try world.turn()
        #expect(world.scheduler.state(of: world.blob.root)?.waitingSince == nil)
        #expect(world.scheduler.state(of: world.blob.root)?.sources == [1])
        #expect(world.scheduler.nextDeadline(after: world.now) != nil)
        world.scheduler.leave(1)
        world.now += 50
        _ = world.scheduler.plan(at: world.now)
        #expect(world.scheduler.state(of: world.blob.root)?.waitingSince == world.now)
    }

    @Test func `asks each peer for what it has, and no other`() throws {
        var world = try TransferWorld(byteCount: 5 * Self.megabyte, seed: 6)
        world.fetch()
        world.add(1, rate: 1_000, chunks: [0..<7])
        world.add(2, rate: 1_000, chunks: [5..<20])
        try world.run(milliseconds: 60_000)
        #expect(try world.isRight())
        #expect(try #require(world.sources[1]).asked.allSatisfy { $0 < 7 })
        #expect(try #require(world.sources[2]).asked.allSatisfy { $0 >= 5 })
    }

    @Test func `fetches what somebody waits for first, and two chunks for the last one`() throws {
        var world = try TransferWorld(byteCount: 20 * Self.megabyte, seed: 7)
        let last = world.blob.shape.lastChunk
        world.fetch(last..<last + 1, urgent: true)
        world.add(1, rate: 10_000)
        try world.run(milliseconds: 1_000)
        #expect(try world.isRight(last..<last + 1))
        #expect(try #require(world.sources[1]).asked == [last])
        #expect(world.receivedBytes < BlobLimits.pieceBytesMax + 1_000)
        // Leaves and piece come with one round trip.
        #expect(world.now <= 1_000 + world.latency + 40)
        world.fetch()
        world.fetch(40..<42, urgent: true)
        try world.run(milliseconds: 60_000)
        #expect(try world.isRight())
        #expect(try #require(world.sources[1]).asked.dropFirst().prefix(2) == [40, 41])
    }

    @Test func `takes turns between transfers of one peer`() throws {
        var scheduler = PieceScheduler()
        let blobs = (1...3).map { number in
            BlobName(
                root: BlobBench.root(UInt8(number)),
                shape: BlobBench.shape(UInt64(number * 100_000)))
        }
        for blob in blobs {
            let isBegun = scheduler.fetch(
                blob, held: HaveMap(blob.shape), chunks: 0..<blob.shape.chunkCount, at: 0)
            #expect(isBegun)
            let holding = BlobHolding(shape: blob.shape, map: .whole(blob.shape))
            scheduler.note(holding, of: blob.root, from: 1)
        }
        let roots = scheduler.plan(at: 0).compactMap { message -> BlobRoot? in
            guard case .want(let want) = message.message, !want.pieces.isEmpty else { return nil }
            return want.root
        }
        #expect(Set(roots).count == roots.count && roots.count >= 2)
        #expect(scheduler.roots == blobs.map(\.root))
        #expect(scheduler.end(blobs[0].root).count == 1)
        #expect(scheduler.end(blobs[0].root) == [])
        #expect(scheduler.bufferBytes <= BlobLimits.windowBytesMin)
    }

    @Test func `goes round from one chunk to the next`() throws {
        var scheduler = PieceScheduler()
        var trees: [BlobTree] = []
        for number in 1...3 {
            let tree = try BlobBench.sealed(
                [UInt8](repeating: UInt8(number), count: 2_000_000)
            ).tree
            trees.append(tree)
            _ = scheduler.fetch(
                BlobName(root: tree.root, shape: tree.shape), held: HaveMap(tree.shape),
                chunks: 0..<tree.shape.chunkCount, at: 0)
            scheduler.know(tree)
            let holding = BlobHolding(shape: tree.shape, map: .whole(tree.shape))
            scheduler.note(holding, of: tree.root, from: 1)
        }
        var asked: [BlobRoot] = []
        for turn in 0..<9 {
            for message in scheduler.plan(at: UInt64(turn) * 10) {
                guard case .want(let want) = message.message else { continue }
                for piece in want.pieces.joined() {
                    asked.append(want.root)
                    let bytes = [UInt8](repeating: 0, count: BlobLimits.pieceBytesMax)
                    let foreign = BlobPiece(root: want.root, number: piece, bytes: bytes[...])
                    // Whatever becomes of it, there is room for the next.
                    _ = scheduler.take(foreign, from: 1, at: UInt64(turn) * 10 + 1)
                }
            }
        }
        let counts = trees.map { tree in asked.count { $0 == tree.root } }
        #expect(asked.count >= 18)
        #expect(try #require(counts.max()) - #require(counts.min()) <= 1, "\(counts)")
    }

    @Test func `asks for no more than memory holds`() throws {
        var world = try TransferWorld(byteCount: 3 * Self.megabyte, seed: 11)
        world.fetch()
        world.add(1, rate: 1_000)
        world.scheduler.otherBufferBytes = BlobLimits.bufferBytesMax - 300_000
        func pieces() -> Int {
            world.scheduler.plan(at: 1_000).reduce(0) { count, message in
                guard case .want(let want) = message.message else { return count }
                return count + want.pieces.reduce(0) { $0 + $1.count }
            }
        }
        #expect(pieces() == 1)
        #expect(pieces() == 0)
        world.scheduler.otherBufferBytes = 0
        #expect(pieces() == 1, "what a window holds")
    }

    @Test func `drops what nobody asked for`() throws {
        var world = try TransferWorld(byteCount: Self.megabyte, seed: 8)
        world.fetch()
        world.add(1, rate: 1_000)
        let piece = BlobPiece(root: world.blob.root, number: 0, bytes: [1, 2, 3])
        for (root, peer) in [
            (world.blob.root, UInt64(1)), (BlobBench.root(9), 1), (world.blob.root, 7),
        ] {
            let foreign = BlobPiece(root: root, number: 0, bytes: piece.bytes)
            #expect(world.scheduler.take(foreign, from: peer, at: 0).0 == .unasked)
        }
        let proof = try #require(world.tree.proof(of: 0..<1))
        #expect(world.scheduler.take(proof, of: world.blob.root, from: 1, at: 0) == [])
        #expect(world.scheduler.state(of: world.blob.root)?.byteCount == 0)
        // Requested, and truncated: a peer that sends that is not asked again.
        _ = world.scheduler.plan(at: 0)
        let (arrival, messages) = world.scheduler.take(piece, from: 1, at: 1)
        #expect(arrival == .unasked)
        #expect(messages.map(\.message) == [.cancel(world.blob.root, pieces: nil)])
        #expect(world.scheduler.plan(at: 2) == [])
        #expect(world.scheduler.bufferBytes == 0)
    }

    @Test func `pauses when the disk is full, and goes on`() throws {
        var world = try TransferWorld(byteCount: Self.megabyte, seed: 9)
        world.fetch()
        world.add(1, rate: 10_000)
        world.store.byteCountMax = 300_000
        #expect(throws: BlobError.noSpace) { try world.run(milliseconds: 5_000) }
        world.scheduler.fail(1, of: world.blob)
        #expect(world.scheduler.state(of: world.blob.root)?.isPaused == true)
        let asked = world.sources[1]?.asked.count
        for _ in 0..<20 {
            #expect(world.scheduler.plan(at: world.now) == [])
        }
        #expect(world.sources[1]?.asked.count == asked)
        world.store.byteCountMax = .max
        world.scheduler.resume(world.blob.root)
        try world.run(milliseconds: 5_000)
        #expect(try world.isRight())
    }

    @Test func `fetches again what was lost before it was claimed`() throws {
        var world = try TransferWorld(byteCount: Self.megabyte, seed: 10)
        world.fetch()
        world.add(1, rate: 10_000)
        try world.run(milliseconds: 5_000)
        world.store.crash()
        world.scheduler.lose(.whole(world.blob.shape), of: world.blob.root)
        #expect(world.scheduler.state(of: world.blob.root)?.isComplete == false)
        try world.run(milliseconds: 5_000)
        #expect(try world.isRight())
    }

    @Test func `has bounds for transfers and sources`() {
        var scheduler = PieceScheduler()
        let shape = BlobBench.shape(1_000)
        func root(_ number: Int) -> BlobRoot {
            BlobRoot([UInt8(number / 256), UInt8(number % 256)] + [UInt8](repeating: 0, count: 30))
        }
        for number in 0...BlobLimits.transfersMax {
            let isBegun = scheduler.fetch(
                BlobName(root: root(number), shape: shape), held: HaveMap(shape), chunks: 0..<1,
                at: 0)
            #expect(isBegun == (number < BlobLimits.transfersMax))
        }
        let other = BlobName(root: root(0), shape: BlobBench.shape(300_000))
        #expect(scheduler.fetch(other, held: HaveMap(other.shape), chunks: 0..<1, at: 0) == false)
        for peer in 0..<UInt64(2 * BlobLimits.sourcesMax) {
            scheduler.note(BlobHolding(shape: shape, map: .whole(shape)), of: root(0), from: peer)
        }
        let asked = Set(scheduler.plan(at: 0).map(\.peer))
        #expect(asked.count == 1, "the only chunk is asked of one")
        #expect(scheduler.plan(at: 1_000).count == 1, "and of a second when that takes long")
        #expect(scheduler.plan(at: 2_000) == [], "and of no third")
    }

    // MARK: Chunks of several pieces

    /// A blob with chunks of 512 KiB, of which only two are made up and fetched.
    static func large() throws -> (
        blob: BlobName, chunks: [[UInt8]], tree: BlobTree, holding: BlobHolding
    ) {
        let shape = BlobBench.shape(4_294_705_153)
        let chunks = [3, 5].map { [UInt8](repeating: $0, count: shape.chunkBytes) }
        let leaves = chunks.map { BlobTree.leaf($0.span) }
        let rest = [TreeHash](repeating: leaves[0], count: shape.chunkCount - 2)
        let tree = try #require(BlobTree(shape: shape, leaves: leaves + rest))
        return (
            BlobName(root: tree.root, shape: shape), chunks, tree,
            BlobHolding(shape: shape, map: .whole(shape))
        )
    }

    static func piece(_ number: Int, _ chunks: [[UInt8]], _ root: BlobRoot) -> BlobPiece {
        let start = number % 2 * BlobLimits.pieceBytesMax
        return BlobPiece(
            root: root, number: number,
            bytes: chunks[number / 2][start..<start + BlobLimits.pieceBytesMax])
    }

    @Test func `blames nobody for a chunk of two peers, and the one who sends all of it`() throws {
        let (blob, chunks, tree, holding) = try Self.large()
        var scheduler = PieceScheduler()
        _ = scheduler.fetch(blob, held: HaveMap(blob.shape), chunks: 0..<1, at: 0)
        scheduler.know(tree)
        scheduler.note(nil, of: blob.root, from: 1)
        #expect(!scheduler.isOffered(blob.root))
        scheduler.note(holding, of: blob.root, from: 1)
        #expect(scheduler.isOffered(blob.root))
        #expect(scheduler.plan(at: 0).count == 1, "both pieces of one")
        scheduler.note(holding, of: blob.root, from: 2)
        #expect(scheduler.plan(at: 1) == [], "the first has some time")
        #expect(scheduler.nextDeadline(after: 1) == 500)
        #expect(scheduler.plan(at: 500).count == 1, "then, as there is nothing else, of the other")
        #expect(scheduler.nextDeadline(after: 500) == 10_000)
        let (first, calledOff) = scheduler.take(
            Self.piece(0, chunks, blob.root), from: 1, at: 505)
        #expect(first == .store(blob, leaf: tree.leaf(0)))
        #expect(calledOff.map(\.message) == [.cancel(blob.root, pieces: [0..<1])])
        #expect(scheduler.settle(0, of: blob, .more) == [])
        _ = scheduler.take(Self.piece(1, chunks, blob.root), from: 2, at: 506)
        #expect(scheduler.settle(1, of: blob, .wrong(chunk: 0)) == [], "who lied is not known")
        let again = scheduler.plan(at: 507)
        #expect(again.count == 1, "now all of it of one")
        let peer = try #require(again.first).peer
        _ = scheduler.take(Self.piece(0, chunks, blob.root), from: peer, at: 508)
        _ = scheduler.settle(0, of: blob, .more)
        _ = scheduler.take(Self.piece(1, chunks, blob.root), from: peer, at: 509)
        let ban = scheduler.settle(1, of: blob, .wrong(chunk: 0))
        #expect(
            ban.map(\.peer) == [peer] && ban.map(\.message) == [.cancel(blob.root, pieces: nil)])
        #expect(scheduler.plan(at: 510).map(\.peer) == [3 - peer])
    }

    @Test func `begins a chunk again that has to come from one who left`() throws {
        let (blob, chunks, tree, holding) = try Self.large()
        var scheduler = PieceScheduler()
        _ = scheduler.fetch(blob, held: HaveMap(blob.shape), chunks: 0..<1, at: 0)
        scheduler.know(tree)
        for peer: UInt64 in [1, 2] { scheduler.note(holding, of: blob.root, from: peer) }
        _ = scheduler.plan(at: 0)
        _ = scheduler.plan(at: 600)
        _ = scheduler.take(Self.piece(0, chunks, blob.root), from: 1, at: 601)
        _ = scheduler.settle(0, of: blob, .more)
        _ = scheduler.take(Self.piece(1, chunks, blob.root), from: 2, at: 601)
        _ = scheduler.settle(1, of: blob, .wrong(chunk: 0))
        let peer = try #require(scheduler.plan(at: 602).first).peer
        _ = scheduler.take(Self.piece(0, chunks, blob.root), from: peer, at: 603)
        _ = scheduler.settle(0, of: blob, .more)
        scheduler.leave(peer)
        #expect(scheduler.takeForgotten() == [.init(blob: blob, chunk: 0)])
        #expect(scheduler.takeForgotten() == [])
        let next = scheduler.plan(at: 604)
        #expect(next.map(\.peer) == [3 - peer])
        #expect(next.map(\.message) == [.want(BlobWant(root: blob.root, pieces: [0..<2]))])
    }

    @Test func `lets another go on with a chunk whose peer stalls, and takes what comes late`()
        throws
    {
        let (blob, chunks, tree, holding) = try Self.large()
        var scheduler = PieceScheduler()
        _ = scheduler.fetch(blob, held: HaveMap(blob.shape), chunks: 0..<1, at: 0)
        scheduler.know(tree)
        scheduler.note(holding, of: blob.root, from: 1)
        _ = scheduler.plan(at: 0)
        _ = scheduler.take(Self.piece(0, chunks, blob.root), from: 1, at: 1)
        _ = scheduler.settle(0, of: blob, .more)
        // Parts of a piece are signs of life.
        let deadline = try #require(scheduler.nextDeadline(after: 600))
        scheduler.hear(1, at: deadline - 1)
        #expect(scheduler.plan(at: deadline) == [])
        let end = try #require(scheduler.nextDeadline(after: deadline))
        #expect(end > deadline)
        #expect(scheduler.plan(at: end).map(\.message) == [.cancel(blob.root, pieces: [1..<2])])
        scheduler.note(holding, of: blob.root, from: 2)
        #expect(
            scheduler.plan(at: end + 1).map(\.message)
                == [.want(BlobWant(root: blob.root, pieces: [1..<2]))])
        let (late, messages) = scheduler.take(
            Self.piece(1, chunks, blob.root), from: 1, at: end + 2)
        #expect(late == .store(blob, leaf: tree.leaf(0)))
        #expect(messages.map(\.peer) == [2])
        #expect(scheduler.settle(1, of: blob, .whole(chunk: 0)) == [])
        #expect(scheduler.state(of: blob.root)?.isComplete == true)
        #expect(scheduler.take(Self.piece(1, chunks, blob.root), from: 2, at: end + 3).0 == .late)
        #expect(scheduler.bufferBytes == 0)
    }

    @Test func `believes it when somebody will not send`() throws {
        let (blob, _, tree, holding) = try Self.large()
        var scheduler = PieceScheduler()
        _ = scheduler.fetch(blob, held: HaveMap(blob.shape), chunks: 0..<2, at: 0)
        scheduler.know(tree)
        scheduler.note(holding, of: blob.root, from: 1)
        _ = scheduler.plan(at: 0)
        scheduler.refuse([0..<2], of: blob.root, from: 1)
        #expect(
            scheduler.plan(at: 1).map(\.message)
                == [.want(BlobWant(root: blob.root, pieces: [2..<4]))])
        scheduler.refuse(nil, of: blob.root, from: 1)
        #expect(scheduler.plan(at: 2) == [])
        #expect(scheduler.bufferBytes == 0)
        #expect(scheduler.state(of: blob.root)?.waitingSince == 2)
    }

    // MARK: Serving

    @Test func `serves by turns, 1 MiB at a time`() {
        var queue = PieceQueue()
        let blobs = (1...2).map {
            BlobName(root: BlobBench.root($0), shape: BlobBench.shape(3_000_000))
        }
        for blob in blobs {
            #expect(queue.add([0..<6], of: blob, held: .whole(blob.shape)) == [])
        }
        var given: [PieceQueue.Item] = []
        while let item = queue.next(bufferBytes: 0) { given.append(item) }
        #expect(given.map(\.piece) == [0, 0, 1, 1])
        #expect(queue.queuedBytes == 1 << 20)
        queue.sent(1 << 18)
        #expect(queue.next(bufferBytes: BlobLimits.bufferBytesMax) == nil)
        #expect(queue.next(bufferBytes: 0) == .init(blob: blobs[0], piece: 2))
        queue.cancel([3..<5], of: blobs[0].root)
        queue.cancel(nil, of: blobs[1].root)
        queue.cancel(nil, of: BlobBench.root(9))
        queue.sent(.max)
        #expect(queue.next(bufferBytes: 0) == .init(blob: blobs[0], piece: 5))
        #expect(queue.isEmpty && queue.next(bufferBytes: 0) == nil)
    }

    @Test func `refuses to serve what is not held, or too much`() {
        var queue = PieceQueue()
        let shape = BlobBench.shape(BlobLimits.blobBytesMax)
        let blob = BlobName(root: BlobBench.root(1), shape: shape)
        var map = HaveMap(shape)
        #expect(queue.add([5..<7], of: blob, held: map) == [5..<7])
        map.insert(0..<shape.chunkCount)
        #expect(queue.add([0..<4, 0..<4], of: blob, held: map) == [])
        #expect(queue.pieceCount == 4)
        #expect(queue.add([4..<1_000_000], of: blob, held: map) == [128..<1_000_000])
        #expect(queue.add([2_000_000..<3_000_000], of: blob, held: map) == [2_000_000..<3_000_000])
        #expect(queue.pieceCount == BlobLimits.wantedPiecesPerLinkMax)
    }
}
