public import WorkspaceModel

/// Which call an answer belongs to: a connection of the owner of the loop, and a count on it.
public struct CallID: Hashable, Sendable {
    /// The connection, numbered by whoever accepts connections; never used twice by one process.
    public let connection: UInt64
    /// The request on that connection, from 1 in the order of arrival.
    public let number: UInt64

    /// The name of a call.
    public init(connection: UInt64, number: UInt64) {
        self.connection = connection
        self.number = number
    }
}

/// What a call says besides its own parameters.
public struct CallScope: Sendable {
    /// Under which a later answer is given.
    public let call: CallID
    /// The workspace that was named; `nil` means the selected one.
    public let workspace: WorkspaceReference?
    /// Under which a repetition is recognised, or `nil`.
    public let key: RepeatKey?
    /// The things that the call names. Where no workspace was named, and all of them are ids, they say
    /// which is meant; a name means what is called so in the selected one, or nothing.
    var named: [NamedThing] = []
}

/// Something in a workspace, as a call names it.
public enum NamedThing: Hashable, Sendable {
    /// A channel or conversation.
    case channel(ChannelReference)
    /// A person.
    case member(MemberReference)
    /// The id of a message, an invite or a request, `m_…`, `i_…`, `r_…`.
    case id(String)

    /// What a value of this shape names, or `nil` where it names nothing.
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

    /// Whether it is told by its id, which only one workspace has.
    var isExact: Bool {
        switch self {
        case .id, .channel(.id), .channel(.direct(.id)), .member(.id): true
        case .channel, .member: false
        }
    }

    /// What stands for whatever `why` explains.
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

/// The key of a creating call, with what must be equal when it comes again.
public struct RepeatKey: Hashable, Sendable {
    /// The caller's word, 1 to `Limits.idempotencyKeyBytesMax` bytes.
    public let word: String
    /// The method. The same word under another method is another key.
    public let method: String
    /// All parameters but the key, as compact JSON in the order in which the table lists them.
    public let parameters: [UInt8]
}

/// What a command has at hand while it runs.
public struct CommandContext {
    /// What does it.
    public let node: any NodeCommands
    /// Which call it is.
    public let call: CallID

    /// The surroundings of one call.
    public init(node: any NodeCommands, call: CallID) {
        self.node = node
        self.call = call
    }

    func scope(_ given: Arguments) -> CallScope {
        CallScope(
            call: call, workspace: given[Command.workspace], key: nil, named: given.named)
    }

    /// The scope of a call that creates something.
    ///
    /// - Parameter command: the creating method, whose parameters give the order.
    func scope(creating command: String, _ given: Arguments) -> CallScope {
        CallScope(
            call: call, workspace: given[Command.workspace],
            key: given[Command.key].map { word in
                let members = given.given.members.filter { $0.key != "key" }
                    .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                return RepeatKey(
                    word: word, method: command,
                    parameters: JSONValue.object(JSONObject(uniqueMembers: members)).bytes)
            }, named: given.named)
    }
}

/// How a command ends, as far as it can say at once.
public enum CommandOutcome: Sendable {
    /// With this answer, to be written after the turn's COMMIT.
    case reply(JSONValue)
    /// The node answers later, under the call's `CallID`.
    case later

    /// With the form of an object.
    static func reply(_ object: some ControlObject) -> Self { .reply(object.json) }
}

/// An object that a call made or changed.
public struct Made<Object: ControlObject>: ControlObject {
    /// As it is now.
    public let object: Object
    /// Whether the call was a repetition, recognised by its key.
    public let isReplayed: Bool

    /// The answer to a call that makes something.
    public init(_ object: Object, isReplayed: Bool = false) {
        self.object = object
        self.isReplayed = isReplayed
    }

    /// The object's fields, and `replayed` only where it is true.
    public var json: JSONValue {
        guard isReplayed, var fields = object.json.objectValue else { return object.json }
        fields.append("replayed", true)
        return .object(fields)
    }
}

extension PageRequest {
    init(_ given: Arguments) {
        self.init(limit: Int(clamping: given[Command.limit]), cursor: given[Command.cursor])
    }
}
