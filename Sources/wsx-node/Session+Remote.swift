import PeerNode
import WorkspaceModel

/// Commands that a daemon does.
extension Session {
    func client() throws(NodeError) -> ControlClient {
        let socket = try paths().socket
        return ControlClient(try io.connect(socket), timeoutMilliseconds: answerMilliseconds)
    }

    /// How long each answer may take; `nil` for ever. Where `--timeout` says how long a stream
    /// lasts, or how long the node itself looks for somebody, that is no measure for its answers.
    private var answerMilliseconds: Int64? {
        guard let limit = globals.timeoutMilliseconds else { return nil }
        let isStream =
            switch scan.command?.name {
            case "tail", "events.subscribe": true
            case "message.history": scan.values["follow"]?.boolValue == true
            default: scan.command?.parameters.contains { $0.flag == "timeout" } == true
            }
        guard isStream else { return limit }
        return limit.addingReportingOverflow(ControlClient.patience).overflow
            ? nil : limit + ControlClient.patience
    }

    /// The parameters of `command` as they travel: checked here too, so that a slip is told
    /// without a daemon.
    func parameters(for command: Command) throws(NodeError) -> JSONObject {
        var values = try ArgumentText.resolvedTimes(scan.values, of: command, io: io)
        for parameter in command.parameters where parameter.readsStandardInput {
            guard values[parameter.name]?.stringValue == "-" else { continue }
            values[parameter.name] = .string(try textFromInput(command))
        }
        let isFlag = command.parameters.contains { $0.name == "setting" && $0.isLocal }
        if isFlag, let setting = values["setting"]?.stringValue {
            guard let value = values["value"] else {
                throw .usage(
                    "\(NodeError.quoted(setting)) needs a value",
                    hint: "usage: wsx-node \(command.usage)")
            }
            guard values[setting] == nil else {
                throw .usage("\(NodeError.quoted(setting)) is given twice")
            }
            values[setting] = value
        }
        if command.isMethod, values["workspace"] == nil, let workspace = workspace {
            values["workspace"] = .string(workspace)
        }
        if ReferenceResolver.needed(values, command) {
            var resolver = ReferenceResolver(client: try client(), workspace: workspace)
            values = try resolver.resolved(values, command)
        }
        do { try command.check(values) } catch { throw usage(error, command) }
        for parameter in command.parameters where parameter.isLocal { values[parameter.name] = nil }
        return values
    }

    var workspace: String? {
        globals.workspace ?? environment["WSX_NODE_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The failure of a check, with the usage line where something is missing.
    func usage(_ error: NodeError, _ command: Command) -> NodeError {
        var error = error
        if error.fields.first?.reason == Misfit.missing.rawValue {
            error.hint = "usage: wsx-node \(command.usage)"
        } else if error.hint?.utf8.starts(with: "see ".utf8) == true {
            error.hint = "wsx-node help \(scan.words.joined(separator: " "))"
        }
        return error
    }

    /// All of standard input as text, without its last newline. Lines that end as on Windows end
    /// as everywhere: nobody wants to read their carriage returns.
    func textFromInput(_ command: Command) throws(NodeError) -> String {
        guard !io.isInputTerminal else {
            throw .usage(
                "'-' reads standard input, which is a terminal",
                hint: "usage: wsx-node \(command.usage)")
        }
        var bytes = io.readInput(limit: Limits.controlLineBytesMax)
        guard bytes.count <= Limits.controlLineBytesMax else { throw .lineTooLong }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("standard input is not UTF-8")
        }
        return text.replacing("\r\n") { _, _ in "\n" }
    }

    func runRemotely(_ command: Command) throws(NodeError) -> Int32 {
        switch command.name {
        case "tail": return try tail(try parameters(for: command))
        case "chat": return try chat(try parameters(for: command))
        case "node.stop": return try stop()
        case "events.subscribe": return try streamEvents(try parameters(for: command))
        case "workspace.join": return try join(command)
        case "device.link" where scan.values["code"] != nil: return try linkDevice(command)
        case "identity.recover": return try recover(command)
        case "identity.create":
            let secret = try newPassphrase()
            var session = self
            session.scan.values["passphrase"] = secret.map { .string($0) }
            let parameters = try session.parameters(for: command)
            try startIfNeeded()
            return try callAndPrint(command, parameters)
        case "session.unlock", "identity.passphrase.change", "lock.set", "lock.change",
            "lock.remove":
            return try runWithSecrets(command)
        case "session.logout": return try logOut(command)
        case "node.status" where scan.values["check"]?.boolValue == true:
            var client = try client()
            return StatusObject.isHealthy(try client.call("node.status", [:])) ? 0 : 1
        case "message.history" where scan.values["follow"]?.boolValue == true:
            return try followLog(try parameters(for: command))
        case "message.history": return try log(command)
        case "backup.create": return try createBackup(command)
        // The file is here, and whoever lost a home has no daemon.
        case "backup.verify": return try useBackup(command)
        case "node.doctor": return try doctor(command)
        case "invite.create": return try invite(command)
        case "message.get": return try showMessages(command)
        case "search": return try search(command)
        case "message.delete": return try deleteMessage(command)
        case "message.send": return try send(try parameters(for: command))
        default:
            let parameters = try parameters(for: command)
            try confirm(command)
            return try callAndPrint(command, parameters)
        }
    }

    func callAndPrint(_ command: Command, _ parameters: JSONObject) throws(NodeError)
        -> Int32
    {
        var client = try client()
        let result = labelled(
            try client.call(command.name, parameters), of: command.name, &client)
        var rendering = rendering
        if ["unread.get", "read.mark", "read.status"].contains(command.name), !globals.json,
            !globals.plain, result["items"]?.arrayValue?.isEmpty != true
        {
            _ = try? readNames(&client, into: &rendering.channelNames)
        }
        show(rendering.text(result, of: command.name), isLong: command.name == "message.history")
        tellMore(result, command)
        if command.name == "workspace.create" { tellOtherDevices(result, &client) }
        if command.name == "member.remove" { tellOpenInvites(&client) }
        if command.name == "node.check" { return result["ok"]?.boolValue == true ? 0 : 1 }
        return status(of: result)
    }

    /// What a search that finds nothing ends with, for scripts that ask for it.
    static let nothingFound: Int32 = 9

    /// The exit status of an answer that was printed.
    func status(of result: JSONValue) -> Int32 {
        globals.exitCode && result["items"]?.arrayValue?.isEmpty == true ? Self.nothingFound : 0
    }

    var rendering: Rendering { Rendering(globals: globals, environment: environment, io: io) }

    /// Prints an answer; a long one on a terminal through the pager.
    func show(_ text: String, isLong: Bool = false) {
        if isLong, io.isOutputTerminal, !globals.noPager, !globals.json,
            let command = Pager.command(environment), io.page(text, through: command)
        {
            return
        }
        io.print(text)
    }

    // MARK: Deleting

    /// Deletes for everybody, which a person is asked about first; a script is not.
    private func deleteMessage(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        if parameters["undo"]?.boolValue != true, isAsked {
            try confirm("Delete \(try deleted(parameters)) for everybody?", "deleted")
        }
        return try callAndPrint(command, parameters)
    }

    /// Asks a person about what nobody can take back.
    private func confirm(_ command: Command) throws(NodeError) {
        guard isAsked else { return }
        func given(_ name: String) -> String {
            rendering.fitting(sanitised(scan.values[name]?.stringValue ?? ""))
        }
        switch command.name {
        case "channel.delete":
            try confirm("Delete \(given("channel")) and all that was said in it?", "deleted")
        case "member.remove" where scan.values["recut"]?.boolValue != true:
            try confirm("Remove \(given("member")) from the workspace?", "done")
        case "device.revoke": try confirm("Revoke \(given("device")) for ever?", "done")
        case "workspace.leave":
            let name = given("workspace")
            try confirm("Leave \(name.isEmpty ? "the workspace" : name)?", "done")
        default: break
        }
    }

    /// Whether somebody is there to be asked, and did not say it already.
    private var isAsked: Bool { !globals.yes && !globals.noInput && io.isInputTerminal }

    private func confirm(_ question: String, _ done: String) throws(NodeError) {
        let answer = io.ask(question + " [y/N] ") ?? ""
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw .usage("nothing was \(done)", hint: "--yes answers beforehand")
        }
    }

    /// The message that is to go, as whoever asks for it has seen it.
    private func deleted(_ parameters: JSONObject) throws(NodeError) -> String {
        var given = JSONObject()
        given["ids"] = parameters["message"].map { .array([$0]) }
        given["workspace"] = parameters["workspace"]
        var client = try client()
        let page = try client.call("message.get", given)
        return page["items"]?.arrayValue?.first.map(rendering.summary) ?? "it"
    }

    // MARK: Sending

    /// How long people wait to be told who holds their message, and in which steps.
    private static let holdersWait: (total: Int64, step: Int64) = (300, 25)

    private func send(_ given: JSONObject) throws(NodeError) -> Int32 {
        // Two nodes whose commands for notices answer would answer each other without end.
        guard environment["WSX_AUTHOR_BOT"]?.isEmpty != false else {
            throw NodeError(
                .forbidden, "a notice of what a program wrote is answered by no program",
                hint: "let the command end where WSX_AUTHOR_BOT is set", reason: "notify.loop")
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
        io.print(rendering.sent(message, holders: holders))
        return 0
    }

    private func holders(of message: JSONValue, _ client: inout ControlClient) throws(NodeError)
        -> HolderText
    {
        let workspace = message["workspace"] ?? .null
        let id = message["id"] ?? .null
        let members = try client.call("member.list", ["workspace": workspace, "limit": 1_000])
        let devices = (members["items"]?.arrayValue ?? []).map { $0["devices"]?.integerValue ?? 0 }
        var holders = HolderText(count: message["holders"]?.integerValue ?? 1)
        holders.total = devices.reduce(0, +)
        var waited: Int64 = 0
        while holders.count < holders.total ?? 0, waited < Self.holdersWait.total {
            io.pause(milliseconds: Self.holdersWait.step)
            waited += Self.holdersWait.step
            let page = try client.call("message.get", ["workspace": workspace, "ids": [id]])
            let now = page["items"]?.arrayValue?.first
            holders.count = now?["holders"]?.integerValue ?? holders.count
        }
        guard holders.count < holders.total ?? 0 else { return holders }
        let peers = try client.call("peer.list", ["workspace": workspace, "limit": 1_000])
        let others = (peers["items"]?.arrayValue ?? []).filter { $0["id"]?.isNull == false }
        let offline = others.filter {
            $0["state"] != "connected" && $0["name"]?.isNull == false
        }
        let author = message["author"]?["id"]?.stringValue
        let labels = deviceLabels(
            others, id: "id", beside: Set([author].compactMap { $0 }), in: workspace,
            shown: Array(offline.prefix(HolderText.namesMax)), &client)
        for peer in offline {
            guard let name = peer["id"]?.stringValue.flatMap({ labels[$0] }) else { continue }
            let seen = peer["last_seen"]?.integerValue
            holders.offline.append((name, seen.map { max(0, io.now - $0) }))
        }
        return holders
    }
}
