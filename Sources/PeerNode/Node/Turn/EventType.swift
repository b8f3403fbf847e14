import CRDTStore
import WorkspaceModel

/// The closed list of event types and their numbers in the store.
public enum EventType: Int64, CaseIterable, Sendable {
    case workspaceCreated = 1
    case workspaceJoined = 2
    case workspaceRemoved = 3
    case workspaceEdited = 5
    case workspaceTransferred = 6
    case workspaceDeleted = 7
    case workspaceForgotten = 8
    case channelCreated = 10
    case channelEdited = 11
    case channelMemberAdded = 12
    case channelMemberRemoved = 13
    case channelRoleChanged = 14
    case channelArchived = 15
    case channelUnarchived = 16
    case channelDeleted = 17
    case messageCreated = 20
    case messageRefused = 21
    case messageRestored = 22
    case readChanged = 23
    case starChanged = 24
    case reminderDue = 25
    case messageDeleted = 29
    case messageEdited = 80
    case reactionAdded = 81
    case reactionRemoved = 82
    case messagePinned = 83
    case messageUnpinned = 84
    case mentionReceived = 85
    case noteCreated = 90
    case noteEdited = 91
    case noteRenamed = 92
    case noteDeleted = 93
    case noteRestored = 94
    case orderCreated = 100
    case orderGranted = 101
    case orderPaid = 102
    case orderVoided = 103
    case orderReopened = 104
    case spendCreated = 110
    case spendOverturned = 111
    case spendRestored = 112
    case spendRefunded = 113
    case attestationAdded = 120
    case attestationReplaced = 121
    case attestationEnded = 122
    case accountLinked = 123
    case accountUnlinked = 124
    case memberJoined = 30
    case memberRoleChanged = 31
    case memberRemoved = 32
    case memberEdited = 33
    case inviteCreated = 40
    case inviteUsed = 41
    case inviteRevoked = 42
    case requestCreated = 43
    case requestDecided = 44
    case peerConnected = 50
    case peerDisconnected = 51
    case syncCaughtUp = 52
    case peerDiscovered = 53
    case deviceAdded = 70
    case deviceRevoked = 71
    case memberKeyChanged = 72
    case deviceRenamed = 73
    case forkFound = 60
    case storeRestored = 61
    case sessionLocked = 62
    case sessionUnlocked = 63
    case nodeWarning = 64

    /// The word people and scripts see (4.8.4).
    public var word: String {
        switch self {
        case .workspaceCreated: "workspace.created"
        case .workspaceJoined: "workspace.joined"
        case .workspaceRemoved: "workspace.removed"
        case .workspaceEdited: "workspace.edited"
        case .workspaceTransferred: "workspace.transferred"
        case .workspaceDeleted: "workspace.deleted"
        case .workspaceForgotten: "workspace.forgotten"
        case .channelCreated: "channel.created"
        case .channelEdited: "channel.edited"
        case .channelMemberAdded: "channel.member_added"
        case .channelMemberRemoved: "channel.member_removed"
        case .channelRoleChanged: "channel.role_changed"
        case .channelArchived: "channel.archived"
        case .channelUnarchived: "channel.unarchived"
        case .channelDeleted: "channel.deleted"
        case .messageCreated: "message.created"
        case .messageRefused: "message.refused"
        case .messageRestored: "message.restored"
        case .readChanged: "read.changed"
        case .starChanged: "star.changed"
        case .reminderDue: "reminder.due"
        case .messageEdited: "message.edited"
        case .reactionAdded: "reaction.added"
        case .reactionRemoved: "reaction.removed"
        case .messagePinned: "message.pinned"
        case .messageUnpinned: "message.unpinned"
        case .mentionReceived: "mention.received"
        case .messageDeleted: "message.deleted"
        case .noteCreated: "note.created"
        case .noteEdited: "note.edited"
        case .noteRenamed: "note.renamed"
        case .noteDeleted: "note.deleted"
        case .noteRestored: "note.restored"
        case .orderCreated: "order.created"
        case .orderGranted: "order.granted"
        case .orderPaid: "order.paid"
        case .orderVoided: "order.voided"
        case .orderReopened: "order.reopened"
        case .spendCreated: "spend.created"
        case .spendOverturned: "spend.overturned"
        case .spendRestored: "spend.restored"
        case .spendRefunded: "spend.refunded"
        case .attestationAdded: "attestation.added"
        case .attestationReplaced: "attestation.replaced"
        case .attestationEnded: "attestation.ended"
        case .accountLinked: "account.linked"
        case .accountUnlinked: "account.unlinked"
        case .memberJoined: "member.joined"
        case .memberRoleChanged: "member.role_changed"
        case .memberRemoved: "member.removed"
        case .memberEdited: "member.edited"
        case .inviteCreated: "invite.created"
        case .inviteUsed: "invite.used"
        case .inviteRevoked: "invite.revoked"
        case .requestCreated: "request.created"
        case .requestDecided: "request.decided"
        case .peerConnected: "peer.connected"
        case .peerDisconnected: "peer.disconnected"
        case .syncCaughtUp: "sync.caught_up"
        case .peerDiscovered: "peer.discovered"
        case .deviceAdded: "device.added"
        case .deviceRevoked: "device.revoked"
        case .memberKeyChanged: "member.key_changed"
        case .deviceRenamed: "device.renamed"
        case .forkFound: "fork.found"
        case .storeRestored: "store.restored"
        case .sessionLocked: "session.locked"
        case .sessionUnlocked: "session.unlocked"
        case .nodeWarning: "node.warning"
        }
    }

    /// A role behind what an event refers to; nothing where it has none.
    static func roleByte(_ role: Role?) -> [UInt8] {
        role.map { [UInt8(truncatingIfNeeded: $0.rawValue)] } ?? []
    }
}
