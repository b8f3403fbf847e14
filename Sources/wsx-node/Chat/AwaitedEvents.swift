/// Messages that this conversation has sent and shown, and of which the stream has not told yet.
///
/// A stream tells of messages in the order in which they were answered for. So one that it tells of
/// ends the wait for all before it, and what is kept is no more than what the stream lags behind.
struct AwaitedEvents {
    /// `m_…`, the oldest first.
    private var ids: [String] = []

    /// A stream that lags further behind than this has lost something.
    static let countMax = 1_000

    /// Notes a message for which there is an answer.
    mutating func note(_ id: String) {
        if ids.count >= Self.countMax { ids.removeFirst() }
        ids.append(id)
    }

    /// Whether this event is of a message that was sent here; of one that another device of the same
    /// person sent it is not.
    mutating func take(_ id: String) -> Bool {
        guard let place = ids.firstIndex(of: id) else { return false }
        ids.removeFirst(place + 1)
        return true
    }
}
