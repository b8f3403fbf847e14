import PeerNode
import WorkspaceModel

/// The building blocks of all answers: values, names, times and rows as text. It uses no other part
/// of the rendering.
extension Rendering {
    // MARK: Values

    /// A value as one line, safe for the terminal.
    func shown(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null: "-"
        case .bool(let answer): answer ? "yes" : "no"
        case .integer(let number): String(number)
        case .decimal(let text): text
        case .string(let text): sanitised(text)
        case .array(let list): list.isEmpty ? "-" : list.map(shown).joined(separator: ", ")
        case .object:
            value?["name"] != nil ? person(value) : sanitised(value?.text ?? "")
        }
    }

    /// The short form of an id, for running text.
    func shortID(_ value: JSONValue?) -> String { Self.shortened(shown(value)) }

    /// An id as its letter and last letters: ids made in the same minute begin alike.
    static func shortened(_ id: String) -> String {
        guard id.utf8.count > 10, id.utf8.dropFirst().first == UInt8(ascii: "_") else { return id }
        return "\(id.prefix(2))…\(id.suffix(6))"
    }

    // MARK: People and places

    /// A person's name; with the end of their id if another name looks like it.
    func person(_ person: JSONValue?) -> String {
        let name = fitting(shown(person?["name"]))
        guard person?["twin"] == true else { return name }
        return "\(name) (\(shortID(person?["id"])))"
    }

    /// A name cut for a terminal: a longer one than honest programs allow would wrap, and the rest
    /// could look like a line of its own.
    func fitting(_ name: String) -> String {
        guard let columns else { return name }
        return TerminalText.truncated(name, toColumns: min(32, max(8, (columns - 12) / 2)))
    }

    /// A channel by name, if known.
    func channelName(_ id: JSONValue?) -> String {
        channelNames[id?.stringValue ?? ""].map { fitting(sanitised($0)) } ?? shortID(id)
    }

    // MARK: Lines

    /// Text wrapped at words for the terminal.
    func flowed(_ text: String, indent: Int? = nil, isOwn: Bool = true) -> String {
        columns.map { FlowedText.text(text, columns: $0, indent: indent, isOwn: isOwn) } ?? text
    }

    func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columnWidth(text)))
    }

    func bold(_ text: String) -> String { hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { hasColour ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    /// The line for an empty list, for people; programs get none.
    func nothing(of method: String) -> String? {
        guard isTerminal, !isPlain, !isJSON, let what = Command.emptiness(of: method) else {
            return nil
        }
        return dim(what) + "\n"
    }

    /// Titles of rows in this program's words, including commands.
    private static let ownTitles: Set<String> = ["recovery", "locked", "next"]

    /// Titles and texts in two columns.
    func lines(_ rows: [(String, String)]) -> String {
        let widest = rows.map { columnWidth($0.0) }.max() ?? 0
        // Further lines of a text are indented to its first one.
        let indent = "\n" + String(repeating: " ", count: widest + 2)
        return rows.map { title, text in
            let text = text.split(separator: "\n", omittingEmptySubsequences: false)
                .joined(separator: indent)
            // People's own texts may look like a command, and are wrapped anyway.
            return flowed(
                "\(padded(title, widest))  \(text)\n", indent: widest + 2,
                isOwn: Self.ownTitles.contains(title))
        }.joined()
    }

    /// A point in time for people.
    func moment(_ value: JSONValue?) -> String {
        guard let at = value?.integerValue else { return "-" }
        let (day, clock) = TimeText.local(at, zone: zone)
        return "\(TimeText.dayLine(day, today: TimeText.local(now, zone: zone).day)) \(clock)"
    }

    /// The same within a sentence: `today 14:03`.
    func momentInSentence(_ value: JSONValue?) -> String {
        let text = moment(value)
        let isWord = text.hasPrefix("Today") || text.hasPrefix("Yesterday")
        return isWord ? text.prefix(1).lowercased() + text.dropFirst() : text
    }
}
