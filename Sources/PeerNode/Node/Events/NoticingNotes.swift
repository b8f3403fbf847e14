import CRDTStore
import WorkspaceModel

/// Notifies the owner when a note mentions them.
extension Events {
    /// The notice about an edit that mentions the owner; `nil` where nobody wants one.
    func notice(
        _ command: String, of mention: NoteMention
    ) throws(StorageError) -> Notice? {
        guard let workspace = core.workspaces[mention.workspace], workspace.standing == .member,
            let channel = core.queries.channel(mention.document, in: workspace),
            try !core.own.isMuted(channel, in: workspace).isMuted,
            let data = try core.notes.objects.data(arrival: mention.arrival, in: workspace),
            !data.note.isDeleted
        else { return nil }
        switch try core.own.noticeLevel(of: channel, in: workspace) {
        case .all, .mentions: break
        case .none: return nil
        }
        let pairs = [
            ("WSX_EVENT_TYPE", EventType.mentionReceived.word), ("WSX_CHANNEL", data.note.channel),
            ("WSX_CHANNEL_NAME", workspace.shownName(of: channel)), ("WSX_NOTE", data.note.id),
            ("WSX_TEXT", data.note.title), ("WSX_AUTHOR", data.by.name),
            ("WSX_WORKSPACE", data.note.workspace), ("WSX_WORKSPACE_NAME", workspace.displayName),
            ("WSX_NODE_SOCKET", environment.socket), ("WSX_BOT", "notify"),
        ]
        return Notice(
            command: command, input: Array((data.json.text + "\n").utf8),
            variables: pairs.map { Notice.Variable(name: $0.0, value: Self.variable($0.1)) })
    }
}
