public import WorkspaceModel

/// All texts about the commands, generated from their table.
public enum Manual {
    /// The answer of `rpc.discover`: an OpenRPC 1.2.6 document.
    public static var openRPC: JSONValue {
        [
            "openrpc": "1.2.6",
            "info": [
                "title": "wsx-node", "version": .string(Release.version), "x-api": Release.api,
            ],
            "methods": .array(Command.methods.map(method)),
        ]
    }

    private static func method(_ command: Command) -> JSONValue {
        [
            "name": .string(command.name), "summary": .string(command.summary),
            "paramStructure": "by-name",
            "params": .array(command.remoteParameters.map(parameter)),
            "result": ["name": .string(command.result), "schema": ["type": "object"]],
            "errors": .array(command.failures.map(error)),
            "examples": [.object(["name": "example", "params": command.example])],
            "x-cli": JSONValue(orNull: command.line.map { _ in command.usage }),
            "x-effect": .string(command.effect.words),
            "x-scope": .string(command.scope.rawValue),
            "x-while-locked": .bool(command.whileLocked == .answers),
        ]
    }

    private static func parameter(_ parameter: ParameterDefinition) -> JSONValue {
        [
            "name": .string(parameter.name), "summary": .string(parameter.summary),
            "required": .bool(parameter.isRequired), "schema": parameter.shape.schema,
        ]
    }

    private static func error(_ kind: NodeError.Kind) -> JSONValue {
        [
            "code": .integer(Int64(kind.code)), "message": .string(kind.rawValue),
            "data": ["kind": .string(kind.rawValue), "retry": .bool(kind.isRetryable)],
        ]
    }
}

extension Manual {
    /// The text of `docs/OPERATIONS.md`.
    public static var operations: String {
        var text = """
            # Operations

            This file is generated from the table of commands; a test fails when it is out of date.

            Every method takes named parameters, answers with an object, and also takes
            `workspace`: \(Command.workspace.definition.summary)

            An answer of a method that signs has `"changed": false` if there was nothing to change.

            Where a method takes milliseconds since 1970, the command line also takes other forms: \
            \(Manual.times(ahead: false)). For a time in the future, `2h` is from now, and `14:03`
            the next one.


            """
        for group in Command.groups {
            text += "## \(group.title.prefix(1).uppercased() + group.title.dropFirst())\n\n"
            for command in group.commands { text += section(command) + "\n" }
        }
        return text + errors
    }

    /// The section of one command.
    public static func description(of command: Command) -> String { section(command) }

    private static func section(_ command: Command) -> String {
        var text = "### `\(command.name)`\n\n\(command.summary)\n\n"
        if command.line != nil { text += "    wsx-node \(command.usage)\n\n" }
        for parameter in command.parameters where !parameter.isGlobal {
            text += "- `\(parameter.name)`\(remark(parameter)): \(parameter.summary) "
            text += "Takes \(parameter.shape.words).\n"
        }
        text += "- answers: \(command.result)\n"
        if command.isMethod { text += "- effect: \(effect(of: command))\n" }
        if command.isMethod { text += "- example: `\(command.example.text)`\n" }
        if !command.failures.isEmpty {
            let kinds = command.failures.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            text += "- fails with: \(kinds)\n"
        }
        return text
    }

    private static func effect(of command: Command) -> String {
        var text = command.effect.words
        for parameter in command.parameters {
            guard let heavier = parameter.heavier else { continue }
            let values = heavier.values.map { " `\($0.text)`" }.joined(separator: ",")
            text += ", with `\(parameter.name)`\(values) \(heavier.effect.words)"
        }
        text += command.scope == .node ? "; this node" : "; one \(command.scope.rawValue)"
        return command.whileLocked == .answers ? text + "; answers while locked" : text
    }

    private static func remark(_ parameter: ParameterDefinition) -> String {
        if parameter.isLocal { return " (command line only)" }
        if parameter.isRequired { return "" }
        return parameter.defaultText.map { " (default \($0))" } ?? " (optional)"
    }

    private static var errors: String {
        var text = """
            ## Errors

            | kind | code | exit | HTTP | retry | seed |
            | --- | ---: | ---: | ---: | --- | --- |

            """
        for kind in NodeError.Kind.allCases {
            let retry = kind.isRetryable ? "yes" : "no"
            text += "| `\(kind.rawValue)` | \(kind.code) | \(kind.exitStatus) "
            text += "| \(kind.httpStatus) | \(retry) | \(kind.seed ?? "") |\n"
        }
        return text
    }
}
