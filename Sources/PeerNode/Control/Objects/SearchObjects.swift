public import WorkspaceModel

/// A search result.
public struct SearchHit: ControlObject {
    /// What it is, with the thing itself.
    public enum Item: Sendable {
        /// A message.
        case message(MessageObject)
        /// A channel.
        case channel(ChannelObject)
        /// Somebody.
        case member(MemberObject)
        /// A note, with what of its text is shown.
        case note(NoteObject, NoteExcerpt)
    }

    /// A part of the text of a note, around the first place that says what was looked for.
    public struct NoteExcerpt: Sendable, Equatable {
        /// Unicode scalars of the text before it.
        public let start: Int64
        /// What it says; empty where only the title says it.
        public let text: String
        /// Bytes of the title and the whole text.
        let byteCount: Int
    }

    /// Where it says what was looked for.
    public struct Match: Sendable, Equatable {
        /// Which field of the object: `text`, `name`, `topic`, `description`, `title`; of a person `email`;
        /// `attachments` are the names of a message's files, one a line.
        /// Places of `text` are those of the whole text of a note.
        public let field: String
        /// Unicode scalars before it.
        public let start: Int64
        /// Unicode scalars of it.
        public let length: Int64

        /// A place of a field, in Unicode scalars.
        public init(_ field: String, _ range: Range<Int>) {
            self.field = field
            start = Int64(range.lowerBound)
            length = Int64(range.count)
        }
    }

    /// What was found.
    public let item: Item
    /// Ascending in each field.
    public let matches: [Match]

    /// A result.
    public init(_ item: Item, matches: [Match]) {
        self.item = item
        self.matches = matches
    }

    /// All fields; the item itself is under its kind.
    public var json: JSONValue {
        let matches = JSONValue.array(
            self.matches.map {
                [
                    "field": .string($0.field), "start": .integer($0.start),
                    "length": .integer($0.length),
                ]
            })
        switch item {
        case .message(let message):
            return [
                "kind": "message", "id": .string(message.id),
                "channel": .string(message.channel), "at": .integer(message.at),
                "matches": matches, "message": message.json,
            ]
        case .channel(let channel):
            return [
                "kind": "channel", "id": .string(channel.id), "at": .integer(channel.createdAt),
                "matches": matches, "channel": channel.json,
            ]
        case .member(let member):
            return [
                "kind": "member", "id": .string(member.id), "channel": .null,
                "at": .integer(member.joinedAt), "matches": matches, "member": member.json,
            ]
        case .note(let note, let excerpt):
            return [
                "kind": "note", "id": .string(note.id), "channel": .string(note.channel),
                "at": .integer(note.createdAt), "matches": matches,
                "excerpt": ["start": .integer(excerpt.start), "text": .string(excerpt.text)],
                "note": note.json,
            ]
        }
    }
}

/// A page of search results.
public struct SearchPage: ControlObject {
    /// Channels and members first, then messages and notes, those made last first.
    public let items: [SearchHit]
    /// Where the next page starts, `nil` after the last.
    public let next: String?
    /// Whether everything was looked through: not so while much is being indexed.
    public let isComplete: Bool

    /// One page.
    public init(_ items: [SearchHit], next: String?, isComplete: Bool) {
        self.items = items
        self.next = next
        self.isComplete = isComplete
    }

    /// All fields.
    public var json: JSONValue {
        [
            "items": .array(items.map(\.json)), "next": JSONValue(orNull: next),
            "complete": .bool(isComplete),
        ]
    }
}

/// What to search for, and where.
public struct SearchRequest: Sendable {
    /// As it was typed. Comes from outside.
    public let query: String
    /// `message`, `note`, `channel`, `member`; empty for all that fit the rest.
    public let kinds: [String]
    /// Only in these; empty for everywhere.
    public let channels: [ChannelReference]
    /// Only what somebody wrote.
    public let author: MemberReference?
    /// Only what was written at this time or later, milliseconds since 1970.
    public let after: Int64?
    /// Only what was written at this time or earlier.
    public let before: Int64?
    /// Only what has one: `link`, `file`.
    public let has: String?
    /// Whether the best come first instead of the newest.
    public let isRanked: Bool
    /// The maximum number.
    public let limit: Int
    /// `next` of the page before. Comes from outside.
    public let cursor: String?

    /// Whether it asks for something that only messages and notes have.
    var isAboutMessages: Bool {
        !channels.isEmpty || author != nil || after != nil || before != nil || has != nil
    }
}
