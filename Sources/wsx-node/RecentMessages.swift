import WorkspaceModel

/// The newest messages that were shown, in the order of showing, so that they can be spoken of.
struct RecentMessages {
    private var messages: [String: JSONValue] = [:]
    /// Their ids, the newest last.
    private(set) var order: [String] = []
    /// How many were ever noted.
    private(set) var shownCount = 0

    /// More are not kept: a stream may run for years.
    static let countMax = 1_000

    /// The newest state of the message with this id that was noted.
    subscript(id: String) -> JSONValue? { messages[id] }

    /// Notes a message that is shown; a newer state of one that was keeps its place.
    mutating func note(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return }
        if messages.updateValue(message, forKey: id) == nil {
            order.append(id)
            shownCount += 1
        }
        if order.count > Self.countMax { messages[order.removeFirst()] = nil }
    }
}
