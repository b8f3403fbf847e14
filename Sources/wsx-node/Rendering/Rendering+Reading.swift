import PeerNode
import WorkspaceModel

/// Unread conversations, one per line.
extension Rendering {
    /// `#general  1 new   Joon: written while amber sleeps`.
    func readings(_ items: [JSONValue]) -> String {
        let rows = items.map { item in
            [
                readingName(item), newWords(item) ?? "read", preview(item["last"]),
            ]
        }
        let names = rows.map { columnWidth($0[0]) }.max() ?? 0
        let news = rows.map { columnWidth($0[1]) }.max() ?? 0
        return rows.map { row in
            let line = "\(padded(row[0], names))  \(padded(row[1], news))   \(row[2])"
            return fitted(line) + "\n"
        }.joined()
    }

    /// The name with its sign for a channel or a conversation, if known.
    private func readingName(_ item: JSONValue) -> String {
        let id = item["id"]?.stringValue ?? ""
        return fitting(sanitised(channelNames[id] ?? item["name"]?.stringValue ?? id))
    }

    /// `2 new, 1 mention`; `nil` if everything is read.
    func newWords(_ unread: JSONValue?) -> String? {
        let count = unread?["unread"]?.integerValue ?? 0
        guard count > 0 else { return nil }
        let mentions = unread?["mentions"]?.integerValue ?? 0
        let named = mentions == 0 ? "" : ", \(mentions) mention\(mentions == 1 ? "" : "s")"
        return "\(count) new\(named)"
    }

    /// The latest message and its author, in one line.
    func preview(_ last: JSONValue?) -> String {
        guard let last, !last.isNull else { return "nothing yet" }
        let text = last["text"]?.stringValue.map(oneLine) ?? "(deleted)"
        return "\(fitting(shown(last["author"]?["name"]))): \(text)"
    }

    /// A line cut to the terminal's width, if there is one.
    func fitted(_ line: String) -> String {
        let end = line.utf8.lastIndex { $0 != 0x20 }
        let line = end.map { String(line[...$0]) } ?? ""
        return columns.map { TerminalText.truncated(line, toColumns: $0) } ?? line
    }
}
