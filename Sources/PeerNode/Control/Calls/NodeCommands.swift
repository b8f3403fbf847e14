public import WorkspaceModel

/// What the node does for the commands, by families. Everything is checked and typed when it
/// arrives.
///
/// Calls come inside a turn. A function that gives a `CommandOutcome` may answer `.later`.
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

/// What the node does for whoever looks into it.
public protocol InspectionCommands {
    /// Numbers about the node, for a monitoring system.
    func metrics(_ scope: CallScope) throws(NodeError) -> MetricsObject
    /// Checks the node and its surroundings. Answers with `Page<FindingObject>`.
    func doctor(_ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The operations behind a member, a message or a channel, and behind what somebody may do.
    func why(_ subject: String, can action: String?, _ scope: CallScope) throws(NodeError)
        -> WhyObject
    /// Computes everything stored again. Answers with the object `check`, later.
    func check(repairs: Bool, _ scope: CallScope) throws(NodeError) -> CommandOutcome
}
