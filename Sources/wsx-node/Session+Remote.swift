import PeerNode
import WorkspaceModel

/// Commands that the daemon carries out.
extension SessionPart {
    func client() throws(NodeError) -> ControlClient {
        let socket = try paths().socket
        var client = ControlClient(
            try io.connect(socket), timeoutMilliseconds: answerMilliseconds)
        if !globals.json {
            let isQuiet = globals.quiet
            client.tellsFormer = { [io] in if !isQuiet { io.printError($0 + "\n") } }
        }
        return client
    }

    /// The timeout of each answer; `nil` for none. Where `--timeout` limits a stream, or the node's
    /// own search for somebody, it does not apply to answers.
    var answerMilliseconds: Int64? {
        guard let limit = globals.timeoutMilliseconds else { return nil }
        let isStream =
            switch scan.command?.flow {
            case let flow? where flow.isStream: true
            case .log: scan.values["follow"]?.boolValue == true
            default: scan.command?.parameters.contains { $0.flag == "timeout" } == true
            }
        guard isStream else { return limit }
        return limit.addingReportingOverflow(ControlClient.patience).overflow
            ? nil : limit + ControlClient.patience
    }

    /// The parameters of `command` as sent: checked here too, so that mistakes are
    /// reported without a daemon.
    func parameters(for command: Command) throws(NodeError) -> JSONObject {
        var values = try ArgumentText.resolvedTimes(scan.values, of: command, io: io)
        for parameter in command.parameters where parameter.readsStandardInput {
            guard values[parameter.name]?.stringValue == "-" else { continue }
            values[parameter.name] = .string(try inputText(for: parameter))
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
            values[setting] = try Self.read(value, as: setting, of: command)
            // The setting decides whether the value fits.
            values["value"] = nil
        }
        // The workspace to delete is also the one that the call acts on.
        if command.line?.question == .deletesWorkspace, values["workspace"] == nil, workspace == nil
        {
            values["workspace"] = values["name"]
        }
        if command.isMethod, values["workspace"] == nil, let workspace = workspace {
            values["workspace"] = .string(workspace)
        }
        if ReferenceResolver.needed(values, command) {
            var resolver = ReferenceResolver(
                client: try client(), workspace: workspace, takesParts: mayAsk)
            // The command itself reports a former name.
            resolver.client.tellsFormer = { _ in }
            values = try resolver.resolved(values, command)
            for part in resolver.taken { try confirm(part.typed, means: part.name, nil) }
            if let name = resolver.conversation {
                io.tell("the last message in \(rendering.fitting(sanitised(name)))\n")
            }
        }
        try FileMoving(self).addPictures(to: &values, of: command)
        do { try command.check(values) } catch { throw usage(error, command) }
        for parameter in command.parameters where parameter.isLocal { values[parameter.name] = nil }
        return values
    }

    /// The value of a setting, in the setting's type.
    private static func read(
        _ value: JSONValue, as setting: String, of command: Command
    ) throws(NodeError) -> JSONValue {
        guard let text = value.stringValue,
            let parameter = command.parameters.first(where: { $0.name == setting })
        else { return value }
        return try ArgumentText.value(
            text, parameter, shownAs: NodeError.quoted(setting))
    }

    var workspace: String? {
        globals.workspace ?? environment["WSX_NODE_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The failure of a check, with the usage line if something is missing.
    func usage(_ error: NodeError, _ command: Command) -> NodeError {
        var error = error
        if error.fields.first?.reason == ParameterMismatch.missing.rawValue {
            error.hint = "usage: wsx-node \(command.usage)"
        } else if error.hint?.utf8.starts(with: "see ".utf8) == true {
            error.hint = "wsx-node help \(scan.words.joined(separator: " "))"
        }
        return error
    }

    /// All of standard input for a parameter, without its last newline. If it is longer than a line,
    /// that is told as any other text that is too long for the parameter.
    private func inputText(for parameter: ParameterDefinition) throws(NodeError) -> String {
        guard case .text(let bytes) = parameter.shape,
            bytes.upperBound < Limits.controlLineBytesMax
        else { return try inputText(trimmed: true) }
        return try inputText(
            trimmed: true,
            tooLong: .textTooLarge(
                parameter.name, bytes: Limits.controlLineBytesMax, bytesMax: bytes.upperBound,
                isMore: true))
    }

    /// All of standard input as text, with Windows line ends normalised.
    ///
    /// - Parameters:
    ///   - trimmed: whether the last newline is removed. A text passed to the node as a file keeps
    ///     it, since the node takes it for the end of the last line.
    ///   - limit: bytes.
    ///   - tooLong: the failure if there are more.
    func inputText(
        trimmed: Bool, limit: Int = Limits.controlLineBytesMax, tooLong: NodeError = .lineTooLong
    ) throws(NodeError) -> String {
        if io.isInputTerminal { io.tell("Ctrl-D on a line of its own ends the text.\n") }
        var bytes = io.readInput(limit: limit)
        guard bytes.count <= limit else { throw tooLong }
        if trimmed {
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("standard input is not UTF-8")
        }
        return text.replacing("\r\n") { _, _ in "\n" }
    }

    func runRemotely(_ command: Command) throws(NodeError) -> Int32 {
        switch command.flow {
        case .tail: return try Streaming(self).tail(try parameters(for: command))
        case .chat: return try Session(self).chat(try parameters(for: command))
        case .stop: return try Starting(self).stop()
        case .events: return try Streaming(self).streamEvents(try parameters(for: command))
        case .join: return try Starting(self).join(command)
        case .linkDevice where scan.values["code"] != nil:
            return try Recovering(self).linkDevice(command)
        case .linkDevice: return try Inviting(self).makeDeviceLink(command)
        case .recover: return try Recovering(self).recover(command)
        case .makeIdentity:
            let secret = try newPassphrase()
            var session = self
            session.scan.values["passphrase"] = secret.map { .string($0) }
            let parameters = try session.parameters(for: command)
            try Starting(self).startIfNeeded()
            return try callAndPrint(command, parameters)
        case .showIdentity: return try Recovering(self).showIdentity(command)
        case .unlock, .changePassphrase, .setPasscode, .changePasscode, .removePasscode:
            return try runWithSecrets(command)
        case .logOut: return try logOut(command)
        case .status where scan.values["check"]?.boolValue == true:
            var client = try client()
            return StatusObject.isHealthy(try client.call("node.status", [:])) ? 0 : 1
        case .log where scan.values["follow"]?.boolValue == true:
            return try Streaming(self).followLog(try parameters(for: command))
        case .log: return try LogShowing(self).log(command)
        case .createBackup: return try BackingUp(self).createBackup(command)
        // The file is here, and a person who lost a home has no daemon.
        case .verifyBackup: return try BackingUp(self).useBackup(command)
        case .doctor: return try Diagnosing(self).doctor(command)
        case .remind: return try Reminding(self).remind(command)
        case .invite: return try Inviting(self).invite(command)
        case .linkAccount: return try AccountLinking(self).link(command)
        case .setProvider: return try AccountLinking(self).setProvider(command)
        case .showMessages: return try LogShowing(self).showMessages(command)
        case .search: return try search(command)
        case .writeNote: return try NoteEditing(self).writeNote(command)
        case .showNote: return try NoteEditing(self).showNote(command)
        case .watchNote: return try Streaming(self).watchNote(command)
        case .lockNote: return try NoteEditing(self).lockNote(command)
        case .attachNote: return try NoteEditing(self).attachNote(command)
        case .renewPhrase: return try Recovering(self).renewPhrase(command)
        case .loseDevice: return try Recovering(self).loseDevice(command)
        case .revokeDevice: return try Recovering(self).revokeDevice(command)
        case .saveFile where scan.values["path"]?.stringValue == "-":
            return try FileMoving(self).printFile(command)
        case .saveFile: return try FileMoving(self).saveFile(command)
        case .addFile: return try FileMoving(self).addFile(command)
        case .send:
            try FileMoving(self).checkInput()
            let session = Sending(self).askingForText()
            return try session.send(try session.parameters(for: command))
        default:
            let parameters = try parameters(for: command)
            try Asking(self).ask(before: command, parameters)
            if command.flow == .askHolders { askHolders(parameters) }
            return try callAndPrint(command, parameters)
        }
    }

    /// Has connected devices asked who has a file, so that no old word counts. A failure is not
    /// told: the call that follows explains what is wrong with the file.
    private func askHolders(_ parameters: JSONObject) {
        guard let blob = parameters["blob"], var client = try? self.client() else { return }
        _ = try? client.call("blob.holders", ["blob": blob])
    }

    /// - Parameter file: the bytes that follow the line of the request.
    func callAndPrint(
        _ command: Command, _ parameters: JSONObject, file: [UInt8] = []
    ) throws(NodeError) -> Int32 {
        var client = try client()
        let result = labelled(
            try client.call(command.name, parameters, file: file), of: command.name, &client)
        var rendering = rendering
        if command.shape == .unread || command.shape == .starredMessages, !globals.json,
            !globals.plain, result["items"]?.arrayValue?.isEmpty != true
        {
            _ = try? readNames(&client, into: &rendering.channelNames)
        }
        show(rendering.text(result, of: command.name), isLong: command.shape == .messages)
        tellUnchanged(result)
        tellMore(result, command)
        if command.flow == .makeWorkspace { tellOtherDevices(result, &client) }
        if command.shape == .removedMember { tellOpenInvites(&client) }
        if command.shape == .check { return result["ok"]?.boolValue == true ? 0 : 1 }
        return status(of: result)
    }

    /// The exit status of a search without results, for scripts.
    static var nothingFound: Int32 { 9 }

    /// The exit status for an answer.
    func status(of result: JSONValue) -> Int32 {
        globals.exitCode && result["items"]?.arrayValue?.isEmpty == true ? Self.nothingFound : 0
    }

    var rendering: Rendering { Rendering(globals: globals, environment: environment, io: io) }

    /// Prints an answer; a long one on a terminal through the pager.
    ///
    /// - Parameter opensAtEnd: whether the pager starts at the end, if the text exceeds the screen.
    func show(_ text: String, isLong: Bool = false, opensAtEnd: Bool = false) {
        if isLong, io.isOutputTerminal, !globals.noPager, !globals.json,
            let command = Pager.command(environment)
        {
            let lines = text.utf8.count { $0 == UInt8(ascii: "\n") }
            let isMore = io.outputRows.map { lines >= $0 } ?? false
            let pager = opensAtEnd && isMore ? Pager.atEnd(command) : command
            if io.page(text, through: pager) { return }
        }
        io.print(text)
    }
}
