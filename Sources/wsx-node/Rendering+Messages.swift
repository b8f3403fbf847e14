import PeerNode
import WorkspaceModel

/// Messages as people read them.
extension Rendering {
    /// Messages under lines that name the day.
    ///
    /// - Parameters:
    ///   - lastDay: the day that the line before belongs to, kept between calls.
    ///   - foldsThreads: whether answers are left out whose first message is among `items`; that
    ///     says how many there are.
    func messages(
        _ items: [JSONValue], lastDay: inout Int64?, namesChannel: Bool,
        foldsThreads: Bool = false
    ) -> String {
        if isJSON { return items.map { $0.text + "\n" }.joined() }
        if isPlain { return columns(items, .messages) }
        let widest = items.map { columnWidth(shown($0["author"]?["name"])) }.max() ?? 0
        let today = TimeText.local(now, zone: zone).day
        let roots = Set(items.compactMap { $0["id"]?.stringValue })
        var text = ""
        for item in items {
            let thread = item["thread"]?.stringValue
            if foldsThreads, let thread, roots.contains(thread) { continue }
            let (day, clock) = TimeText.local(item["at"]?.integerValue ?? 0, zone: zone)
            if day != lastDay {
                text += dim("-- " + TimeText.dayLine(day, today: today) + " --") + "\n"
                lastDay = day
            }
            let author = padded(shown(item["author"]?["name"]), min(widest, 24))
            let channel = namesChannel ? channelName(item["channel"]) + "  " : ""
            // Further lines of a message stand under its first, so that none looks like another
            // message.
            let indent = "\(clock)  \(channel)\(author)  "
            let gap = String(repeating: " ", count: columnWidth(indent))
            var lines = body(item)
            lines[0] = (thread == nil ? "" : "↳ ") + lines[0]
            lines[lines.count - 1] += marks(item)
            lines += notes(item).map(dim)
            text += "\(clock)  \(channel)\(bold(author))  "
            text += lines.joined(separator: "\n" + gap) + "\n"
        }
        return text
    }

    /// At least one line.
    private func body(_ message: JSONValue) -> [String] {
        if message["deleted"]?.isNull == false { return ["(deleted)"] }
        guard let text = message["text"]?.stringValue else { return ["-"] }
        let place = location(message["location"])
        if text.isEmpty { return [place ?? "-"] }
        let lines = foreignBody(text)
        return (lines.isEmpty ? ["-"] : lines) + (place.map { [$0] } ?? [])
    }

    /// `at 52.52,13.405  Alexanderplatz  within 20 m`.
    private func location(_ place: JSONValue?) -> String? {
        guard let place, !place.isNull else { return nil }
        var text = "at \(shown(place["lat"])),\(shown(place["lon"]))"
        if let label = place["label"]?.stringValue { text += "  " + sanitised(label) }
        if let metres = place["accuracy"]?.integerValue { text += "  within \(metres) m" }
        return text
    }

    private func marks(_ message: JSONValue) -> String {
        let isEdited =
            message["edited_at"]?.integerValue != nil && message["deleted"]?.isNull != false
        return (isEdited ? " (edited)" : "")
            + (message["pinned"] == true ? " (pinned)" : "")
            + (message["state"] == "refused" ? " (refused)" : "")
    }

    /// What stands under a message: reactions, one's own in brackets, and how many answers.
    private func notes(_ message: JSONValue) -> [String] {
        var notes: [String] = []
        let reactions = (message["reactions"]?.arrayValue ?? []).map { reaction in
            let text = "\(shown(reaction["emoji"])) \(shown(reaction["count"]))"
            return reaction["self"] == true ? "[\(text)]" : text
        }
        if !reactions.isEmpty { notes.append(reactions.joined(separator: "  ")) }
        let replies = message["replies"]?.integerValue ?? 0
        if replies > 0 { notes.append("↳ \(replies) \(replies == 1 ? "reply" : "replies")") }
        return notes
    }

    func channelName(_ id: JSONValue?) -> String {
        channelNames[id?.stringValue ?? ""].map { "#" + sanitised($0) } ?? shortID(id)
    }

    /// What `send` prints: the id, and who holds the message as far as is known.
    func sent(_ message: JSONValue, holders: HolderText? = nil) -> String {
        if isJSON { return message.text + "\n" }
        if isPlain { return shown(message["id"]) + "\n" }
        let count = message["holders"]?.integerValue ?? 1
        let known = holders ?? HolderText(count: count)
        return "\(shown(message["id"]))  \(known.text)\n"
    }
}
