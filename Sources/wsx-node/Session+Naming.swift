import PeerNode
import WorkspaceModel

/// Names people by part of their name, if that is unique, or by a former name.
///
/// Whole names have precedence: partial matches are only tried if nobody has the name. And only if
/// a person sees the result: a script that means one person must not get another later, after the
/// first has left. Before changes of rights it asks.
/// gone. What changes who may do what is asked about.
extension SessionPart {
    /// Runs a command; if it names a person by part of their name, repeats it with the person's
    /// id. Likewise for a former name that the node does not accept by itself, because the
    /// command is not harmless.
    func runNamingPeople(_ command: Command) throws(NodeError) -> Int32 {
        do throws(NodeError) { return try runRemotely(command) } catch {
            guard mayAsk, error.kind == .unknownUser, let field = error.fields.first?.name,
                let parameter = command.parameters.first(where: { $0.name == field })
            else { throw error }
            var session = try meaningSomebody(in: parameter)
            if session == nil { session = try meaningFormer(in: parameter, error) }
            guard let session else { throw error }
            return try session.runRemotely(command)
        }
    }

    /// Shows the person whom a partial name means, and asks before a severe command.
    ///
    /// - Parameter person: the person, `nil` if it is something else.
    func confirm(
        _ typed: String, means name: String, _ person: String?
    ) throws(NodeError) {
        try confirm("\(sanitised(typed)) is \(rendering.fitting(sanitised(name)))", person)
    }

    private func confirm(_ sentence: String, _ person: String?) throws(NodeError) {
        guard let weight = scan.command?.line?.weight, !namesInQuestion,
            !Asking(self).isSurelyFutile(weight, for: person)
        else { return io.tell(sentence + "\n") }
        guard ["y", "yes"].contains(io.ask("\(sentence). Go on? [y/N] ")?.lowercased())
        else { throw .usage("nothing was done") }
    }

    /// Whether a confirmation with the full name follows anyway.
    private var namesInQuestion: Bool {
        guard !globals.yes else { return false }
        return switch scan.command?.line?.question {
        case .transfersWorkspace, .transfersChannel: true
        case .removesMember: scan.values["recut"]?.boolValue != true
        default: false
        }
    }

    /// The same call with the id of the person who had a name that nobody has now.
    ///
    /// - Returns: `nil` if the failure names nobody.
    private func meaningFormer(
        in parameter: ParameterDefinition, _ error: NodeError
    ) throws(NodeError) -> Self? {
        guard let former = error.details["formerly"]?[0], let name = former["name"]?.stringValue,
            let id = former["member"]?["id"]?.stringValue, let given = scan.values[parameter.name]
        else { return nil }
        func meant(_ value: JSONValue) -> JSONValue {
            guard let text = value.stringValue else { return value }
            let sign = text.hasPrefix("@") ? "@" : ""
            let isMeant = NameFolding.matches(String(text.dropFirst(sign.count)), name)
            return isMeant ? .string(sign + id) : value
        }
        var session = self
        session.scan.values[parameter.name] =
            given.arrayValue.map { JSONValue.array($0.map(meant)) } ?? meant(given)
        guard session.scan.values[parameter.name] != given else { return nil }
        try confirm(ControlClient.former(former), id)
        return session
    }

    /// - Returns: `nil` if no part of the parameter is a partial name.
    private func meaningSomebody(in parameter: ParameterDefinition) throws(NodeError) -> Self? {
        guard let given = scan.values[parameter.name] else { return nil }
        let people = try people()
        var session = self
        if let texts = given.arrayValue {
            var items: [JSONValue] = []
            for item in texts { items.append(try meant(item, people, parameter.name)) }
            session.scan.values[parameter.name] = .array(items)
        } else {
            session.scan.values[parameter.name] = try meant(given, people, parameter.name)
        }
        return session.scan.values[parameter.name] == given ? nil : session
    }

    private func meant(
        _ value: JSONValue, _ people: [JSONValue], _ field: String,
        isTold: Bool = true
    ) throws(NodeError) -> JSONValue {
        guard let text = value.stringValue else { return value }
        let sign = text.hasPrefix("@") ? "@" : ""
        let name = String(text.dropFirst(sign.count))
        let names = people.map { $0["name"]?.stringValue ?? "" }
        guard !names.contains(where: { NameFolding.matches($0, name) }) else { return value }
        let found = zip(people, names).filter { PartOfName.is(name, in: $0.1) }.map(\.0)
        guard let only = found.first?["id"]?.stringValue else { return value }
        guard found.count == 1 else {
            throw .ambiguous(text, candidates: found, field: field)
        }
        if isTold { try confirm(text, means: found.first?["name"]?.stringValue ?? "", only) }
        return .string(sign + only)
    }

    /// A person as a call parameter: the id if `name` is part of exactly one person's name.
    ///
    /// - Parameter place: a fixed workspace, whichever is selected by now; `nil` for
    ///   that of this command.
    func personNamed(_ name: String, in place: String?) throws(NodeError) -> String {
        let people = try people(in: place)
        return try meant(.string(name), people, "member", isTold: false).stringValue ?? name
    }

    /// All people in the workspace: id and name.
    private func people(in place: String? = nil) throws(NodeError) -> [JSONValue] {
        var given = JSONObject()
        given["workspace"] = (place ?? workspace).map { .string($0) }
        return try Asking(self).every("member.list", given).map {
            ["id": $0["id"] ?? .null, "name": $0["name"] ?? .null]
        }
    }
}
