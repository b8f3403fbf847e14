import PeerNode
import WorkspaceModel

/// Stars and reminders for people.
extension Rendering {
    /// Messages of several conversations, in the given order.
    func starred(_ items: [JSONValue]) -> String {
        var lastDay: Int64?
        return isPlain
            ? plainMessages(items) : messages(items, lastDay: &lastDay, namesChannel: true)
    }

    /// Reminders in columns; for programs without titles, and with the subject's id.
    func reminders(_ items: [JSONValue]) -> String {
        guard !isPlain else {
            return columns(
                items,
                ColumnSet([
                    "ID": "id", "AT": "at", "STATE": "state", "CHANNEL": "channel",
                    "MESSAGE": "message", "TEXT": "text",
                ]))
        }
        let rows = items.map { item -> JSONValue in
            guard var fields = item.objectValue else { return item }
            fields["name"] = item["channel_name"]
            fields["text"] = .string(reminderText(item))
            fields["author"] = item["preview"]?["author"] ?? .null
            return .object(fields)
        }
        return columns(
            rows,
            ColumnSet(
                [
                    "WHEN": "at", "STATE": "state", "CHANNEL": "name", "AUTHOR": "author.name",
                    "TEXT": "text", "ID": "id",
                ], drops: ["AUTHOR", "STATE", "CHANNEL"], below: ["TEXT"]))
    }

    /// The line about a created or cancelled reminder.
    func reminder(_ item: JSONValue) -> String {
        if isPlain { return reminders([item]) }
        let what = "\(shown(item["id"]))  \(reminderText(item))"
        let text =
            item["state"] == "cancelled"
            ? "reminder cancelled: \(what)"
            : "reminder set for \(momentInSentence(item["at"])): \(what)"
        return flowed(text + "\n", indent: 2, isOwn: false)
    }

    /// The subject of a reminder in one line: its text, else its message, else its channel.
    func reminderText(_ item: JSONValue) -> String {
        if let text = item["text"]?.stringValue { return oneLine(text) }
        if let preview = item["preview"], !preview.isNull {
            let text = preview["text"]?.stringValue.map(oneLine) ?? ""
            return text.isEmpty ? "(deleted)" : text
        }
        guard item["message"]?.isNull != false else { return shortID(item["message"]) }
        return fitting(shown(item["channel_name"]))
    }
}
