public import WorkspaceModel

/// The commands for channels and direct conversations.
public protocol ChannelCommands {
    /// Makes a channel.
    func createChannel(_ draft: ChannelDraft, _ scope: CallScope) throws(NodeError)
        -> Made<ChannelObject>
    /// The channels the caller is in, or all that they may see.
    func channels(all: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
    /// One channel.
    func channel(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// Joins a public channel.
    func joinChannel(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// The channels whose name, topic or description contains `text`.
    func findChannels(_ text: String, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
    /// The people in a channel, each with the role in it.
    func channelMembers(
        _ channel: ChannelReference, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject>
    /// Changes name, topic or description.
    func editChannel(_ edit: ChannelEdit, _ scope: CallScope) throws(NodeError) -> ChannelObject
    /// Closes a channel for writing, or opens it again.
    func setArchived(_ isArchived: Bool, _ channel: ChannelReference, _ scope: CallScope)
        throws(NodeError) -> ChannelObject
    /// Gives a channel to somebody else.
    func transferChannel(
        _ channel: ChannelReference, to member: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Makes somebody `admin` or `member` of a channel.
    func setChannelRole(
        _ role: String, of member: MemberReference, in channel: ChannelReference,
        _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Deletes a channel for everybody. Answers with what it was.
    func deleteChannel(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// Has people follow a channel.
    func addToChannel(
        _ members: [MemberReference], _ channel: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Has people no longer follow a channel.
    func removeFromChannel(
        _ members: [MemberReference], _ channel: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Leaves a channel. Its owner cannot.
    func leaveChannel(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// The direct conversation of the caller with these people, opened if nobody has.
    func openDirect(_ members: [MemberReference], _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// The direct conversations of the caller, the latest first.
    func directs(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>
}
