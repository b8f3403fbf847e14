public import WorkspaceModel

/// The commands for notes.
public protocol NoteCommands {
    /// Makes a note in a channel.
    func create(_ draft: NoteDraftRequest, _ scope: CallScope) throws(NodeError)
        -> Made<NoteObject>
    /// The notes of a channel, or of all that the caller sees, those made last first.
    func list(in channel: ChannelReference?, deleted: Bool, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<NoteObject>
    /// A note with its text.
    func show(_ note: NoteReference, _ request: NoteViewRequest, _ scope: CallScope)
        throws(NodeError) -> NoteObject
    /// Changes the text of a note.
    func edit(_ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope)
        throws(NodeError) -> NoteObject
    /// The same, and says only between which versions that was.
    func step(_ note: NoteReference, _ edit: NoteEditRequest, _ scope: CallScope)
        throws(NodeError) -> NoteStepObject
    /// Opens a stream of what becomes of the text of a note.
    func watch(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteWatchObject
    /// Says where somebody here is in a note.
    func select(_ note: NoteReference, _ selection: NoteSelectionRequest, _ scope: CallScope)
        throws(NodeError)
    /// Asks others not to write in a note for a while.
    func lock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject
    /// Lets others write again.
    func unlock(_ note: NoteReference, _ scope: CallScope) throws(NodeError) -> NoteObject
    /// Gives a note another title.
    func rename(_ note: NoteReference, to title: String, _ scope: CallScope) throws(NodeError)
        -> NoteObject
    /// Deletes a note, brings it back, or has its text erased everywhere.
    func delete(_ note: NoteReference, _ way: NoteDeletion, _ scope: CallScope) throws(NodeError)
        -> NoteObject
    /// What was done to a note, the latest first.
    func history(_ note: NoteReference, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<NoteEventObject>
}

/// How a call names a note.
public struct NoteReference: Sendable {
    /// Its id, `n_…`, or its title.
    public let text: String
    /// Where to look for the title; `nil` for everywhere.
    public let channel: ChannelReference?
}

/// The parameters of a new note.
public struct NoteDraftRequest: Sendable {
    /// Where.
    public let channel: ChannelReference
    /// What it is called, 1 to `Limits.noteTitleBytesMax` bytes.
    public let title: String
    /// Its first text; `nil` for none.
    public let text: String?
    /// Whether the text is Markdown.
    public let isMarkdown: Bool
}

/// Which part of a note is requested.
public struct NoteViewRequest: Sendable {
    /// Whether the text comes as Markdown, with lines and marks.
    public let isMarkdown: Bool
    /// Whether lines and marks come as values besides.
    public let hasBlocks: Bool
    /// Whether it is wanted who wrote what.
    public let hasBlame: Bool
    /// Where to continue, `next` of the previous part. Comes from outside.
    public let cursor: String?
}

/// Changes of a note.
public struct NoteEditRequest: Sendable {
    /// The whole new text, or `nil` where changes are given.
    public let text: String?
    /// Changes. Comes from outside, and nothing of it is checked.
    public let changes: JSONValue?
    /// The version that the text or the changes are about, `v_…`; `nil` for the text of now.
    public let base: String?
    /// Whether the text is Markdown.
    public let isMarkdown: Bool
    /// Whether it is refused while somebody else asks others to wait.
    public let isStrict: Bool
}

/// How a note is deleted.
public enum NoteDeletion: Sendable {
    /// It can be restored.
    case hiding
    /// It is restored.
    case undoing
    /// All of it is erased everywhere, permanently.
    case purging
}

/// The caller's cursor in a note.
public struct NoteSelectionRequest: Sendable {
    /// The start of the selection, in scalars.
    public let at: Int
    /// How much of the text is selected; 0 for a cursor.
    public let length: Int
    /// The version that these are places of, `v_…`; `nil` for the text of now.
    public let base: String?
}
