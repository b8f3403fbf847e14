import WorkspaceModel

@testable import PeerNode

/// Stars and reminders: small fixed answers.
extension TableNode {
    static let reminder = ReminderObject(
        id: "y_7k3qm2xa", workspace: "w_acme0000", channel: "c_general0", at: 1_795_200_000_000,
        createdAt: 1)

    func star(_ message: String, isOn: Bool, _ scope: CallScope) throws(NodeError)
        -> MessageObject
    {
        try note("star \(message) \(isOn)", scope)
        var starred = self.message
        if isOn { starred.starredAt = 1_795_150_900_000 }
        return starred
    }
    func starredMessages(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MessageObject>
    {
        try note("starred \(page.limit)", scope)
        return Page(findsNothing ? [] : [message])
    }
    func remind(_ draft: ReminderDraft, _ scope: CallScope) throws(NodeError)
        -> Made<ReminderObject>
    {
        let about =
            switch draft.subject {
            case .message(let id): "message \(id)"
            case .channel(let reference): "channel \(reference)"
            }
        try note("remind \(about) \(draft.at) \(draft.text ?? "-")", scope)
        var made = Self.reminder
        made.text = draft.text
        return Made(made)
    }
    func reminders(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReminderObject>
    {
        try note("reminders \(page.limit)", scope)
        return Page(reminderRows)
    }
    func cancelReminder(_ id: String, _ scope: CallScope) throws(NodeError) -> ReminderObject {
        try note("cancelReminder \(id)", scope)
        var cancelled = Self.reminder
        cancelled.state = .cancelled
        return cancelled
    }
}
