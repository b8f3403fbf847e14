import WorkspaceModel

/// What a command can use while it runs.
public struct CommandContext {
    /// What does it.
    public let node: any NodeCommands
    /// Which call it is.
    public let call: CallID
    /// What came right behind its line: a file of at most `Limits.inlineFileBytesMax` bytes, or a
    /// text of at most `Limits.noteTextPerCallBytesMax`.
    public var file: [UInt8]?
}

/// A running call: its checked arguments, and the context.
struct CommandCall {
    let context: CommandContext
    /// The name of the command that was called.
    let method: String
    let arguments: Arguments

    var node: any NodeCommands { context.node }

    /// - Precondition: the command lists `parameter` among its parameters.
    subscript<Value>(parameter: Parameter<Value>) -> Value { arguments[parameter] }

    var scope: CallScope {
        CallScope(
            call: context.call, workspace: self[Command.workspace], key: nil,
            named: arguments.named)
    }

    /// The scope of a call that creates something: it has the key under which a repetition is
    /// recognised.
    var creatingScope: CallScope {
        CallScope(
            call: context.call, workspace: self[Command.workspace],
            key: self[Command.key].map { word in
                let members = arguments.given.members.filter { $0.key != "key" }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                return RepeatKey(
                    word: word, method: method,
                    parameters: JSONValue.object(JSONObject(uniqueMembers: members)).bytes
                        + (context.file ?? []))
            }, named: arguments.named)
    }

    /// The part of a list that is wanted.
    var page: PageRequest {
        PageRequest(limit: Int(clamping: self[Command.limit]), cursor: self[Command.cursor])
    }
}

extension NamedThing {
    /// The object that a value of this shape names, or `nil` where it names nothing.
    init?(_ text: String, as shape: ParameterShape) {
        switch shape {
        case .channel:
            guard let reference = ChannelReference(text) else { return nil }
            self = .channel(reference)
        case .member:
            guard let reference = MemberReference(text) else { return nil }
            self = .member(reference)
        case .identifier("m_"), .identifier("i_"), .identifier("r_"): self = .id(text)
        case .note where isIdentifier(text, prefix: "n_"): self = .id(text)
        default: return nil
        }
    }

    /// The parameters for the subject of `why`.
    init?(subject text: String) {
        if isIdentifier(text, prefix: "m_") {
            self = .id(text)
        } else if isIdentifier(text, prefix: "c_") || text.utf8.first == UInt8(ascii: "#") {
            self.init(text, as: .channel)
        } else {
            self.init(text, as: .member)
        }
    }

    /// All that the arguments of a command name.
    static func all(
        in given: JSONObject, of parameters: [ParameterDefinition]
    ) -> [NamedThing] {
        var named: [NamedThing] = []
        // By their places: a row has many parameters, and a call mostly gives two or three.
        for place in parameters.indices {
            guard let value = given[parameters[place].name] else { continue }
            var shape = parameters[place].shape
            if case .list(let element, _) = shape { shape = element }
            let texts =
                value.stringValue.map { [$0] }
                ?? value.arrayValue?.compactMap(\.stringValue) ?? []
            named +=
                parameters[place].name == "subject"
                ? texts.compactMap(NamedThing.init(subject:))
                : texts.compactMap { NamedThing($0, as: shape) }
        }
        return named
    }
}
