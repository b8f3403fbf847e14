import PeerNode
import WorkspaceModel

/// `remind`: parses subject, time and text from any number of words.
struct Reminding: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    func remind(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        session.scan.values = Self.reminding(scan.values) { isTime($0) }
        let inOrder = Self.inOrder(scan.values) { isTime($0) }
        if let inOrder, session.scan.values["at"]?.stringValue.map(isTime) == false {
            throw Self.swapped(inOrder, scan.words)
        }
        do throws(NodeError) {
            return try session.callAndPrint(command, try session.parameters(for: command))
        } catch {
            // A channel may be called `tomorrow`. If none is, a time was meant.
            guard let inOrder, error.kind == .notFound, error.fields.first?.name == "channel"
            else { throw error }
            throw Self.swapped(inOrder, scan.words)
        }
    }

    private static func swapped(_ meant: [String], _ words: [String]) -> NodeError {
        .usage(
            "these words are in the wrong order: first what to be reminded of, then when",
            hint: (["wsx-node"] + words + meant.map(NodeError.shellWord)).joined(separator: " "))
    }

    /// The right order, if a time precedes the subject: `10m last`.
    ///
    /// - Parameter isTime: whether a text is a point in time.
    /// - Returns: `nil` if the first word is not a time, or nothing else follows it.
    static func inOrder(_ typed: JSONObject, isTime: (String) -> Bool) -> [String]? {
        guard let first = typed["about"]?.stringValue, isTime(first),
            let words = typed["when"]?.stringValue
        else { return nil }
        let (second, rest) = ArgumentText.parted(words)
        // The time may have two words.
        let both = "\(first) \(second)"
        var meant = isTime(both) && !rest.isEmpty ? [first, second] : [first]
        let (about, text) = ArgumentText.parted(meant.count > 1 ? rest : words)
        guard !isTime(about) else { return nil }
        meant.insert(about, at: 0)
        if !text.isEmpty { meant.append(text) }
        if let place = typed["in"]?.stringValue { meant += ["--in", place] }
        return meant
    }

    private func isTime(_ text: String) -> Bool {
        TimeText.milliseconds(text, ahead: true, now: io.now, zone: io.zoneMinutes) != nil
    }

    /// The typed words as parameters of the method.
    ///
    /// - Parameter isTime: whether a text is a point in time.
    static func reminding(_ typed: JSONObject, isTime: (String) -> Bool) -> JSONObject {
        var values = typed
        (values["about"], values["when"]) = (nil, nil)
        if let about = typed["about"]?.stringValue {
            // A channel's name may look like the end of an id, so only the beginning
            // of an id is recognised.
            let isMessage = about == "last" || about.hasPrefix("m_")
            values[isMessage ? "message" : "channel"] = .string(about)
        }
        if let words = typed["when"]?.stringValue {
            let (time, text) = parted(words, isTime: isTime)
            values["at"] = .string(time)
            if !text.isEmpty { values["text"] = .string(text) }
        }
        return values
    }

    /// A time, which may have two words as in `tomorrow 9:00`, and the rest.
    static func parted(
        _ words: String, isTime: (String) -> Bool
    ) -> (time: String, text: String) {
        let (first, rest) = ArgumentText.parted(words)
        let (second, text) = ArgumentText.parted(rest)
        let both = "\(first) \(second)"
        return !second.isEmpty && isTime(both) ? (both, text) : (first, rest)
    }

    /// How many reminders are due, for the home screen.
    func dueReminders(_ given: JSONObject, _ client: inout ControlClient) -> [String] {
        let page = try? client.call("reminder.list", given)
        let count = (page?["items"]?.arrayValue ?? []).count { $0["state"] == "due" }
        guard count > 0 else { return [] }
        let command = rendering.hints.text("wsx-node remind list")
        return [
            HomeShowing(self).homeLine(
                "note  \(count) reminder\(count == 1 ? " is" : "s are") due: \(command)")
        ]
    }
}
