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
        CallScope(call: call, workspace: given[Command.workspace], key: nil)
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
            })
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

/// Anything that has a form on the socket (section 4.9).
public protocol ControlObject: Sendable {
    /// All fields, the absent ones as `null`.
    var json: JSONValue { get }
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

/// Which part of a list is wanted.
public struct PageRequest: Sendable {
    /// At most so many items.
    public let limit: Int
    /// `next` of the page before, or `nil` for the first. Comes from outside.
    public let cursor: String?

    init(_ given: Arguments) {
        limit = Int(clamping: given[Command.limit])
        cursor = given[Command.cursor]
    }
}

/// Part of a list.
public struct Page<Item: ControlObject>: ControlObject {
    /// In the order of the list.
    public let items: [Item]
    /// Where the next page starts, `nil` after the last.
    public let next: String?

    /// One page.
    public init(_ items: [Item], next: String? = nil) {
        self.items = items
        self.next = next
    }

    /// `{"items":[…],"next":…}`.
    public var json: JSONValue {
        ["items": .array(items.map(\.json)), "next": JSONValue(orNull: next)]
    }
}
