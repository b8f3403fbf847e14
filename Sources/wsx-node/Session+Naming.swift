import PeerNode
import WorkspaceModel

/// People who are called by a part of their name, where that can mean one of them only.
///
/// Whole names come first: only what nobody is called is looked at. Scripts on the socket give names or
/// ids.
extension Session {
    /// Runs a command; where it names somebody by a first name or the beginning of a name, once more with
    /// that person's id.
    func runNamingPeople(_ command: Command) throws(NodeError) -> Int32 {
        do throws(NodeError) { return try runRemotely(command) } catch {
            guard error.kind == .unknownUser, let field = error.fields.first?.name,
                let parameter = command.parameters.first(where: { $0.name == field }),
                let session = try meaningSomebody(in: parameter)
            else { throw error }
            return try session.runRemotely(command)
        }
    }

    /// - Returns: `nil` where nothing of the parameter can be taken for a part of a name.
    private func meaningSomebody(in parameter: ParameterDefinition) throws(NodeError) -> Session? {
        guard let given = scan.values[parameter.name] else { return nil }
        let people = try people()
        var session = self
        if let texts = given.arrayValue {
            var items: [JSONValue] = []
            for item in texts { items.append(try meant(item, people, parameter)) }
            session.scan.values[parameter.name] = .array(items)
        } else {
            session.scan.values[parameter.name] = try meant(given, people, parameter)
        }
        return session.scan.values[parameter.name] == given ? nil : session
    }

    private func meant(
        _ value: JSONValue, _ people: [JSONValue], _ parameter: ParameterDefinition
    ) throws(NodeError) -> JSONValue {
        guard let text = value.stringValue else { return value }
        let sign = text.hasPrefix("@") ? "@" : ""
        let name = String(text.dropFirst(sign.count))
        let names = people.map { $0["name"]?.stringValue ?? "" }
        guard !names.contains(where: { NameFolding.matches($0, name) }) else { return value }
        let found = zip(people, names).filter { PartOfName.is(name, in: $0.1) }.map(\.0)
        guard let only = found.first?["id"]?.stringValue else { return value }
        guard found.count == 1 else {
            throw .ambiguous(text, candidates: found, field: parameter.name)
        }
        return .string(sign + only)
    }

    /// Everybody in the workspace: id and name.
    private func people() throws(NodeError) -> [JSONValue] {
        var client = try client()
        var given: JSONObject = ["limit": 1_000]
        given["workspace"] = workspace.map { .string($0) }
        var found: [JSONValue] = []
        while true {
            let page = try client.call("member.list", given)
            for item in page["items"]?.arrayValue ?? [] {
                found.append(["id": item["id"] ?? .null, "name": item["name"] ?? .null])
            }
            guard let next = page["next"], !next.isNull else { return found }
            given["cursor"] = next
        }
    }
}
