import WorkspaceModel

/// Slack's blocks, as text.
enum SlackBlocks {
    /// All blocks of a list, one below the other.
    static func text(_ blocks: JSONValue?) -> String {
        SlackMessage.joined((blocks?.arrayValue ?? []).map(block))
    }

    private static func block(_ block: JSONValue) -> String {
        switch block["type"]?.stringValue {
        case "header": SlackMessage.bold(textObject(block["text"]))
        case "section":
            SlackMessage.joined(
                [textObject(block["text"])] + (block["fields"]?.arrayValue ?? []).map(textObject)
                    + [element(block["accessory"] ?? .null)])
        case "context":
            SlackMessage.joined((block["elements"]?.arrayValue ?? []).map(element), by: " ")
        case "actions":
            SlackMessage.joined((block["elements"]?.arrayValue ?? []).map(element), by: " · ")
        case "divider": "---"
        case "image": image(block)
        case "rich_text":
            SlackMessage.joined((block["elements"]?.arrayValue ?? []).map(SlackRichText.text))
        default: textObject(block["text"])
        }
    }

    /// Text with its kind, or bare.
    private static func textObject(_ value: JSONValue) -> String { textObject(Optional(value)) }

    private static func textObject(_ value: JSONValue?) -> String {
        guard let value, value.objectValue != nil else {
            return SlackText.converted(SlackMessage.plain(value))
        }
        let text = SlackMessage.plain(value["text"])
        guard value["type"] == "plain_text" else { return SlackText.converted(text) }
        return value["emoji"] == false ? text : SlackEmoji.replaced(in: text)
    }

    /// An element of a context, among actions, or beside a section.
    private static func element(_ element: JSONValue) -> String {
        switch element["type"]?.stringValue {
        case "image": return image(element)
        case "button":
            let address = SlackMessage.plain(element["url"])
            return address.isEmpty
                ? "" : SlackMessage.link(textObject(element["text"]), to: address)
        case "mrkdwn", "plain_text": return textObject(element)
        default: return textObject(element["text"])
        }
    }

    private static func image(_ image: JSONValue) -> String {
        let title = textObject(image["title"])
        let words = title.isEmpty ? SlackMessage.plain(image["alt_text"]) : title
        return SlackMessage.link(words, to: SlackMessage.plain(image["image_url"]))
    }
}

/// Rich text from Slack's editor: a list of sections, lists, quotes and code.
enum SlackRichText {
    /// One element of a `rich_text` block.
    static func text(_ element: JSONValue) -> String {
        let parts = element["elements"]?.arrayValue ?? []
        switch element["type"]?.stringValue {
        case "rich_text_list": return list(element, parts)
        case "rich_text_quote":
            return inline(parts).split(separator: "\n", omittingEmptySubsequences: false)
                .map { "> " + $0 }.joined(separator: "\n")
        case "rich_text_preformatted": return "```\n" + inline(parts) + "\n```"
        default: return inline(parts)
        }
    }

    private static func list(_ element: JSONValue, _ items: [JSONValue]) -> String {
        let depth = min(8, max(0, element["indent"]?.integerValue ?? 0))
        let indent = String(repeating: "  ", count: Int(depth))
        let isOrdered = element["style"] == "ordered"
        var number = min(1_000_000, max(0, element["offset"]?.integerValue ?? 0))
        let lines = items.map { item in
            number += 1
            let sign = isOrdered ? "\(number). " : "- "
            return indent + sign + inline(item["elements"]?.arrayValue ?? [])
        }
        return lines.joined(separator: "\n")
    }

    private static func inline(_ parts: [JSONValue]) -> String {
        parts.map { part in styled(word(part), part["style"]) }.joined()
    }

    private static func word(_ part: JSONValue) -> String {
        let text = SlackMessage.plain(part["text"])
        switch part["type"]?.stringValue {
        case "link": return SlackMessage.link(text, to: SlackMessage.plain(part["url"]))
        case "emoji": return SlackEmoji.character(SlackMessage.plain(part["name"]))
        case "user": return "@" + SlackMessage.plain(part["user_id"])
        case "usergroup": return "@" + SlackMessage.plain(part["usergroup_id"])
        case "channel": return "#" + SlackMessage.plain(part["channel_id"])
        case "broadcast": return "@" + SlackMessage.plain(part["range"])
        case "date": return SlackMessage.plain(part["fallback"])
        case "color": return SlackMessage.plain(part["value"])
        default: return text
        }
    }

    private static func styled(_ word: String, _ style: JSONValue?) -> String {
        guard let style, word.utf8.contains(where: { $0 != 0x20 && $0 != 0x0A }) else {
            return word
        }
        var text = word
        if style["code"] == true { text = "`\(text)`" }
        if style["strike"] == true { text = "~~\(text)~~" }
        if style["italic"] == true { text = "_\(text)_" }
        if style["bold"] == true { text = "**\(text)**" }
        return text
    }
}
