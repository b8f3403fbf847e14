import PeerNode
import WorkspaceModel

/// Answers as text: unchanged for programs, in columns for people.
///
/// Every text in an answer is foreign and must pass `sanitised`, except the text
/// of a note in a pipe.
struct Rendering {
    let isJSON: Bool
    let isPlain: Bool
    let hasColour: Bool
    /// Whether people also see ids.
    var isVerbose: Bool
    let isTerminal: Bool
    /// Whether the output goes to a file or a program.
    let isPiped: Bool
    let now: Int64
    let zone: (Int64) -> Int64
    /// Channel names by id, with their sign, for lines from several channels.
    var channelNames: [String: String] = [:]
    /// Your names by member id, where mentions of them are highlighted.
    var ownNames: [String: String] = [:]
    /// The workspaces, `w_…`, for which your name was requested.
    var workspacesAsked: Set<String> = []
    /// Thread roots by id, for replies that are shown without them.
    var threadRoots: [String: JSONValue] = [:]
    /// Makes the commands in hints act on the same home.
    let hints: HintText
    /// The width for people's lines; `nil` for no limit, as in a pipe.
    var columns: Int?
    /// Rows of a terminal that one message may take; `nil` for no limit.
    var rowsMax: Int?

    init(globals: GlobalFlags, environment: [String: String], io: any ProgramIO) {
        isJSON = globals.json
        isPlain = globals.plain
        isVerbose = globals.verbose > 0
        hints = HintText(globals)
        hasColour = Self.wantsColour(globals.color, environment, isTerminal: io.isOutputTerminal)
        isTerminal = io.isOutputTerminal && !globals.quiet
        isPiped = !io.isOutputTerminal
        now = io.now
        zone = io.zoneMinutes
        if io.isOutputTerminal {
            let asked = environment["COLUMNS"].flatMap { Int($0) } ?? io.outputColumns
            columns = asked.map { min(max($0, 20), 1_000) }
        }
    }

    /// Decided by the flag, then `NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`, then the terminal.
    static func wantsColour(_ flag: String?, _ environment: [String: String], isTerminal: Bool)
        -> Bool
    {
        if flag == "always" { return true }
        if flag == "never" || environment["NO_COLOR"]?.isEmpty == false { return false }
        if environment["FORCE_COLOR"]?.isEmpty == false { return true }
        return isTerminal && environment["TERM"] != "dumb"
    }

    /// The answer of a method; every line ends with a newline.
    func text(_ result: JSONValue, of method: String) -> String {
        if isJSON {
            let objects = result["items"]?.arrayValue ?? [result]
            return objects.map { $0.text + "\n" }.joined()
        }
        let shape = Command.shape(of: method)
        switch shape {
        case .messages:
            var lastDay: Int64?
            let items = result["items"]?.arrayValue ?? []
            if items.isEmpty, let text = nothing(of: method) { return text }
            return isPlain
                ? plainMessages(items)
                : messages(items, lastDay: &lastDay, namesChannel: false, foldsThreads: true)
        case .message:
            var lastDay: Int64?
            return messages([result], lastDay: &lastDay, namesChannel: false)
        case .sentMessage: return sent(result)
        case .hits: return hits(result)
        case .starredMessages, .reminders:
            let items = result["items"]?.arrayValue ?? []
            if items.isEmpty { return nothing(of: method) ?? "" }
            return shape == .reminders ? reminders(items) : starred(items)
        case .reminder: return reminder(result)
        case .noteText: return noteText(result)
        case .changedNote, .editedNote: return changedNote(result)
        case .savedFile where !isPlain: return flowed(savedFile(result))
        case .cache where !isPlain: return flowed(cache(result))
        case .file where !isPlain: return flowed(file(result))
        case .madeInvite where !isPlain: return flowed(invite(result))
        case .deletedChannel where !isPlain:
            return flowed("deleted \(shown(result["id"]))  #\(shown(result["name"]))\n")
        case .identity where !isPlain && result["phrase"] != nil:
            return flowed(phrase(result))
        case .deviceLink where !isPlain && result["link"] != nil:
            return flowed(deviceLink(result))
        case .leftWorkspace where !isPlain:
            return flowed("left \(shown(result["name"])); you can still read it here\n")
        case .forgottenWorkspace where !isPlain:
            return flowed("\(shown(result["name"])) was removed from this device\n")
        case .text:
            return TerminalText.escaped(result["text"]?.stringValue ?? "", for: .body)
        case .status where !isPlain: return flowed(status(result))
        case .findings where !isPlain: return flowed(findings(result), indent: 5)
        case .explanation where !isPlain: return why(result)
        case .check where !isPlain: return flowed(check(result))
        default: break
        }
        if shape == .orders, !isPlain, result["items"] == nil { return flowed(order(result)) }
        if !isPlain, let text = object(result, as: shape) { return flowed(text) }
        let items = result["items"]?.arrayValue
        if items?.isEmpty == true, let text = nothing(of: method) { return text }
        if !isPlain, shape == .unread {
            return readings(items ?? [result])
        }
        if let table = ColumnSet.of(shape, isPlain: isPlain) {
            return columns((items ?? [result]).map { marked($0, as: shape) }, table)
        }
        return fields(result)
    }

    /// One event of a stream.
    func event(_ event: JSONValue) -> String {
        if isJSON { return event.text + "\n" }
        let data = event["data"]
        let subject =
            data?["id"] ?? data?["message"] ?? data?["device"]?["id"] ?? data?["member"]?["id"]
            ?? data?["channel"]
        let texts = ["text", "emoji", "name", "label", "purpose", "value"].map { data?[$0] }
        var text = (texts + [data?["member"]?["name"]])
            .compactMap { $0?.stringValue }.first.map(sanitised)
        if !isPlain {
            if let by = data?["by"]?["name"]?.stringValue { text = text ?? "by \(sanitised(by))" }
            if EventName(of: event) == .passing(.presenceChanged) {
                text = "\(shown(data?["name"])) is \(presenceWords(data))"
            }
            if data == nil || data == .null { text = "(deleted since then)" }
        }
        let words = [
            shown(event["cursor"]), shown(event["type"]), shown(subject), text ?? "-",
        ]
        if isPlain { return words.joined(separator: "\t") + "\n" }
        return flowed(words.joined(separator: "  ") + "\n", indent: 2, isOwn: false)
    }

    // MARK: Single objects

    private func invite(_ invite: JSONValue) -> String {
        let uses = invite["uses"]?.integerValue ?? 1
        let people = uses == 1 ? "one person" : "\(uses) people"
        // Clamped to the difference of two times, whatever the daemon says.
        let left = max(now, invite["expires_at"]?.integerValue ?? now) - now
        let minutes = (left / 1_000 + 30) / 60 * 60_000
        let channels = (invite["channels"]?.arrayValue ?? []).map { ", " + shortID($0) }.joined()
        let approval = invite["approve"] == true ? ", an admin must approve" : ""
        return "\(people), \(TimeText.words(minutes)), role \(shown(invite["role"]))\(channels)"
            + "\(approval)\n"
            + "  link  \(shown(invite["link"]))\n" + delivery(invite)
    }

    private func deviceLink(_ link: JSONValue) -> String {
        "works once, for 10 minutes. Keep it secret: whoever opens it becomes you\n"
            + "  link  \(shown(link["link"]))\n"
    }

    /// The words in numbered columns, convenient for writing down.
    private func phrase(_ identity: JSONValue) -> String {
        let words = (identity["phrase"]?.stringValue ?? "").split(separator: " ").map(String.init)
        var text = "recovery phrase of \(shown(identity["name"])), shown only once: write it down\n"
        // A word has at most eight letters, and no row may break.
        let perRow = columns.map { $0 < 28 ? 1 : $0 < 56 ? 2 : 4 } ?? 4
        for row in stride(from: 0, to: words.count, by: perRow) {
            let cells = (row..<min(row + perRow, words.count)).map { place in
                padded("\(place + 1).", 3) + " " + padded(sanitised(words[place]), 8)
            }
            let line = "  " + cells.joined(separator: "  ")
            text += (line.utf8.lastIndex { $0 != 0x20 }.map { String(line[...$0]) } ?? "") + "\n"
        }
        return text + "anyone who has it can become you; it is not kept on this machine\n"
    }

    private func status(_ status: JSONValue) -> String {
        let peers = status["peers"]
        var text = "identity   \(shown(status["identity"]?["name"]))  \(shown(status["device"]))\n"
        text += "home       \(shown(status["home"]))\n"
        text += "listening  \(shown(status["listen"]))\n"
        text += "peers      \(shown(peers?["connected"])) connected, "
        text += "\(shown(peers?["waiting"])) waiting\n"
        for workspace in status["workspaces"]?.arrayValue ?? [] {
            text += "workspace  \(shown(workspace["name"]))  \(shown(workspace["operations"])) "
            text += "operations, "
            text +=
                workspace["behind"]?.isNull == true
                ? "comparing" : "\(shown(workspace["behind"])) behind"
            text += (Self.membershipEnd(of: workspace).map { ", \($0)" } ?? "") + "\n"
        }
        for warning in status["warnings"]?.arrayValue ?? [] {
            text += "warn       \(shown(warning["message"]))\n"
            if warning["hint"]?.isNull == false {
                text += "           \(hints.text(shown(warning["hint"])))\n"
            }
        }
        return text
    }

    private func findings(_ result: JSONValue) -> String {
        (result["items"]?.arrayValue ?? []).map { finding in
            let line = "\(padded(shown(finding["state"]), 5))\(shown(finding["message"]))\n"
            let hint = finding["hint"].flatMap { $0.isNull ? nil : $0 }
            return line + (hint.map { "     fix: \(hints.text(shown($0)))\n" } ?? "")
        }.joined()
    }

    /// One step per line, the answer first.
    private func why(_ result: JSONValue) -> String {
        let answer = result["answer"]?.boolValue == true ? "yes" : "no"
        var head = shown(result["name"])
        if result["role"]?.isNull == false { head += ", \(shown(result["role"]))" }
        if let action = result["can"]?.stringValue { head += ": \(sanitised(action))? \(answer)" }
        let steps = (result["steps"]?.arrayValue ?? []).map { step in
            let (day, clock) = TimeText.local(step["at"]?.integerValue ?? 0, zone: zone)
            let mark = step["valid"]?.boolValue == true ? " " : "!"
            let when = TimeText.dayLine(day, today: TimeText.local(now, zone: zone).day)
            let begin = "\(mark) \(when) \(clock)  "
            return flowed(
                begin + shown(step["text"]) + "  " + dim(shortID(step["operation"])) + "\n",
                indent: columns.map { $0 < 60 } == true ? 4 : columnWidth(begin))
        }
        return flowed(bold(head) + "\n") + steps.joined()
    }

    private func check(_ result: JSONValue) -> String {
        var text = "\(shown(result["operations"])) operations and \(shown(result["rows"])) rows "
        text += "recomputed, \(shown(result["problem_count"])) problems\n"
        for problem in result["problems"]?.arrayValue ?? [] {
            text += "\(padded(shown(problem["kind"]), 10))\(shortID(problem["id"]))  "
            text += shown(problem["text"])
            switch problem["done"]?.stringValue {
            case "mended": text += "  repaired"
            case "asked": text += "  requested from peers"
            default: break
            }
            text += "\n"
        }
        let repaired = result["repaired"]?.integerValue ?? 0
        if repaired > 0 { text += "\(repaired) repaired, or requested from peers again\n" }
        let missing = result["missing"]?.integerValue ?? 0
        if missing == 1 { text += "1 text is missing: no peer has sent it\n" }
        if missing > 1 { text += "\(missing) texts are missing: no peer has sent them\n" }
        return text
    }

    /// An object, one field per line.
    private func fields(_ value: JSONValue) -> String {
        let members = value.objectValue?.members ?? []
        guard !isPlain else {
            return members.map { "\($0.key)\t\(shown($0.value))\n" }.joined()
        }
        return lines(members.map { (sanitised($0.key), field($0)) })
    }

    /// A field for people, with times as dates.
    private func field(_ member: JSONObject.Member) -> String {
        ColumnSet.isTime(member.key) && member.value.integerValue != nil
            ? moment(member.value) : shown(member.value)
    }
}
