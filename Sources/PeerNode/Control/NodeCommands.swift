public import WorkspaceModel

/// What the node does for the commands. Everything is checked and typed when it arrives.
///
/// Calls come inside a turn. A function that gives a `CommandOutcome` may answer `.later`.
public protocol NodeCommands: PersonCommands, MarkCommands {
    /// What is done with notes.
    var notes: any NoteCommands { get }
    /// What it does for files.
    var files: any FileCommands { get }
    /// What people prove to each other.
    var proofs: any ProofCommands { get }

    // MARK: The node

    /// The names of the other workspaces in which there is all of that, if the selected one lacks some.
    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String]
    /// The state of everything, for one screen.
    func status(_ scope: CallScope) throws(NodeError) -> StatusObject
    /// Numbers about the node, for a monitoring system.
    func metrics(_ scope: CallScope) throws(NodeError) -> MetricsObject
    /// Checks the node and its surroundings. Answers with `Page<FindingObject>`.
    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// What a first screen shows, and further pages of its conversations.
    func home(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> HomeObject
    /// Ends the process, after this call was answered.
    func stop(_ scope: CallScope) throws(NodeError)

    // MARK: Identity

    /// Makes the identity of this home. A second one is `duplicate`.
    func createIdentity(_ draft: IdentityDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// The identity of this home; with the recovery phrase, which is shown once.
    func identity(showsPhrase: Bool, _ scope: CallScope) throws(NodeError) -> IdentityObject
    /// Comes back as the member whose phrase it is. Answers with the workspace.
    func recoverIdentity(_ draft: RecoveryDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Puts a new recovery phrase, which waits to be shown, in place of the one that is given.
    func renewPhrase(_ phrase: String?, _ scope: CallScope) throws(NodeError) -> NewPhraseObject

    /// Gives the keys another passphrase, a first one, or none. Answers with the identity.
    func changePassphrase(_ draft: PassphraseDraft, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome

    // MARK: Session

    /// Whether the node is open to people, and what opens it.
    func session(_ scope: CallScope) throws(NodeError) -> SessionObject
    /// Opens the node. Answers with the session.
    func unlockSession(passphrase: String, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Drops the keys and the network, and wipes `none`, `messages` or `all` of what is stored.
    func logOut(wiping wipe: String, isForced: Bool, _ scope: CallScope) throws(NodeError)
        -> SessionObject
    /// Sets the passcode of a node that has none.
    func setPasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject
    /// Puts another passcode in the place of the current one.
    func changePasscode(from current: String, to new: String, _ scope: CallScope)
        throws(NodeError) -> SessionObject
    /// Does away with the passcode.
    func removePasscode(_ code: String, _ scope: CallScope) throws(NodeError) -> SessionObject
    /// Locks the node at once.
    func lockNow(_ scope: CallScope) throws(NodeError) -> SessionObject
    /// Opens a node that asks for its passcode.
    func unlock(passcode code: String, _ scope: CallScope) throws(NodeError) -> SessionObject

    // MARK: Devices

    /// The devices of a member, without a name the own ones.
    func devices(of member: MemberReference?, _ page: PageRequest, _ scope: CallScope)
        throws(NodeError) -> Page<DeviceObject>
    /// Makes a link for another device of the own person.
    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject>
    /// Becomes a device of whoever issued the link. Answers with the identity.
    func linkDevice(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Ends what a device may do, with new keys for all others.
    func revokeDevice(
        _ device: String, phrase: String?, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject
    /// Gives an own device a name.
    func renameDevice(_ device: String, name: String, _ scope: CallScope) throws(NodeError)
        -> DeviceObject

    // MARK: Workspaces

    /// Makes a workspace and selects it.
    func createWorkspace(_ draft: WorkspaceDraft, _ scope: CallScope) throws(NodeError)
        -> Made<WorkspaceObject>
    /// The workspaces of this home, those one was removed from included.
    func workspaces(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<WorkspaceObject>
    /// The workspace of the scope.
    func workspace(counted: Bool, _ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Makes `workspace` the one that calls act in.
    func forgetWorkspace(
        _ workspace: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject
    func selectWorkspace(_ workspace: WorkspaceReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Joins by a link. Answers with the workspace after admission and first sync.
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome

    /// Changes what is given of a workspace.
    func editWorkspace(_ draft: WorkspaceEdit, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Makes another member the owner; the caller becomes an admin.
    func transferWorkspace(to member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Names who gets the workspace when its owner leaves; `nil` for nobody.
    func setSuccessor(_ member: MemberReference?, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject
    /// Ends a workspace, whose name must be given exactly.
    func deleteWorkspace(name: String, _ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Who may come in, and who may bring them.
    func policy(_ scope: CallScope) throws(NodeError) -> PolicyObject
    /// Changes what is given of the policy.
    func setPolicy(_ draft: PolicyDraft, _ scope: CallScope) throws(NodeError) -> PolicyObject

    // MARK: Invites and members

    /// Makes an invite.
    func createInvite(_ draft: InviteDraft, _ scope: CallScope) throws(NodeError)
        -> Made<InviteObject>
    /// The invites of the workspace.
    func invites(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<InviteObject>
    /// Ends the invite `id`.
    func revokeInvite(_ id: String, _ scope: CallScope) throws(NodeError) -> InviteObject
    /// Throws an invite away, told to nobody.
    func declineInvite(_ link: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject
    /// Who has asked to be let in.
    func requests(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<RequestObject>
    /// Lets in who asked.
    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject
    /// Turns down who asked.
    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject
    /// Current members, or those who were removed.
    func members(removed: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>

    /// One member, or somebody who was removed.
    func member(_ member: MemberReference, _ scope: CallScope) throws(NodeError) -> MemberObject
    /// The devices of members, and which are known to hold the removal of somebody.
    func removalHolders(_ member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> Page<HolderObject>
    /// Gives a member the role `owner`, `admin`, `member` or `guest`.
    func setRole(_ role: String, of member: MemberReference, _ scope: CallScope)
        throws(NodeError) -> MemberObject
    /// Removes somebody, or keeps more of somebody who was.
    func removeMember(_ draft: RemovalDraft, _ scope: CallScope) throws(NodeError)
        -> MemberObject
    /// Ends the own membership.
    func leaveWorkspace(_ scope: CallScope) throws(NodeError) -> WorkspaceObject
    /// Changes the key for contents and names.
    func changeWorkspaceKey(withDiscovery: Bool, _ scope: CallScope) throws(NodeError)
        -> WorkspaceObject

    // MARK: Channels

    /// Makes a channel.
    func createChannel(_ draft: ChannelDraft, _ scope: CallScope) throws(NodeError)
        -> Made<ChannelObject>
    /// The channels one is in, or all one may see.
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

    // MARK: Direct conversations

    /// The direct conversation of the caller with these people, opened if nobody has.
    func openDirect(_ members: [MemberReference], _ scope: CallScope) throws(NodeError)
        -> ChannelObject
    /// The direct conversations of the caller, the latest first.
    func directs(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ChannelObject>

    // MARK: Reading

    /// Marks a conversation as read, up to a message or all of it.
    func markRead(
        _ channel: ChannelReference, upTo message: String?, _ scope: CallScope
    ) throws(NodeError) -> ReadingObject
    /// How far each conversation was read that the caller is in.
    func readStatus(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    /// Those in which something was not read, the latest first.
    func unread(marksAll: Bool, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<ReadingObject>
    /// Wants no notice of a conversation: until a time, for a while, or for ever.
    func mute(
        _ channel: ChannelReference, until: Int64?, forMilliseconds: Int64?, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Sets of which messages of a conversation notice is wanted.
    func setNotices(
        _ level: String, of channel: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject
    /// Of what notice is wanted in the workspace of the scope.
    func notices(_ scope: CallScope) throws(NodeError) -> NoticeObject
    /// Sets of which messages of a workspace notice is wanted.
    func setNotices(_ level: String, _ scope: CallScope) throws(NodeError) -> NoticeObject
    /// Sets what this node runs for each notice, empty for nothing; `nil` leaves it as it is.
    func setNoticeCommand(_ command: String?, _ scope: CallScope) throws(NodeError)
        -> NoticeCommandObject
    /// A setting that all devices of the caller share.
    func preference(_ name: String, _ scope: CallScope) throws(NodeError) -> PreferenceObject
    /// All that are set, by their names.
    func preferences(_ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<PreferenceObject>
    /// Sets one; `nil` removes it.
    func setPreference(_ name: String, to value: String?, _ scope: CallScope) throws(NodeError)
        -> PreferenceObject

    // MARK: Messages

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

    // MARK: Search

    /// Finds channels, members and messages. Answers with `SearchPage`, later where messages are
    /// looked for.
    func search(_ request: SearchRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The members whose name has `text` in it.
    func findMembers(_ text: String, _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MemberObject>

    // MARK: Events

    /// Opens a stream on the connection of `scope.call`.
    func subscribe(_ request: SubscriptionRequest, _ scope: CallScope) throws(NodeError)
        -> SubscriptionObject
    /// Ends a stream of the same connection.
    func unsubscribe(_ subscription: Int64, _ scope: CallScope) throws(NodeError)
    /// The next events, at once or when there are any. Answers with `Page<EventObject>`.
    func waitForEvents(_ request: EventsRequest, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Stores how far the reader `name` has come, and warns where it gave up what is there.
    func acknowledge(
        name: String, cursor: String, warning: String?, _ scope: CallScope
    ) throws(NodeError) -> ReaderObject
    /// The named readers and their positions.
    func readers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<ReaderObject>

    // MARK: Peers and network

    /// How far each peer and we are apart.
    func syncStatus(_ request: SyncStatusRequest, _ scope: CallScope) throws(NodeError)
        -> Page<SyncObject>
    /// Every peer that is known, heard or being dialled.
    func peers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<PeerObject>
    /// Remembers an address and dials it.
    func addPeer(address: String, _ scope: CallScope) throws(NodeError) -> PeerObject
    /// Forgets a peer by device id or address.
    func removePeer(_ peer: String, _ scope: CallScope) throws(NodeError) -> PeerObject
    /// Whether the network is in use, and how.
    func network(_ scope: CallScope) throws(NodeError) -> NetworkObject
    /// Leaves the network. Answers with `NetworkObject` when the last link is closed.
    func suspendNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Uses the network again.
    func resumeNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome

    // MARK: Backup and inspection

    /// Backs the home up. Answers with the object `backup`, later.
    func createBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Checks a backup. Answers with the object `backup`, later.
    func verifyBackup(_ draft: BackupDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The operations behind a member, a message or a channel, and behind what somebody may do.
    func why(_ subject: String, can action: String?, _ scope: CallScope) throws(NodeError)
        -> WhyObject
    /// Computes everything stored again. Answers with the object `check`, later.
    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome
}
