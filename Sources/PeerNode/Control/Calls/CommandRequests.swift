public import WorkspaceModel

// What calls ask the node for, checked and typed.

/// The parameters of a new workspace.
public struct WorkspaceDraft: Sendable {
    /// 1 to `Limits.nameBytesMax` bytes.
    public let name: String
    /// `nil` for none.
    public let description: String?
    /// The channel everybody is in; `general` unless said otherwise.
    public let firstChannel: String
    /// The ledger that is paid from, by its name or id; `nil` for none.
    public var paidFrom: String?
    /// `preset:7`, or a file that was added as a picture, `b_…`; `nil` for none.
    public let image: String?
}

/// Changes of a workspace; `nil` fields stay.
public struct WorkspaceEdit: Sendable {
    /// 1 to `Limits.nameBytesMax` bytes.
    public let name: String?
    /// Empty for none.
    public let description: String?
    /// `preset:7`, or a file that was added as a picture, `b_…`; empty for none.
    public let image: String?
}

/// Changes of a workspace's policy; `nil` fields stay.
public struct PolicyEdit: Sendable {
    /// `owner`, `admins` or `members`.
    public let whoMayInvite: String?
    /// Who may verify addresses, likewise.
    public let whoMayAttest: String?
    /// `closed`, `request` or `open`.
    public let join: String?
    /// Files that one message may have, 1 to `Limits.filesPerMessageMax`.
    public let attachments: Int64?
}

/// The parameters of joining.
public struct JoinDraft: Sendable {
    /// `wsx://join/…`, not yet decoded. Comes from outside.
    public let link: String
    /// The name of the identity to create, if there is none.
    public let name: String?
    /// How long to look for somebody who may admit.
    public let timeoutMilliseconds: Int64
    /// Whether a new identity gets a recovery phrase.
    public var hasRecovery = true
    /// The passphrase that seals a new identity; `nil` leaves its keys unprotected.
    public var passphrase: String?
}

/// The parameters of recovering.
public struct RecoveryDraft: Sendable {
    /// The 24 words as they were typed. Comes from outside.
    public let phrase: String
    /// An invite link of the workspace, open or used, not yet decoded. Comes from outside.
    public let link: String
    /// The name of the identity to create, if there is none.
    public let name: String?
    /// How long to look for somebody who has the workspace.
    public let timeoutMilliseconds: Int64
    /// The passphrase that seals a new identity; `nil` leaves its keys unprotected.
    public var passphrase: String?
}

/// What a call does with the recovery phrase whose words nobody has seen yet.
public enum PhraseSight: Sendable, Equatable {
    /// Nothing.
    case none
    /// Shows the words, and forgets them.
    case shown
    /// Shows the words, which stay until a call says that they were seen.
    case kept
    /// Forgets these words, which somebody has seen. They come from outside.
    case seen(String)
}

/// The parameters of a new invite.
public struct InviteDraft: Sendable {
    /// How many people may use it.
    public let uses: Int64
    /// For how long.
    public let expiresInMilliseconds: Int64
    /// `admin`, `member` or `guest`.
    public let role: String
    /// Channels to be added to; a guest needs one.
    public let channels: [ChannelReference]
    /// Whether an admin has to approve each who comes.
    public let needsApproval: Bool
}

/// The parameters of a new channel.
public struct ChannelDraft: Sendable {
    /// 1 to `Limits.nameBytesMax` bytes.
    public let name: String
    /// `nil` for none.
    public let description: String?
    /// `nil` for none.
    public let topic: String?
    /// Whether only those who were added see it. It stays what it is made as.
    public let isPrivate: Bool
    /// What later members see: `all` or `from-join`; only private channels take the latter.
    public let history: String
}

/// New texts of a channel; at least one is given.
public struct ChannelEdit: Sendable {
    /// Which.
    public let channel: ChannelReference
    /// 1 to `Limits.nameBytesMax` bytes; `nil` keeps it.
    public let name: String?
    /// Empty clears it, `nil` keeps it.
    public let topic: String?
    /// Empty clears it, `nil` keeps it.
    public let description: String?
    /// `preset:7`, or a file that was added as a picture, `b_…`; empty clears it, `nil` keeps it.
    public let image: String?
    /// How many devices are to keep each of its files, 0 to `Limits.fileCopiesMax`; `nil` keeps it.
    public let copies: Int64?
}

/// The parameters of a new message.
public struct MessageDraft: Sendable {
    /// Where to post.
    public let channel: ChannelReference
    /// At most `Limits.messageTextBytesMax` bytes; empty only beside a place.
    public let text: String
    /// The place that it points to.
    public var location: MessageLocation?
    /// The id of the message it answers, `m_…`.
    public let thread: String?
    /// `text` or `code`.
    public let format: String
    /// Whether a program writes it.
    public var isBot = false
    /// The ids of files that were added, `b_…`.
    public var files: [String] = []
}

/// Which part of a channel's history is requested.
public struct HistoryRequest: Sendable {
    /// From where on, and in which direction.
    public enum Position: Sendable, Equatable {
        /// The newest.
        case latest
        /// The newest before this position or message.
        case before(String)
        /// The oldest after this position or message.
        case after(String)
        /// This position or message in the middle.
        case around(String)
    }

    /// Whose past.
    public let channel: ChannelReference
    /// From where on. Comes from outside.
    public let position: Position
    /// Only the answers to this message, `m_…`.
    public let thread: String?
    /// Only what was written at this time or later, ms.
    public let since: Int64?
    /// Only what was written at this time or earlier, ms.
    public let until: Int64?
    /// Only what is pinned.
    public var isPinned = false
    /// The maximum number, 1 to 100.
    public let limit: Int
}

/// Which events a stream delivers.
public struct SubscriptionRequest: Sendable {
    /// Whose stored position to start from.
    public let name: String?
    /// A cursor, `all`, `latest`, or a duration such as `10m`. Comes from outside.
    public let since: String?
    /// Globs over event types; empty means all.
    public let types: [String]
    /// Only events of these channels; empty means all.
    public let channels: [ChannelReference]
    /// Whether events that are not stored come too.
    public let ephemeral: Bool
    /// Silence after which a keepalive is sent, in seconds.
    public let keepaliveSeconds: Int64?
}

/// Which events one call requests.
public struct EventsRequest: Sendable {
    /// Which ones, as for a stream.
    public let subscription: SubscriptionRequest
    /// The maximum number.
    public let limit: Int
    /// How long to wait for the first; 0 answers at once.
    public let timeoutMilliseconds: Int64
}

/// Which part of the sync state is requested.
public struct SyncStatusRequest: Sendable {
    /// Only this device, `d_…`.
    public let peer: String?
    /// Only this channel.
    public let channel: ChannelReference?
    /// Which part of the list.
    public let page: PageRequest
}
