import PeerNode
import WorkspaceModel

/// What was found: channels and people first, then messages as `log` shows them.
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

    /// Kind, id, time, channel, who or what it is called, and the text.
    private func plainHit(_ hit: JSONValue) -> String {
        let message = hit["message"]
        let name = message?["author"]?["name"] ?? hit["channel"]?["name"] ?? hit["member"]?["name"]
        let fields = [
            hit["kind"], hit["id"], hit["at"], message?["channel"], name, message?["text"],
        ]
        return fields.map { shown($0) }.joined(separator: "\t") + "\n"
    }

    private func messageHit(_ hit: JSONValue, lastDay: inout Int64?) -> String {
        let message = hit["message"]
        let (day, clock) = TimeText.local(hit["at"]?.integerValue ?? 0, zone: zone)
        var text = ""
        if day != lastDay {
            let today = TimeText.local(now, zone: zone).day
            text += dim("-- " + TimeText.dayLine(day, today: today) + " --") + "\n"
            lastDay = day
        }
        let channel = channelName(message?["channel"])
        let author = person(message?["author"])
        let lines = markedLines(message?["text"]?.stringValue ?? "-", "text", hit)
        let head = "\(clock)  \(channel)  \(author)  "
        return text
            + block(
                head, indent: columnWidth(head), lines, isVerbose ? [shown(message?["id"])] : [])
    }

    // MARK: Matches

    /// A name, in which bold is what was looked for.
    private func marked(_ value: JSONValue?, _ field: String, _ hit: JSONValue) -> String {
        guard let text = value?.stringValue else { return "-" }
        return markedLines(text, field, hit).joined(separator: " ")
    }

    /// The lines of a text, each part of them made safe for a terminal by itself.
    private func markedLines(_ text: String, _ field: String, _ hit: JSONValue) -> [String] {
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
            let start = Int(clamping: match["start"]?.integerValue ?? 0)
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
