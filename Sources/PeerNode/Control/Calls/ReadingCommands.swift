public import WorkspaceModel

/// The commands for read markers, and for settings that all of the caller's devices share.
public protocol ReadingCommands {
    /// Marks a conversation as read, up to a message or all of it.
    func markRead(
        _ channel: ChannelReference, upTo message: String?, _ scope: CallScope
    ) throws(NodeError) -> ReadingObject
    /// Up to where the caller has read each of their conversations.
    func readStatus(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    /// The conversations with unread messages, the latest first.
    func unread(marksAll: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    /// Mutes a conversation: until a time, for a duration, or permanently.
    func mute(
        _ channel: ChannelReference, until: Int64?, forMilliseconds: Int64?, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Sets which messages of a conversation the caller is notified about.
    func setNotices(
        _ level: String, of channel: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// A setting that all devices of the caller share.
    func preference(_ name: String, _ scope: CallScope) throws(NodeError) -> PreferenceObject
    /// All that are set, by their names.
    func preferences(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<PreferenceObject>
    /// Sets one; `nil` removes it.
    func setPreference(_ name: String, to value: String?, _ scope: CallScope) throws(NodeError)
        -> PreferenceObject
}

/// The commands for the notices of a workspace.
public protocol NoticeCommands {
    /// The notice settings in the workspace of the scope.
    func notices(_ scope: CallScope) throws(NodeError) -> NoticeObject
    /// Sets which messages of a workspace the caller is notified about.
    func setNotices(_ level: String, _ scope: CallScope) throws(NodeError) -> NoticeObject
    /// Sets what this node runs for each notice, empty for nothing; `nil` leaves it as it is.
    func setNoticeCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> NoticeCommandObject
}

/// The commands for searching.
public protocol SearchCommands {
    /// Finds channels, members and messages. Answers with `SearchPage`, later where messages are
    /// looked for.
    func search(_ request: SearchRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The members whose name has `text` in it.
    func findMembers(_ text: String, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>
}
