public import WorkspaceModel

/// An event.
public struct EventObject: ControlObject {
    /// Its place in the table; grows by at least one.
    public var sequence: Int64
    /// Where to continue after it, `e1.4711`.
    public var cursor: String
    /// Milliseconds since 1970.
    public var at: Int64
    /// Such as `message.created`.
    public var type: String
    /// `w_…`, or `nil` for the node itself.
    public var workspace: String?
    /// Whether it came with a first sync, so that bots keep silent about it.
    public var isBackfill = false
    /// The object that it is about: `Events.data` says which.
    public var data: JSONValue
    /// The encoded `json`, once it was needed; nothing is changed from then on.
    private(set) var line: [UInt8]?

    /// All fields.
    public var json: JSONValue {
        [
            "seq": .integer(sequence), "cursor": .string(cursor), "at": .integer(at),
            "type": .string(type), "workspace": JSONValue(orNull: workspace),
            "backfill": .bool(isBackfill), "data": data,
        ]
    }

    /// Encodes it once for all receivers, to count and to send its bytes.
    ///
    /// - Returns: the number of bytes of `json`.
    mutating func encode() -> Int {
        let line = json.bytes
        self.line = line
        return line.count
    }
}

/// A stream that was opened.
public struct SubscriptionObject: ControlObject {
    /// Its number on the connection, from 1.
    public let id: Int64
    /// Where it starts.
    public let cursor: String

    /// Both fields.
    public var json: JSONValue { ["subscription": .integer(id), "cursor": .string(cursor)] }
}

/// A named reader of events and its position.
public struct ReaderObject: ControlObject {
    /// The name it gave itself.
    public let name: String
    /// The last position it acknowledged.
    public let cursor: String
    /// When, milliseconds since 1970.
    public let at: Int64

    /// All fields; the name is the id.
    public var json: JSONValue {
        [
            "id": .string(name), "name": .string(name), "cursor": .string(cursor),
            "at": .integer(at),
        ]
    }
}
