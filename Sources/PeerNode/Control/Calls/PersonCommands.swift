public import WorkspaceModel

/// The commands for people: profiles, presence, typing.
public protocol PersonCommands {
    /// The profile of a member or former member; without a name, the caller's.
    func profile(of member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> ProfileObject
    /// Changes the given fields of the caller's profile.
    func editProfile(_ edit: ProfileEditDraft, _ scope: CallScope) throws(NodeError)
        -> ProfileObject
    /// Sets the caller's picture: `preset:7`, a file that was added, `b_…`, or empty for none.
    func setProfileImage(_ image: String, _ scope: CallScope) throws(NodeError) -> ProfileObject

    /// Sets the caller's presence in this workspace, for all of their devices.
    func setPresence(_ draft: PresenceDraft, _ scope: CallScope) throws(NodeError)
        -> PresenceObject
    /// Resets it.
    func clearPresence(_ scope: CallScope) throws(NodeError) -> PresenceObject
    /// Everybody who is there, the caller first.
    func presences(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<PresenceObject>
    /// Tells those who are there and may read a channel that the caller writes something in it.
    func sendTyping(_ channel: ChannelReference, _ scope: CallScope) throws(NodeError)
}

/// Changes of a profile; `nil` fields stay. All of it comes from outside.
public struct ProfileEditDraft: Sendable {
    /// The new name.
    public let name: String?
    /// The same under the name that older programs have for it.
    public let nickname: String?
    /// Fields by number; empty for none.
    public let values: [ProfileChange.Field: String]
    /// Fields that everybody in the workspace is to see.
    public let shown: [ProfileChange.Field]
    /// Fields that nobody is to see.
    public let hidden: [ProfileChange.Field]
}

/// The presence that a person chooses.
public struct PresenceDraft: Sendable {
    /// `online`, `absent`, `busy` or `offline`.
    public let state: String
    /// With what.
    public let text: String?
    /// A sign for it.
    public let emoji: String?
    /// Until when, milliseconds since 1970.
    public let until: Int64?
}
