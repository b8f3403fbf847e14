public import WorkspaceModel

/// A reminder of the caller, on all of their devices.
public struct ReminderObject: ControlObject {
    /// What becomes of a reminder.
    public enum State: String, Sendable {
        /// Its time is to come.
        case waiting
        /// It is due, and nobody has dismissed it.
        case due
        /// It was cancelled, or dismissed.
        case cancelled
    }

    /// `y_…`.
    public let id: String
    /// `w_…`.
    public let workspace: String
    /// The conversation that it is about, or in which its message is, `c_…`.
    public let channel: String
    /// What that is called; `nil` where the caller does not see it.
    public var channelName: String?
    /// The message that it is about, `m_…`; `nil` where it is about the conversation.
    public var message: String?
    /// The beginning of that message; `nil` where the caller does not see it.
    public var preview: PreviewObject?
    /// What to be reminded of, in the caller's words; `nil` for none.
    public var text: String?
    /// When it is due, milliseconds since 1970.
    public let at: Int64
    /// What became of it.
    public var state = State.waiting
    /// When it was made, milliseconds since 1970.
    public let createdAt: Int64

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "workspace": .string(workspace), "channel": .string(channel),
            "channel_name": JSONValue(orNull: channelName),
            "message": JSONValue(orNull: message), "preview": preview?.json ?? .null,
            "text": JSONValue(orNull: text), "at": .integer(at),
            "state": .string(state.rawValue), "created_at": .integer(createdAt),
        ]
    }
}
