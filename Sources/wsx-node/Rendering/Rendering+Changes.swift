import PeerNode
import WorkspaceModel

/// Changes of messages, each in one short line.
extension Rendering {
    /// Events that a live view shows in addition to new messages.
    static let changeTypes: [EventType] = [
        .messageEdited, .messageDeleted, .messageRestored, .messagePinned,
        .messageUnpinned, .reactionAdded, .reactionRemoved,
    ]

    /// Events about channels and their members, which a live view shows too.
    static let happeningTypes: [EventType] = [
        .channelMemberAdded, .channelMemberRemoved, .channelEdited, .channelArchived,
        .channelUnarchived, .memberJoined, .memberRemoved,
    ]

    static func isHappening(_ event: JSONValue) -> Bool {
        happeningTypes.contains { EventName(of: event) == .kept($0) }
    }

    /// The channel of a message or an event.
    static func channel(of item: JSONValue) -> JSONValue? {
        guard isHappening(item) else { return item["channel"] }
        guard item["type"]?.stringValue?.utf8.starts(with: "channel.".utf8) == true else {
            return nil
        }
        return item["data"]?["channel"] ?? item["data"]?["id"]
    }

    /// The line for a change of a channel, or `nil` for an old one from a first sync.
    ///
    /// - Parameter former: the channel's previous state, if known.
    func happening(_ event: JSONValue, former: JSONValue?, channel: String?) -> String? {
        guard event["backfill"] != true, let data = event["data"], !data.isNull else { return nil }
        let name = "#" + fitting(shown(data["name"]))
        // Events do not tell whether somebody joined or was added, left or was removed.
        let sentences: [String] =
            switch EventName(of: event) {
            case .kept(.channelMemberAdded): ["\(person(data["member"])) is now in the channel"]
            case .kept(.channelMemberRemoved):
                ["\(person(data["member"])) is no longer in the channel"]
            case .kept(.memberJoined): ["\(person(data)) joined the workspace"]
            case .kept(.memberRemoved): ["\(person(data)) is no longer in the workspace"]
            case .kept(.channelArchived): ["\(name) was archived: nobody can write in it"]
            case .kept(.channelUnarchived): ["\(name) is no longer archived"]
            default: edits(of: data, former)
            }
        let (_, clock) = TimeText.local(event["at"]?.integerValue ?? now, zone: zone)
        let head = "\(clock)  \(channel.map { $0 + "  " } ?? "")── "
        let text = sentences.map { dim(fitted(head + $0)) + "\n" }.joined()
        return text.isEmpty ? nil : text
    }

    private func edits(of channel: JSONValue, _ former: JSONValue?) -> [String] {
        guard let former else { return ["#\(fitting(shown(channel["name"]))) was changed"] }
        var sentences: [String] = []
        if channel["name"] != former["name"] {
            sentences.append(
                "#\(fitting(shown(former["name"]))) is now #\(fitting(shown(channel["name"])))"
            )
        }
        for (field, words) in [("topic", "topic"), ("description", "description")]
        where channel[field] != former[field] {
            let text = channel[field]?.stringValue.map(oneLine) ?? ""
            sentences.append(text.isEmpty ? "\(words) removed" : "\(words): \(text)")
        }
        return sentences
    }

    /// The message of an event.
    static func subject(of event: JSONValue) -> String? {
        (event["data"]?["message"] ?? event["data"]?["id"])?.stringValue
    }

    /// The line for an event, or `nil` for one that people need not see.
    ///
    /// - Parameter message: the message's previous state, if known.
    func change(_ event: JSONValue, of message: JSONValue?, channel: String? = nil) -> String? {
        guard let data = event["data"], !data.isNull,
            let text = sentence(EventName(of: event), data, message)
        else { return nil }
        let (_, clock) = TimeText.local(event["at"]?.integerValue ?? now, zone: zone)
        let line = "\(clock)  \(channel.map { $0 + "  " } ?? "")\(text)"
        let pieces = columns.map { wrapped(line, columns: max($0 - 7, 8)) } ?? [line]
        return pieces.map { dim($0) }.joined(separator: "\n       ") + "\n"
    }

    private func sentence(_ name: EventName?, _ data: JSONValue, _ message: JSONValue?) -> String? {
        switch name {
        case .kept(.messageEdited):
            return "✎ \(person(data["author"])) edited: \(quoted(data))"
        case .kept(.messageRestored): return "↺ restored: \(whose(data)) \(quoted(data))"
        case .kept(.messagePinned): return "⌖ pinned: \(whose(data)) \(quoted(data))"
        case .kept(.messageUnpinned): return "⌖ unpinned: \(whose(data)) \(quoted(data))"
        case .kept(.messageDeleted):
            // Does not repeat the deleted text.
            return "✗ \(person(data["by"])) deleted \(which(message, by: data["by"]))"
        case .kept(.reactionAdded):
            return "\(sign(data)) \(person(data["member"])) on \(whose(message)) \(quoted(message))"
        case .kept(.reactionRemoved):
            return "\(person(data["member"])) removed \(sign(data)) from \(whose(message)) "
                + quoted(message)
        default: return nil
        }
    }

    private func sign(_ data: JSONValue) -> String {
        TerminalText.truncated(shown(data["emoji"]), toColumns: 16)
    }

    private func whose(_ message: JSONValue?) -> String {
        message.map { person($0["author"]) + ":" } ?? "an earlier message"
    }

    private func quoted(_ message: JSONValue?) -> String {
        guard let message else { return "" }
        if message["deleted"]?.isNull == false { return "(deleted)" }
        let text = message["text"]?.stringValue ?? ""
        return text.isEmpty ? "-" : excerpt(text, columns: 60)
    }

    /// A message in a few words, for the confirmation of its deletion.
    func summary(_ message: JSONValue) -> String {
        "'\(quoted(message))' by \(person(message["author"])), \(momentInSentence(message["at"])),"
    }

    private func which(_ message: JSONValue?, by: JSONValue?) -> String {
        guard let message, let at = message["at"]?.integerValue else { return "a message" }
        let (day, clock) = TimeText.local(at, zone: zone)
        let today = TimeText.local(now, zone: zone).day
        let when = day == today ? clock : "\(TimeText.dayLine(day, today: today)) \(clock)"
        guard message["author"]?["id"] != by?["id"] else { return "their message from \(when)" }
        return "\(person(message["author"]))'s message from \(when)"
    }
}
