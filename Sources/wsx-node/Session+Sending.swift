import PeerNode
import WorkspaceModel

/// `send`: a message, and what its writer is told of it.
extension Session {
    /// How long people wait to be told who holds their message, and in which steps.
    private static let holdersWait: (total: Int64, step: Int64) = (300, 25)
    /// A device that was heard within this is there.
    private static let awayMilliseconds: Int64 = 5_000

    /// Asks for the text of a message, where it was not given and somebody is there.
    func askingForText() -> Session {
        guard scan.values["channel"] != nil, scan.values["text"] == nil,
            scan.values["location"] == nil, io.isInputTerminal,
            io.isOutputTerminal, !globals.noInput, !globals.json,
            let answer = io.ask("Message: "), !answer.isEmpty
        else { return self }
        var session = self
        session.scan.values["text"] = .string(answer)
        return session
    }

    func send(_ given: JSONObject) throws(NodeError) -> Int32 {
        // Two nodes whose commands for notices answer would answer each other without end.
        guard environment["WSX_AUTHOR_BOT"]?.isEmpty != false else {
            throw NodeError(
                .forbidden,
                "not sent: this command was started by a bot's message, "
                    + "and bots do not answer bots",
                hint: "end the command early where WSX_AUTHOR_BOT is set", reason: "notify.loop")
        }
        guard given["text"] != nil || given["location"] != nil else {
            throw .missingText
        }
        var client = try client()
        var parameters = given
        // Whoever is run for an event is a program.
        if environment["WSX_BOT"]?.isEmpty == false { parameters["bot"] = true }
        let message = try client.call("message.send", parameters)
        guard io.isOutputTerminal, !globals.json, !globals.plain else {
            io.print(rendering.sent(message))
            return 0
        }
        // The message is safe: whatever goes wrong from here on is no failure of `send`.
        let holders = try? holders(of: message, &client)
        let place = try? place(of: message, &client)
        io.print(rendering.sent(message, holders: holders, in: place ?? nil))
        if let nobody = Self.unheard(in: message) {
            io.tell(Self.told(nobody) + "\n")
        }
        return 0
    }

    /// The name of the workspace that a message went to, where there is more than one.
    private func place(
        of message: JSONValue, _ client: inout ControlClient
    ) throws(NodeError) -> String? {
        let page = try client.call("workspace.list", ["limit": 100])
        let all = (page["items"]?.arrayValue ?? []).filter { $0["state"] == "member" }
        guard all.count > 1 else { return nil }
        return all.first { $0["id"] == message["workspace"] }?["name"]?.stringValue
    }

    /// That a name in a text means nobody.
    static func told(_ name: String) -> String {
        "nobody was mentioned: '\(name)' is nobody here, or could be several people"
    }

    /// The first word of a text that looks as if it mentioned somebody, where it mentions nobody.
    static func unheard(in message: JSONValue) -> String? {
        guard message["mentions"]?.arrayValue?.isEmpty == true,
            message["mentions_channel"] != true, message["format"] != "code"
        else { return nil }
        var before: Character = " "
        let text = message["text"]?.stringValue ?? ""
        for index in text.indices {
            defer { before = text[index] }
            guard text[index] == "@", before.isWhitespace || "([\"'".contains(before) else {
                continue
            }
            let word = text[text.index(after: index)...].prefix { $0.isLetter || $0.isNumber }
            if word.first?.isLetter == true { return "@" + sanitised(String(word)) }
        }
        return nil
    }

    /// Which devices of those who may read a message have it, once people are tired of waiting.
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
