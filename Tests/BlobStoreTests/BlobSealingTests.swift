import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel

struct `Sealing of blobs` {
    /// Size, last leaf and root, by Tests/interop/blobs.py.
    static let vectors: [(Int, String, String)] = [
        (
            0, "04ed1a9822efb62bc1f4efe7babefac6d675ce2646871a6fad777d454fa31be7",
            "31b5d8aa8764c62ac0d9373a2ff6ded57e04106e809c83c50e0f0de9cd77aca4"
        ),
        (
            1, "827b49eee46c9e15d081dccd1eebc1fef4664f91873c8a788320c7a862dfe109",
            "df5cb64bdca624c2af769423d245845cb4ef22797bf185c650382a6bfad2cefd"
        ),
        (
            262_128, "2281b9ade4ab4ecef588dc812ec78c365df2876391c5e771a348ee0754d06388",
            "05c6d19fcb64be7bc0831c7b54c1db8002be2403cd0f44e3e3801b206ec3c0d0"
        ),
        (
            262_129, "99874374aa5719e65335ae3475d2ec6054005f131b9832441339156ed1b89134",
            "f29f63115d2a0b04ba2c3fb816cb18aada090ca3bdd24a378db3fde299350674"
        ),
        (
            1_000_000, "c9bf2de304449fb594b3858a7f2d8f65bfab8f7c14cb9614e022014835fd3e7f",
            "b0a4be9e32ae14b0e1f91d3a5ddcf46d285970888f8ec327a964b882b0af2ab3"
        ),
        (
            1_310_641, "68c213399ef720682907abf34700800844e0a37d7afc6bdca1bb3b46998baef4",
            "dd934d542cf14104dc40a461a84e93e13947edc9bf7e89451a13bfb49852915f"
        ),
    ]

    @Test(arguments: vectors)
    func `gives the names that were typed in`(_ count: Int, _ leaf: String, _ root: String) throws {
        let text = BlobBench.text(count)
        let (tree, chunks) = try BlobBench.sealed(text)
        #expect(BlobBench.hex(tree.root.bytes) == root)
        #expect(BlobBench.hex(try #require(tree.leaves.last).bytes) == leaf)
        let opener = BlobOpener(shape: tree.shape, key: BlobBench.key)
        var opened: [UInt8] = []
        for (number, chunk) in chunks.enumerated() {
            #expect(BlobTree.leaf(chunk.span) == tree.leaves[number])
            opened += try opener.open(chunk, chunk: number)
        }
        #expect(opened == text)
    }

    @Test(arguments: BlobBench.seeds(10))
    func `does not depend on the portions in which bytes come`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let text = SeededRandom(seed: seed).bytes(dice.below(700_000))
        let whole = try BlobBench.sealed(text)
        var sealer = BlobSealer(shape: whole.tree.shape, key: BlobBench.key)
        var chunks: [[UInt8]] = []
        var rest = text[...]
        while !rest.isEmpty {
            let portion = rest.prefix(1 + dice.below(300_000))
            rest = rest.dropFirst(portion.count)
            chunks += try sealer.append(portion).map(\.ciphertext)
        }
        let (tree, last) = try sealer.finish()
        if let last { chunks.append(last.ciphertext) }
        #expect(tree == whole.tree)
        #expect(chunks == whole.chunks)
    }

    @Test(arguments: [0, 1, 262_128, 300_000])
    func `ends in a named error where the source is not as long as announced`(_ count: Int) {
        let shape = BlobBench.shape(UInt64(count))
        func seal(_ given: Int) -> BlobError? {
            BlobBench.error {
                _ = try BlobSealer.seal(
                    ArraySource(BlobBench.text(given)), shape: shape, key: BlobBench.key
                ) { _ in }
            }
        }
        #expect(seal(count) == nil)
        #expect(seal(count + 1) == .tooLong)
        if count > 0 { #expect(seal(count - 1) == .tooShort) }
    }

    @Test func `refuses more bytes than were announced, also in one portion`() throws {
        var sealer = BlobSealer(shape: BlobBench.shape(3), key: BlobBench.key)
        #expect(BlobBench.error { _ = try sealer.append([1, 2, 3, 4][...]) } == .tooLong)
        var empty = BlobSealer(shape: BlobBench.shape(0), key: BlobBench.key)
        #expect(BlobBench.error { _ = try empty.append([1][...]) } == .tooLong)
        #expect(try empty.finish().last?.ciphertext.count == 16)
        var early = BlobSealer(shape: BlobBench.shape(3), key: BlobBench.key)
        _ = try early.append([1, 2][...])
        #expect(early.wantedByteCount == 1)
        #expect(BlobBench.error { _ = try early.finish() } == .tooShort)
    }

    @Test func `passes on what the source and the disk say`() {
        final class Broken: ByteSource {
            func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8] { throw .changed }
        }
        let shape = BlobBench.shape(1)
        #expect(
            BlobBench.error {
                _ = try BlobSealer.seal(Broken(), shape: shape, key: BlobBench.key) { _ in }
            } == .changed)
        #expect(
            BlobBench.error {
                _ = try BlobSealer.seal(ArraySource([1]), shape: shape, key: BlobBench.key) {
                    (_) throws(BlobError) in throw .noSpace
                }
            } == .noSpace)
    }

    @Test func `opens no chunk that is another, cut, changed or under another key`() throws {
        let (tree, chunks) = try BlobBench.sealed(BlobBench.text(600_000))
        let opener = BlobOpener(shape: tree.shape, key: BlobBench.key)
        func error(_ bytes: [UInt8], _ chunk: Int) -> BlobError? {
            BlobBench.error { _ = try opener.open(bytes, chunk: chunk) }
        }
        #expect(error(chunks[0], 1) == .badChunk(1))
        #expect(error(chunks[0], 3) == .badChunk(3))
        #expect(error(chunks[0], -1) == .badChunk(-1))
        #expect(error(Array(chunks[0].dropLast()), 0) == .badChunk(0))
        #expect(error([], 0) == .badChunk(0))
        var changed = chunks[2]
        changed[7] ^= 1
        #expect(error(changed, 2) == .badChunk(2))
        let other = BlobOpener(shape: tree.shape, key: BlobKey(using: SeededRandom(seed: 1)))
        #expect(BlobBench.error { _ = try other.open(chunks[0], chunk: 0) } == .badChunk(0))
    }

    @Test(arguments: BlobBench.seeds(20))
    func `opens a range from no more chunks than hold it`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let text = SeededRandom(seed: seed).bytes(800_000)
        let (tree, chunks) = try BlobBench.sealed(text)
        let opener = BlobOpener(shape: tree.shape, key: BlobBench.key)
        let start = dice.below(text.count)
        let end = start + dice.below(min(text.count - start, 300_000) + 1)
        var read: [Int] = []
        var opened: [UInt8] = []
        try opener.open(UInt64(start)..<UInt64(end)) { (chunk) throws(BlobError) in
            read.append(chunk)
            return chunks[chunk]
        } take: { (bytes) throws(BlobError) in
            opened += bytes
        }
        #expect(opened == Array(text[start..<end]))
        #expect(read.count <= 3 && Set(read).count == read.count)
        #expect(
            BlobBench.error {
                try opener.open(0..<UInt64(text.count) + 1) { _ in
                    []
                } take: { _ in
                }
            } == .tooLong)
    }

    @Test func `draws another key for every put, and prints none`() {
        let random = SeededRandom(seed: 7)
        let (one, two) = (BlobKey(using: random), BlobKey(using: random))
        #expect(one != two)
        #expect("\(one)" == "BlobKey" && String(reflecting: one) == "BlobKey")
        #expect(BlobKey(untrusted: [1]) == nil)
        #expect(BlobKey(untrusted: [UInt8](repeating: 0, count: 33)) == nil)
    }
}
