public import WorkspaceModel

/// A channel or direct conversation.
public struct ChannelObject: ControlObject {
    /// `c_…`.
    public var id: String
    /// `w_…`.
    public var workspace: String
    /// Without `#`; of a conversation, the other people's names, or `me`.
    public var name: String
    /// `channel`, `dm` or `self`.
    public var kind = "channel"
    /// Whether only those who were added see it.
    public var isPrivate = false
    /// Whether everybody is in it.
    public var isDefault = false
    /// How it is set up.
    public var settings = Settings()
    /// How many people are in it.
    public var members: Int64 = 0
    /// Who takes part; direct conversations only.
    public var people: [PersonObject]?
    /// Whether the caller is in it.
    public var isJoined = false
    /// What the caller has read of it, and wants to hear of it.
    public var reading = Reading()
    /// The newest message that was not deleted.
    public var last: PreviewObject?
    /// Milliseconds since 1970.
    public var createdAt: Int64
    /// Whether another channel's name looks like its own; `twin` is there only then.
    public var isTwin = false
    /// Whether it was deleted; only in events about it.
    public var isDeleted = false

    /// How a channel is set up, and by whom. A deleted one is told of with it.
    public struct Settings: Sendable {
        /// What it is for.
        public var description: String?
        /// What it is about now.
        public var topic: String?
        /// Its picture: `preset:7`, or a blob, `b_…`.
        public var image: String?
        /// How many devices are to keep each of its files; 0 asks none to.
        public var copies: Int64 = 0
        /// Who owns it.
        public var owner: PersonObject?
        /// Who may change its texts besides.
        public var admins: [PersonObject] = []
        /// Whether it is closed for writing.
        public var isArchived = false
        /// What those who come later see: `all` or `from-join`.
        public var history = "all"

        /// Nobody's, with no texts.
        public init() {}
    }

    /// What somebody has read of a channel, and wants to hear of it.
    public struct Reading: Sendable {
        /// Messages that are not read.
        public var unread: Int64 = 0
        /// Those of them that mention the reader.
        public var mentions: Int64 = 0
        /// Whether the reader wants no notice of it now.
        public var isMuted = false
        /// Until when, milliseconds since 1970; `nil` also if it is muted permanently.
        public var mutedUntil: Int64?
        /// Of which messages the reader wants notice: `all`, `mentions` or `none`.
        public var notify = "all"

        /// All is read, and all is told.
        public init() {}
    }

    /// All fields, and `twin` and `deleted` where they are true.
    public var json: JSONValue {
        var fields: JSONObject = [
            "id": .string(id), "workspace": .string(workspace), "name": .string(name),
            "kind": .string(kind), "private": .bool(isPrivate), "default": .bool(isDefault),
            "description": JSONValue(orNull: settings.description),
            "topic": JSONValue(orNull: settings.topic),
            "owner": settings.owner?.json ?? .null,
            "admins": .array(settings.admins.map(\.json)),
            "members": .integer(members),
            "people": people.map { .array($0.map(\.json)) } ?? .null, "joined": .bool(isJoined),
            "archived": .bool(settings.isArchived), "history": .string(settings.history),
            "unread": .integer(reading.unread), "mentions": .integer(reading.mentions),
            "muted": .bool(reading.isMuted),
            "muted_until": JSONValue(orNull: reading.mutedUntil),
            "notify": .string(reading.notify), "last": last?.json ?? .null,
            "created_at": .integer(createdAt), "image": JSONValue(orNull: settings.image),
            "copies": .integer(settings.copies),
        ]
        if isTwin { fields.append("twin", true) }
        if isDeleted { fields.append("deleted", true) }
        return .object(fields)
    }
}

/// A preview of the newest message of a channel.
public struct PreviewObject: ControlObject {
    /// `m_…`.
    public let id: String
    /// Who wrote it.
    public let author: PersonObject
    /// Milliseconds since 1970.
    public let at: Int64
    /// The shortened text; `nil` when deleted.
    public let text: String?

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "author": author.json, "at": .integer(at),
            "text": JSONValue(orNull: text),
        ]
    }
}
