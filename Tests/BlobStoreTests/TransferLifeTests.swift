import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel

/// Long random runs of the scheduler with its surroundings: no peer is sent a request that it must
/// not get, no bound is exceeded, and whatever happens, honest peers are enough.
struct `Lives of transfers` {
    /// One peer, as the test knows it.
    private struct Source {
        var map: HaveMap
        let isLiar: Bool
        /// In percent, how often it answers at all in one turn.
        let zeal: Int
        var owes: [BlobPiece] = []
        var leaves: Range<Int>?
        var isBanned = false
        /// Pieces that were called off, and come all the same.
        var calledOff: Set<Int> = []
    }

    /// A world without time: each turn, each peer may answer something of what it owes.
    private struct World {
        let sealed: (tree: BlobTree, chunks: [[UInt8]])
        let blob: BlobName
        var dice: Dice
        var scheduler = PieceScheduler()
        let store = ChunkMemory()
        var sources: [UInt64: Source] = [:]
        var held: HaveMap
        var now: UInt64 = 0
        var nextPeer: UInt64 = 1

        init(_ seed: UInt64) throws {
            dice = Dice(seed)
            sealed = try BlobBench.sealed(
                SeededRandom(seed: seed).bytes(1 + dice.below(3_000_000)))
            blob = BlobName(root: sealed.tree.root, shape: sealed.tree.shape)
            held = HaveMap(blob.shape)
            begin()
        }

        mutating func begin() {
            _ = scheduler.fetch(
                blob, held: held, chunks: 0..<blob.shape.chunkCount, at: now)
        }

        mutating func come() {
            var map = HaveMap(blob.shape)
            for chunk in 0..<blob.shape.chunkCount where !dice.oneIn(3) { map.insert(chunk) }
            if dice.oneIn(2) { map = .whole(blob.shape) }
            let source = Source(map: map, isLiar: dice.oneIn(3), zeal: dice.below(100))
            sources[nextPeer] = source
            scheduler.note(
                BlobHolding(shape: blob.shape, map: map), of: blob.root, from: nextPeer)
            nextPeer += 1
        }

        /// Somebody comes, goes, forgets, or the node itself starts again.
        mutating func disturb() throws {
            let peers = sources.keys.sorted()
            switch dice.below(12) {
            case 0...2 where peers.count < 6: come()
            case 3 where !peers.isEmpty:
                let peer = peers[dice.below(peers.count)]
                sources[peer] = nil
                scheduler.leave(peer)
            case 4 where !peers.isEmpty:
                let peer = peers[dice.below(peers.count)]
                guard let chunk = sources[peer]?.map.runs.first?.lowerBound else { return }
                sources[peer]?.map.remove(chunk)
                sources[peer]?.owes.removeAll { blob.shape.chunk(ofPiece: $0.number) == chunk }
                guard let map = sources[peer]?.map else { return }
                scheduler.note(
                    BlobHolding(shape: blob.shape, map: map), of: blob.root, from: peer)
            case 5: try restart()
            case 6:
                _ = scheduler.end(blob.root)
                for peer in peers { sources[peer]?.owes = [] }
                held = try store.reconcile(blob, held: held)
                begin()
                tellAll()
            default: break
            }
        }

        /// What was not claimed is gone, and nobody is asked for anything.
        mutating func restart() throws {
            store.crash()
            held = try store.reconcile(blob, held: held)
            scheduler = PieceScheduler()
            for peer in sources.keys.sorted() {
                sources[peer]?.owes = []
                // Who lied is remembered for as long as the process runs.
                sources[peer]?.isBanned = false
            }
            begin()
            tellAll()
        }

        mutating func tellAll() {
            for (peer, source) in sources.sorted(by: { $0.key < $1.key }) {
                let holding = BlobHolding(shape: blob.shape, map: source.map)
                scheduler.note(holding, of: blob.root, from: peer)
            }
        }

        mutating func turn() throws {
            now += UInt64(dice.below(400))
            for peer in sources.keys.sorted() where dice.below(100) < sources[peer]?.zeal ?? 0 {
                try answer(peer)
            }
            for message in scheduler.plan(at: now) { try take(message) }
            for forgotten in scheduler.takeForgotten() {
                store.forget(chunk: forgotten.chunk, of: forgotten.blob)
            }
            #expect(scheduler.bufferBytes <= BlobLimits.bufferBytesMax)
            if dice.oneIn(4) {
                for claim in try store.claim() { held.formUnion(claim.chunks) }
            }
        }

        mutating func take(_ message: PieceScheduler.Message) throws {
            let peer = message.peer
            switch message.message {
            case .want(let want):
                let source = try #require(sources[peer], "somebody who is gone was asked")
                #expect(!source.isBanned, "a liar was asked again")
                if let leaves = want.leaves { sources[peer]?.leaves = leaves }
                for number in want.pieces.joined() {
                    let chunk = try #require(blob.shape.chunk(ofPiece: number))
                    #expect(source.map.contains(chunk), "it was asked for what it has not")
                    let isTwice = source.owes.contains { $0.number == number }
                    #expect(
                        !isTwice || source.calledOff.contains(number), "it was asked twice")
                    var bytes = sealed.chunks[chunk]
                    if source.isLiar, dice.oneIn(2) { bytes[dice.below(bytes.count)] ^= 4 }
                    sources[peer]?.owes.append(
                        BlobPiece(root: blob.root, number: number, bytes: bytes[...]))
                }
            case .cancel(_, let pieces):
                guard let pieces else {
                    sources[peer]?.isBanned = true
                    return
                }
                // Half of the time it comes too late, and they arrive all the same.
                guard dice.oneIn(2) else {
                    sources[peer]?.calledOff.formUnion(pieces.joined())
                    return
                }
                sources[peer]?.owes.removeAll { piece in
                    pieces.contains { $0.contains(piece.number) }
                }
            default: Issue.record("the scheduler says only what asks")
            }
        }

        mutating func answer(_ peer: UInt64) throws {
            if let leaves = sources[peer]?.leaves.take() {
                let proof = try #require(sealed.tree.proof(of: leaves))
                for message in scheduler.take(proof, of: blob.root, from: peer, at: now) {
                    try take(message)
                }
            }
            for _ in 0..<dice.below(4) {
                guard let piece = sources[peer]?.owes.first else { return }
                sources[peer]?.owes.removeFirst()
                let (arrival, messages) = scheduler.take(piece, from: peer, at: now)
                for message in messages { try take(message) }
                guard case .store(let blob, let leaf) = arrival else { continue }
                let outcome = try store.store(
                    piece.bytes, piece: piece.number, of: blob, leaf: leaf)
                for message in scheduler.settle(piece.number, of: blob, outcome) {
                    try take(message)
                }
            }
        }
    }

    @Test(arguments: BlobBench.seeds(60))
    func `end with the whole file, no matter who comes, lies and leaves`(_ seed: UInt64) throws {
        var world = try World(seed)
        for _ in 0..<60 {
            try world.disturb()
            try world.turn()
        }
        // In the end one honest peer stays, and that is enough.
        world.sources[1_000] = Source(map: .whole(world.blob.shape), isLiar: false, zeal: 90)
        world.scheduler.note(
            BlobHolding(shape: world.blob.shape, map: .whole(world.blob.shape)),
            of: world.blob.root, from: 1_000)
        var turns = 0
        while world.scheduler.state(of: world.blob.root)?.isComplete != true, turns < 2_000 {
            try world.turn()
            turns += 1
        }
        #expect(turns < 2_000, "seed \(seed)")
        for claim in try world.store.claim() { world.held.formUnion(claim.chunks) }
        #expect(world.held.isWhole, "seed \(seed)")
        for (chunk, bytes) in world.sealed.chunks.enumerated() {
            #expect(try world.store.chunk(chunk, of: world.blob) == bytes)
        }
        let honest = world.sources.filter { !$0.value.isLiar && $0.value.isBanned }
        #expect(honest.isEmpty, "seed \(seed): nobody honest was banned")
    }

    @Test(arguments: BlobBench.seeds(10))
    func `are the same for the same seed`(_ seed: UInt64) throws {
        func log() throws -> [PieceScheduler.Message] {
            var world = try World(seed)
            var messages: [PieceScheduler.Message] = []
            for _ in 0..<30 {
                try world.disturb()
                try world.turn()
                messages += world.scheduler.plan(at: world.now + 1)
            }
            return messages
        }
        #expect(try log() == log())
    }

    /// A transfer onto a disk, killed now and then: what has to come again is what was not claimed.
    @Test(arguments: BlobBench.seeds(6))
    func `lose no more than was not claimed by each kill`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let sealed = try BlobBench.sealed(SeededRandom(seed: seed).bytes(4_000_000))
        let blob = `Stores of chunks`.name(sealed.tree)
        var disk = CrashingDisk()
        var held = HaveMap(blob.shape)
        var stored = 0
        var lost = 0
        for kill in 0..<6 {
            let store = try ChunkFiles(disk)
            _ = try store.sweep(keeping: [blob.root])
            held = try store.reconcile(blob, held: held)
            for chunk in 0..<blob.shape.chunkCount where !held.contains(chunk) {
                let outcome = try store.store(
                    sealed.chunks[chunk][...], piece: chunk, of: blob,
                    leaf: sealed.tree.leaf(chunk))
                #expect(outcome == .whole(chunk: chunk))
                stored += 1
                if dice.oneIn(3) {
                    for claim in try store.claim() { held.formUnion(claim.chunks) }
                }
                if kill < 5, dice.oneIn(6) { break }
            }
            if kill == 5 { for claim in try store.claim() { held.formUnion(claim.chunks) } }
            lost += store.unclaimedByteCount / blob.shape.chunkBytes + 1
            disk = disk.afterCrash(&dice)
        }
        #expect(held.isWhole)
        #expect(stored <= blob.shape.chunkCount + lost, "only what was not claimed came twice")
        let store = try ChunkFiles(disk)
        for (chunk, bytes) in sealed.chunks.enumerated() {
            #expect(try store.chunk(chunk, of: blob) == bytes)
        }
    }
}

extension Optional {
    /// The value, which is gone then.
    fileprivate mutating func take() -> Wrapped? {
        defer { self = nil }
        return self
    }
}
