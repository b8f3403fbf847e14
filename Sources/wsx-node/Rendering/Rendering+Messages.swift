import PeerNode
import WorkspaceModel

/// Messages for people.
extension Rendering {
    /// Messages, with a line for each new day.
    ///
    /// - Parameters:
    ///   - lastDay: the day of the previous line, kept between calls.
    ///   - authorColumns: the minimum width of names, so that lines are aligned.
    ///   - foldsThreads: whether to leave out replies whose thread root is among `items`; the root
    ///     then shows their number.
    ///   - lastThread: the thread of the previous line: a reply directly below it does not repeat
    ///     its context.
    func messages(
        _ items: [JSONValue], lastDay: inout Int64?, namesChannel: Bool,
        foldsThreads: Bool = false, lastThread: String? = nil, authorColumns: Int = 0,
        mark: (JSONValue) -> String = { _ in "" }
    ) -> String {
        if isJSON { return items.map { $0.text + "\n" }.joined() }
        if isPlain { return plainMessages(items) }
        let today = TimeText.local(now, zone: zone).day
        let roots = Set(items.compactMap { $0["id"]?.stringValue })
        let items = items.filter { item in
            !foldsThreads || item["thread"]?.stringValue.map(roots.contains) != true
        }
        let widest = items.map { columnWidth(author(of: $0)) }.max() ?? 0
        var text = ""
        var lastThread = lastThread
        for item in items {
            let thread = item["thread"]?.stringValue
            let (day, clock) = TimeText.local(item["at"]?.integerValue ?? 0, zone: zone)
            if day != lastDay {
                text += dim("-- " + TimeText.dayLine(day, today: today) + " --") + "\n"
                lastDay = day
            }
            if thread != lastThread, let root = thread.flatMap({ threadRoots[$0] }) {
                text += context(root)
            }
            lastThread = thread
            let author = padded(author(of: item), max(min(widest, 24), authorColumns))
            let channel = namesChannel ? channelName(item["channel"]) + "  " : ""
            let indent = columnWidth("\(clock)  \(channel)\(author)  ")
            let body = body(item)
            var lines = shortened(body.lines, of: item, behind: isCode(item) ? 9 : indent)
            if isCode(item) {
                let marks = marks(item) + mark(item)
                let head = "\(clock)  \(channel)\(bold(self.author(of: item)))"
                text += codeBlock(
                    head + (thread == nil ? "" : "  ↳") + (marks.isEmpty ? "" : " " + marks),
                    lines, notes(item))
                continue
            }
            // Names of files are no text.
            for index in lines.indices.prefix(body.textCount) {
                lines[index] = highlighted(emphasised(lines[index], of: item), of: item)
            }
            lines[0] = (thread == nil ? "" : "↳ ") + lines[0]
            lines[lines.count - 1] += marks(item) + mark(item)
            let notes = notes(item)
            text += block(
                "\(clock)  \(channel)\(bold(author))  ",
                indent: indent, lines, notes)
        }
        return text
    }

    /// The beginning of a text that would push all others off the screen, and how to read the rest.
    private func shortened(_ lines: [String], of message: JSONValue, behind gap: Int) -> [String] {
        guard let rowsMax, let columns else { return lines }
        var left = rowsMax
        for (index, line) in lines.enumerated() {
            let rows = wrapped(line, columns: max(columns - gap, 16))
            guard rows.count > left else {
                left -= rows.count
                continue
            }
            let rest = hints.text("wsx-node message show \(shown(message["id"]))")
            return lines[..<index] + rows.prefix(left) + ["… the rest: \(rest)"]
        }
        return lines
    }

    /// The line that shows what the replies below it answer.
    private func context(_ root: JSONValue) -> String {
        let words =
            root["deleted"]?.isNull == false
            ? "(deleted)" : excerpt(root["text"]?.stringValue ?? "", columns: 48)
        let line = "↳ in reply to \(person(root["author"])): \(words.isEmpty ? "-" : words)"
        let room = columns.map { max($0 - 7, 8) } ?? .max
        return "       " + dim(TerminalText.truncated(line, toColumns: room)) + "\n"
    }

    private func isCode(_ message: JSONValue) -> Bool {
        message["format"] == "code" && message["deleted"]?.isNull != false
            && message["text"]?.stringValue?.isEmpty == false
    }

    /// For programs: shows a location where there is no text, and one more column
    /// for a rejected message.
    func plainMessages(_ items: [JSONValue]) -> String {
        items.map { item in
            var item = item
            if item["text"]?.stringValue?.isEmpty == true, let place = geoURI(item["location"]),
                var fields = item.objectValue
            {
                fields["text"] = .string(place)
                item = .object(fields)
            } else if item["text"]?.stringValue?.isEmpty == true,
                let file = item["attachments"]?.arrayValue?.first?["name"],
                var fields = item.objectValue
            {
                fields["text"] = file
                item = .object(fields)
            }
            let line = columns([item], .messages)
            return item["state"] == "refused" ? String(line.dropLast()) + "\trefused\n" : line
        }.joined()
    }

    /// A head with lines and dimmed notes beside it. Further lines are indented, so that none looks
    /// like another message.
    func block(
        _ head: String, indent: Int, _ lines: [String], _ notes: [String]
    ) -> String {
        guard let columns else {
            let gap = String(repeating: " ", count: indent)
            return head + Self.joined(lines + notes.map(dim), behind: gap)
        }
        // If there is little room beside the head, the text goes below it.
        let isNarrow = columns - indent < 16
        let gap = String(repeating: " ", count: isNarrow ? 2 : indent)
        let room = columns - gap.utf8.count
        let shown =
            lines.flatMap { wrapped($0, columns: room) }
            + notes.flatMap { wrapped($0, columns: room).map(dim) }
        var begin = head
        if isNarrow {
            while begin.utf8.last == 0x20 { begin.removeLast() }
            begin += "\n" + gap
        }
        return begin + Self.joined(shown, behind: gap)
    }

    /// Indented lines, without blanks in empty ones.
    private static func joined(_ lines: [String], behind gap: String) -> String {
        lines.enumerated().map { index, line in
            (index == 0 || line.isEmpty ? "" : gap) + line + "\n"
        }.joined()
    }

    /// The most lines shown of one message; more would flood the screen.
    private static let bodyLinesMax = 200

    /// The lines of a message, at least one, and how many of them, at the beginning, are its text.
    private func body(_ message: JSONValue) -> (lines: [String], textCount: Int) {
        if message["deleted"]?.isNull == false { return (["(deleted)"], 0) }
        guard let text = message["text"]?.stringValue else { return (["-"], 0) }
        let place = location(message["location"])
        let files = files(message["attachments"])
        if text.isEmpty {
            let lines = (place.map { [$0] } ?? []) + files
            return (lines.isEmpty ? ["-"] : lines, 0)
        }
        var lines = foreignBody(text)
        // Output of a program usually ends with a line break.
        while lines.count > 1, lines.last?.isEmpty == true { lines.removeLast() }
        if lines.count > Self.bodyLinesMax {
            let left = lines.count - Self.bodyLinesMax + 1
            lines = lines.prefix(Self.bodyLinesMax - 1) + ["… \(left) more lines"]
        }
        if lines.isEmpty { lines = ["-"] }
        return (lines + (place.map { [$0] } ?? []) + files, lines.count)
    }

    /// `at 52.52,13.405  Alexanderplatz  within 20 m`.
    private func location(_ place: JSONValue?) -> String? {
        guard let place, !place.isNull else { return nil }
        var text = "at \(shown(place["lat"])),\(shown(place["lon"]))"
        if let label = place["label"]?.stringValue { text += "  " + sanitised(label) }
        if let metres = place["accuracy"]?.integerValue { text += "  within \(metres) m" }
        return text
    }

    /// A `geo:` URI (RFC 5870) in WGS 84, with the uncertainty in metres.
    func geoURI(_ place: JSONValue?) -> String? {
        guard let place, !place.isNull else { return nil }
        let uri = "geo:\(shown(place["lat"])),\(shown(place["lon"]))"
        return uri + (place["accuracy"]?.integerValue.map { ";u=\($0)" } ?? "")
    }

    private func marks(_ message: JSONValue) -> String {
        let isEdited =
            message["edited_at"]?.integerValue != nil && message["deleted"]?.isNull != false
        let isStarred = message["starred_at"]?.integerValue != nil
        return (isEdited ? " (edited)" : "")
            + (message["pinned"] == true ? " (pinned)" : "")
            + (isStarred ? " (starred)" : "")
            + (message["state"] == "refused" ? " (refused)" : "")
            + (message["doubtful_time"] == true ? " (clock wrong)" : "")
    }

    /// The notes below a message: reactions, your own in brackets, and the number of replies; with
    /// `--verbose` its id first.
    private func notes(_ message: JSONValue) -> [String] {
        var notes: [String] = isVerbose ? [shown(message["id"])] : []
        let reactions = (message["reactions"]?.arrayValue ?? []).map { reaction in
            let text = "\(shown(reaction["emoji"])) \(shown(reaction["count"]))"
            return reaction["self"] == true ? "[\(text)]" : text
        }
        if !reactions.isEmpty { notes.append(reactions.joined(separator: "  ")) }
        let replies = message["replies"]?.integerValue ?? 0
        if replies > 0 { notes.append("↳ \(replies) \(replies == 1 ? "reply" : "replies")") }
        return notes
    }

    /// The author's name; with the beginning of their id if another name looks like it.
    func author(of message: JSONValue) -> String {
        person(message["author"]) + (message["bot"] == true ? " (bot)" : "")
    }

    /// The output of `send`: the id, and the known holders of the message.
    /// - Parameter workspace: the message's workspace, if it is worth showing.
    func sent(
        _ message: JSONValue, holders: HolderText? = nil, in workspace: String? = nil
    ) -> String {
        if isJSON { return message.text + "\n" }
        if isPlain { return shown(message["id"]) + "\n" }
        let count = message["holders"]?.integerValue ?? 1
        let known = holders ?? HolderText(count: count)
        let place = workspace.map { "  in \(fitting(sanitised($0)))" } ?? ""
        return flowed("\(shown(message["id"]))  \(known.text)\(place)\n", isOwn: false)
    }
}
