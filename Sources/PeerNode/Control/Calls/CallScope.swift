public import WorkspaceModel

/// The call that an answer belongs to: a connection and a request number on it.
public struct CallID: Hashable, Sendable {
    /// The connection, numbered by the code that accepts it; a process never reuses a number.
    public let connection: UInt64
    /// The request on that connection, from 1 in the order of arrival.
    public let number: UInt64

    /// The name of a call.
    public init(connection: UInt64, number: UInt64) {
        self.connection = connection
        self.number = number
    }
}

/// What a call states besides its own parameters.
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

    /// Whether it is told by its id, which only one workspace has.
    var isExact: Bool {
        switch self {
        case .id, .channel(.id), .channel(.direct(.id)), .member(.id): true
        case .channel, .member: false
        }
    }
}

/// The idempotency key of a creating call, with what must be equal when the call is repeated.
public struct RepeatKey: Hashable, Sendable {
    /// The caller's word, 1 to `Limits.idempotencyKeyBytesMax` bytes.
    public let word: String
    /// The method. The same word under another method is another key.
    public let method: String
    /// All parameters but the key, as compact JSON in the order in which the table lists them; behind
    /// them, the text that came behind the line.
    public let parameters: [UInt8]
}

/// The outcome of a command, as far as it is known at once.
public enum CommandOutcome: Sendable {
    /// With this answer, to be written after the turn's COMMIT.
    case reply(JSONValue)
    /// The node answers later, under the call's `CallID`.
    case later

    /// With the form of an object.
    static func reply(_ object: some ControlObject) -> Self { .reply(object.json) }
}

/// An object that a call created or changed.
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
