private import CSodium

/// A source of random bytes. Passed in, so that a simulation is reproducible from its seed.
public protocol RandomSource: AnyObject {
    /// `count` fresh bytes.
    func bytes(_ count: Int) -> [UInt8]
}

extension RandomSource {
    /// A number drawn evenly from all 64-bit numbers.
    public func number() -> UInt64 {
        bytes(8).reduce(0) { word, byte in word << 8 | UInt64(byte) }
    }

    /// A number drawn evenly from `0..<bound`.
    ///
    /// - Precondition: `bound` is above zero.
    public func number(below bound: UInt64) -> UInt64 {
        precondition(bound > 0, "no number is below zero")
        // The first `excess` numbers would bias small results: they are drawn again.
        let excess = (0 &- bound) % bound
        while true {
            let candidate = number()
            if candidate >= excess { return candidate % bound }
        }
    }
}

/// The system's random source.
public final class SystemRandom: RandomSource, Sendable {
    /// Needs nothing: the kernel keeps the state.
    public init() {}

    /// `count` bytes nobody can guess.
    public func bytes(_ count: Int) -> [UInt8] {
        requireSodium()
        return [UInt8](
            count: count,
            surelyWrittenBy: { memory in
                randombytes_buf(memory, count)
                return 0
            })
    }
}

/// Random bytes that are a function of a seed: the ChaCha20 key stream.
///
/// The stream does not depend on how it is cut into calls. For tests and simulations, and for
/// one thread only.
///
/// - Source: RFC 8439, section 2.3, with the original 64-bit nonce as the block group's number.
public final class SeededRandom: RandomSource {
    private static let groupByteCount = 1_024
    private let key: [UInt8]
    private var groupNumber: UInt64 = 0
    private var group: [UInt8] = []
    private var used = 0

    /// Starts the stream of a 32-byte seed.
    ///
    /// - Precondition: `seed` holds exactly 32 bytes.
    public init(seed: [UInt8]) {
        precondition(seed.count == Int(crypto_stream_chacha20_KEYBYTES))
        key = seed
    }

    /// Starts the stream of a small number, such as a test prints.
    public convenience init(seed: UInt64) {
        self.init(seed: Hash.personal("wsx-seed", littleEndianBytes(seed)))
    }

    /// The next `count` bytes of the stream.
    public func bytes(_ count: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(count)
        while result.count < count {
            if used == group.count { nextGroup() }
            let taken = min(count - result.count, group.count - used)
            result.append(contentsOf: group[used..<used + taken])
            used += taken
        }
        return result
    }

    private func nextGroup() {
        group = [UInt8](repeating: 0, count: Self.groupByteCount)
        let status = crypto_stream_chacha20(
            &group, UInt64(group.count), littleEndianBytes(groupNumber), key)
        precondition(status == 0)
        groupNumber &+= 1
        used = 0
    }
}

/// The eight bytes of `number`, lowest first.
func littleEndianBytes(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { bytes in [UInt8](bytes) }
}
