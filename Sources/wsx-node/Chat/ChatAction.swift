import PeerNode
import WorkspaceModel

/// Commands after a `/` that act on the conversation, the workspace or you.
enum ChatAction: Equatable {
    case search(String)
    case pin(String)
    case unpin(String)
    case pins
    case star(String)
    case unstar(String)
    case stars
    /// A message or `here`, and time and text.
    case remind(String, String)
    case reminders
    case dismiss
    case topic(String)
    case list
    case direct(name: String, text: String)
    case invite
    /// For this many milliseconds; permanently without.
    case mute(Int64?)
    case away(String?)
    case back
    case leave
    case next

    /// `nil` for any other word, or wrong arguments.
    init?(_ word: String, _ given: String) {
        switch (word, given.isEmpty) {
        case ("search", false): self = .search(given)
        case ("pin", false): self = .pin(given)
        case ("unpin", false): self = .unpin(given)
        case ("pins", _): self = .pins
        case ("star", false): self = .star(given)
        case ("unstar", false): self = .unstar(given)
        case ("stars", _): self = .stars
        case ("remind", false):
            let (about, words) = ArgumentText.parted(given)
            guard !words.isEmpty else { return nil }
            self = .remind(about, words)
        case ("reminders", _): self = .reminders
        case ("dismiss", _): self = .dismiss
        case ("topic", _): self = .topic(given)
        case ("list", _): self = .list
        case ("msg", false):
            let (name, text) = ArgumentText.parted(given)
            guard !text.isEmpty else { return nil }
            self = .direct(name: name.hasPrefix("@") ? name : "@" + name, text: text)
        case ("invite", _): self = .invite
        case ("mute", true): self = .mute(nil)
        case ("mute", false):
            guard let length = DurationText.milliseconds(given) else { return nil }
            self = .mute(length)
        case ("away", _): self = .away(given.isEmpty ? nil : given)
        case ("back", _): self = .back
        case ("leave", _): self = .leave
        case ("next", _): self = .next
        default: return nil
        }
    }
}

extension Chat {
    func carryOut(_ action: ChatAction) throws(NodeError) {
        let here: JSONValue = .string(room.id)
        switch action {
        case .search(let text): try tellFound(text)
        case .pin(let message):
            _ = try call("message.pin", ["message": .string(try room.message(message))])
        case .unpin(let message):
            _ = try call("message.unpin", ["message": .string(try room.message(message))])
        case .pins: try show("message.history", ["channel": here, "pinned": true])
        case .star(let message): try setStar(message, isOn: true)
        case .unstar(let message): try setStar(message, isOn: false)
        case .stars: try tellStars()
        case .remind(let about, let words): try remind(about, words)
        case .reminders: try show("reminder.list", [:])
        case .dismiss: try dismissReminders()
        case .topic(""):
            let topic = try call("channel.get", ["channel": here])["topic"]?.stringValue
            remark(topic.map { "topic: \(sanitised($0))" } ?? "there is no topic")
        case .topic(let text):
            _ = try call("channel.edit", ["channel": here, "topic": .string(text)])
            remark("topic: \(sanitised(text))")
        case .list: try show("channel.list", ["limit": 1_000, "scope": "all"])
        case .direct(let name, let text):
            let person = try session.personNamed(name, in: workspaceID)
            let sent = try call(
                "message.send", ["channel": .string(person), "text": .string(text)])
            let channel = try? call("channel.get", ["channel": sent["channel"] ?? .null])
            remark("sent to \(channel.map { ChatRoom($0).title } ?? sanitised(name))")
        case .invite: try show("invite.create", [:])
        case .mute(let length):
            var given: JSONObject = ["channel": here]
            given["for_ms"] = length.map { .integer($0) }
            _ = try call("channel.mute", given)
            let until = length.map { " for \(DurationText.text($0))" } ?? ""
            remark(length == 0 ? "unmuted" : "muted\(until)")
        case .away(let text):
            var given: JSONObject = ["state": "absent"]
            given["text"] = text.map { .string($0) }
            _ = try call("presence.set", given)
            remark("you are away")
        case .back:
            _ = try call("presence.clear", [:])
            remark("you are online")
        case .leave:
            _ = try call("channel.leave", ["channel": here])
            remark("you left \(room.title)")
            try open(defaultChannel())
        case .next: try openNextUnread()
        }
    }

    private func show(_ method: String, _ given: JSONObject) throws(NodeError) {
        print(rendering.text(try call(method, given), of: method))
    }

    private func openNextUnread() throws(NodeError) {
        let page = try call("unread.get", ["limit": 10])
        let next = (page["items"]?.arrayValue ?? []).lazy
            .compactMap { $0["id"]?.stringValue }.first { $0 != self.room.id }
        guard let next else { return remark("nothing unread elsewhere") }
        try open(next)
    }
}
