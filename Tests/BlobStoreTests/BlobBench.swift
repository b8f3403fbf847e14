import BlobStore
import Foundation
import WorkspaceCrypto
import WorkspaceModel

/// Helpers shared by the tests of this folder, which build without the node.
enum BlobBench {
    /// The bytes of a file, the same as in Tests/interop/blobs.py.
    static func text(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for block in 0..<(count + 255) / 256 { bytes += blocks[block & 255] }
        return Array(bytes.prefix(count))
    }

    /// The byte at a place is 7 times the place, and the number of its block of 256 bytes. By blocks,
    /// since tests are built without optimising.
    private static let blocks: [[UInt8]] = (0..<256).map { block in
        (0..<256).map { UInt8(truncatingIfNeeded: $0 * 7 + block) }
    }

    /// The key of the typed-in vectors: 0, 1, 2, ….
    static let key = BlobKey(untrusted: [UInt8](0..<32)) ?? BlobKey(using: SystemRandom())

    /// A name whose first byte is `number`.
    static func root(_ number: UInt8) -> BlobRoot {
        BlobRoot([UInt8](repeating: number, count: 32))
    }

    /// A shape of a size that is not too large.
    static func shape(_ byteCount: UInt64) -> BlobShape {
        guard let shape = BlobShape(byteCount: byteCount) else {
            preconditionFailure("no blob has \(byteCount) bytes")
        }
        return shape
    }

    /// A sealed file: its chunks and its tree.
    static func sealed(
        _ bytes: [UInt8], key: BlobKey = key
    ) throws -> (tree: BlobTree, chunks: [[UInt8]]) {
        var chunks: [[UInt8]] = []
        let tree = try BlobSealer.seal(
            ArraySource(bytes), shape: shape(UInt64(bytes.count)), key: key
        ) { (chunk) throws(BlobError) in
            chunks.append(chunk.ciphertext)
        }
        return (tree, chunks)
    }

    /// The error that `body` ends in.
    static func error(_ body: () throws -> Void) -> BlobError? {
        do { try body() } catch { return error as? BlobError }
        return nil
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    static func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
    }

    /// As WorkspaceTestKit's: the same seeds at every run, more with `WSX_SEEDS`, one with `WSX_SEED`.
    static func seeds(_ count: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment["WSX_SEED"].flatMap({ UInt64($0) }) { return [chosen] }
        guard let campaign = environment["WSX_SEEDS"].flatMap({ UInt64($0) }) else {
            return [UInt64](1...count)
        }
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        return (0..<campaign).map { first &+ $0 }
    }

    /// A folder of its own, which `body` may fill.
    static func inFolder(_ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("wsx-blobs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }
}

/// A seeded random generator: SplitMix64.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func below(_ bound: Int) -> Int {
        bound < 1 ? 0 : Int.random(in: 0..<bound, using: &self)
    }

    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}

/// A source in memory, which can end early or go on too long.
final class ArraySource: ByteSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func read(_ byteCountMax: Int) throws(BlobError) -> [UInt8] {
        let next = rest.prefix(byteCountMax)
        rest = rest.dropFirst(next.count)
        return [UInt8](next)
    }
}
