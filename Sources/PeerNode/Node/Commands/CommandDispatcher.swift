/// Dispatches commands by family to the part that answers them. A handler translates commands for
/// the rooms; where one room answers a whole family, it implements the family itself.
final class CommandDispatcher: CorePart, NodeCommands {
    var home: any HomeCommands { HomeHandler(core) }
    var inspection: any InspectionCommands { InspectionHandler(core) }
    var backups: any BackupCommands { BackupHandler(core) }
    var identity: any IdentityCommands { IdentityHandler(core) }
    var session: any SessionCommands { core.session }
    var devices: any DeviceCommands { DeviceHandler(core) }
    var workspaces: any WorkspaceCommands { WorkspaceHandler(core) }
    var invites: any InviteCommands { InviteHandler(core) }
    var members: any MemberCommands { MemberHandler(core) }
    var profiles: any PersonCommands { PersonHandler(core) }
    var channels: any ChannelCommands { ChannelHandler(core) }
    var messages: any MessageCommands { MessageHandler(core) }
    var notes: any NoteCommands { NoteHandler(core) }
    var ledgers: any LedgerCommands { LedgerHandler(core) }
    var files: any FileCommands { FileHandler(core) }
    var fileCache: any FileCacheCommands { core.files.cache }
    var fileMedia: any FileMediaCommands { core.files.media }
    var marks: any MarkCommands { MarkHandler(core) }
    var proofs: any ProofCommands { ProofHandler(core) }
    var accounts: any AccountCommands { AccountHandler(core) }
    var reading: any ReadingCommands { ReadingHandler(core) }
    var notices: any NoticeCommands { core.events }
    var finding: any SearchCommands { FindingHandler(core) }
    var events: any EventCommands { EventHandler(core) }
    var network: any NetworkCommands { NetworkHandler(core) }
}
