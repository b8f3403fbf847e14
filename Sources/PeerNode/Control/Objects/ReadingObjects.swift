public import WorkspaceModel

/// What the caller has read of a conversation.
public struct ReadingObject: ControlObject {
    /// The conversation, `c_…`.
    public let id: String
    /// What it is called.
    public let name: String
    /// Messages of others that were not read; of very many the newest are counted.
    public var unread: Int64 = 0
    /// Those of them that mention the caller.
    public var mentions: Int64 = 0
    /// Up to which message was read, `m_…`; `nil` where nothing was said.
    public var message: String?
    /// The newest message; where something was not read, the newest of that.
    public var last: PreviewObject?
    /// The oldest message that was not read, `m_…`.
    public var first: String?

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "unread": .integer(unread),
            "mentions": .integer(mentions), "message": JSONValue(orNull: message),
            "last": last?.json ?? .null, "first": JSONValue(orNull: first),
        ]
    }
}

/// A setting that the devices of one person share.
public struct PreferenceObject: ControlObject {
    /// What it is called; also its `id`.
    public let name: String
    /// What it is set to, `nil` where it is not.
    public let value: String?

    /// All fields.
    public var json: JSONValue {
        ["id": .string(name), "setting": .string(name), "value": JSONValue(orNull: value)]
    }
}
