/// The earliest of several times, milliseconds on the monotonic clock; `nil` without any.
///
/// Every room is asked for its next deadline twice a turn. Building an array to take its minimum
/// costs more there than computing its elements.
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
