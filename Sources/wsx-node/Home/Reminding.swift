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
        guard let at = session.scan.values["at"]?.stringValue else {
            let isAbout = ["about", "message", "channel"].contains { scan.values[$0] != nil }
            throw Self.timeMissing(isAbout ? "when?" : "of what, and when?")
        }
        if let words = scan.values["when"]?.stringValue, !isTime(at) {
            throw Self.noTime(in: words)
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

    /// Where nobody typed `--at`, its name would explain nothing.
    private static func timeMissing(_ question: String) -> NodeError {
        NodeError(
            .badRequest, question, hint: "such as wsx-node remind general \(examples)",
            reason: "usage", fields: [.init(name: "at", reason: ParameterMismatch.missing.rawValue)]
        )
    }

    /// The failure for words that say no time.
    static func noTime(in words: String) -> NodeError {
        NodeError(
            .badRequest, "\(NodeError.quoted(words)) does not begin with a time",
            hint: "such as \(examples)", reason: "usage",
            fields: [.init(name: "when", reason: ParameterMismatch.form.rawValue)])
    }

    private static let examples = "2h, in 5 minutes, 9am, tomorrow or monday 14:00"

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

    private func isTime(_ text: String) -> Bool { Self.time(text, io) != nil }

    /// The point in time that a text names, as `--at` takes it.
    static func time(_ text: String, _ io: any ProgramIO) -> Int64? {
        TimeText.milliseconds(
            text, ahead: true, dayMinute: ParameterDefinition.morning, now: io.now,
            zone: io.zoneMinutes)
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

    /// The most words that a time can have: `tomorrow at 9 am`.
    private static let timeWordsMax = 4

    /// A time, as many words as there are, and the rest.
    ///
    /// - Returns: the first word, if the words do not begin with a time.
    static func parted(
        _ words: String, isTime: (String) -> Bool
    ) -> (time: String, text: String) {
        var (time, text) = ArgumentText.parted(words)
        var longest = (time: time, text: text)
        for _ in 1..<timeWordsMax where !text.isEmpty {
            let (next, rest) = ArgumentText.parted(text)
            (time, text) = ("\(time) \(next)", rest)
            if isTime(time) { longest = (time, text) }
        }
        return longest
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
