public import WorkspaceModel

/// A note.
public struct NoteObject: ControlObject {
    /// `n_…`.
    public let id: String
    /// `w_…`.
    public let workspace: String
    /// `c_…`.
    public let channel: String
    /// What it is called.
    public var title: String
    /// Who made it.
    public let author: PersonObject
    /// When, milliseconds since 1970.
    public let createdAt: Int64
    /// When its text was last changed, as far as its edits came; `nil` where it never was.
    public var editedAt: Int64?
    /// By whom.
    public var editedBy: PersonObject?
    /// Whether it was deleted, and can be restored.
    public var isDeleted = false
    /// Who asks others to wait, `{by, device, at}` or `null`; `nil` where nobody asked for that.
    public var lock: JSONValue?
    /// What its text is; `nil` where only the note was asked for.
    public var content: Content?

    /// The text of a note, and what names it.
    public struct Content: Sendable {
        /// What an edit may name as its `base`, `v_…`.
        public var version: String
        /// The text, or the Markdown that means it; a part of it where it is long.
        public var text: String
        /// Where the next part begins, `nil` for none.
        public var next: String?
        /// Unicode scalars of the whole text.
        public var length: Int64
        /// Whether everything that it is made of is here.
        public var isComplete = true
        /// The others who have it open, with where they are.
        public var participants = JSONValue.array([])
        /// The lines, with how they look; `nil` where nobody asked.
        public var blocks: JSONValue?
        /// Who wrote what; `nil` where nobody asked.
        public var blame: JSONValue?
    }

    /// All fields of the note; those of its text, `blocks` and `blame` only where they were asked for.
    public var json: JSONValue {
        var fields: JSONObject = [
            "id": .string(id), "workspace": .string(workspace), "channel": .string(channel),
            "title": .string(title), "author": author.json, "created_at": .integer(createdAt),
            "edited_at": JSONValue(orNull: editedAt), "edited_by": editedBy?.json ?? .null,
            "deleted": .bool(isDeleted),
        ]
        if let lock { fields.append("lock", lock) }
        guard let content else { return .object(fields) }
        fields.append("version", .string(content.version))
        fields.append("text", .string(content.text))
        fields.append("length", .integer(content.length))
        fields.append("complete", .bool(content.isComplete))
        fields.append("next", JSONValue(orNull: content.next))
        fields.append("participants", content.participants)
        if let blocks = content.blocks { fields.append("blocks", blocks) }
        if let blame = content.blame { fields.append("blame", blame) }
        return .object(fields)
    }
}

/// A change of the text of a note, without the text.
public struct NoteStepObject: ControlObject {
    /// `n_…`.
    public let id: String
    /// The version that was changed, `v_…`.
    public let from: String
    /// What came of it; the same where nothing was left to change.
    public let version: String

    /// All fields.
    public var json: JSONValue {
        ["id": .string(id), "from": .string(from), "version": .string(version)]
    }
}

/// An event in the history of a note.
public struct NoteEventObject: ControlObject {
    /// What somebody can have done.
    public enum Action: String, Sendable {
        case created, renamed, edited, deleted, restored
    }

    /// The operation, `o_…`.
    public let id: String
    /// What was done.
    public let action: Action
    /// Who did it.
    public let by: PersonObject
    /// When, milliseconds since 1970, as their clock said.
    public let at: Int64
    /// Whether it counts: not what was revoked.
    public var isValid = true
    /// What it was called from then on; `nil` for everything else.
    public var title: String?
    /// Unicode scalars that came by it; of an edit.
    public var added: Int64?

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "action": .string(action.rawValue), "by": by.json,
            "at": .integer(at), "valid": .bool(isValid), "title": JSONValue(orNull: title),
            "added": JSONValue(orNull: added),
        ]
    }
}

/// A stream of changes of a note's text.
public struct NoteWatchObject: ControlObject {
    /// Its number on its connection.
    public let subscription: Int64
    /// Behind which event it begins.
    public let cursor: String
    /// `n_…`.
    public let id: String
    /// The version that its first change refers to, unless the text changed at the same moment: a
    /// change from another version than the last one means that the text has to be read again.
    public let version: String

    /// All fields.
    public var json: JSONValue {
        [
            "subscription": .integer(subscription), "cursor": .string(cursor), "id": .string(id),
            "version": .string(version),
        ]
    }
}
