import WorkspaceCrypto

/// How long a peer rests after each failed round: a second, doubled each time up to five minutes,
/// of which the second half is random, so that a network that comes back is not dialled by
/// everybody in the same moment.
struct RetryDelays: Sendable {
    static let firstMilliseconds: UInt64 = 1_000
    static let longestMilliseconds: UInt64 = 300_000
    /// More failures than this do not change the delay any more.
    static let countMax = 16

    /// Half to all of the full delay.
    func delay(afterFailures count: Int, using random: any RandomSource) -> UInt64 {
        let doublings = UInt64(min(max(count, 0), Self.countMax))
        let full = min(Self.firstMilliseconds << doublings, Self.longestMilliseconds)
        return full / 2 + random.number(below: full / 2 + 1)
    }
}
