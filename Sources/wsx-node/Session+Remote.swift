import PeerNode
import WorkspaceModel

/// Commands that a daemon does.
extension Session {
    func client() throws(NodeError) -> ControlClient {
        let socket = try paths().socket
        return ControlClient(
            try io.connect(socket), timeoutMilliseconds: globals.timeoutMilliseconds)
    }

    /// The parameters of `command` as they travel: checked here too, so that a slip is told
    /// without a daemon.
    func parameters(for command: Command) throws(NodeError) -> JSONObject {
        var values = try ArgumentText.resolvedTimes(scan.values, of: command, io: io)
        for parameter in command.parameters where parameter.readsStandardInput {
            guard values[parameter.name]?.stringValue == "-" else { continue }
            values[parameter.name] = .string(try textFromInput(command))
        }
        if command.isMethod, values["workspace"] == nil, let workspace = workspace {
            values["workspace"] = .string(workspace)
        }
        do { try command.check(values) } catch { throw usage(error, command) }
        for parameter in command.parameters where parameter.isLocal { values[parameter.name] = nil }
        return values
    }

    var workspace: String? {
        globals.workspace ?? environment["WSX_NODE_WORKSPACE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The failure of a check, with the usage line where something is missing.
    private func usage(_ error: NodeError, _ command: Command) -> NodeError {
        var error = error
        if error.fields.first?.reason == Misfit.missing.rawValue {
            error.hint = "usage: wsx-node \(command.usage)"
        } else if error.hint?.utf8.starts(with: "see ".utf8) == true {
            error.hint = "wsx-node help \(scan.words.joined(separator: " "))"
        }
        return error
    }

    /// All of standard input as text, without its last newline.
    private func textFromInput(_ command: Command) throws(NodeError) -> String {
        guard !io.isInputTerminal else {
            throw .usage(
                "'-' reads standard input, which is a terminal",
                hint: "usage: wsx-node \(command.usage)")
        }
        var bytes = io.readInput(limit: Limits.controlLineBytesMax)
        guard bytes.count <= Limits.controlLineBytesMax else { throw .lineTooLong }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .usage("standard input is not UTF-8")
        }
        return text
    }

    func runRemotely(_ command: Command) throws(NodeError) -> Int32 {
        if command.name == "tail" { return try tail() }
        let parameters = try parameters(for: command)
        switch command.name {
        case "node.stop": return try stop()
        case "events.subscribe": return try streamEvents(parameters)
        case "workspace.join":
            try startIfNeeded()
            return try callAndPrint(command, parameters)
        case "identity.create":
            try startIfNeeded()
            return try callAndPrint(command, parameters)
        case "node.status" where scan.values["check"]?.boolValue == true:
            var client = try client()
            let status = try client.call("node.status", [:])
            return status["warnings"]?.arrayValue?.isEmpty == false ? 1 : 0
        default: return try callAndPrint(command, parameters)
        }
    }

    private func callAndPrint(_ command: Command, _ parameters: JSONObject) throws(NodeError)
        -> Int32
    {
        var client = try client()
        let result = try client.call(command.name, parameters)
        printResult(result, of: command.name)
        if command.name == "message.history", scan.values["follow"]?.boolValue == true {
            return try follow(channels: [parameters["channel"] ?? .null])
        }
        return 0
    }

    func printResult(_ result: JSONValue, of method: String) {
        io.print(
            Rendering(globals: globals, environment: environment, io: io).text(result, of: method))
    }

    // MARK: Starting and stopping

    /// Starts a daemon unless one answers.
    ///
    /// - Returns: whether one was started.
    @discardableResult
    func startIfNeeded() throws(NodeError) -> Bool {
        let paths = try paths()
        do {
            _ = try io.connect(paths.socket)
            return false
        } catch {
            guard error.kind == .notRunning else { throw error }
        }
        var options: [String] = []
        for name in ["listen", "announce"] {
            if let value = scan.values[name]?.stringValue { options += ["--" + name, value] }
        }
        try io.startDaemon(paths, options: options)
        return true
    }

    private func stop() throws(NodeError) -> Int32 {
        let paths = try paths()
        do {
            var client = try client()
            _ = try client.call("node.stop", [:])
            try client.waitForEnd()
        } catch {
            if error.kind == .notRunning { return 0 }
            // It may end before its answer is read: the socket tells whether it has gone.
            guard error.kind == .stopping else { throw error }
        }
        guard io.waitUntilGone(paths.socket, milliseconds: 10_000) else {
            throw NodeError(
                .timeout, "the daemon has not ended within 10 s", hint: "wsx-node status",
                reason: "node.stopping")
        }
        return 0
    }

    func up() throws(NodeError) -> Int32 {
        guard let command = scan.command else { return 2 }
        do { try command.check(scan.values) } catch { throw usage(error, command) }
        let wasStarted = try startIfNeeded()
        say("daemon", wasStarted ? "started, socket ready" : "already running")
        var client = try client()
        try upIdentity(&client)
        try upWorkspace(&client)
        return 0
    }

    private func upIdentity(_ client: inout ControlClient) throws(NodeError) {
        do {
            let identity = try client.call("identity.show", [:])
            say("identity", identity["name"]?.stringValue ?? "")
        } catch {
            guard error.kind == .notFound else { throw error }
            guard let name = scan.values["name"] else {
                if globals.workspace == nil { return say("identity", "none yet: add --name NAME") }
                throw .usage("a new home needs a name", hint: "add --name NAME")
            }
            let identity = try client.call("identity.create", ["name": name])
            say("identity", identity["name"]?.stringValue ?? "")
        }
    }

    private func upWorkspace(_ client: inout ControlClient) throws(NodeError) {
        guard let name = globals.workspace else { return }
        let workspace: JSONValue
        do {
            workspace = try client.call("workspace.select", ["workspace": .string(name)])
        } catch {
            guard error.kind == .notFound else { throw error }
            workspace = try client.call("workspace.create", ["name": .string(name)])
        }
        say("workspace", workspace["name"]?.stringValue ?? "")
    }

    /// One line of `up`: what is in order.
    private func say(_ what: String, _ text: String) {
        if globals.quiet { return }
        if globals.json {
            io.print(
                JSONValue.object(["id": .string(what), "state": "ok", "message": .string(text)])
                    .text + "\n")
        } else {
            let gap = String(repeating: " ", count: max(1, 11 - what.utf8.count))
            io.print("ok   \(what)\(gap)\(sanitised(text))\n")
        }
    }

    // MARK: Streams

    private func streamEvents(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        var client = try client()
        let name = parameters["name"]?.stringValue
        var left = scan.values["count"]?.integerValue ?? .max
        let rendering = Rendering(globals: globals, environment: environment, io: io)
        try client.subscribe(parameters)
        while left > 0, let event = try client.nextEvent() {
            io.print(rendering.event(event))
            if let name, let cursor = event["cursor"] {
                _ = try client.call("events.ack", ["name": .string(name), "cursor": cursor])
            }
            left -= 1
        }
        return 0
    }

    private func tail() throws(NodeError) -> Int32 {
        try follow(channels: scan.values["channels"]?.arrayValue ?? [])
    }

    /// Prints messages as they come, until the daemon ends or the reader leaves.
    private func follow(channels: [JSONValue]) throws(NodeError) -> Int32 {
        var client = try client()
        var parameters: JSONObject = ["types": ["message.created"], "channels": .array(channels)]
        if let workspace { parameters["workspace"] = .string(workspace) }
        try client.subscribe(parameters)
        let rendering = Rendering(globals: globals, environment: environment, io: io)
        let bell = scan.values["bell"]?.boolValue == true && io.isOutputTerminal ? "\u{7}" : ""
        var lastDay: Int64?
        while let event = try client.nextEvent() {
            guard let message = event["data"] else { continue }
            io.print(rendering.messages([message], lastDay: &lastDay, namesChannel: true) + bell)
        }
        return 0
    }

    // MARK: Raw calls

    func callRaw() throws(NodeError) -> Int32 {
        if scan.values["list"]?.boolValue == true {
            for command in Command.methods { io.print("\(command.name)\t\(command.summary)\n") }
            return 0
        }
        if let name = scan.values["describe"]?.stringValue {
            io.print(Manual.description(of: try Command.method(name)))
            return 0
        }
        guard let name = scan.values["method"]?.stringValue else {
            throw .usage("a method is missing", hint: "list them with 'wsx-node rpc --list'")
        }
        let known = try? Command.method(name)
        let parameters = try rawParameters(known)
        var client = try client()
        io.print(try client.call(name, parameters).text + "\n")
        return 0
    }

    private func rawParameters(_ command: Command?) throws(NodeError) -> JSONObject {
        var parameters = JSONObject()
        if let text = scan.values["params"]?.stringValue {
            let text = text == "-" ? try textFromInput(scan.command ?? Command.all[0]) : text
            do { parameters = try JSONValue(parsing: text).objectValue ?? parameters } catch {
                throw .usage("'--params' is no JSON: \(NodeError.badJSON(error).message)")
            }
        }
        for word in scan.values["arguments"]?.arrayValue ?? [] {
            try RawArgument.add(word.stringValue ?? "", to: &parameters, of: command)
        }
        if parameters["workspace"] == nil, let workspace {
            parameters["workspace"] = .string(workspace)
        }
        return parameters
    }
}
