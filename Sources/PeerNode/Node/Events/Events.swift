import CRDTStore
import WorkspaceModel

/// What the node tells programs: events, event streams, and notices.
final class Events: Component, NoticeCommands {
    var subscriptions = SubscriptionTable()
    /// Rows of the event table that calls may still look at in this turn.
    var eventRowsLeft = Limits.eventsLookedAtMax
    var notices = NoticeState()
    /// The event number at which old events are looked for again.
    var nextTrim: Int64 = 4_096

    override var nextDeadline: UInt64? {
        var first = Earliest(subscriptions.nextKeepalive)
        for waiter in subscriptions.waiters { first.take(waiter.deadline) }
        return first.moment
    }

    override func tick() { subscriptions.noteKeepalives(now: time.monotonic) }

    override func goOn(after former: Component) {
        guard let former = former as? Events else { return }
        subscriptions = former.subscriptions
        // Waiting callers were told to ask again.
        subscriptions.waiters = []
        // Some of them may report what this turn did, which was rolled back.
        subscriptions.forgetPassing(isCounted: true)
    }
}

extension Manual {
    /// Every event type that this build records, and the transient ones, for those who ask for
    /// events that are not stored.
    public static let eventTypes: [String] =
        EventType.allCases.map(\.word) + PassingEventType.allCases.map(\.rawValue)
}

/// Records events, in the transaction of what they report.
extension Events {
    /// The event for a valid authority operation.
    func recordAuthorityEvent(
        _ payload: AuthorityPayload, _ id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        switch payload {
        case .invite:
            try turn.record(
                .inviteCreated, workspace: workspace.number, arrival: arrival, extra: id.bytes,
                isBackfill: source.isBackfill)
        case .admit(let joiner, _, _, _):
            try turn.record(
                .memberJoined, workspace: workspace.number, arrival: arrival,
                extra: joiner.member.bytes
                    + EventType.roleByte(workspace.judged.role(ofGrant: id)),
                isBackfill: source.isBackfill)
            try recordDecision(of: joiner.member, arrival, workspace, source)
            try turn.record(
                .inviteUsed, workspace: workspace.number, arrival: arrival,
                extra: joiner.invite.bytes,
                isBackfill: source.isBackfill)
        case .addDevices(let devices, _, _, _):
            try recordAdded(devices.map(\.device), by: id, arrival, workspace, source)
        case .removeDevice(let device, _, _):
            try turn.record(
                .deviceRevoked, workspace: workspace.number, arrival: arrival, extra: device.bytes,
                isBackfill: source.isBackfill)
        case .revokeInvite(let invite):
            try turn.record(
                .inviteRevoked, workspace: workspace.number, arrival: arrival, extra: invite.bytes,
                isBackfill: source.isBackfill)
        case .request, .remove, .setWorkspace, .grant, .deleteWorkspace:
            try recordWorkspaceEvent(payload, id, arrival, workspace, source)
        default: break
        }
    }

    /// The object form of a stored event, or `nil` when its subject no longer exists.
    func object(of event: EventStore.StoredEvent) throws(StorageError) -> EventObject? {
        guard let type = EventType(rawValue: event.type) else { return nil }
        let workspace = event.workspace.flatMap { core.workspaces[$0] }
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
            return workspaceDeletionData(event, workspace)
        case .workspaceCreated, .workspaceJoined, .workspaceRemoved, .workspaceEdited,
            .workspaceTransferred:
            return try workspaceEventData(event, type, workspace)
        case .channelCreated, .channelEdited, .channelArchived, .channelUnarchived:
            guard let channel = core.queries.channel(event.document, in: workspace) else {
                return goneChannelData(event, workspace)
            }
            return try core.queries.object(of: channel, in: workspace).json
        case .channelMemberAdded, .channelMemberRemoved, .channelRoleChanged:
            return memberData(event, workspace)
        case .channelDeleted:
            return deletionData(event, workspace)
        case .messageCreated, .messageRestored, .messageEdited, .messagePinned, .messageUnpinned,
            .mentionReceived:
            return try messageData(of: event, type, in: workspace)
        case .readChanged:
            let data = try readData(event, workspace)
            return data.isNull ? goneReadingData(event, workspace) : data
        case .starChanged: return try starData(event, workspace)
        case .reminderDue:
            return try event.arrival.flatMap { (arrival) throws(StorageError) in
                try core.queries.reminder(arrival: arrival)
            }?.json ?? .null
        case .reactionAdded, .reactionRemoved:
            return try reactionData(event, workspace)
        case .messageDeleted:
            return try messageDeletionData(of: event, in: workspace)
        case .messageRefused:
            return try refusalData(of: event, in: workspace)
        case .noteCreated, .noteEdited, .noteRenamed, .noteDeleted, .noteRestored:
            return try core.notes.objects.data(arrival: event.arrival, in: workspace)?.json
                ?? goneIDs(event, workspace)
        case .orderCreated, .orderGranted, .orderPaid, .orderVoided, .orderReopened:
            return try core.ledgers.data(
                of: event.extra, isOrder: true, in: event.document, workspace)
        case .spendCreated, .spendOverturned, .spendRestored, .spendRefunded:
            return try core.ledgers.data(
                of: event.extra, isOrder: false, in: event.document, workspace)
        case .attestationAdded, .attestationReplaced, .attestationEnded, .accountLinked,
            .accountUnlinked:
            return try core.queries.attestation(event.extra, arrival: event.arrival, in: workspace)
        case .memberJoined, .memberRoleChanged, .memberRemoved, .memberEdited:
            return memberEventData(event, type, workspace)
        case .inviteCreated, .inviteUsed, .inviteRevoked:
            guard let id = event.extra.flatMap(OperationID.init(untrusted:)) else { return .null }
            return core.membership.object(ofInvite: id, in: workspace)?.json ?? .null
        case .deviceAdded, .deviceRevoked, .deviceRenamed, .memberKeyChanged:
            return deviceData(event, type, workspace)
        case .peerConnected, .peerDisconnected, .syncCaughtUp, .forkFound, .storeRestored,
            .sessionLocked, .sessionUnlocked, .nodeWarning, .peerDiscovered, .workspaceForgotten:
            return eventDataOutside(of: event, type)
        }
    }

    /// Who is meant: a member id, and behind it a role where the event says one.
    private func memberData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) -> JSONValue {
        guard let id = publicID(ofChannel: event.document, in: workspace),
            let extra = event.extra, let member = MemberID(untrusted: Array(extra.prefix(16)))
        else { return .null }
        let said = extra.dropFirst(16).first.flatMap { Role(rawValue: UInt64($0)) }
        let now = core.queries.channel(event.document, in: workspace)?.role(of: member)
        return [
            "channel": .string(id), "member": core.membership.person(member, in: workspace).json,
            "role": .string((said ?? now ?? .member).word),
        ]
    }

    private func deletionData(
        _ event: EventStore.StoredEvent, _ workspace: Workspace
    ) -> JSONValue {
        guard let id = event.document.flatMap({ store.operations.document(numbered: $0)?.id })
        else {
            return .null
        }
        let author = event.extra.flatMap(MemberID.init(untrusted:))
        return [
            "id": .string(PublicID.channel(id)),
            "by": author.map { core.membership.person($0, in: workspace).json } ?? .null,
        ]
    }

    /// The message, or the note whose text mentions somebody.
    private func messageData(
        of event: EventStore.StoredEvent, _ type: EventType, in workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard core.queries.channel(event.document, in: workspace) != nil,
            let arrival = event.arrival,
            let document = event.document,
            let stored = try store.operations.operation(arrival),
            let row = try store.view.message(
                arrival: arrival, sort: stored.place.sort, document: document)
        else {
            // An event about an operation that does not count is not reported while its channel
            // exists.
            guard core.queries.channel(event.document, in: workspace) == nil else {
                guard type == .mentionReceived else { return .null }
                return try core.notes.objects.data(arrival: event.arrival, in: workspace)?.json
                    ?? .null
            }
            return try goneMessageData(event, workspace)
        }
        return try core.queries.object(of: row, in: workspace)?.json ?? .null
    }

    private func messageDeletionData(
        of event: EventStore.StoredEvent, in workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let arrival = event.arrival, let stored = try store.operations.operation(arrival)
        else { return goneIDs(event, workspace) }
        let key = MessageKey(
            timestamp: stored.entry.timestamp, idPrefix: stored.place.link.id.messagePrefix)
        let author = event.extra.flatMap(MemberID.init(untrusted:))
        return [
            "id": .string(PublicID.message(key)),
            "by": author.map { core.membership.person($0, in: workspace).json } ?? .null,
        ]
    }

    private func eventDataOutside(
        of event: EventStore.StoredEvent, _ type: EventType
    ) -> JSONValue {
        switch type {
        case .sessionLocked, .sessionUnlocked: return [:]
        case .nodeWarning: return core.warningData(event)
        case .peerDiscovered: return discoveryData(event)
        case .workspaceForgotten:
            let id = event.extra.flatMap(WorkspaceID.init(untrusted:))
            return ["id": JSONValue(orNull: id.map(PublicID.workspace))]
        case .storeRestored:
            let reason = event.extra.flatMap { String(validating: $0, as: UTF8.self) }
            return ["reason": JSONValue(orNull: reason)]
        default:
            guard let device = event.extra.flatMap(DeviceID.init(untrusted:)) else { return .null }
            return core.queries.peerData(device)
        }
    }
}
