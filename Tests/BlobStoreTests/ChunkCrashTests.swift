import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

/// A store on a disk that crashes, or fails, at every single call.
struct `Chunks on a disk that fails` {
    private let disk = CrashingDisk()

    /// What the node's tables would hold: bits that were claimed, and what they stand for.
    struct Tables {
        var held: [BlobName: HaveMap] = [:]
        var chunks: [BlobName: [[UInt8]]] = [:]

        mutating func note(_ claims: [ChunkClaim]) {
            for claim in claims {
                held[claim.blob, default: HaveMap(claim.blob.shape)].formUnion(claim.chunks)
            }
        }
    }

    /// A short life: two puts, a transfer in two parts, a put that is cut short, a removal.
    static func live(on disk: CrashingDisk, _ tables: inout Tables) throws {
        let store = try ChunkFiles(disk)
        _ = try store.sweep(keeping: Set(tables.held.keys.map(\.root)))
        let sealed = try Self.sealed(3, count: 600_000)
        var dice = Dice(1)
        let fetched = `Stores of chunks`.name(sealed.tree)
        tables.chunks[fetched] = sealed.chunks
        try store.keep(sealed.tree)
        _ = try `Stores of chunks`.receive([2, 0], of: sealed, store, &dice)
        tables.note(try store.claim())
        var own: [BlobName] = []
        for number in 1...2 {
            let (bytes, key) = Self.text(UInt64(number), count: number * 200_000)
            let tree = try store.put(
                ArraySource(bytes), shape: BlobBench.shape(UInt64(bytes.count)), key: key)
            own.append(`Stores of chunks`.name(tree))
            tables.chunks[own[number - 1]] = try BlobBench.sealed(bytes, key: key).chunks
        }
        _ = try `Stores of chunks`.receive([1], of: sealed, store, &dice)
        tables.note(try store.claim())
        let cut = try store.beginPut(fetched.shape)
        try store.put(BlobSealer.Chunk(number: 0, ciphertext: sealed.chunks[0]), cut)
        // The row goes first: a file without a row is swept, a row without a file would lie.
        tables.held[own[0]] = nil
        try store.remove(own[0].root)
        tables.note(try store.claim())
    }

    static func text(_ seed: UInt64, count: Int) -> (bytes: [UInt8], key: BlobKey) {
        let random = SeededRandom(seed: seed)
        return (random.bytes(count), BlobKey(using: random))
    }

    static func sealed(
        _ seed: UInt64, count: Int
    ) throws -> (tree: BlobTree, chunks: [[UInt8]]) {
        let (bytes, key) = text(seed, count: count)
        return try BlobBench.sealed(bytes, key: key)
    }

    /// Opens the disk as a node does after a start, and looks at every bit of the tables.
    static func check(_ disk: CrashingDisk, _ tables: Tables, _ place: String) throws {
        let store = try ChunkFiles(disk)
        _ = try store.sweep(keeping: Set(tables.held.keys.map(\.root)))
        #expect(disk.fileCount <= tables.held.count, "\(place): a file of nobody")
        for (blob, held) in tables.held {
            #expect(try store.reconcile(blob, held: held) == held, "\(place): a bit too many")
            for chunk in held.runs.flatMap({ $0 }) {
                let isRight = try store.chunk(chunk, of: blob) == tables.chunks[blob]?[chunk]
                #expect(isRight, "\(place): chunk \(chunk)")
            }
        }
        // And it goes on from there.
        var again = tables
        try live(on: disk, &again)
        #expect(again.held.values.allSatisfy { $0.isWhole })
    }

    /// How many calls a life takes.
    static let callCount: Int = {
        let disk = CrashingDisk()
        var tables = Tables()
        try? live(on: disk, &tables)
        return disk.callCount
    }()

    @Test func `live when nothing fails`() throws {
        var tables = Tables()
        try Self.live(on: disk, &tables)
        #expect(tables.held.count == 2 && tables.held.values.allSatisfy { $0.isWhole })
        #expect((20...80).contains(disk.callCount))
        #expect(disk.openCount == 0, "every file was closed")
        try Self.check(disk, tables, "at the end")
    }

    @Test(arguments: 1...callCount)
    func `have no bit too many after a kill at any call`(_ call: Int) throws {
        disk.endsAt = call
        var tables = Tables()
        #expect(throws: BlobError.self) { try Self.live(on: disk, &tables) }
        for seed in BlobBench.seeds(2) {
            var dice = Dice(seed &+ UInt64(call) << 32)
            try Self.check(disk.afterCrash(&dice), tables, "call \(call), seed \(seed)")
        }
    }

    @Test(arguments: [BlobError.noSpace, .disk(call: "pwrite", number: 5)])
    func `have no bit too many, and go on, where any call fails once`(_ error: BlobError) throws {
        for call in 1...Self.callCount {
            let disk = CrashingDisk()
            disk.failures[call] = error
            var tables = Tables()
            // A put that is thrown away and a close do not care.
            try? Self.live(on: disk, &tables)
            #expect(disk.openCount == 0, "call \(call)")
            try Self.check(disk, tables, "call \(call)")
        }
    }

    @Test func `may leave the cache where they arrive, and not where they are put`() throws {
        let (putting, arriving) = (CrashingDisk(), CrashingDisk())
        let source = try ChunkFiles(putting)
        let (bytes, key) = Self.text(1, count: 600_000)
        let shape = BlobBench.shape(UInt64(bytes.count))
        let tree = try source.put(ArraySource(bytes), shape: shape, key: key)
        _ = try source.claim()
        #expect(putting.passingByteCount == 0)
        let blob = BlobName(root: tree.root, shape: shape)
        let store = try ChunkFiles(arriving)
        try store.keep(tree)
        for piece in 0..<shape.pieceCount {
            let arrived = try source.piece(piece, of: blob, after: [])
            let outcome = try store.store(
                arrived[...], piece: piece, of: blob, leaf: tree.leaves[piece])
            #expect(outcome == .whole(chunk: piece))
        }
        #expect(arriving.passingByteCount == Int(shape.ciphertextByteCount))
    }

    @Test func `have the name of a folder synced once only`() throws {
        let store = try ChunkFiles(disk)
        let (bytes, key) = Self.text(1, count: 1_000)
        // The folder of the blob, and at first the one that it lies in.
        for expected in [2, 1, 1] {
            let before = disk.folderSyncCount
            let tree = try store.put(
                ArraySource(bytes), shape: BlobBench.shape(UInt64(bytes.count)), key: key)
            #expect(try store.claim().count == 1)
            #expect(disk.folderSyncCount - before == expected)
            try store.remove(tree.root)
        }
    }

    @Test(arguments: 1...5)
    func `have a claim of many cost one sync, and of few one for each file and folder`(
        _ count: Int
    ) throws {
        let store = try ChunkFiles(disk)
        var names: Set<BlobName> = []
        for number in 1...count {
            let (bytes, key) = Self.text(UInt64(number), count: 1_000)
            let tree = try store.put(
                ArraySource(bytes), shape: BlobBench.shape(UInt64(bytes.count)), key: key)
            names.insert(BlobName(root: tree.root, shape: tree.shape))
        }
        #expect(Set(try store.claim().map(\.blob)) == names)
        let isMany = count >= BlobLimits.syncedAtOnceMin
        #expect(disk.wholeSyncCount == (isMany ? 1 : 0))
        #expect(disk.fileSyncCount == (isMany ? 0 : count))
        #expect(isMany == (disk.folderSyncCount == 0))
        var dice = Dice(UInt64(count))
        let found = try ChunkFiles(disk.afterCrash(&dice))
        for name in names { #expect(try found.chunk(0, of: name).count == 1_016) }
    }

    @Test(arguments: 1...5)
    func `leave nothing of puts whose claim fails at any call`(_ count: Int) throws {
        func put(on disk: CrashingDisk) throws -> ChunkFiles {
            let store = try ChunkFiles(disk)
            for number in 1...count {
                let (bytes, key) = Self.text(UInt64(number), count: 1_000)
                _ = try store.put(
                    ArraySource(bytes), shape: BlobBench.shape(UInt64(bytes.count)), key: key)
            }
            return store
        }
        let whole = CrashingDisk()
        let store = try put(on: whole)
        let before = whole.callCount
        #expect(try store.claim().count == count)
        for call in before + 1...whole.callCount {
            let disk = CrashingDisk()
            let store = try put(on: disk)
            disk.failures[call] = .noSpace
            #expect(throws: BlobError.noSpace, "call \(call)") { try store.claim() }
            #expect(disk.fileCount == 0 && disk.openCount == 0, "call \(call)")
        }
    }

    @Test func `say by name that the disk is full, and take the same chunk when it is not`() throws
    {
        let store = try ChunkFiles(disk)
        let sealed = try Self.sealed(4, count: 300_000)
        let blob = `Stores of chunks`.name(sealed.tree)
        var dice = Dice(2)
        _ = try `Stores of chunks`.receive([0], of: sealed, store, &dice)
        disk.failures[disk.callCount + 1] = .noSpace
        #expect(throws: BlobError.noSpace) {
            try `Stores of chunks`.receive([1], of: sealed, store, &dice)
        }
        #expect(try store.claim().map(\.chunks.runs) == [[0..<1]])
        _ = try `Stores of chunks`.receive([1], of: sealed, store, &dice)
        disk.failures[disk.callCount + 1] = .disk(call: "fdatasync", number: 5)
        #expect(throws: BlobError.self) { try store.claim() }
        #expect(try store.claim() == [], "what a failed fdatasync was about is not believed")
        _ = try `Stores of chunks`.receive([1], of: sealed, store, &dice)
        #expect(try store.claim().map(\.chunks.runs) == [[1..<2]])
        #expect(try store.chunk(0, of: blob) == sealed.chunks[0])
    }

    @Test func `believe no leaves that were torn`() throws {
        let sealed = try Self.sealed(5, count: 600_000)
        let blob = `Stores of chunks`.name(sealed.tree)
        do {
            let store = try ChunkFiles(disk)
            try store.keep(sealed.tree)
            let file = try disk.open(Self.path(sealed.tree.root), isNew: false)
            try disk.write(file, at: sealed.tree.shape.ciphertextByteCount + 40, [1, 2, 3])
        }
        let store = try ChunkFiles(disk)
        #expect(try store.tree(of: blob) == nil)
        try store.keep(sealed.tree)
        #expect(try store.tree(of: blob) == sealed.tree)
    }

    static func path(_ root: BlobRoot) -> String {
        let hex = BlobBench.hex(root.bytes)
        return hex.prefix(2) + "/" + hex
    }

    @Test func `lose bits where a file was cut or is gone`() throws {
        let store = try ChunkFiles(disk)
        let sealed = try Self.sealed(6, count: 600_000)
        let blob = `Stores of chunks`.name(sealed.tree)
        let file = try {
            try store.keep(sealed.tree)
            try store.remove(blob.root)
            return try disk.open(Self.path(blob.root), isNew: true)
        }()
        try disk.write(file, at: 0, [UInt8](repeating: 1, count: 300_000)[...])
        #expect(try store.reconcile(blob, held: .whole(blob.shape)).runs == [0..<1])
        try disk.remove(Self.path(blob.root))
        try store.remove(blob.root)
        #expect(try store.reconcile(blob, held: .whole(blob.shape)).isEmpty)
    }

    @Test func `keep no more than 32 files open`() throws {
        let store = try ChunkFiles(disk)
        for number in 0..<60 {
            let sealed = try Self.sealed(UInt64(100 + number), count: 10)
            var dice = Dice(1)
            _ = try `Stores of chunks`.receive([0], of: sealed, store, &dice)
            #expect(disk.openCount <= BlobLimits.openFilesMax)
        }
        #expect(try store.claim().count == 60)
    }
}
