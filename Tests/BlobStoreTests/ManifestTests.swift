import BlobStore
import Testing
import WorkspaceModel

struct `Manifests` {
    static let root = BlobRoot([UInt8](100..<132))

    static func item(_ name: String, _ contents: Manifest.Item.Contents) -> Manifest.Item {
        Manifest.Item(
            name: FileName(fitting: [UInt8](name.utf8)), type: .unknown, contents: contents)
    }

    static func blob(_ byteCount: UInt64) -> Manifest.Item.Contents {
        .blob(root, BlobBench.shape(byteCount), BlobBench.key)
    }

    /// By Tests/interop/blobs.py.
    static let hex =
        "828365612e7478746a746578742f706c61696e4568656c6c6f8665622e62696e78186170706c69636174696f"
        + "6e2f6f637465742d73747265616d1a000f42401258206465666768696a6b6c6d6e6f707172737475767778"
        + "797a7b7c7d7e7f808182835820000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"
        + "1e1f"

    @Test func `have the bytes that were typed in`() throws {
        let manifest = try Manifest([
            Manifest.Item(
                name: FileName(fitting: [UInt8]("a.txt".utf8)), type: .plainText,
                contents: .inline([UInt8]("hello".utf8))),
            Self.item("b.bin", Self.blob(1_000_000)),
        ])
        #expect(BlobBench.hex(manifest.encoded) == Self.hex)
        #expect(try Manifest(decoding: manifest.encoded) == manifest)
        #expect(manifest.items.map(\.byteCount) == [5, 1_000_000])
        #expect(manifest.items.map(\.root) == [nil, Self.root])
    }

    @Test func `take 20 files and not one more`() throws {
        let items = (0..<20).map { Self.item("\($0)", Self.blob(UInt64($0 + 1))) }
        let manifest = try Manifest(items)
        #expect(try Manifest(decoding: manifest.encoded) == manifest)
        #expect(BlobBench.error { _ = try Manifest(items + items.prefix(1)) } == .tooLarge)
        #expect(BlobBench.error { _ = try Manifest([]) } == .badManifest)
        #expect(
            BlobBench.error { _ = try Manifest([Self.item("a", Self.blob(0))]) } == .badManifest)
    }

    @Test func `take 16 KiB in themselves, and 64 in all`() throws {
        func inline(_ counts: [Int]) -> [Manifest.Item] {
            counts.map { Self.item("a", .inline([UInt8](repeating: 1, count: $0))) }
        }
        let full = try Manifest(inline([16_384, 16_384, 16_384, 16_384, 0]))
        #expect(try Manifest(decoding: full.encoded) == full)
        for counts in [[16_385], [16_384, 16_384, 16_384, 16_384, 1]] {
            #expect(BlobBench.error { _ = try Manifest(inline(counts)) } == .tooLarge)
            #expect(throws: Malformed.self) { try Manifest(decoding: Self.written(inline(counts))) }
        }
    }

    /// The bytes of a manifest that `Manifest.init` does not make.
    static func written(_ items: [Manifest.Item]) -> [UInt8] {
        var encoder = CBOREncoder()
        encoder.array(count: items.count)
        for item in items {
            encoder.array(count: 3)
            encoder.text(item.name.text)
            encoder.text(item.type.text)
            if case .inline(let bytes) = item.contents { encoder.byteString(bytes) }
        }
        return encoder.bytes
    }

    /// A blob's item with these words and numbers (F05).
    static func foreign(
        name: String = "a", type: String = "a/b", size: UInt64 = 1, bits: UInt64 = 18,
        root: Int = 32, key: Int = 32
    ) -> [UInt8] {
        var encoder = CBOREncoder()
        encoder.array(count: 1)
        encoder.array(count: 6)
        encoder.text(name)
        encoder.text(type)
        encoder.uint(size)
        encoder.uint(bits)
        encoder.byteString([UInt8](repeating: 1, count: root))
        encoder.byteString([UInt8](repeating: 2, count: key))
        return encoder.bytes
    }

    @Test func `with sizes that cannot be are refused before anything is made room for`() throws {
        _ = try Manifest(decoding: Self.foreign())
        for bytes in [
            Self.foreign(size: 0), Self.foreign(size: 1 << 63 - 1), Self.foreign(size: .max),
            Self.foreign(size: BlobLimits.blobBytesMax + 1, bits: 24),
            Self.foreign(bits: 17), Self.foreign(bits: 19), Self.foreign(bits: .max),
            Self.foreign(size: 1 << 40, bits: 18), Self.foreign(name: "../x"),
            Self.foreign(name: ""), Self.foreign(name: String(repeating: "a", count: 256)),
            Self.foreign(type: "x"), Self.foreign(root: 31), Self.foreign(key: 33),
            [0x80], [], [0x81, 0x80], [0x81, 0x84, 0x61, 0x61], Self.foreign() + [0],
            [0x95] + [UInt8](repeating: 0x83, count: 21), [0x9b, 0xff, 0xff, 0xff, 0xff],
        ] {
            #expect(throws: Malformed.self) { try Manifest(decoding: bytes) }
        }
    }

    @Test(arguments: BlobBench.seeds(300))
    func `never trap, and have one form, whatever the bytes are`(_ seed: UInt64) {
        var dice = Dice(seed)
        var bytes = BlobBench.bytes(Self.hex)
        for _ in 0...dice.below(4) {
            switch dice.below(4) {
            case 0: bytes[dice.below(bytes.count)] = UInt8(truncatingIfNeeded: dice.next())
            case 1: bytes.insert(UInt8(dice.below(256)), at: dice.below(bytes.count))
            case 2: bytes.remove(at: dice.below(bytes.count))
            default: bytes[dice.below(bytes.count)] ^= 1 << UInt8(dice.below(8))
            }
        }
        if let manifest = try? Manifest(decoding: bytes) { #expect(manifest.encoded == bytes) }
    }
}
