import CRDTStore
import WorkspaceModel

/// The events when somebody's role changes or ends, and for authors whose messages are cut off.
extension Events {
    // MARK: Roles

    /// Records what an authority operation, or what it took the effect from, did to roles.
    func tellRoles(
        after change: AuthChange, of id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard !change.isEmpty else { return }
        var concerned: Set<MemberID> = []
        for id in change.all {
            concerned.formUnion(members(concernedBy: id, in: workspace))
        }
        var isOwnEnd = false
        for member in concerned.sorted() {
            let role = workspace.role(of: member)
            let told = workspace.judged.toldRoles[member]
            guard role != told else { continue }
            workspace.judged.toldRoles[member] = role
            let type: EventType
            switch (told, role) {
            case (nil, _):
                // An admission is an event of its own.
                if case .admit? = workspace.authority[id]?.payload { continue }
                if case .create? = workspace.authority[id]?.payload { continue }
                type = .memberJoined
            case (_, nil): type = .memberRemoved
            default: type = .memberRoleChanged
            }
            // The role that was given, or the one that ended: today's may be another one.
            try turn.record(
                type, workspace: workspace.number, arrival: arrival,
                extra: member.bytes + EventType.roleByte(role ?? told),
                isBackfill: source.isBackfill)
            isOwnEnd = isOwnEnd || (member == workspace.member && role == nil)
        }
        if !source.isBackfill { try warnOfUndoneTransfers(change.becameInvalid, workspace) }
        guard isOwnEnd, workspace.standing == .member else { return }
        try turn.record(
            .workspaceRemoved, workspace: workspace.number, arrival: arrival,
            isBackfill: source.isBackfill)
    }

    /// Warns about each transfer that no longer counts. Until then everybody had seen another
    /// owner.
    private func warnOfUndoneTransfers(
        _ lost: [OperationID], _ workspace: Workspace
    ) throws(StorageError) {
        // While the keys are closed nobody's name can be said.
        guard home != nil else { return }
        for id in lost {
            guard case .grant(let grant)? = workspace.authority[id]?.payload, grant.drops != nil,
                let author = workspace.judged.author(of: id)
            else { continue }
            let name = workspace.displayName(of: author)
            let heir = workspace.displayName(of: grant.member)
            try core.warn([
                "kind": "transfer.undone",
                "message": .string(
                    "\(name) handed \(workspace.displayName) to \(heir); that was undone, "
                        + "and no longer counts"),
                "workspace": .string(PublicID.workspace(workspace.id)),
            ])
            turn.emit(.log(.warning, "transfer.undone"))
        }
    }

    /// A member as an event is about them: with the role of that time, and in or out as then.
    func memberEventData(
        _ event: EventStore.StoredEvent, _ type: EventType, _ workspace: Workspace
    ) -> JSONValue {
        guard let extra = event.extra, let member = MemberID(untrusted: Array(extra.prefix(16))),
            var object = core.queries.object(of: member, in: workspace)
        else { return .null }
        if let said = extra.dropFirst(16).first.flatMap({ Role(rawValue: UInt64($0)) }) {
            object.role = said.word
        }
        switch type {
        case .memberJoined, .memberRoleChanged:
            object.isRemoved = false
            object.removedAt = nil
        case .memberRemoved:
            object.isRemoved = true
            object.removedAt = object.removedAt ?? event.at
        default: break
        }
        return object.json
    }

    /// Whose role an operation may give, change or end.
    private func members(
        concernedBy id: OperationID, in workspace: Workspace
    ) -> Set<MemberID> {
        guard let record = workspace.authority[id] else { return [] }
        let judged = workspace.judged
        var members: Set<MemberID> = []
        judged.subject(ofGrant: id).map { _ = members.insert($0) }
        switch record.payload {
        case .remove(let remove): members.insert(remove.member)
        case .removeDevice(let device, _, _):
            members.formUnion(judged.members(everUsing: device))
        case .leave, .grant:
            judged.author(of: id).map { _ = members.insert($0) }
        default: break
        }
        return members
    }

    // MARK: Messages that were cut off

    /// Tells the author, who is at this node, that a message does not count.
    func recordRefused(
        _ stored: StoredOperation, in document: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        let revocation = workspace.judged.revocation(
            reachingContent: stored.entry.grant, of: stored.log.device, leastRole: .member)
        try turn.record(
            .messageRefused, workspace: workspace.number, document: document,
            arrival: stored.place.arrival, extra: revocation?.bytes,
            isBackfill: source.isBackfill)
    }

    /// `{message, channel, reason, by}` of an event that a message was cut off.
    func refusalData(
        of event: EventStore.StoredEvent, in workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        guard let arrival = event.arrival, let document = event.document,
            let stored = try store.operations.operation(arrival),
            let row = try store.view.message(
                arrival: arrival, sort: stored.place.sort, document: document)
        else { return .null }
        let revocation = event.extra.flatMap(OperationID.init(untrusted:))
        let author = revocation.flatMap { workspace.judged.author(of: $0) }
        return [
            "message": .string(PublicID.message(row.key)),
            "channel": .string(
                core.channels.publicID(ofChannel: stored.log.document, in: workspace)),
            "reason": .string(
                Self.reason(of: revocation.flatMap { workspace.authority[$0]?.payload })),
            "by": author.map { core.membership.person($0, in: workspace).json } ?? .null,
        ]
    }

    /// The reason of a revocation, as a stable word.
    private static func reason(of payload: AuthorityPayload?) -> String {
        switch payload {
        case .remove: "removed"
        case .removeDevice: "device_revoked"
        case .leave: "left"
        case .grant: "role"
        case .revokeInvite: "invite_revoked"
        default: "no_grant"
        }
    }
}
