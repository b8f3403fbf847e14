import PeerNode
import WorkspaceModel

/// `send`: sends a message, and reports its delivery.
struct Sending: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// How long people wait to see who holds their message, and the polling step.
    private static let holdersWait: (total: Int64, step: Int64) = (300, 25)
    /// A device heard from within this time counts as present.
    private static let awayMilliseconds: Int64 = 5_000

    /// Asks for the text of a message, if it is missing and someone is at the terminal.
    func askingForText() -> Sending {
        guard scan.values["channel"] != nil, scan.values["text"] == nil,
            scan.values["location"] == nil, scan.values["file"] == nil, io.isInputTerminal,
            io.isOutputTerminal, !globals.noInput, !globals.json,
            let answer = io.ask("Message: "), !answer.isEmpty
        else { return self }
        var session = self
        session.scan.values["text"] = .string(answer)
        return session
    }

    func send(_ given: JSONObject) throws(NodeError) -> Int32 {
        // Two nodes whose notice commands reply would answer each other endlessly.
        guard environment["WSX_AUTHOR_BOT"]?.isEmpty != false else {
            throw NodeError(
                .forbidden,
                "not sent: this command was started by a bot's message, "
                    + "and bots do not answer bots",
                hint: "end the command early where WSX_AUTHOR_BOT is set", reason: "notify.loop")
        }
        let files = scan.values["file"]?.arrayValue?.compactMap(\.stringValue) ?? []
        guard
            given["text"] != nil || given["location"] != nil || given["attachments"] != nil
                || !files.isEmpty
        else { throw .missingText }
        var client = try client()
        var parameters = given
        var isPartial = false
        if !files.isEmpty {
            let isNeeded =
                given["text"] == nil && given["location"] == nil && given["attachments"] == nil
            let added = try FileMoving(self).added(files, isNeeded: isNeeded, &client)
            isPartial = added.isPartial
            parameters["attachments"] = .array(
                (given["attachments"]?.arrayValue ?? []) + added.ids)
        }
        // A command run for an event is a bot.
        if environment["WSX_BOT"]?.isEmpty == false { parameters["bot"] = true }
        let message = try client.call("message.send", parameters)
        FileMoving(self).tellRefused(message)
        // 8: partly done.
        let status: Int32 = isPartial || message["refused"] != nil ? 8 : 0
        guard io.isOutputTerminal, !globals.json, !globals.plain else {
            io.print(rendering.sent(message))
            tellOutside(message, &client)
            return status
        }
        // The message is saved: from here on nothing is a failure of `send`.
        let holders = try? holders(of: message, &client)
        let place = try? place(of: message, &client)
        io.print(rendering.sent(message, holders: holders, in: place ?? nil))
        if let nobody = Self.unheard(in: message, mentioned(in: message, &client)) {
            io.tell(told(nobody, in: message) + "\n")
        }
        tellOutside(message, &client)
        return status
    }

    /// Everybody may write in a public channel, but only who is in it is notified of the answers.
    private func tellOutside(_ message: JSONValue, _ client: inout ControlClient) {
        guard io.isOutputTerminal || io.errorColumns != nil, !globals.json, !globals.plain,
            !globals.quiet
        else { return }
        var place = JSONObject()
        place["workspace"] = message["workspace"]
        place["channel"] = message["channel"]
        // A failed look-up must not be a failure: the message is sent.
        guard let channel = try? client.call("channel.get", place),
            channel["kind"] == "channel", channel["private"] != true, channel["joined"] == false,
            let name = channel["name"]?.stringValue.map(sanitised)
        else { return }
        let join = rendering.hints.text("wsx-node channel join \(name)")
        io.tell("you are not in \(name), and get no notifications: \(join)\n")
    }

    /// The name of the message's workspace, if there is more than one.
    private func place(
        of message: JSONValue, _ client: inout ControlClient
    ) throws(NodeError) -> String? {
        let page = try client.call("workspace.list", ["limit": 100])
        let all = (page["items"]?.arrayValue ?? []).filter { $0["state"] == "member" }
        guard all.count > 1 else { return nil }
        return all.first { $0["id"] == message["workspace"] }?["name"]?.stringValue
    }

    /// How many mentioned people are looked up.
    private static let mentionedMax = 20

    /// The names of the mentioned people, if a part of the text may mention nobody.
    ///
    /// - Returns: `nil` unless all of them are known.
    func mentioned(in message: JSONValue, _ client: inout ControlClient) -> [String]? {
        let ids = message["mentions"]?.arrayValue ?? []
        guard Self.signs(in: message).count > 1, ids.count <= Self.mentionedMax else {
            return ids.isEmpty ? [] : nil
        }
        var names: [String] = []
        for id in ids {
            let given: JSONObject = ["workspace": message["workspace"] ?? .null, "member": id]
            guard let person = try? client.call("member.get", given),
                let name = person["name"]?.stringValue
            else { return nil }
            names.append(name)
        }
        return names
    }

    /// The first word of a text that looks like a mention and is none.
    ///
    /// - Parameter mentioned: the names of the mentioned people; `nil` if unknown.
    static func unheard(in message: JSONValue, _ mentioned: [String]?) -> String? {
        guard let mentioned else { return nil }
        let everybody = message["mentions_channel"] == true ? ["channel", "everyone", "here"] : []
        var silent = mentioned
        var unheard: [String] = []
        for word in signs(in: message) {
            let isName = mentioned.contains { PartOfName.is(word, in: $0) || $0.hasPrefix(word) }
            silent.removeAll { PartOfName.is(word, in: $0) || $0.hasPrefix(word) }
            let isHeard = isName || everybody.contains { NameFolding.matches($0, word) }
            if !isHeard { unheard.append(word) }
        }
        // If a mentioned person matches no word, the text calls them by another name.
        return silent.isEmpty ? unheard.first.map { "@" + sanitised($0) } : nil
    }

    /// The words of a text after `@` that look like mentions.
    private static func signs(in message: JSONValue) -> [String] {
        guard message["format"] != "code" else { return [] }
        var before: Character = " "
        var words: [String] = []
        let text = message["text"]?.stringValue ?? ""
        for index in text.indices {
            defer { before = text[index] }
            guard text[index] == "@", before.isWhitespace || "([\"'".contains(before) else {
                continue
            }
            let word = text[text.index(after: index)...].prefix { $0.isLetter || $0.isNumber }
            if word.first?.isLetter == true { words.append(String(word)) }
        }
        return words
    }

    /// Which of the readers' devices have a message, after a short wait.
    private func holders(of message: JSONValue, _ client: inout ControlClient) throws(NodeError)
        -> HolderText
    {
        let workspace = message["workspace"] ?? .null
        let given: JSONObject = ["workspace": workspace, "message": message["id"] ?? .null]
        var rows = try client.call("message.holders", given)["items"]?.arrayValue ?? []
        let total = Int64(rows.count)
        var holders = HolderText(count: message["holders"]?.integerValue ?? 1)
        var waited: Int64 = 0
        while holders.count < total, waited < Self.holdersWait.total {
            io.pause(milliseconds: Self.holdersWait.step)
            waited += Self.holdersWait.step
            let page = try client.call(
                "message.get", ["workspace": workspace, "ids": [message["id"] ?? .null]])
            let now = page["items"]?.arrayValue?.first
            holders.count = now?["holders"]?.integerValue ?? holders.count
        }
        holders.total = total
        guard holders.count < total else { return holders }
        rows = try client.call("message.holders", given)["items"]?.arrayValue ?? []
        let away = rows.filter { row in
            row["complete"] != true
                && (row["at"]?.integerValue).map { io.now - $0 > Self.awayMilliseconds } ?? true
        }
        let labels = deviceLabels(
            rows, id: "device", in: workspace, shown: Array(away.prefix(HolderText.namesMax)),
            &client)
        for row in away {
            guard let name = row["device"]?.stringValue.flatMap({ labels[$0] }) else { continue }
            let seen = row["at"]?.integerValue
            holders.offline.append((name, seen.map { max(0, io.now - $0) }))
        }
        return holders
    }
}
