import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

/// One node that fetches and some that serve, with links of given rates, in simulated time.
///
/// Whole messages pass as bytes; a link delivers its queue in order, at its rate.
struct TransferWorld {
    enum Manner {
        case honest
        /// Turns over a bit in every piece.
        case lying
        /// Says that it holds all, and sends nothing.
        case silent
        /// Sends leaves of another blob.
        case lyingLeaves
        /// Is gone at this time.
        case leaving(at: UInt64)
    }

    struct Source {
        let bytesPerMillisecond: Int
        let manner: Manner
        let store: ChunkMemory
        var map: HaveMap
        var queue = PieceQueue()
        /// What lies in the link: the message, and when its last byte arrives.
        var link: [(bytes: [UInt8], at: UInt64)] = []
        var sentBytes = 0
        var isGone = false
        /// Pieces that were asked of it.
        var asked: [Int] = []
    }

    let blob: BlobName
    let tree: BlobTree
    let latency: UInt64 = 20
    var now: UInt64 = 1_000
    var sources: [UInt64: Source] = [:]
    var scheduler = PieceScheduler()
    let store = ChunkMemory()
    /// What was received in all, and for nothing.
    var receivedBytes = 0
    var lateBytes = 0
    var unasked = 0
    var banned: Set<UInt64> = []
    var mostBuffered = 0
    var progress: [UInt64] = []

    init(byteCount: Int, seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let origin = ChunkMemory()
        tree = try origin.put(
            ArraySource(random.bytes(byteCount)), shape: BlobBench.shape(UInt64(byteCount)),
            key: BlobBench.key)
        blob = BlobName(root: tree.root, shape: tree.shape)
        self.origin = origin
    }

    private let origin: ChunkMemory

    mutating func add(
        _ peer: UInt64, rate: Int, _ manner: Manner = .honest, chunks: [Range<Int>]? = nil
    ) {
        var map = HaveMap(blob.shape)
        for range in chunks ?? [0..<blob.shape.chunkCount] { map.insert(range) }
        sources[peer] = Source(
            bytesPerMillisecond: rate, manner: manner, store: origin, map: map)
        scheduler.note(BlobHolding(shape: blob.shape, map: map), of: blob.root, from: peer)
    }

    mutating func fetch(_ chunks: Range<Int>? = nil, urgent: Bool = false) {
        _ = scheduler.fetch(
            blob, held: HaveMap(blob.shape), chunks: chunks ?? 0..<blob.shape.chunkCount,
            isUrgent: urgent, at: now)
    }

    /// Runs until the transfer is complete, or for so long.
    mutating func run(milliseconds: UInt64, step: UInt64 = 5) throws {
        let end = now + milliseconds
        while now < end, scheduler.state(of: blob.root)?.isComplete != true {
            try turn()
            now += step
        }
    }

    mutating func turn() throws {
        for peer in sources.keys.sorted() {
            if case .leaving(let time) = sources[peer]?.manner, now >= time,
                sources[peer]?.isGone == false
            {
                sources[peer]?.isGone = true
                sources[peer]?.link = []
                scheduler.leave(peer)
            }
            while let first = sources[peer]?.link.first, first.at <= now {
                sources[peer]?.link.removeFirst()
                try receive(first.bytes, from: peer)
            }
        }
        for message in scheduler.plan(at: now) { try deliver(message) }
        for forgotten in scheduler.takeForgotten() {
            store.forget(chunk: forgotten.chunk, of: forgotten.blob)
        }
        mostBuffered = max(mostBuffered, scheduler.bufferBytes)
        for peer in sources.keys.sorted() { try serve(peer) }
        progress.append(scheduler.state(of: blob.root)?.byteCount ?? 0)
    }

    mutating func receive(_ bytes: [UInt8], from peer: UInt64) throws {
        receivedBytes += bytes.count
        guard let message = try BlobMessage.decoded(bytes) else { return }
        switch message {
        case .leaves(let root, let proof):
            for message in scheduler.take(proof, of: root, from: peer, at: now) {
                try deliver(message)
            }
        case .piece(let piece):
            let (arrival, messages) = scheduler.take(piece, from: peer, at: now)
            for message in messages { try deliver(message) }
            switch arrival {
            case .late: lateBytes += piece.bytes.count
            case .unasked: unasked += 1
            case .store(let blob, let leaf):
                let outcome = try store.store(
                    piece.bytes, piece: piece.number, of: blob, leaf: leaf)
                for message in scheduler.settle(piece.number, of: blob, outcome) {
                    try deliver(message)
                }
            }
        case .cancel(let root, let pieces): scheduler.refuse(pieces, of: root, from: peer)
        case .have(let root, let holding): scheduler.note(holding, of: root, from: peer)
        case .want: break
        }
    }

    /// What the fetching node sends arrives at once: it is small.
    mutating func deliver(_ message: PieceScheduler.Message) throws {
        let peer = message.peer
        guard var source = sources[peer], !source.isGone else { return }
        switch try #require(try BlobMessage.decoded(message.message.encoded())) {
        case .want(let want):
            source.asked += want.pieces.joined()
            if case .silent = source.manner { break }
            if let leaves = want.leaves, let proof = try proof(leaves, source) {
                send(.leaves(blob.root, proof), &source)
            }
            let refused = source.queue.add(want.pieces, of: blob, held: source.map)
            if !refused.isEmpty { send(.cancel(blob.root, pieces: refused), &source) }
        case .cancel(let root, let pieces):
            if pieces == nil { banned.insert(peer) }
            source.queue.cancel(pieces, of: root)
        default: break
        }
        sources[peer] = source
    }

    private func proof(_ leaves: Range<Int>, _ source: Source) throws -> TreeProof? {
        let proof = try #require(tree.proof(of: leaves))
        guard case .lyingLeaves = source.manner else { return proof }
        return TreeProof(
            shape: proof.shape, first: proof.first,
            leaves: proof.leaves.map { BlobTree.node($0, $0) }, hashes: proof.hashes)
    }

    private func send(_ message: BlobMessage, _ source: inout Source) {
        let bytes = message.encoded()
        let start = max(now + latency, source.link.last?.at ?? 0)
        source.link.append((bytes, start + UInt64(bytes.count / source.bytesPerMillisecond)))
        source.sentBytes += bytes.count
    }

    mutating func serve(_ peer: UInt64) throws {
        guard var source = sources[peer], !source.isGone else { return }
        let waiting = source.link.reduce(0) { $0 + $1.bytes.count }
        source.queue.sent(source.queue.queuedBytes - min(source.queue.queuedBytes, waiting))
        while let item = source.queue.next(bufferBytes: 0) {
            var bytes = try source.store.piece(item.piece, of: blob)
            if case .lying = source.manner { bytes[bytes.count / 2] ^= 1 }
            send(
                .piece(BlobPiece(root: item.blob.root, number: item.piece, bytes: bytes[...])),
                &source)
        }
        #expect(source.queue.queuedBytes <= BlobLimits.queuedPieceBytesPerLinkMax)
        sources[peer] = source
    }

    /// Whether every chunk that was wanted is here and right.
    func isRight(_ chunks: Range<Int>? = nil) throws -> Bool {
        for chunk in chunks ?? 0..<blob.shape.chunkCount {
            let (here, there) = (
                try store.chunk(chunk, of: blob), try origin.chunk(chunk, of: blob)
            )
            guard here == there else { return false }
        }
        return true
    }
}
