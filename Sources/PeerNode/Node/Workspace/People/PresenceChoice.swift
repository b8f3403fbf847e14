import SyncProtocol
import WorkspaceModel

/// The presence that a person has chosen, stored for all of their devices.
struct PresenceChoice: Equatable {
    /// The name of the setting in an own document (PROTOCOL.md, 5.10).
    static let setting = "presence"

    var state = PresenceUpdate.State.online
    var text: String?
    var emoji: String?
    /// When it ends, milliseconds since 1970.
    var until: UInt64?
    /// When it was made, milliseconds since 1970; 0 where none ever was.
    var chosen: UInt64 = 0

    /// The choice in effect now: a choice with an expiry becomes online after it.
    func effective(at wall: UInt64) -> PresenceChoice {
        guard let until, until <= wall else { return self }
        return PresenceChoice(chosen: until)
    }

    /// What others are told. A person who wants to look offline tells them nothing else.
    func update(asks: Bool) -> PresenceUpdate {
        guard state != .offline else { return PresenceUpdate(.offline, chosen: chosen, asks: asks) }
        return PresenceUpdate(
            state, text: text, emoji: emoji, until: until, chosen: chosen, asks: asks)
    }

    /// The value of the setting.
    var settingValue: String {
        var members: JSONObject = ["state": .string(state.word)]
        if let text { members.append("text", .string(text)) }
        if let emoji { members.append("emoji", .string(emoji)) }
        if let until { members.append("until", .integer(Int64(clamping: until))) }
        return JSONValue.object(members).text
    }

    init(chosen: UInt64 = 0) { self.chosen = chosen }

    /// Parses a setting. A malformed one is no choice: any program of this person's may write it.
    init(setting value: String?, at timestamp: HybridTimestamp) {
        chosen = timestamp.milliseconds
        guard let value, let json = try? JSONValue(parsing: value),
            let word = json["state"]?.stringValue, let state = PresenceUpdate.State(word: word)
        else { return }
        self.state = state
        text = Self.bounded(json["text"], Limits.presenceTextBytesMax)
        emoji = Self.bounded(json["emoji"], Limits.emojiBytesMax)
        until = json["until"]?.integerValue.flatMap { UInt64(exactly: $0) }
    }

    private static func bounded(_ value: JSONValue?, _ bytes: Int) -> String? {
        guard let text = value?.stringValue, !text.isEmpty, text.utf8.count <= bytes,
            !text.utf8.contains(0)
        else { return nil }
        return text
    }
}

extension PresenceUpdate.State {
    /// As the interface calls it.
    var word: String {
        switch self {
        case .online: "online"
        case .absent: "absent"
        case .busy: "busy"
        case .offline: "offline"
        }
    }

    init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}
