import WorkspaceModel

/// A message in the format of Slack's webhooks, which Mattermost and many others share, as text.
///
/// Missing fields and those of another type are skipped: a message that looks odd is better than a
/// refused one.
struct SlackMessage {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    /// The whole message, part after part. Blocks replace the text, which is only a summary then.
    var text: String {
        let formats = object["mrkdwn"]?.boolValue ?? true
        var main = SlackBlocks.text(object["blocks"])
        if main.isEmpty { main = SlackText.converted(Self.plain(object["text"]), formats: formats) }
        var parts = [main]
        for attachment in object["attachments"]?.arrayValue ?? [] {
            parts.append(SlackAttachment(attachment).text)
        }
        let whole = Self.joined(parts)
        return whole.isEmpty ? "" : sender + whole
    }

    /// The sender's name in the payload: the message itself is signed by this device's person.
    private var sender: String {
        let name = SlackText.converted(Self.plain(object["username"]), formats: false)
        let icon = SlackText.converted(Self.plain(object["icon_emoji"]), formats: false)
        let isKnown = !icon.isEmpty && !icon.utf8.starts(with: ":".utf8)
        // A picture is named and never fetched: that would tell its server who reads, and when.
        let picture = Self.plain(object["icon_url"])
        let words = [isKnown ? icon : "", Self.link(name, to: picture)]
            .filter { !$0.isEmpty }.joined(separator: " ")
        return words.isEmpty ? "" : words + (name.isEmpty && picture.isEmpty ? " " : ": ")
    }

    /// Text, or a number as it was written; empty for anything else.
    static func plain(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .decimal(let text): text
        case .bool(let answer): "\(answer)"
        default: ""
        }
    }

    /// Parts that are not empty, one below the other.
    static func joined(_ parts: [String], by separator: String = "\n") -> String {
        parts.filter { !$0.isEmpty }.joined(separator: separator)
    }

    /// A link with its text; either may be missing.
    static func link(_ words: String, to address: String) -> String {
        if address.isEmpty { return words }
        return words.isEmpty || words == address ? address : "[\(words)](\(address))"
    }

    /// Bold, unless there is nothing, or more than a line.
    static func bold(_ text: String) -> String {
        text.isEmpty || text.utf8.contains(0x0A) ? text : "**\(text)**"
    }
}

/// One of Slack's older attachments below a message.
struct SlackAttachment {
    private let value: JSONValue

    init(_ value: JSONValue) { self.value = value }

    /// All that it says, or else what it says it says.
    var text: String {
        let title = SlackMessage.link(
            SlackText.converted(plain("title"), formats: false), to: plain("title_link"))
        let image = plain("image_url")
        let parts = [
            formatted("pretext"), SlackText.converted(plain("author_name"), formats: false),
            SlackMessage.bold(title), formatted("text"), SlackBlocks.text(value["blocks"]),
            fields, image.isEmpty ? plain("thumb_url") : image, actions,
            SlackText.converted(plain("footer"), formats: false),
        ]
        let whole = SlackMessage.joined(parts)
        return whole.isEmpty ? SlackText.converted(plain("fallback"), formats: false) : whole
    }

    private func plain(_ name: String) -> String { SlackMessage.plain(value[name]) }

    private func isFormatted(_ name: String) -> Bool {
        guard let names = value["mrkdwn_in"]?.arrayValue else { return true }
        return names.contains { $0.stringValue == name }
    }

    private func formatted(_ name: String) -> String {
        SlackText.converted(plain(name), formats: isFormatted(name))
    }

    private var fields: String {
        let formats = isFormatted("fields")
        let lines = (value["fields"]?.arrayValue ?? []).map { field in
            let title = SlackText.converted(SlackMessage.plain(field["title"]), formats: false)
            let text = SlackText.converted(SlackMessage.plain(field["value"]), formats: formats)
            return SlackMessage.joined([title, text], by: ": ")
        }
        return SlackMessage.joined(lines)
    }

    /// Buttons that are links: the others cannot be pressed here.
    private var actions: String {
        let links = (value["actions"]?.arrayValue ?? []).map { action in
            let address = SlackMessage.plain(action["url"])
            let words = SlackText.converted(SlackMessage.plain(action["text"]), formats: false)
            return address.isEmpty ? "" : SlackMessage.link(words, to: address)
        }
        return SlackMessage.joined(links, by: " · ")
    }
}
