import WorkspaceModel

extension Command {
    /// The interface talking about itself.
    static let rpcCommands = [rpc, rpcHello, rpcDiscover, rpcMethods]

    private static let rpc = {
        let method = Parameter.text("method", "The method to call.", bytes: 1...64).optional()
        let arguments = Parameter<[String]>.list(
            of: Parameter.text(
                "arguments", "'name=value', or 'name:=JSON'; a repeated name makes a list.",
                bytes: 1...Limits.controlLineBytesMax),
            count: 0...1_000
        ).defaulting(to: [])
        let params = Parameter.text(
            "params", "All parameters as one JSON object. '-' reads it from standard input.",
            bytes: 2...Limits.controlLineBytesMax
        ).optional().standardInput()
        let list = Parameter.flag("list", "List the methods.")
        let describe = Parameter.text("describe", "Explain one method.", bytes: 1...64).optional()
        return Command(
            "rpc",
            line: CommandLineForm(
                "rpc", ["method", "arguments"],
                examples: ["rpc message.send channel=general text=hello", "rpc --list"], flow: .rpc),
            "Call a method of the control socket.",
            parameters: [method, arguments, params, list, describe], result: "the method's answer",
            effect: .signs, scope: .node, example: ["method": "node.version"], needs: .nothing)
    }()

    private static let rpcHello = {
        let client = Parameter.text("client", "Your program, such as 'bot 1.2'.", bytes: 1...64)
        let api = Parameter.integer("api", "The major API version that it knows.", 1...1_000)
            .optional()
        return Command(
            "rpc.hello", "Name your program, and get the version.",
            parameters: [client, api], result: "version", effect: .reads, scope: .node,
            whileLocked: .answers, needsStore: false, failures: [.versionMismatch],
            example: ["client": "bot 1.2", "api": 1], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                if let major = call[api], major != Release.apiMajor {
                    throw NodeError(
                        .versionMismatch,
                        "the daemon speaks version \(Release.apiMajor) of the interface",
                        hint: "wsx-node version", reason: "control.version",
                        details: ["api": Release.api])
                }
                return .reply(Release.json)
            })
    }()

    private static let rpcDiscover = Command(
        "rpc.discover", "Describe every method as an OpenRPC document.",
        result: "an OpenRPC document", effect: .reads, scope: .node, whileLocked: .answers,
        needsStore: false, needs: .daemon,
        run: .outcome { (_) throws(NodeError) in .reply(Manual.openRPC) })

    /// All of them fit into one answer.
    private static let methodLimit = limit.defaulting(to: 1_000)

    private static let rpcMethods = Command(
        "rpc.methods", "List every method and what it does.",
        parameters: [methodLimit, cursor], result: "list of {name, summary}", effect: .reads,
        scope: .node, whileLocked: .answers, needsStore: false, needs: .daemon,
        run: .outcome { (call) throws(NodeError) in
            let asked = PageRequest(
                limit: Int(clamping: call[methodLimit]), cursor: call[cursor])
            let (part, end) = try PageEnd.part(of: methods.count, asked)
            let items = methods[part].map { command -> JSONValue in
                ["name": .string(command.name), "summary": .string(command.summary)]
            }
            return .reply(["items": .array(items), "next": JSONValue(orNull: end.text)])
        })
}
