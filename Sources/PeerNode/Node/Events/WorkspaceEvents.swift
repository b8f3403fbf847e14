import CRDTStore
import WorkspaceModel

/// Events about a workspace as a whole, and about requests to join.
extension Events {
    func recordWorkspaceEvent(
        _ payload: AuthorityPayload, _ id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        let type: EventType
        switch payload {
        case .request(let joiner):
            // The same person may have been written down by several members.
            let group = workspace.joinRequests(by: joiner.member)
                .first { $0.operations.contains(id) }
            guard group?.operations.first == id else { return }
            type = .requestCreated
        case .remove(let removal):
            return try recordDecision(of: removal.member, arrival, workspace, source)
        case .setWorkspace:
            guard !isFounding(id, of: workspace) else { return }
            type = .workspaceEdited
        case .grant(let grant) where grant.drops != nil && grant.role == .owner:
            type = .workspaceTransferred
        case .deleteWorkspace:
            type = .workspaceDeleted
        default: return
        }
        try turn.record(
            type, workspace: workspace.number, arrival: arrival, extra: id.bytes,
            isBackfill: source.isBackfill)
    }

    /// The description that a workspace was founded with is part of its creation.
    private func isFounding(_ id: OperationID, of workspace: Workspace) -> Bool {
        let create = workspace.authority[OperationID(sameBytesAs: workspace.id)]
        guard let record = workspace.authority[id], let create else { return false }
        return record.sequence == 1 && record.log == create.log
    }

    /// An admission or a removal is also the decision on what its subject had asked for.
    func recordDecision(
        of member: MemberID, _ arrival: Int64, _ workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        guard workspace.judged.hasRequests else { return }
        for group in workspace.joinRequests(by: member) {
            let state = core.enrolment.admissions.state(of: group, in: workspace)
            guard state == .approved || state == .rejected, let first = group.operations.first,
                !isOld(state, group, before: arrival, in: workspace)
            else { continue }
            try turn.record(
                .requestDecided, workspace: workspace.number, arrival: arrival, extra: first.bytes,
                isBackfill: source.isBackfill)
        }
    }

    /// Whether the request had been decided already: a member who is removed later was let in.
    private func isOld(
        _ state: JoinRequestState, _ group: JoinRequestGroup, before arrival: Int64,
        in workspace: Workspace
    ) -> Bool {
        let admission = core.enrolment.admissions.admission(
            by: group.joiner.invite, of: group.joiner.member, in: workspace)
        guard let admission, let record = workspace.authority[admission] else { return false }
        return record.arrival != arrival
    }

    /// The workspace of an event, with the local member's role and state at that time.
    func workspaceEventData(
        _ event: EventStore.StoredEvent, _ type: EventType, _ workspace: Workspace
    ) throws(StorageError) -> JSONValue {
        var object = try core.queries.object(of: workspace)
        switch type {
        case .workspaceCreated: object.role = Role.owner.word
        case .workspaceJoined:
            let said = event.extra?.first.flatMap { Role(rawValue: UInt64($0)) }
            let last = said ?? workspace.judged.lastRole(of: workspace.member)
            object.role = last?.word ?? object.role
        case .workspaceRemoved:
            object.role = nil
            return object.json
        default: return object.json
        }
        object.isDeleted = false
        object.acknowledged = nil
        object.state = "member"
        object.removedAt = nil
        object.removedBy = nil
        object.removedHow = nil
        object.note = nil
        return object.json
    }

    func requestData(_ event: EventStore.StoredEvent, _ workspace: Workspace) -> JSONValue {
        guard let id = event.extra.flatMap(OperationID.init(untrusted:)),
            let joiner = workspace.authority[id]?.payload.joiner,
            let group = workspace.joinRequests(by: joiner.member)
                .first(where: { $0.operations.contains(id) })
        else { return .null }
        return core.enrolment.admissions.object(of: group, in: workspace).json
    }

    func workspaceDeletionData(_ event: EventStore.StoredEvent, _ workspace: Workspace) -> JSONValue
    {
        guard let id = event.extra.flatMap(OperationID.init(untrusted:)),
            let author = workspace.judged.author(of: id)
        else { return .null }
        return [
            "id": .string(PublicID.workspace(workspace.id)),
            "by": core.membership.person(author, in: workspace).json,
        ]
    }
}
