import CRDTStore
import WorkspaceModel

/// What can have happened: the closed list of event types and their numbers in the store.
enum EventType: Int64, CaseIterable {
    case workspaceCreated = 1
    case workspaceJoined = 2
    case workspaceEdited = 5
    case workspaceTransferred = 6
    case workspaceDeleted = 7
    case channelCreated = 10
    case channelEdited = 11
    case channelMemberAdded = 12
    case channelMemberRemoved = 13
    case messageCreated = 20
    case memberJoined = 30
    case inviteCreated = 40
    case inviteUsed = 41
    case inviteRevoked = 42
    case requestCreated = 43
    case requestDecided = 44
    case peerConnected = 50
    case peerDisconnected = 51
    case syncCaughtUp = 52
    case forkFound = 60
    case storeRestored = 61

    /// The word people and scripts see (4.8.4).
    var word: String {
        switch self {
        case .workspaceCreated: "workspace.created"
        case .workspaceJoined: "workspace.joined"
        case .workspaceEdited: "workspace.edited"
        case .workspaceTransferred: "workspace.transferred"
        case .workspaceDeleted: "workspace.deleted"
        case .channelCreated: "channel.created"
        case .channelEdited: "channel.edited"
        case .channelMemberAdded: "channel.member_added"
        case .channelMemberRemoved: "channel.member_removed"
        case .messageCreated: "message.created"
        case .memberJoined: "member.joined"
        case .inviteCreated: "invite.created"
        case .inviteUsed: "invite.used"
        case .inviteRevoked: "invite.revoked"
        case .requestCreated: "request.created"
        case .requestDecided: "request.decided"
        case .peerConnected: "peer.connected"
        case .peerDisconnected: "peer.disconnected"
        case .syncCaughtUp: "sync.caught_up"
        case .forkFound: "fork.found"
        case .storeRestored: "store.restored"
        }
    }
}

/// Recording events, in the transaction of what they tell.
extension NodeCore {
    func record(
        _ type: EventType, workspace: Workspace?, document: Int64? = nil, arrival: Int64? = nil,
        extra: [UInt8]? = nil, isBackfill: Bool = false
    ) throws(StorageError) {
        try write()
        try store.events.append(
            type: type.rawValue, at: time.wall, workspace: workspace?.number, document: document,
            arrival: arrival, extra: extra, isBackfill: isBackfill)
    }

    /// The event that a valid authority operation is.
    func recordAuthorityEvent(
        _ payload: AuthorityPayload, _ id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        switch payload {
        case .createDocument:
            let number = store.operations.document(DocumentID(sameBytesAs: id))?.number
            try record(
                .channelCreated, workspace: workspace, document: number, arrival: arrival,
                isBackfill: source.isBackfill)
        case .setDocument(let settings):
            // The first settings of a channel are part of its creation.
            let number = store.operations.document(settings.document)?.number
            guard let channel = workspace.channels[settings.document],
                isEdit(id, of: channel, in: workspace)
            else { return }
            try record(
                .channelEdited, workspace: workspace, document: number, arrival: arrival,
                isBackfill: source.isBackfill)
        case .invite:
            try record(
                .inviteCreated, workspace: workspace, arrival: arrival, extra: id.bytes,
                isBackfill: source.isBackfill)
        case .admit(let joiner, _, _, _):
            try record(
                .memberJoined, workspace: workspace, arrival: arrival,
                extra: joiner.member.bytes, isBackfill: source.isBackfill)
            try recordDecision(of: joiner.member, arrival, workspace, source)
            try record(
                .inviteUsed, workspace: workspace, arrival: arrival, extra: joiner.invite.bytes,
                isBackfill: source.isBackfill)
        case .revokeInvite(let invite):
            try record(
                .inviteRevoked, workspace: workspace, arrival: arrival, extra: invite.bytes,
                isBackfill: source.isBackfill)
        case .request, .remove, .setWorkspace, .grant, .deleteWorkspace:
            try recordWorkspaceEvent(payload, id, arrival, workspace, source)
        default: break
        }
    }

    private func isEdit(
        _ id: OperationID, of channel: Workspace.Channel, in workspace: Workspace
    ) -> Bool {
        guard let settings = workspace.authority[id],
            let creation = workspace.authority[channel.rank.id]
        else { return false }
        return settings.sequence != creation.sequence + 1
            || settings.log.device != creation.log.device
    }

    /// The object form of a stored event, or `nil` when what it speaks of is not there any more.
    func object(of event: EventStore.StoredEvent) throws(StorageError) -> EventObject? {
        guard let type = EventType(rawValue: event.type) else { return nil }
        let workspace = event.workspace.flatMap { workspaces[$0] }
        var object = EventObject(
            sequence: event.sequence, cursor: cursor(event.sequence), at: event.at,
            type: type.word, data: try data(of: event, type, workspace))
        object.workspace = workspace.map { PublicID.workspace($0.id) }
        object.isBackfill = event.isBackfill
        return object
    }

    /// The cursor behind the event with this number.
    func cursor(_ sequence: Int64) -> String { "\(storeIdentity?.epoch ?? "e0").\(sequence)" }

    private func data(
        of event: EventStore.StoredEvent, _ type: EventType, _ workspace: Workspace?
    ) throws(StorageError) -> JSONValue {
        guard let workspace else { return eventDataOutside(of: event, type) }
        switch type {
        case .requestCreated, .requestDecided:
            return requestData(event, workspace)
        case .workspaceDeleted:
            return deletionData(event, workspace)
        case .workspaceCreated, .workspaceJoined, .workspaceEdited, .workspaceTransferred:
            return try object(of: workspace).json
        case .channelCreated, .channelEdited:
            guard let channel = channel(event.document, in: workspace) else { return .null }
            return try object(of: channel, in: workspace).json
        case .channelMemberAdded, .channelMemberRemoved:
            return memberData(event, workspace)
        case .messageCreated:
            guard let arrival = event.arrival, let document = event.document,
                let stored = try store.operations.operation(arrival),
                let row = try store.view.message(
                    arrival: arrival, sort: stored.place.sort, document: document)
            else { return .null }
            return try object(of: row, in: workspace)?.json ?? .null
        case .memberJoined:
            guard let member = event.extra.flatMap(MemberID.init(untrusted:)) else { return .null }
            return object(of: member, in: workspace)?.json ?? .null
        case .inviteCreated, .inviteUsed, .inviteRevoked:
            guard let id = event.extra.flatMap(OperationID.init(untrusted:)) else { return .null }
            return object(ofInvite: id, in: workspace)?.json ?? .null
        case .peerConnected, .peerDisconnected, .syncCaughtUp, .forkFound, .storeRestored:
            return eventDataOutside(of: event, type)
        }
    }

    private func memberData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) -> JSONValue {
        guard let channel = channel(event.document, in: workspace),
            let member = event.extra.flatMap(MemberID.init(untrusted:))
        else { return .null }
        let role = workspace.members.first { $0.member == member }?.role
        return [
            "channel": .string(PublicID.channel(channel.id)),
            "member": person(member, in: workspace).json,
            "role": JSONValue(orNull: role?.word),
        ]
    }

    private func eventDataOutside(
        of event: EventStore.StoredEvent, _ type: EventType
    ) -> JSONValue {
        switch type {
        case .storeRestored:
            let reason = event.extra.flatMap { String(validating: $0, as: UTF8.self) }
            return ["reason": JSONValue(orNull: reason)]
        default:
            guard let device = event.extra.flatMap(DeviceID.init(untrusted:)) else { return .null }
            return peerData(device)
        }
    }
}
