import WorkspaceModel

@testable import PeerNode

/// Read markers and settings: small fixed answers.
extension TableNode {
    func home(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> HomeObject {
        try note("home", scope)
        var home = HomeObject()
        home.identity = IdentityObject(id: "d_device00", name: "Mina", createdAt: 1)
        var acme = WorkspaceObject(id: "w_acme0000", name: "acme", createdAt: 1, digest: "9f0c")
        acme.state = workspaceState
        home.workspaces = [acme] + (listedWorkspaces ?? [])
        home.selected = "w_acme0000"
        home.channels = [channel]
        home.unread = unreadMessages
        home.newDevices = newDevices
        (home.backupAt, home.isBackupDue) = (backupAt, isBackupDue)
        return home
    }
    private var read: ReadingObject { ReadingObject(id: "c_general0", name: "general") }
    func markRead(
        _ channel: ChannelReference, upTo message: String?, _ scope: CallScope
    ) throws(NodeError) -> ReadingObject {
        try note("markRead \(channel) \(message ?? "-")", scope)
        return read
    }
    func readStatus(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    {
        try note("readStatus", scope)
        return Page([read])
    }
    func unread(marksAll: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    {
        try note("unread \(marksAll)", scope)
        return Page(readings ?? [read])
    }
    func mute(
        _ channel: ChannelReference, until: Int64?, forMilliseconds: Int64?, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try note("mute \(channel) \(until ?? -1) \(forMilliseconds ?? -1)", scope)
        return self.channel
    }
    func setNotices(
        _ level: String, of channel: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        try note("setNotices \(level) \(channel)", scope)
        return self.channel
    }
    func notices(_ scope: CallScope) throws(NodeError) -> NoticeObject {
        try note("notices", scope)
        return NoticeObject(id: "w_acme0000", level: "all", command: nil)
    }
    func setNotices(_ level: String, _ scope: CallScope) throws(NodeError) -> NoticeObject {
        try note("setNotices \(level)", scope)
        return NoticeObject(id: "w_acme0000", level: level, command: nil)
    }
    func setNoticeCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> NoticeCommandObject
    {
        try note("setNoticeCommand \(command ?? "-")", scope)
        return NoticeCommandObject(command: command)
    }
    func preference(_ name: String, _ scope: CallScope) throws(NodeError) -> PreferenceObject {
        try note("preference \(name)", scope)
        return PreferenceObject(name: name, value: "dark")
    }
    func preferences(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<PreferenceObject>
    {
        try note("preferences", scope)
        return Page([PreferenceObject(name: "theme", value: "dark")])
    }
    func setPreference(_ name: String, to value: String?, _ scope: CallScope) throws(NodeError)
        -> PreferenceObject
    {
        try note("setPreference \(name) \(value ?? "-")", scope)
        return PreferenceObject(name: name, value: value)
    }
}
