import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

/// Tests for both stores, on disk and in memory.
struct `Stores of chunks` {
    /// The kinds of stores, each made anew for `body`.
    enum Kind: CaseIterable {
        case memory, simulated, real

        func with(_ body: (any ChunkStore) throws -> Void) throws {
            switch self {
            case .memory: try body(ChunkMemory())
            case .simulated: try body(try ChunkFiles(CrashingDisk()))
            case .real:
                try BlobBench.inFolder { try body(try ChunkFiles(KernelDisk(folder: $0))) }
            }
        }
    }

    static func name(_ tree: BlobTree) -> BlobName { BlobName(root: tree.root, shape: tree.shape) }

    /// Gives all pieces of some chunks to a store, in an order of the dice.
    static func receive(
        _ chunks: [Int], of sealed: (tree: BlobTree, chunks: [[UInt8]]), _ store: any ChunkStore,
        _ dice: inout Dice
    ) throws -> [PieceOutcome] {
        let shape = sealed.tree.shape
        var pieces = chunks.flatMap { Array(shape.pieces(of: $0)) }
        pieces.shuffle(using: &dice)
        return try pieces.map { piece in
            let chunk = try #require(shape.chunk(ofPiece: piece))
            let start =
                (piece - shape.pieces(of: chunk).lowerBound) * BlobLimits.pieceBytesMax
            let bytes = sealed.chunks[chunk].dropFirst(start).prefix(BlobLimits.pieceBytesMax)
            return try store.store(
                bytes, piece: piece, of: name(sealed.tree), leaf: sealed.tree.leaf(chunk))
        }
    }

    @Test(arguments: Kind.allCases)
    func `keep what was put, and claim it at once`(_ kind: Kind) throws {
        try kind.with { (store) throws in
            for count in [0, 1, 262_128, 262_129, 700_000] {
                let text = BlobBench.text(count)
                let expected = try BlobBench.sealed(text)
                let tree = try store.put(
                    ArraySource(text), shape: expected.tree.shape, key: BlobBench.key)
                #expect(tree == expected.tree)
                #expect(store.unclaimedByteCount == expected.chunks.reduce(0) { $0 + $1.count })
                let claims = try store.claim()
                #expect(claims == [ChunkClaim(blob: Self.name(tree), chunks: .whole(tree.shape))])
                #expect(store.unclaimedByteCount == 0)
                #expect(try store.claim() == [])
                for (number, chunk) in expected.chunks.enumerated() {
                    #expect(try store.chunk(number, of: Self.name(tree)) == chunk)
                    #expect(try store.verify(chunk: number, of: Self.name(tree)))
                }
                #expect(try store.tree(of: Self.name(tree)) == tree)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `take pieces in any order and claim their chunks`(_ kind: Kind) throws {
        var dice = Dice(5)
        try kind.with { (store) throws in
            let sealed = try BlobBench.sealed(BlobBench.text(1_000_000))
            let blob = Self.name(sealed.tree)
            #expect(try Self.receive([2], of: sealed, store, &dice) == [.whole(chunk: 2)])
            #expect(store.unclaimedByteCount == 262_144)
            #expect(try store.claim().map(\.chunks.runs) == [[2..<3]])
            _ = try Self.receive([3, 0], of: sealed, store, &dice)
            #expect(try store.claim().map(\.chunks.runs) == [[0..<1, 3..<4]])
            #expect(try store.chunk(3, of: blob) == sealed.chunks[3])
            #expect(try store.piece(0, of: blob) == sealed.chunks[0])
            let piece = try store.piece(0, of: blob, after: [1, 2, 3])
            #expect(piece == [1, 2, 3] + sealed.chunks[0])
            #expect(BlobBench.error { _ = try store.verify(chunk: 0, of: blob) } == .badLeaves)
            try store.keep(sealed.tree)
            #expect(try store.tree(of: blob) == sealed.tree)
            #expect(try store.verify(chunk: 0, of: blob))
            #expect(try store.reconcile(blob, held: HaveMap(blob.shape)).isEmpty)
        }
    }

    @Test(arguments: Kind.allCases)
    func `keep nothing of a chunk that is wrong, and take the right one after it`(
        _ kind: Kind
    ) throws {
        var dice = Dice(6)
        try kind.with { (store) throws in
            let sealed = try BlobBench.sealed(BlobBench.text(300_000))
            let blob = Self.name(sealed.tree)
            var bad = sealed.chunks[1]
            bad[100] ^= 1
            let outcome = try store.store(
                bad[...], piece: 1, of: blob, leaf: sealed.tree.leaf(1))
            #expect(outcome == .wrong(chunk: 1))
            #expect(try store.claim() == [] && store.unclaimedByteCount == 0)
            #expect(BlobBench.error { _ = try store.chunk(1, of: blob) } == .missing)
            #expect(try Self.receive([1], of: sealed, store, &dice) == [.whole(chunk: 1)])
            #expect(try store.claim().count == 1)
            // Nobody has shown a leaf: of several chunks that is never enough.
            #expect(
                try store.store(sealed.chunks[0][...], piece: 0, of: blob, leaf: nil)
                    == .wrong(chunk: 0))
        }
    }

    @Test(arguments: Kind.allCases)
    func `judge the only chunk by the root`(_ kind: Kind) throws {
        try kind.with { (store) throws in
            let sealed = try BlobBench.sealed(BlobBench.text(100))
            let blob = Self.name(sealed.tree)
            var bad = sealed.chunks[0]
            bad[0] ^= 1
            #expect(try store.store(bad[...], piece: 0, of: blob, leaf: nil) == .wrong(chunk: 0))
            #expect(
                try store.store(sealed.chunks[0][...], piece: 0, of: blob, leaf: nil)
                    == .whole(chunk: 0))
            #expect(try store.claim().map(\.chunks.isWhole) == [true])
            #expect(try store.verify(chunk: 0, of: blob))
        }
    }

    @Test(arguments: Kind.allCases)
    func `refuse pieces that are none or of another length`(_ kind: Kind) throws {
        try kind.with { (store) throws in
            let blob = BlobName(root: BlobBench.root(1), shape: BlobBench.shape(300_000))
            let piece = [UInt8](repeating: 1, count: BlobLimits.pieceBytesMax)
            for (bytes, number) in [(piece, 2), (piece, -1), (piece, .max), (piece, 1), ([], 0)] {
                #expect(throws: BlobError.self) {
                    try store.store(bytes[...], piece: number, of: blob, leaf: nil)
                }
            }
            #expect(BlobBench.error { _ = try store.piece(9, of: blob) } == .missing)
            #expect(BlobBench.error { _ = try store.chunk(-1, of: blob) } == .missing)
            #expect(BlobBench.error { _ = try store.chunk(0, of: blob) } == .missing)
            #expect(try store.verify(chunk: 0, of: blob) == false)
        }
    }

    @Test(arguments: Kind.allCases)
    func `put chunks together from pieces, whole ones alone`(_ kind: Kind) throws {
        var dice = Dice(8)
        // 2^19 bytes a chunk, as of 4 GiB; only two of its chunks are made up.
        let shape = BlobBench.shape(4_294_705_153)
        let chunks = (0..<2).map { _ in
            [UInt8](repeating: UInt8(dice.below(256)), count: shape.chunkBytes)
        }
        let leaves = chunks.map { BlobTree.leaf($0.span) }
        let blob = BlobName(root: BlobBench.root(2), shape: shape)
        func piece(_ number: Int) -> ArraySlice<UInt8> {
            let start = number % 2 * BlobLimits.pieceBytesMax
            return chunks[number / 2][start..<start + BlobLimits.pieceBytesMax]
        }
        try kind.with { (store) throws in
            func give(_ number: Int) throws -> PieceOutcome {
                try store.store(piece(number), piece: number, of: blob, leaf: leaves[number / 2])
            }
            #expect(try give(1) == .more && give(1) == .more)
            #expect(try store.claim() == [])
            #expect(try give(0) == .whole(chunk: 0))
            #expect(try give(2) == .more)
            store.forget(chunk: 1, of: blob)
            #expect(try give(3) == .more)
            #expect(try give(2) == .whole(chunk: 1))
            #expect(try store.claim().map(\.chunks.runs) == [[0..<2]])
            #expect(try store.chunk(1, of: blob) == chunks[1])
            // A piece of another chunk in its place.
            #expect(
                try store.store(piece(0), piece: 2, of: blob, leaf: leaves[1]) == .more)
            #expect(
                try store.store(piece(3), piece: 3, of: blob, leaf: leaves[1])
                    == .wrong(chunk: 1))
        }
    }

    @Test(arguments: Kind.allCases)
    func `throw away a put that ends early`(_ kind: Kind) throws {
        try kind.with { (store) throws in
            let shape = BlobBench.shape(700_000)
            let source = ArraySource(BlobBench.text(600_000))
            #expect(
                BlobBench.error { _ = try store.put(source, shape: shape, key: BlobBench.key) }
                    == .tooShort)
            #expect(try store.claim() == [])
            let ticket = try store.beginPut(shape)
            store.abandonPut(ticket)
            let chunk = BlobSealer.Chunk(number: 0, ciphertext: [1])
            #expect(BlobBench.error { try store.put(chunk, ticket) } == .closed)
            let tree = try BlobBench.sealed(BlobBench.text(700_000)).tree
            #expect(BlobBench.error { try store.finishPut(ticket, tree: tree) } == .closed)
            #expect(try store.sweep(keeping: []) == 0, "nothing is left of it")
        }
    }

    @Test(arguments: Kind.allCases)
    func `remove and sweep what nobody names`(_ kind: Kind) throws {
        try kind.with { (store) throws in
            var trees: [BlobTree] = []
            for number in 0..<4 {
                let key = BlobKey(using: SeededRandom(seed: UInt64(number)))
                trees.append(
                    try store.put(
                        ArraySource(BlobBench.text(10)), shape: BlobBench.shape(10), key: key))
            }
            _ = try store.claim()
            try store.remove(trees[0].root)
            try store.remove(trees[0].root)
            #expect(try store.sweep(keeping: [trees[1].root]) == 2)
            for (number, tree) in trees.enumerated() {
                let held = try store.reconcile(Self.name(tree), held: .whole(tree.shape))
                #expect(held.isWhole == (number == 1))
            }
            #expect(
                try store.reconcile(Self.name(trees[1]), held: HaveMap(chunkCount: 9)).isEmpty)
        }
    }

    @Test(arguments: Kind.allCases)
    func `forget what was stored and not claimed when a blob is removed`(_ kind: Kind) throws {
        var dice = Dice(9)
        try kind.with { (store) throws in
            let sealed = try BlobBench.sealed(BlobBench.text(300_000))
            _ = try Self.receive([0, 1], of: sealed, store, &dice)
            try store.remove(sealed.tree.root)
            #expect(try store.claim() == [])
        }
    }

    @Test func `in memory are full at their bound`() throws {
        let store = ChunkMemory(byteCountMax: 300_000)
        let shape = BlobBench.shape(400_000)
        let source = ArraySource(BlobBench.text(400_000))
        #expect(
            BlobBench.error { _ = try store.put(source, shape: shape, key: BlobBench.key) }
                == .noSpace)
        #expect(store.byteCount == 0)
        var dice = Dice(1)
        let sealed = try BlobBench.sealed(BlobBench.text(400_000))
        _ = try Self.receive([0], of: sealed, store, &dice)
        #expect(throws: BlobError.noSpace) { try Self.receive([1], of: sealed, store, &dice) }
        _ = try store.claim()
        store.damage(chunk: 0, of: sealed.tree.root, byte: 7)
        try store.keep(sealed.tree)
        #expect(try !store.verify(chunk: 0, of: Self.name(sealed.tree)))
    }
}
