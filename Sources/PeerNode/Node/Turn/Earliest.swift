/// The first of several moments, milliseconds on the monotonic clock; of none, `nil`.
///
/// What is due is asked of every room twice a turn: lists that are made to take their minimum cost
/// more there than all that they were made of.
struct Earliest {
    private(set) var moment: UInt64?

    init(
        _ first: UInt64? = nil, _ second: UInt64? = nil, _ third: UInt64? = nil,
        _ fourth: UInt64? = nil
    ) {
        moment = first
        take(second)
        take(third)
        take(fourth)
    }

    mutating func take(_ other: UInt64?) {
        guard let other else { return }
        moment = min(moment ?? other, other)
    }
}
