public import WorkspaceModel

/// A message.
public struct MessageObject: ControlObject {
    /// `m_…`.
    public var id: String
    /// `w_…`.
    public var workspace: String
    /// `c_…`.
    public var channel: String
    /// Who wrote it.
    public var author: PersonObject
    /// When it was written, milliseconds since 1970, as its author's clock said.
    public var at: Int64
    /// Whether that clock was wrong for sure.
    public var isTimeDoubtful = false
    /// The text; `nil` when deleted.
    public var text: String?
    /// `text` or `code`.
    public var format = "text"
    /// The message that it answers, `m_…`.
    public var thread: String?
    /// How many answers it has.
    public var replies: Int64 = 0
    /// When it was last changed, milliseconds since 1970.
    public var editedAt: Int64?
    /// The operation whose text it shows, `o_…`: what an edit may name as its `base`.
    public var version: String?
    /// When and by whom it was deleted.
    public var deleted: (at: Int64, by: PersonObject)?
    /// Signs under it: emoji, how many, whether the caller's is among them.
    public var reactions: [Reaction] = []
    /// Its files.
    public var attachments: [AttachmentObject] = []
    /// Files that were to go with it and did not: only of the call that sent it.
    public var refused: [RefusedFileObject] = []
    /// The place that it points to.
    public var location: MessageLocation?
    /// Ids of the members it mentions, `u_…`.
    public var mentions: [String] = []
    /// Whether it mentions everybody in the channel.
    public var mentionsChannel = false
    /// Whether it is pinned.
    public var isPinned = false
    /// When the caller starred it, milliseconds since 1970; `nil` where they did not.
    public var starredAt: Int64?
    /// Whether the caller wrote it.
    public var isSelf = false
    /// Whether a program wrote it for somebody.
    public var isBot = false
    /// `local`, `held_by_others` or `refused`.
    public var state = "local"
    /// How many devices are known to hold it.
    public var holders: Int64 = 1

    /// A sign under a message: how many left it, and whether the caller is among them.
    public typealias Reaction = (emoji: String, count: Int64, isSelf: Bool)

    /// Bytes that its form takes at most.
    var bytesMax: Int {
        let signs = reactions.reduce(0) { $0 + 64 + AnswerRoom.bytes(of: $1.emoji) }
        let place = location.map { 256 + AnswerRoom.bytes(of: $0.label ?? "") } ?? 0
        let files = attachments.reduce(0) { $0 + 384 + AnswerRoom.bytes(of: $1.name) }
        let words = AnswerRoom.bytes(of: text ?? "") + 40 * mentions.count
        return 4_096 + files + words + signs + place
    }

    /// All fields; `doubtful_time` is there only where it is true, `starred_at` only where the caller
    /// has starred the message, and `refused` only where a file was left out.
    public var json: JSONValue {
        var fields: JSONObject = [
            "id": .string(id), "workspace": .string(workspace), "channel": .string(channel),
            "author": author.json, "at": .integer(at), "text": JSONValue(orNull: text),
            "format": .string(format), "thread": JSONValue(orNull: thread),
            "replies": .integer(replies), "edited_at": JSONValue(orNull: editedAt),
            "deleted": deleted.map { ["at": .integer($0.at), "by": $0.by.json] } ?? .null,
            "reactions": .array(reactions.map(reactionJSON)),
            "attachments": .array(attachments.map(\.json)),
            "location": location.map(locationJSON) ?? .null,
            "mentions": JSONValue(texts: mentions),
            "mentions_channel": .bool(mentionsChannel), "pinned": .bool(isPinned),
            "self": .bool(isSelf), "bot": .bool(isBot), "state": .string(state),
            "holders": .integer(holders), "version": JSONValue(orNull: version),
        ]
        if isTimeDoubtful { fields.append("doubtful_time", true) }
        if let starredAt { fields.append("starred_at", .integer(starredAt)) }
        if !refused.isEmpty { fields.append("refused", .array(refused.map(\.json))) }
        return .object(fields)
    }
}

private func locationJSON(_ location: MessageLocation) -> JSONValue {
    [
        "lat": degreesJSON(location.latitude), "lon": degreesJSON(location.longitude),
        "accuracy": JSONValue(orNull: location.accuracy.map(Int64.init(clamping:))),
        "label": JSONValue(orNull: location.label),
    ]
}

/// Whole degrees are integers, as everywhere in JSON.
private func degreesJSON(_ units: Int64) -> JSONValue {
    let text = MessageLocation.degrees(units)
    return Int64(text).map(JSONValue.integer) ?? .decimal(text)
}

private func reactionJSON(_ reaction: MessageObject.Reaction) -> JSONValue {
    [
        "emoji": .string(reaction.emoji), "count": .integer(reaction.count),
        "self": .bool(reaction.isSelf),
    ]
}

/// Part of a channel's past, oldest first.
public struct HistoryPage: ControlObject {
    /// Oldest first.
    public let items: [MessageObject]
    /// Goes on in the direction that was asked, or `nil` at the end.
    public let next: String?
    /// To be given as `before`, `nil` at the beginning of the channel.
    public let older: String?
    /// To be given as `after`, `nil` at the newest message.
    public let newer: String?

    /// One page.
    public init(_ items: [MessageObject], next: String?, older: String?, newer: String?) {
        self.items = items
        self.next = next
        self.older = older
        self.newer = newer
    }

    /// All fields.
    public var json: JSONValue {
        [
            "items": .array(items.map(\.json)), "next": JSONValue(orNull: next),
            "older": JSONValue(orNull: older), "newer": JSONValue(orNull: newer),
        ]
    }
}
