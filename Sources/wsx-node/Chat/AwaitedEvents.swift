/// Messages sent and shown here whose events have not arrived yet.
///
/// A stream reports messages in the order of their answers. So an event ends the wait for all
/// earlier ones, and the list is never longer than the stream's lag.
struct AwaitedEvents {
    /// `m_…`, the oldest first.
    private var ids: [String] = []

    /// A stream that lags further behind has lost something.
    static let countMax = 1_000

    /// Adds a message that was answered.
    mutating func note(_ id: String) {
        if ids.count >= Self.countMax { ids.removeFirst() }
        ids.append(id)
    }

    /// Whether this event is for a message sent here; `false` for one from another
    /// device of the same person.
    mutating func take(_ id: String) -> Bool {
        guard let place = ids.firstIndex(of: id) else { return false }
        ids.removeFirst(place + 1)
        return true
    }
}
