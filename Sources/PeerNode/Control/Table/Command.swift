public import WorkspaceModel

/// A command of a person or a script.
///
/// `Command.all` is the only list of commands. The command line, the control socket, help,
/// `OPERATIONS.md` and `rpc.discover` are generated from it, so a command that is not in it does
/// not exist.
public struct Command: Sendable {
    /// The method on the socket, such as `message.send`; for what only the command line has,
    /// a name nobody can call.
    public let name: String
    /// Its words on the command line; `nil` if it has no form there.
    public let line: CommandLineForm?
    /// What it does, in one sentence that starts with a verb.
    public let summary: String
    /// Its parameters in the order of help, including those that all commands take.
    public let parameters: [ParameterDefinition]
    /// What the answer is: the name of an object, or a list of them.
    public let result: String
    /// The same as a shape, for the code that displays it.
    public let shape: Shape
    /// What people are told about an empty list.
    public let emptiness: String?
    /// The effect of a call without those parameters that make it write; `effect(of:)` gives that
    /// of a specific call.
    public let effect: Effect
    /// Its subject.
    public let scope: Scope
    /// Whether it works on a locked node.
    public let whileLocked: WhileLocked
    /// Whether it needs the store. Other commands work even if the store cannot be read.
    public let needsStore: Bool
    /// The failures that a caller should be ready for, besides those that every call can have.
    public let failures: [NodeError.Kind]
    /// Arguments that pass its checks. Help shows them, tests call it with them.
    public let example: JSONValue
    /// What must be there before it can run.
    public let needs: Needs
    /// What the node does; `nil` where the command line does all of it.
    let run: Run?

    /// The body of a command inside the node. It returns at once, with the answer or a promise.
    struct Run: Sendable {
        let outcome: @Sendable (CommandCall) throws(NodeError) -> CommandOutcome

        /// A body that says itself how the call ends.
        static func outcome(
            _ body: @escaping @Sendable (CommandCall) throws(NodeError) -> CommandOutcome
        ) -> Run { Run(outcome: body) }

        /// A body that always has its answer at once.
        static func answer<Object: ControlObject>(
            _ body: @escaping @Sendable (CommandCall) throws(NodeError) -> Object
        ) -> Run {
            Run(outcome: { (call) throws(NodeError) in .reply(try body(call)) })
        }
    }

    /// What must be there before a command can run.
    public enum Needs: Sendable {
        /// Nothing: the command line alone does it.
        case nothing
        /// A daemon, which may be locked or have no identity.
        case daemon
        /// A daemon with an open identity.
        case identity
    }

    init(
        _ name: String, line: CommandLineForm? = nil, _ summary: String,
        parameters: [any ListedParameter] = [], result: String, shape: Shape = .fields,
        emptiness: String? = nil, effect: Effect, scope: Scope,
        whileLocked: WhileLocked = .refused, needsStore: Bool = true,
        failures: [NodeError.Kind] = [], example: JSONValue = [:], needs: Needs = .identity,
        run: Run? = nil
    ) {
        self.name = name
        self.line = line
        self.summary = summary
        let parameters = parameters.map(\.definition)
        let namesWorkspace = run == nil || parameters.contains { $0.name == "workspace" }
        self.parameters = parameters + (namesWorkspace ? [] : [Self.workspace.definition])
        self.result = result
        self.shape = shape
        self.emptiness = emptiness
        self.effect = effect
        self.scope = scope
        self.whileLocked = whileLocked
        self.needsStore = needsStore
        let namesPeople = parameters.contains { $0.namesPeople }
        self.failures =
            failures + (namesPeople && !failures.contains(.unknownUser) ? [.unknownUser] : [])
        self.example = example
        self.needs = needs
        self.run = run
    }

    /// The parameters that are sent over the socket.
    public var remoteParameters: [ParameterDefinition] { parameters.filter { !$0.isLocal } }

    /// Whether it can be called on the socket.
    public var isMethod: Bool { run != nil }

    /// Checks arguments without running, as the command line does before it connects.
    public func check(_ given: JSONObject) throws(NodeError) {
        _ = try Arguments(checking: given, against: parameters, of: name)
    }

    /// Checks every argument, then runs. Socket and gateways end here.
    ///
    /// - Parameter context: the node and what is known about this call.
    public func call(_ context: CommandContext, _ given: JSONObject) throws(NodeError)
        -> CommandOutcome
    {
        guard let run else { throw .unknownCommand(name, similar: nil) }
        let arguments = try Arguments(checking: given, against: remoteParameters, of: name)
        let call = CommandCall(context: context, method: name, arguments: arguments)
        do throws(NodeError) { return try run.outcome(call) } catch {
            guard error.kind == .notFound || error.kind == .unknownUser,
                given[Self.workspace.definition.name] == nil,
                let other = try context.node.workspaces.workspaces(having: arguments.named).first
            else { throw error }
            var pointing = error
            let flag = "--workspace \(NodeError.shellWord(other))"
            pointing.hint =
                error.kind == .unknownUser
                ? "someone with that name is in another workspace: add \(flag)"
                : "it is in another workspace: \(flag)"
            throw pointing
        }
    }
}

extension Command {
    /// The workspace in which to act, which every method takes.
    static let workspace = Parameter.workspace(
        "workspace", "The workspace to act in: a name or an id. Without it, the selected one."
    ).optional().global()

    /// The key under which a repeated call is recognised, which every creating method takes.
    static let key = Parameter.text(
        "key", "A call repeated with the same key gets the first answer, for at least 7 days.",
        bytes: 1...Limits.idempotencyKeyBytesMax
    ).optional()

    /// How many things a list gives at a time.
    static let limit = Parameter.integer("limit", "At most this many items.", 1...1_000)
        .defaulting(to: 100).short("n")

    /// Where a list continues.
    static let cursor = Parameter.text(
        "cursor", "Where to continue: the `next` of the previous page.", bytes: 1...256
    ).optional()
}
