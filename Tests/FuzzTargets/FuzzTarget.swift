/// One function that eats foreign bytes, as a fuzzer and a test give them to it.
///
/// The fuzzer (`make fuzz-NAME`) makes up bytes, led by which lines of the program they reach; the
/// ordinary tests give it every file of `Tests/corpora/NAME`. A trap, a report of the address
/// sanitizer, or a `FuzzFinding` ends both.
public struct FuzzTarget: Sendable {
    /// What `make fuzz-NAME` and the folder of its corpus are called.
    public let name: String
    /// What is given the bytes, and what has to hold.
    public let summary: String
    /// Inputs above this are not made: as long as it takes to pass every bound that is near, since
    /// longer ones only make all of them slower.
    public let bytesMax: Int
    /// How long one input may take under the sanitizer, in seconds, before it is a finding. Where a
    /// whole node starts for each, there is room for a busy machine.
    public let secondsMax: Int
    /// How much memory all of it may hold, in MiB: several times what it needs, far below what an
    /// allocation by a foreign length would take.
    public let memoryMax: Int
    /// Does it once.
    public let run: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, _ summary: String, bytesMax: Int = 4_096, secondsMax: Int = 5,
        memoryMax: Int = 1_024, _ run: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.bytesMax = bytesMax
        self.secondsMax = secondsMax
        self.memoryMax = memoryMax
        self.run = run
    }

    /// All of them, as `make fuzz-all` goes through them. A new parser of foreign bytes belongs here.
    public static let all: [FuzzTarget] = [
        cbor, payloads, messages, frames, handshake, session, control, http, json, links, text,
        search, backup, sealed, beacon, blobs, notes, tokens,
    ]
}

/// A property that did not hold for an input.
public struct FuzzFinding: Error, CustomStringConvertible {
    /// What should have been so.
    public let description: String
}

/// Throws unless `isSo`.
func hold(_ isSo: Bool, _ what: @autoclosure () -> String) throws {
    if !isSo { throw FuzzFinding(description: what()) }
}

/// An input that is taken apart from the front: numbers choose, the rest is content. What is missing
/// at the end is zero, so that every input means something.
struct FuzzBytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Two bytes, the higher first.
    mutating func word() -> Int { Int(byte()) << 8 | Int(byte()) }

    /// As many bytes as are there, up to `count`.
    mutating func take(_ count: Int) -> [UInt8] {
        let taken = rest.prefix(count)
        rest = rest.dropFirst(taken.count)
        return Array(taken)
    }

    /// Bytes behind their length in two bytes.
    mutating func field() -> [UInt8] { take(word()) }

    mutating func all() -> [UInt8] { take(rest.count) }

    /// Cuts `bytes` into pieces whose lengths follow from `seed`.
    static func pieces(of bytes: [UInt8], by seed: UInt8) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var (rest, state) = (bytes[...], UInt32(seed) &+ 1)
        while !rest.isEmpty {
            state = state &* 1_664_525 &+ 1_013_904_223
            let count = 1 + Int(state >> 24) % (seed < 128 ? 7 : 97)
            pieces.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
