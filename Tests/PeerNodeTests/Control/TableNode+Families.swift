import PeerNode

/// Which node answers each family of commands: this one, all but notes.
extension TableNode: HomeCommands, InspectionCommands, BackupCommands, IdentityCommands,
    SessionCommands, DeviceCommands, WorkspaceCommands, InviteCommands, MemberCommands,
    PersonCommands, ChannelCommands, MessageCommands, MarkCommands, ReadingCommands, NoticeCommands,
    SearchCommands, EventCommands, NetworkCommands
{
    var home: any HomeCommands { self }
    var inspection: any InspectionCommands { self }
    var backups: any BackupCommands { self }
    var identity: any IdentityCommands { self }
    var session: any SessionCommands { self }
    var devices: any DeviceCommands { self }
    var workspaces: any WorkspaceCommands { self }
    var invites: any InviteCommands { self }
    var members: any MemberCommands { self }
    var profiles: any PersonCommands { self }
    var channels: any ChannelCommands { self }
    var messages: any MessageCommands { self }
    var notes: any NoteCommands { TableNotes(node: self) }
    var ledgers: any LedgerCommands { TableLedgers(node: self) }
    var files: any FileCommands { self }
    var fileCache: any FileCacheCommands { self }
    var fileMedia: any FileMediaCommands { self }
    var marks: any MarkCommands { self }
    var proofs: any ProofCommands { TableProofs(node: self) }
    var accounts: any AccountCommands { TableAccounts(node: self) }
    var reading: any ReadingCommands { self }
    var notices: any NoticeCommands { self }
    var finding: any SearchCommands { self }
    var events: any EventCommands { self }
    var network: any NetworkCommands { self }
}
