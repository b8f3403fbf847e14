import PeerNode
import WorkspaceModel

/// `name=value` and `name:=JSON`, the arguments of `rpc`.
enum RawArgument {
    /// Adds one argument. A repeated name makes a list.
    ///
    /// - Parameter command: determines the type of the value; without one it is text.
    static func add(_ word: String, to parameters: inout JSONObject, of command: Command?)
        throws(NodeError)
    {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex
        else {
            throw .usage(
                "\(NodeError.quoted(word)) is not an argument",
                hint: "write name=value or name:=JSON")
        }
        var name = String(word[..<equals])
        let text = String(word[word.utf8.index(after: equals)...])
        let isJSON = name.utf8.last == UInt8(ascii: ":")
        if isJSON { name.removeLast() }
        let parameter = command?.remoteParameters.first { $0.name == name }
        let value = isJSON ? try json(text, name) : try typed(text, name, parameter)
        if isJSON, parameters[name] == nil {
            parameters[name] = value
        } else if case .list = parameter?.shape {
            parameters[name] = .array((parameters[name]?.arrayValue ?? []) + [value])
        } else if let first = parameters[name] {
            parameters[name] = .array((first.arrayValue ?? [first]) + [value])
        } else {
            parameters[name] = value
        }
    }

    private static func json(_ text: String, _ name: String) throws(NodeError) -> JSONValue {
        do { return try JSONValue(parsing: text) } catch {
            throw .usage(
                "\(NodeError.quoted(name)) is not valid JSON: \(NodeError.badJSON(error).message)")
        }
    }

    private static func typed(_ text: String, _ name: String, _ parameter: ParameterDefinition?)
        throws(NodeError) -> JSONValue
    {
        guard let parameter else { return .string(text) }
        switch parameter.shape {
        case .time, .duration, .byteCount:
            if let exact = ArgumentText.integer(text) { return .integer(exact) }
        default: break
        }
        return try ArgumentText.value(text, parameter, shownAs: NodeError.quoted(name))
    }
}
