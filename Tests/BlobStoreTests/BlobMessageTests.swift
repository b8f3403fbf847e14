import Testing
import WorkspaceModel

@testable import BlobStore

struct `Messages about blobs` {
    static let root = Manifests.root
    static let hexRoot = "6465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f80818283"
    static let hexKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

    static var holding: BlobHolding {
        let shape = BlobBench.shape(1_310_641)
        var map = HaveMap(shape)
        map.insert(1..<3)
        map.insert(4)
        return BlobHolding(shape: shape, map: map)
    }

    static var proof: TreeProof {
        TreeProof(
            shape: BlobBench.shape(500_000), first: 1,
            leaves: [TreeHash(BlobBench.bytes(hexKey))],
            hashes: [TreeHash(BlobBench.bytes(hexRoot))])
    }

    /// By Tests/interop/blobs.py.
    static let table: [(BlobMessage, String)] = [
        (
            .want(BlobWant(root: root, pieces: [0..<4, 9..<10], leaves: 0..<16)),
            "80a3015820" + hexRoot + "028282000482090103820010"
        ),
        (.have(root, holding), "81a4015820" + hexRoot + "021a0013ffb10312048401020101"),
        (.have(root, nil), "81a1015820" + hexRoot),
        (
            .leaves(root, proof),
            "82a6015820" + hexRoot + "021a0007a12003120401055820" + hexKey + "065820" + hexRoot
        ),
        (
            .piece(BlobPiece(root: root, number: 258, bytes: [0x61, 0x62, 0x63])),
            "83" + hexRoot + "02010000616263"
        ),
        (.cancel(root, pieces: [3..<4]), "84a2015820" + hexRoot + "0281820301"),
        (.cancel(root, pieces: nil), "84a1015820" + hexRoot),
    ]

    @Test(arguments: table)
    func `have the bytes that were typed in`(_ message: BlobMessage, _ hex: String) throws {
        #expect(BlobBench.hex(message.encoded()) == hex)
        #expect(try BlobMessage.decoded(message.encoded()) == message)
        #expect(BlobMessage.types.contains(message.type))
    }

    @Test func `are at most 257 KiB, at their bounds too`() throws {
        let piece = BlobMessage.piece(
            BlobPiece(
                root: Self.root, number: 1_048_575,
                bytes: [UInt8](repeating: 7, count: BlobLimits.pieceBytesMax)[...]))
        #expect(piece.encoded().count == BlobLimits.pieceBytesMax + 37)
        let shape = BlobBench.shape(BlobLimits.blobBytesMax)
        var map = HaveMap(shape)
        for chunk in stride(from: 0, to: shape.chunkCount, by: 2) { map.insert(chunk) }
        let hash = TreeHash([UInt8](repeating: 1, count: 32))
        let ranges = (0..<BlobLimits.rangesPerMessageMax).map { $0 * 4_000..<$0 * 4_000 + 1_000 }
        for message: BlobMessage in [
            piece, .have(Self.root, BlobHolding(shape: shape, map: map)),
            .leaves(
                Self.root,
                TreeProof(
                    shape: shape, first: 5, leaves: .init(repeating: hash, count: 4_096),
                    hashes: .init(repeating: hash, count: 28))),
            .want(BlobWant(root: Self.root, pieces: ranges, leaves: 0..<16_384)),
            .cancel(Self.root, pieces: ranges),
        ] {
            let bytes = message.encoded()
            #expect(bytes.count <= BlobLimits.messageBytesMax)
            #expect(try BlobMessage.decoded(bytes) == message)
        }
    }

    @Test func `of other types are none of these`() throws {
        for type in [0x00, 0x15, 0x7f, 0x85, 0x90, 0xff] as [UInt8] {
            #expect(try BlobMessage.decoded([type, 1, 2, 3]) == nil)
        }
        #expect(try BlobMessage.decoded([]) == nil)
    }

    /// What follows the type and the root, in hexadecimal digits.
    static let hostile: [(UInt8, String, String)] = [
        (0x80, "a2", "0280ff"), (0x80, "a2", "028182000001"), (0x80, "a2", "0281820000"),
        (0x80, "a2", "02828200048204018082"), (0x80, "a2", "0282820004820401"),
        (0x80, "a2", "0282820901820001"), (0x80, "a2", "02819b7fffffffffffffff"),
        (0x80, "a2", "0281821bffffffffffffffff01"), (0x80, "a2", "0281821a0010000001"),
        (0x80, "a2", "02818201" + "1a00100000"), (0x80, "a1", ""), (0x80, "a3", "028003820000"),
        (0x80, "a3", "0280038219400001"), (0x80, "a2", "0380"), (0x80, "a4", "02800380048000"),
        (0x81, "a4", "02000312048102"), (0x81, "a4", "021a0013ffb10313048401020101"),
        (0x81, "a4", "021bffffffffffffffff031204820001"), (0x81, "a4", "02010312048200021"),
        (0x81, "a2", "0201"), (0x81, "a3", "02010312"),
        (0x82, "a6", "020103120400054006" + "40"), (0x82, "a6", "02010312040105582000"),
        (0x82, "a5", "0201031204000540"), (0x82, "a6", "0201031204000541000640"),
        (0x84, "a2", "0282820003820001"), (0x84, "a2", "02f6"), (0x84, "a3", "02800380"),
    ]

    @Test(arguments: hostile)
    func `are refused where they break a rule`(_ type: UInt8, _ head: String, _ rest: String) {
        let padded = rest.count % 2 == 0 ? rest : rest + "0"
        let bytes = [type] + BlobBench.bytes(head + "015820" + Self.hexRoot + padded)
        #expect(throws: Malformed.self) { try BlobMessage.decoded(bytes) }
    }

    @Test func `carry no piece that is empty, too long or beyond the largest blob`() {
        let head = BlobMessage.pieceHead(Self.root, 0)
        #expect(head.count == BlobMessage.pieceHeadBytes)
        let full = [UInt8](repeating: 0, count: BlobLimits.pieceBytesMax + 1)
        for bytes in [
            head, Array(head.prefix(20)), [0x83], head + full,
            BlobMessage.pieceHead(Self.root, 1_048_576) + [1],
            BlobMessage.pieceHead(Self.root, 0xffff_ffff) + [1],
            [0x80] + [UInt8](repeating: 0, count: BlobLimits.messageBytesMax),
        ] {
            #expect(throws: Malformed.self) { try BlobMessage.decoded(bytes) }
        }
    }

    @Test(arguments: BlobBench.seeds(400))
    func `never trap, and have one form, whatever the bytes are`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        var bytes = Self.table[dice.below(Self.table.count)].0.encoded()
        for _ in 0...dice.below(3) {
            switch dice.below(4) {
            case 0: bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.next())
            case 1: bytes.insert(UInt8(dice.below(256)), at: dice.below(bytes.count))
            case 2: bytes.remove(at: dice.below(bytes.count))
            default: bytes += dice.bytes(dice.below(40))
            }
        }
        guard let message = try? BlobMessage.decoded(bytes) else { return }
        #expect(message.encoded() == bytes)
        if case .leaves(let root, let proof) = message { #expect(!proof.isValid(for: root)) }
    }
}
