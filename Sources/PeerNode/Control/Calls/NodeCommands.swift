public import WorkspaceModel

/// Everything that the node does for commands, by family. All values are validated and typed.
///
/// Calls arrive inside a turn. A function that returns a `CommandOutcome` may answer `.later`.
public protocol NodeCommands {
    /// A first look at the node, and its end.
    var home: any HomeCommands { get }
    /// Looking into it.
    var inspection: any InspectionCommands { get }
    /// Copies of the home.
    var backups: any BackupCommands { get }
    /// The identity of the home.
    var identity: any IdentityCommands { get }
    /// Closing to people, and opening.
    var session: any SessionCommands { get }
    /// Devices.
    var devices: any DeviceCommands { get }
    /// Workspaces.
    var workspaces: any WorkspaceCommands { get }
    /// Coming in, and letting in.
    var invites: any InviteCommands { get }
    /// Members.
    var members: any MemberCommands { get }
    /// Profiles, presence, typing.
    var profiles: any PersonCommands { get }
    /// Channels and direct conversations.
    var channels: any ChannelCommands { get }
    /// Messages.
    var messages: any MessageCommands { get }
    /// Notes.
    var notes: any NoteCommands { get }
    /// Ledgers.
    var ledgers: any LedgerCommands { get }
    /// Files.
    var files: any FileCommands { get }
    /// The room that files take.
    var fileCache: any FileCacheCommands { get }
    /// Which files come with their messages.
    var fileMedia: any FileMediaCommands { get }
    /// Stars and reminders.
    var marks: any MarkCommands { get }
    /// What was read, and settings.
    var reading: any ReadingCommands { get }
    /// What people prove to each other.
    var proofs: any ProofCommands { get }
    /// Accounts elsewhere.
    var accounts: any AccountCommands { get }
    /// Notices of a workspace.
    var notices: any NoticeCommands { get }
    /// Finding things.
    var finding: any SearchCommands { get }
    /// Events.
    var events: any EventCommands { get }
    /// Peers and the network.
    var network: any NetworkCommands { get }
}

/// The commands that inspect the node.
public protocol InspectionCommands {
    /// Metrics of the node, for a monitoring system.
    func metrics(_ scope: CallScope) throws(NodeError) -> MetricsObject
    /// Checks the node and its surroundings. Answers with `Page<FindingObject>`.
    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The operations behind a member, a message or a channel, and behind what somebody may do.
    func why(_ subject: String, can action: String?, _ scope: CallScope) throws(NodeError)
        -> WhyObject
    /// Computes everything stored again. Answers with the object `check`, later.
    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome
}

/// The commands for an overview of the node, and to stop it.
public protocol HomeCommands {
    /// The state of everything, for one screen.
    func status(_ scope: CallScope) throws(NodeError) -> StatusObject
    /// What a first screen shows, and further pages of its conversations.
    func home(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> HomeObject
    /// Ends the process, after this call was answered.
    func stop(_ scope: CallScope) throws(NodeError)
}

/// The commands for listening to events.
public protocol EventCommands {
    /// Opens a stream on the connection of `scope.call`.
    func subscribe(_ request: SubscriptionRequest, _ scope: CallScope) throws(NodeError)
        -> SubscriptionObject
    /// Ends a stream of the same connection.
    func unsubscribe(_ subscription: Int64, _ scope: CallScope) throws(NodeError)
    /// The next events, at once or when there are any. Answers with `Page<EventObject>`.
    func waitForEvents(_ request: EventsRequest, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    /// Stores the position of the reader `name`, and warns where it skipped stored events.
    func acknowledge(
        name: String, cursor: String, warning: String?, _ scope: CallScope
    ) throws(NodeError) -> ReaderObject
    /// The named readers and their positions.
    func readers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<ReaderObject>
}

/// The commands for peers and the network.
public protocol NetworkCommands {
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
}
