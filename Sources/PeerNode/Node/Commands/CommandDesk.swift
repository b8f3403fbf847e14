/// Dispatches commands by family to the part that answers them. A desk translates commands for the
/// rooms; where one room answers a whole family, it implements the family itself.
final class CommandDesk: CorePart, NodeCommands {
    var home: any HomeCommands { HomeDesk(core) }
    var inspection: any InspectionCommands { InspectionDesk(core) }
    var backups: any BackupCommands { BackupDesk(core) }
    var identity: any IdentityCommands { IdentityDesk(core) }
    var session: any SessionCommands { core.session }
    var devices: any DeviceCommands { DeviceDesk(core) }
    var workspaces: any WorkspaceCommands { WorkspaceDesk(core) }
    var invites: any InviteCommands { InviteDesk(core) }
    var members: any MemberCommands { MemberDesk(core) }
    var profiles: any PersonCommands { PersonDesk(core) }
    var channels: any ChannelCommands { ChannelDesk(core) }
    var messages: any MessageCommands { MessageDesk(core) }
    var notes: any NoteCommands { NoteDesk(core) }
    var ledgers: any LedgerCommands { LedgerDesk(core) }
    var files: any FileCommands { FileDesk(core) }
    var fileCache: any FileCacheCommands { core.files.cache }
    var fileMedia: any FileMediaCommands { core.files.media }
    var marks: any MarkCommands { MarkDesk(core) }
    var proofs: any ProofCommands { ProofDesk(core) }
    var accounts: any AccountCommands { AccountDesk(core) }
    var reading: any ReadingCommands { ReadingDesk(core) }
    var notices: any NoticeCommands { core.events }
    var finding: any SearchCommands { FindingDesk(core) }
    var events: any EventCommands { EventDesk(core) }
    var network: any NetworkCommands { NetworkDesk(core) }
}
