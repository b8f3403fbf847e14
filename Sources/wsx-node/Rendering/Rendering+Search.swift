import PeerNode
import WorkspaceModel

/// Search results: channels and people first, then messages as in `log`, then notes.
extension Rendering {
    func hits(_ result: JSONValue) -> String {
        let items = result["items"]?.arrayValue ?? []
        if isPlain { return items.map(plainHit).joined() }
        if items.isEmpty { return nothing(of: "search") ?? "" }
        var text = ""
        var lastDay: Int64?
        for hit in items {
            switch hit["kind"]?.stringValue {
            case "message": text += messageHit(hit, lastDay: &lastDay)
            case "note": text += noteHit(hit, lastDay: &lastDay)
            case "channel":
                let topic = hit["channel"]?["topic"]?.stringValue.map { "  " + sanitised($0) }
                let name = "#" + marked(hit["channel"]?["name"], "name", hit)
                text += flowed(name + (topic ?? "") + "\n", isOwn: false)
            default:
                let name = "@" + marked(hit["member"]?["name"], "name", hit)
                text += flowed("\(name)  \(shown(hit["member"]?["role"]))\n", isOwn: false)
            }
        }
        return text
    }

    /// Kind, id, time, channel, the author or name, and the text.
    private func plainHit(_ hit: JSONValue) -> String {
        let message = hit["message"]
        let note = hit["note"]
        let name =
            message?["author"]?["name"] ?? note?["title"] ?? hit["channel"]?["name"]
            ?? hit["member"]?["name"]
        let fields = [
            hit["kind"], hit["id"], hit["at"], message?["channel"] ?? note?["channel"], name,
            message?["text"] ?? hit["excerpt"]?["text"],
        ]
        return fields.map { shown($0) }.joined(separator: "\t") + "\n"
    }

    private func messageHit(_ hit: JSONValue, lastDay: inout Int64?) -> String {
        let message = hit["message"]
        let (text, clock) = time(of: hit, lastDay: &lastDay)
        let channel = channelName(message?["channel"])
        let author = person(message?["author"])
        let said = message?["text"]?.stringValue ?? "-"
        let lines =
            (said.isEmpty ? [] : markedLines(said, "text", hit)) + files(message?["attachments"])
        let head = "\(clock)  \(channel)  \(author)  "
        return text
            + block(
                head, indent: columnWidth(head), lines, isVerbose ? [shown(message?["id"])] : [])
    }

    /// The day line, if the day changes, and the time of a hit.
    private func time(of hit: JSONValue, lastDay: inout Int64?) -> (day: String, clock: String) {
        let (day, clock) = TimeText.local(hit["at"]?.integerValue ?? 0, zone: zone)
        guard day != lastDay else { return ("", clock) }
        lastDay = day
        let today = TimeText.local(now, zone: zone).day
        return (dim("-- " + TimeText.dayLine(day, today: today) + " --") + "\n", clock)
    }

    /// A note by title, with the matching part of its text below.
    private func noteHit(_ hit: JSONValue, lastDay: inout Int64?) -> String {
        let note = hit["note"]
        let (day, clock) = time(of: hit, lastDay: &lastDay)
        let head = "\(clock)  \(channelName(note?["channel"]))  note  "
        let excerpt = hit["excerpt"]?["text"]?.stringValue ?? ""
        let start = Int(clamping: hit["excerpt"]?["start"]?.integerValue ?? 0)
        let title = marked(note?["title"], "title", hit)
        let lines = excerpt.isEmpty ? [] : markedLines(excerpt, "text", hit, from: start)
        return day
            + block(
                head, indent: columnWidth(head), [title] + lines,
                isVerbose ? [shown(note?["id"])] : [])
    }

    // MARK: Matches

    /// A name with the match in bold.
    private func marked(_ value: JSONValue?, _ field: String, _ hit: JSONValue) -> String {
        guard let text = value?.stringValue else { return "-" }
        return markedLines(text, field, hit).joined(separator: " ")
    }

    /// The lines of a text with matches marked; each part is escaped separately.
    ///
    /// - Parameter offset: scalars of the field before the text.
    private func markedLines(
        _ text: String, _ field: String, _ hit: JSONValue, from offset: Int = 0
    ) -> [String] {
        let scalars = Array(text.unicodeScalars)
        var lines = [""]
        var place = 0
        func add(upTo end: Int, isMatch: Bool) {
            guard place < end else { return }
            let part = String(String.UnicodeScalarView(scalars[place..<end]))
            for (index, line) in foreignBody(part).enumerated() {
                if index > 0 { lines.append("") }
                lines[lines.count - 1] += isMatch && !line.isEmpty ? bold(line) : line
            }
            place = end
        }
        for match in hit["matches"]?.arrayValue ?? [] where match["field"]?.stringValue == field {
            let inField = Int(clamping: match["start"]?.integerValue ?? 0)
            let start = inField.subtractingReportingOverflow(offset).partialValue
            let length = Int(clamping: match["length"]?.integerValue ?? 0)
            guard start >= place, start <= scalars.count, length >= 0,
                length <= scalars.count - start
            else { continue }
            add(upTo: start, isMatch: false)
            add(upTo: start + length, isMatch: true)
        }
        add(upTo: scalars.count, isMatch: false)
        return lines
    }
}
