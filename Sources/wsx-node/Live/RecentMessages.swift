import WorkspaceModel

/// The most recently shown messages, in order, so that later lines can refer to them.
struct RecentMessages {
    private var messages: [String: JSONValue] = [:]
    /// Messages that were looked up, without a place in the order.
    private var aside: [String: JSONValue] = [:]
    /// Their ids, the newest last.
    private(set) var order: [String] = []
    /// How many were ever shown.
    private(set) var shownCount = 0

    /// The limit: a stream may run for years.
    static let countMax = 1_000

    /// The latest recorded state of the message.
    subscript(id: String) -> JSONValue? { messages[id] ?? aside[id] }

    /// Records a shown message; an update of a recorded one keeps its place.
    mutating func note(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return }
        if messages.updateValue(message, forKey: id) == nil {
            order.append(id)
            shownCount += 1
        }
        if order.count > Self.countMax { messages[order.removeFirst()] = nil }
    }

    /// Records a message without a place in the order.
    mutating func know(_ message: JSONValue) {
        guard let id = message["id"]?.stringValue else { return }
        if messages[id] != nil { return note(message) }
        if aside.count >= Self.countMax { aside = [:] }
        aside[id] = message
    }

    /// The ids of known messages that begin or end with `part`. Ids begin with the time, so the end
    /// distinguishes messages of the same minute.
    func ids(like part: String) -> [String] {
        let end = part.utf8.reversed()
        let isMeant = { (id: String) in
            id.utf8.starts(with: part.utf8) || id.utf8.reversed().starts(with: end)
        }
        return order.filter(isMeant) + aside.keys.filter { isMeant($0) && messages[$0] == nil }
    }
}
