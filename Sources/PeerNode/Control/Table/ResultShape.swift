extension Command {
    /// The content of an answer, which determines how it is displayed. `result` says the same in
    /// words; here one object has several cases where a person wants to see another side of it.
    public enum Shape: Sendable {
        /// Any object, field by field.
        case fields
        /// Plain text.
        case text
        /// A stream that begins: events follow the answer.
        case subscription

        /// Messages, oldest first.
        case messages
        /// One message that was changed.
        case message
        /// A message that was sent.
        case sentMessage
        /// A message that was deleted, or restored.
        case deletedMessage
        /// What a search found.
        case hits
        /// Messages of several conversations that somebody has starred.
        case starredMessages
        /// Reminders.
        case reminders
        /// A reminder that was made, or cancelled.
        case reminder
        /// Devices that have a message.
        case holders
        /// Files.
        case files
        /// One file.
        case file
        /// A file that was saved.
        case savedFile
        /// Devices that have a file.
        case fileHolders
        /// The room that files take.
        case cache
        /// When files are fetched automatically.
        case media
        /// A file whose bytes go over the connection itself, which HTTP alone can do.
        case fileBody

        /// Notes.
        case notes
        /// A note that was made, renamed, deleted or brought back.
        case changedNote
        /// The text of a note.
        case noteText
        /// A note whose text was changed.
        case editedNote
        /// What was done to a note.
        case noteHistory

        /// Ledgers, or one that was opened.
        case ledgers
        /// What somebody has in a ledger.
        case balance
        /// What is offered in ledgers.
        case ledgerItems
        /// Orders, or one that was made or changed.
        case orders
        /// What was spent.
        case spends
        /// A setting of a ledger, or of a node that checks receipts.
        case storeSetting

        /// Workspaces, or one that was made or changed.
        case workspaces
        /// One workspace with all that is known of it.
        case workspace
        /// A workspace that was left.
        case leftWorkspace
        /// A workspace that is gone from the device.
        case forgottenWorkspace
        /// A workspace whose successor was named.
        case successor
        /// A workspace in which somebody is again.
        case recoveredWorkspace

        /// Channels with what makes each another than its neighbours.
        case channels
        /// A channel that was made or changed.
        case changedChannel
        /// One channel with all that is known of it.
        case channel
        /// A channel that was deleted.
        case deletedChannel
        /// A channel with its notice settings.
        case noticedChannel
        /// A channel with whose it is.
        case ownedChannel
        /// A channel with the roles in it.
        case channelRoles
        /// Direct conversations.
        case directs
        /// What was read of conversations.
        case unread

        /// Members.
        case members
        /// One member with all that is known of them.
        case member
        /// A member with a new role.
        case memberRole
        /// A member who was removed.
        case removedMember
        /// Devices that have applied a removal.
        case appliers
        /// A profile.
        case profile
        /// Whether an address is anybody's.
        case emailCheck
        /// The progress of proving an address.
        case emailClaim
        /// What members have proved.
        case attestations
        /// The progress of linking an account.
        case accountClaim
        /// Accounts that are linked.
        case accountLinks
        /// Providers of accounts.
        case accountProviders
        /// Who is online.
        case presences
        /// A status.
        case presence

        /// The identity of a home.
        case identity
        /// The outcome of replacing a recovery phrase.
        case newPhrase
        /// A link for another device, or the identity that this device got by one.
        case deviceLink
        /// Devices.
        case devices
        /// A device that was renamed, in each workspace.
        case renamedDevice
        /// A device that was revoked, in each workspace.
        case revokedDevice
        /// Whether the node is locked.
        case session

        /// Invites.
        case invites
        /// An invite that was made.
        case madeInvite
        /// Requests to join.
        case requests
        /// Peers.
        case peers
        /// A peer that was added.
        case changedPeer
        /// A peer that was removed.
        case removedPeer
        /// How far peers are behind.
        case syncs
        /// Whether the network is in use.
        case network
        /// Settings of programs.
        case preferences
        /// Who may join, invite and verify.
        case policy
        /// What somebody is notified about, and the command that a node runs for something.
        case notice
        /// A backup that was made, verified or restored.
        case backup

        /// How the node is.
        case status
        /// What is in order and what is not.
        case findings
        /// What was recomputed.
        case check
        /// Why somebody may do something.
        case explanation
    }

    /// The shape of a command's results, whether the node or the command line gives them; `fields` where
    /// there is no such command.
    public static func shape(of name: String) -> Shape {
        // It may come from outside, so it is measured before it is compared.
        guard name.utf8.count <= 64 else { return .fields }
        return (known(name) ?? all.first { $0.name == name })?.shape ?? .fields
    }

    /// What people are told where the list that a method answers is empty, or `nil`.
    public static func emptiness(of method: String) -> String? { known(method)?.emptiness }
}
