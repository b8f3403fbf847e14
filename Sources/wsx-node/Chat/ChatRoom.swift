import PeerNode
import WorkspaceModel

/// The state of the conversation on the screen, and its shown messages.
struct ChatRoom {
    /// `c_…`.
    let id: String
    /// `w_…`, once the conversation is known.
    let workspace: String?
    /// Its last known state.
    private(set) var channel: JSONValue
    /// With its sign, as in the prompt; safe for a terminal.
    private(set) var title = ""
    /// Whether it is a public channel that the user has not joined, but may read and write.
    var isOutside: Bool
    /// The shown messages.
    private(set) var messages = RecentMessages()
    /// The receipts of your newest message; no other tick changes.
    var tick: ChatTick?
    /// Who else is typing in it.
    var typing = TypingPeople()
    /// Columns of the widest name so far.
    private(set) var authorColumns = 0
    /// How many messages had been shown when the line was begun; `nil` for a line
    /// that arrived as a whole.
    var begunAt: Int?
    /// The day of the last line.
    var lastDay: Int64?
    /// The thread of the last message; a message without a thread counts as its own.
    var lastThread: String?
    /// The cursor of the messages before the oldest one shown; `nil` at the beginning.
    var older: String?

    init(_ channel: JSONValue) {
        id = channel["id"]?.stringValue ?? ""
        workspace = channel["workspace"]?.stringValue
        self.channel = channel
        isOutside =
            channel["joined"] == false && channel["kind"] == "channel"
            && channel["private"] != true && channel["archived"] != true
        take(channel)
    }

    /// Sets the conversation's current state.
    mutating func take(_ channel: JSONValue) {
        self.channel = channel
        let sign = Rendering.isDirect(channel) ? "@" : "#"
        let name = sanitised(channel["name"]?.stringValue ?? "")
        title = sign + TerminalText.truncated(name, toColumns: 32)
    }

    /// Records a shown message; an update of a recorded one keeps its place.
    mutating func note(_ message: JSONValue, nameColumns: Int = 0) {
        guard message["id"]?.stringValue != nil else { return }
        messages.note(message)
        authorColumns = max(authorColumns, min(nameColumns, 16))
    }

    /// Records a message that was looked up, without a number.
    mutating func know(_ message: JSONValue) { messages.know(message) }

    func has(_ id: String) -> Bool { messages[id] != nil }

    private var order: [String] { messages.order }

    /// How many messages were shown so far.
    var shownCount: Int { messages.shownCount }

    /// The latest message by its author's clock: if that clock is ahead, not the one shown last.
    var latest: String? {
        func place(_ id: String) -> (Int64, String) { (messages[id]?["at"]?.integerValue ?? 0, id) }
        return order.max { place($0) < place($1) }
    }

    /// The id of the message shown last.
    var newest: String? { order.last }

    /// Your last message that was not deleted.
    var lastOwn: JSONValue? {
        order.reversed().lazy.compactMap { messages[$0] }.first {
            $0["self"] == true && $0["deleted"]?.isNull != false
        }
    }

    /// The message that a reference names, as explained by the help.
    ///
    /// - Throws: a sentence for the user.
    func message(_ typed: String) throws(NodeError) -> String {
        let text = ReferenceResolver.ending(ofShown: typed) ?? typed
        if text == "last", let newest { return newest }
        if text.utf8.first == UInt8(ascii: "@") {
            let name = String(text.dropFirst())
            if let id = order.last(where: { isAuthor(name, messages[$0]) }) { return id }
            // A part of a name is enough if it matches one person here.
            let begun = order.filter { id in
                authorName(of: messages[id]).map { PartOfName.is(name, in: $0) } == true
            }
            if let last = begun.last, Set(begun.map { authorName(of: messages[$0]) }).count == 1 {
                return last
            }
            throw Self.nobody("nobody called \(NodeError.quoted(name)) has written here")
        }
        if let number = ArgumentText.integer(text) {
            let later = begunAt.map { max(0, shownCount - $0) } ?? 0
            guard number >= 1, number <= order.count - later else {
                throw Self.nobody(Self.counted(max(0, order.count - later)))
            }
            return order[order.count - later - Int(number)]
        }
        if messages[text] != nil { return text }
        if ReferenceResolver.isShort(text, "m") || ReferenceResolver.isEnding(text, "m") {
            let found = messages.ids(like: text)
            if found.count == 1 { return found[0] }
            if !found.isEmpty || text.utf8.starts(with: "m_".utf8) {
                throw Self.nobody(
                    found.isEmpty
                        ? "no message shown here has such an id"
                        : "\(found.count) of the messages shown here have such an id")
            }
        }
        throw Self.nobody("\(NodeError.quoted(text)) is not a message")
    }

    private func isAuthor(_ name: String, _ message: JSONValue?) -> Bool {
        authorName(of: message).map { NameFolding.matches($0, name) } ?? false
    }

    private func authorName(of message: JSONValue?) -> String? {
        message?["author"]?["name"]?.stringValue
    }

    private static func counted(_ count: Int) -> String {
        switch count {
        case 0: "no message is shown here"
        case 1: "only 1 message is shown here"
        default: "only \(count) messages are shown here"
        }
    }

    private static func nobody(_ text: String) -> NodeError {
        NodeError(.notFound, text, hint: "use last, @NAME, 1 for the newest, or an id")
    }

    /// How many people have your newest message, as far as known: `✓1/2`, or `saved` while nobody
    /// does. An older one only shows `saved`, if it is nowhere else.
    func mark(_ message: JSONValue) -> String {
        guard message["self"] == true, message["deleted"]?.isNull != false,
            message["state"] != "refused"
        else { return "" }
        guard let newest = tick else { return "" }
        if newest.message == message["id"]?.stringValue { return newest.text }
        return message["state"] == "local" && newest.readers ?? 0 > 0 ? "  saved" : ""
    }
}

/// Where the unread part of a page begins.
struct UnreadPlace {
    /// The first unread item, or the number of items if none is unread.
    let start: Int
    /// The line above it, or `nil` if nothing is unread.
    let line: String?

    /// - Parameters:
    ///   - items: oldest first.
    ///   - unread: unread messages of others, as counted by the node.
    init(_ items: [JSONValue], unread: Int64) {
        var left = unread
        var start = items.count
        for place in items.indices.reversed() where left > 0 {
            let item = items[place]
            guard item["self"] != true, item["deleted"]?.isNull != false else { continue }
            left -= 1
            start = place
        }
        self.start = start
        guard unread > 0 else {
            line = nil
            return
        }
        line =
            left > 0
            ? "── \(unread) new, the latest below; /older shows more ──"
            : "── \(unread) new ──"
    }
}
