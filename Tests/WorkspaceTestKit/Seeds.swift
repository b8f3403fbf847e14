private import Foundation

/// The seeds of a property test. Each is one argument of the test, so a failure is reported under
/// the seed that caused it, and `WSX_SEED=17 swift test` runs seed 17 alone.
public enum Seeds {
    /// Whether this is a campaign, by `WSX_SEEDS`: then what takes long is done too.
    public static var isCampaign: Bool {
        ProcessInfo.processInfo.environment["WSX_SEEDS"] != nil
    }

    /// `count` seeds, the same at every run; or as many new ones as `WSX_SEEDS` says, or the one
    /// that `WSX_SEED` names.
    ///
    /// Whether a change is taken must not hang on luck, so the usual run repeats itself. The hunt for
    /// what no seed has shown yet is a campaign with `WSX_SEEDS`.
    public static func explore(_ count: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment["WSX_SEED"].flatMap({ UInt64($0) }) { return [chosen] }
        guard let campaign = environment["WSX_SEEDS"].flatMap({ UInt64($0) }) else {
            return (1...max(count, 1)).map { $0 }
        }
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        return (0..<campaign).map { first &+ $0 }
    }
}

/// A random source that gives the same numbers for the same seed, on every machine.
///
/// - Source: SplitMix64; Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators",
///   OOPSLA 2014.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins the sequence that `seed` names.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// `count` bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A number below `bound`; 0 if there is none.
    public mutating func below(_ bound: Int) -> Int {
        bound < 1 ? 0 : Int.random(in: 0..<bound, using: &self)
    }

    /// Heads on average once in `count` throws.
    public mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}
