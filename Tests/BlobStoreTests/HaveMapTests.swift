import BlobStore
import Testing
import WorkspaceModel

struct `Maps of chunks` {
    @Test(arguments: BlobBench.seeds(60))
    func `agree with a set, and come back from their bytes`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let count = 1 + dice.below([1, 64, 65, 500, 16_384][dice.below(5)])
        var map = HaveMap(chunkCount: count)
        var set: Set<Int> = []
        for _ in 0..<dice.below(200) {
            let start = dice.below(count)
            switch dice.below(3) {
            case 0:
                map.insert(start)
                set.insert(start)
            case 1:
                map.remove(start)
                set.remove(start)
            default:
                let end = start + dice.below(100)
                map.insert(start..<end)
                set.formUnion(start..<min(count, end))
            }
        }
        #expect(map.heldCount == set.count)
        #expect((0..<count).allSatisfy { map.contains($0) == set.contains($0) })
        #expect(map.runs.flatMap { Array($0) } == set.sorted())
        #expect(zip(map.runs, map.runs.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        let start = dice.below(count)
        #expect(map.first(from: start, held: true) == set.filter { $0 >= start }.min())
        #expect(
            map.first(from: start, held: false) == (start..<count).first { !set.contains($0) })
        #expect(try HaveMap(chunkCount: count, decoding: map.encoded) == map)
        #expect(map.encoded.count <= 3 + count + 4)
    }

    @Test func `ignore chunks that are none`() {
        var map = HaveMap(chunkCount: 70)
        map.insert(70)
        map.insert(-1)
        map.insert(60..<1_000_000)
        map.remove(99)
        #expect(map.heldCount == 10 && !map.contains(70) && !map.contains(.max))
        #expect(map.first(from: 70, held: false) == nil && map.first(from: -5, held: true) == nil)
        map.insert(0..<70)
        #expect(map.isWhole && map.first(from: 0, held: false) == nil)
    }

    /// Chunks, hexadecimal digits, and the runs they spell; `nil` for what no map is.
    static let table: [(Int, String, [Range<Int>]?)] = [
        (5, "80", []), (5, "820005", [0..<5]), (5, "820104", [1..<5]),
        (5, "8401020101", [1..<3, 4..<5]), (5, "8401020102", nil), (5, "820006", nil),
        (5, "8105", nil), (5, "820500", nil), (5, "820100", nil), (5, "8400010001", nil),
        (5, "830001", nil), (5, "8200", nil), (5, "82001805", nil), (5, "82000500", nil),
        (5, "82001bffffffffffffffff", nil), (5, "821bffffffffffffffff01", nil),
        (5, "9a7fffffff", nil), (5, "a0", nil), (5, "9f00ff", nil), (0, "80", []),
        (0, "820000", nil),
    ]

    @Test(arguments: table)
    func `have one form`(_ count: Int, _ hex: String, _ runs: [Range<Int>]?) {
        let map = try? HaveMap(chunkCount: count, decoding: BlobBench.bytes(hex))
        #expect(map?.runs == runs)
        if let map { #expect(BlobBench.hex(map.encoded) == hex) }
    }

    @Test func `count the bytes that are held`() {
        let shape = BlobBench.shape(600_000)
        var map = HaveMap(shape)
        #expect(map.byteCount(of: shape) == 0 && map.plaintextByteCount(of: shape) == 0)
        map.insert(2)
        #expect(map.byteCount(of: shape) == 600_000 + 48 - 2 * 262_144)
        map.insert(0)
        #expect(map.plaintextByteCount(of: shape) == 600_000 - 262_128)
        #expect(HaveMap.whole(shape).byteCount(of: shape) == shape.ciphertextByteCount)
        #expect(HaveMap.whole(shape).plaintextByteCount(of: shape) == 600_000)
        #expect(map.byteCount(of: BlobBench.shape(1)) == 0)
    }

    @Test func `unite`() {
        var map = HaveMap(chunkCount: 100)
        map.insert(0..<40)
        var other = HaveMap(chunkCount: 100)
        other.insert(30..<80)
        map.formUnion(other)
        #expect(map.runs == [0..<80] && map.heldCount == 80)
    }
}
