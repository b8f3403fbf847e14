import WorkspaceModel

/// The newest messages that were shown, in the order of showing, so that they can be spoken of.
struct RecentMessages {
    private var messages: [String: JSONValue] = [:]
    /// Messages that were looked up besides, and stand in no order.
    private var aside: [String: JSONValue] = [:]
    /// Their ids, the newest last.
    private(set) var order: [String] = []
    /// How many were ever noted.
    private(set) var shownCount = 0

    /// More are not kept: a stream may run for years.
    static let countMax = 1_000

    /// The newest state of the message with this id that was noted.
    subscript(id: String) -> JSONValue? { messages[id] ?? aside[id] }

    /// Notes a message that is shown; a newer state of one that was keeps its place.
    mutating func note(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return }
        if messages.updateValue(message, forKey: id) == nil {
            order.append(id)
            shownCount += 1
        }
        if order.count > Self.countMax { messages[order.removeFirst()] = nil }
    }

    /// Takes over a message without giving it a place among those that were shown.
    mutating func know(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return }
        if messages[id] != nil { return note(message) }
        if aside.count >= Self.countMax { aside = [:] }
        aside[id] = message
    }

    /// The ids that begin or end like that, of all messages that are known. They begin with the
    /// time, so the end is what tells those of one minute apart.
    func ids(like part: String) -> [String] {
        let end = part.utf8.reversed()
        let isMeant = { (id: String) in
            id.utf8.starts(with: part.utf8) || id.utf8.reversed().starts(with: end)
        }
        return order.filter(isMeant) + aside.keys.filter { isMeant($0) && messages[$0] == nil }
    }
}
