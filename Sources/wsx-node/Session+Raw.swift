import PeerNode
import WorkspaceModel

/// `rpc`: calls the socket's methods directly.
extension SessionPart {
    func callRaw() throws(NodeError) -> Int32 {
        if scan.values["list"]?.boolValue == true {
            for command in Command.methods {
                let row: JSONValue = [
                    "name": .string(command.name), "summary": .string(command.summary),
                ]
                io.print(globals.json ? row.text + "\n" : "\(command.name)\t\(command.summary)\n")
            }
            return 0
        }
        if let name = scan.values["describe"]?.stringValue {
            let method = try Command.method(name)
            guard globals.json else {
                io.print(rendering.flowed(Manual.description(of: method)))
                return 0
            }
            let described = Manual.openRPC["methods"]?.arrayValue?.first {
                $0["name"] == .string(method.name)
            }
            io.print((described ?? .null).text + "\n")
            return 0
        }
        guard let name = scan.values["method"]?.stringValue else {
            throw .usage("which method?", hint: "list them with 'wsx-node rpc --list'")
        }
        guard Command.shape(of: name) != .subscription else {
            let isNote = Command.methods.first { $0.name == name }?.flow == .watchNote
            throw NodeError(
                .unsupported, "'rpc' prints one answer, and cannot follow events",
                hint: isNote
                    ? "wsx-node note watch NOTE --json"
                    : "wsx-node events, or call events.wait", reason: "rpc.stream")
        }
        if let local = Command.all.first(where: { $0.name == name && !$0.isMethod }) {
            throw NodeError(
                .unknownOperation,
                "\(NodeError.quoted(name)) is not a method: it works without the node",
                hint: "wsx-node \(local.usage)", reason: "control.unknown_op")
        }
        let known = try? Command.method(name)
        let parameters = try rawParameters(known)
        guard !Command.carriesFile(name, parameters) else { throw NodeError.carriesFile }
        var client = try client()
        client.tellsFormer = nil
        io.print(try client.call(name, parameters).text + "\n")
        return 0
    }

    private func rawParameters(_ command: Command?) throws(NodeError) -> JSONObject {
        var parameters = JSONObject()
        if let text = scan.values["params"]?.stringValue {
            let text = text == "-" ? try inputText(trimmed: true) : text
            let value: JSONValue
            do { value = try JSONValue(parsing: text) } catch {
                throw .usage("'--params' is not valid JSON: \(NodeError.badJSON(error).message)")
            }
            guard let object = value.objectValue else {
                throw .usage("'--params' must be a JSON object")
            }
            parameters = object
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
