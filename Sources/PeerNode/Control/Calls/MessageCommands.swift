public import WorkspaceModel

/// The commands for messages.
public protocol MessageCommands {
    /// Posts a message.
    func send(_ draft: MessageDraft, _ scope: CallScope) throws(NodeError) -> Made<MessageObject>
    /// Gives a message of the caller another text.
    ///
    /// - Parameter base: the version that the caller has seen, `o_…`; another one is `conflict`.
    func edit(_ message: String, to text: String, base: String?, _ scope: CallScope)
        throws(NodeError) -> MessageObject
    /// Leaves the caller's sign under a message, or takes it away.
    func react(_ message: String, with emoji: String, isOn: Bool, _ scope: CallScope)
        throws(NodeError) -> MessageObject
    /// Pins a message to its channel, or unpins it.
    func pin(_ message: String, isOn: Bool, _ scope: CallScope) throws(NodeError)
        -> MessageObject
    /// The devices that are known to hold a message.
    func holders(_ message: String, _ scope: CallScope) throws(NodeError) -> Page<HolderObject>
    /// Deletes a message for everybody, or takes that back.
    func deleteMessage(_ id: String, undo: Bool, _ scope: CallScope) throws(NodeError)
        -> MessageObject
    /// Part of a channel's past, oldest first.
    func history(_ request: HistoryRequest, _ scope: CallScope) throws(NodeError) -> HistoryPage
    /// The messages of these ids, in the order asked; unknown ones are `not_found`.
    func messages(_ ids: [String], _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MessageObject>
}

/// The commands for stars and reminders. Both are private to the caller, on all of their devices.
public protocol MarkCommands {
    /// Stars a message, or takes the star back.
    func star(_ message: String, isOn: Bool, _ scope: CallScope) throws(NodeError)
        -> MessageObject
    /// The messages that the caller has starred and sees, those starred last first.
    func starredMessages(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MessageObject>
    /// Makes a reminder.
    func remind(_ draft: ReminderDraft, _ scope: CallScope) throws(NodeError)
        -> Made<ReminderObject>
    /// The reminders that are due, and those that wait, by their time.
    func reminders(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReminderObject>
    /// Cancels the reminder `id`, or dismisses it where it is due. Answers with what it was.
    func cancelReminder(_ id: String, _ scope: CallScope) throws(NodeError) -> ReminderObject
}

/// The parameters of a new reminder.
public struct ReminderDraft: Sendable {
    /// What it is about.
    public enum Subject: Sendable {
        /// A message, `m_…`.
        case message(String)
        /// A channel or conversation.
        case channel(ChannelReference)
    }

    /// What it is about.
    public let subject: Subject
    /// When it is due, milliseconds since 1970.
    public let at: Int64
    /// At most `Limits.reminderTextBytesMax` bytes; `nil` for none.
    public let text: String?
}
