import CRDTStore
import WorkspaceModel

/// Implements the commands about members, roles and removals.
final class MemberHandler: CorePart, MemberCommands {
    // MARK: Who

    func members(
        removed: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let all =
            removed
            ? core.membership.formerMembers(of: workspace) : workspace.visibleMembers.map(\.member)
        let objects = all.compactMap { core.queries.object(of: $0, in: workspace) }
            .sorted { ($0.joinedAt, $0.id) < ($1.joinedAt, $1.id) }
        let (items, next) = try core.queries.page(objects, request)
        return Page(Array(items), next: next)
    }

    func member(
        _ reference: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> MemberObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        return try shown(
            core.queries.person(reference, in: workspace, orRemoved: true, orFormerly: true),
            in: workspace)
    }

    private func shown(
        _ member: MemberID, in workspace: Workspace
    ) throws(NodeError) -> MemberObject {
        guard let object = core.queries.object(of: member, in: workspace) else {
            throw .internalFailure(reason: "member")
        }
        return object
    }

    func removalHolders(
        _ reference: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> Page<HolderObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let member = try core.queries.person(reference, in: workspace, orRemoved: true)
        guard let end = core.membership.removed(member, from: workspace) else {
            throw NodeError(
                .conflict,
                "\(NodeError.quoted(workspace.displayName(of: member))) was not removed",
                hint: "wsx-node member list --removed", reason: "member.not_removed")
        }
        let holding = Set(
            try stored { () throws(StorageError) in try holders(of: end.operation, in: workspace) })
        let objects = workspace.members.flatMap { standing in
            standing.devices.filter { !workspace.recoveryDevices.contains($0) }.map { device in
                MessageHandler(core).holder(
                    device, of: standing.member, holding.contains(device), in: workspace)
            }
        }
        return Page(objects)
    }

    /// The devices that are known to hold an authority operation, this one included.
    private func holders(
        of id: OperationID, in workspace: Workspace
    ) throws(StorageError) -> [DeviceID] {
        guard let record = workspace.authority[id], let home else { return [] }
        let reference = OperationReference(
            device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, id: id)
        guard
            let place = try store.operations.find(
                reference, in: workspace.id, of: workspace.number)
        else { return [] }
        return [home.device]
            + store.peers.holders(
                of: place.branch, through: place.sequence, arrival: place.arrival,
                workspace: workspace.number)
    }

    // MARK: Roles

    func setRole(
        _ word: String, of reference: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> MemberObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let member = try core.queries.person(reference, in: workspace, orRemoved: false)
        guard let role = Role(word: word), let standing = standing(of: member, in: workspace)
        else { throw .internalFailure(reason: "role") }
        guard role != standing.role else { return try shown(member, in: workspace) }
        let own = try strongerStanding(than: standing, in: workspace)
        guard role > own.role || (own.role == .owner && role == .owner) else {
            throw .forbidden(
                "only a role stronger than \(role.word) can make someone \(role.word)",
                reason: "rank", hint: "wsx-node member list")
        }
        try core.membership.refuseWithoutDevice(standing, in: workspace)
        let made = try stored { () throws(StorageError) in
            try core.membership.setRole(role, of: standing, in: workspace)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return try shown(member, in: workspace)
    }

    private func standing(of member: MemberID, in workspace: Workspace) -> MemberStanding? {
        workspace.members.first { $0.member == member }
    }

    /// Our own standing, which must be strictly stronger: what reaches only what is weaker would
    /// have no effect.
    private func strongerStanding(
        than other: MemberStanding, in workspace: Workspace
    ) throws(NodeError) -> MemberStanding {
        guard let own = standing(of: workspace.member, in: workspace), own.role <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        let name = NodeError.quoted(workspace.displayName(of: other.member))
        guard other.member != workspace.member else {
            throw .forbidden(
                "you cannot do this to yourself", reason: "own",
                hint: "to leave: wsx-node workspace leave")
        }
        // By the current rank of a member who gave up a role, not the one they were admitted with.
        guard own.rank < other.rank else {
            throw .forbidden(
                "you do not outrank \(name), who is \(other.role.word)", reason: "rank",
                hint: "wsx-node member list")
        }
        return own
    }

    // MARK: Removal

    func removeMember(
        _ draft: RemovalDraft, _ scope: CallScope
    ) throws(NodeError) -> MemberObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let member = try core.queries.person(draft.member, in: workspace, orRemoved: true)
        guard let standing = standing(of: member, in: workspace) else {
            if !draft.widens, hasOnlyLeft(member, workspace) {
                return try removeLeaver(member, from: workspace)
            }
            return try widenRemoval(of: member, isAsked: draft.widens, in: workspace)
        }
        guard !draft.widens else {
            throw NodeError(
                .conflict,
                "\(NodeError.quoted(workspace.displayName(of: member))) was not removed",
                hint: "wsx-node member list --removed", reason: "member.not_removed")
        }
        _ = try strongerStanding(than: standing, in: workspace)
        if !draft.isForced { try refuseUnsynced(removing: standing, from: workspace) }
        let kept = try invitesToKeep(draft.keptInvites, of: member, in: workspace)
        let open = core.membership.openInvites(of: member, in: workspace).filter {
            self.core.membership.state(ofInvite: $0, in: workspace) == .open
        }
        let made = try stored { () throws(StorageError) in
            try core.membership.remove(member, from: workspace, undoingFeatures: draft.isForced)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        let taken = try stored { () throws(StorageError) in
            try core.membership.takeOver(kept, in: workspace)
        }
        var object = try shown(member, in: workspace)
        // A removal does not end an invite that its author created while they had a higher rank.
        let isEnded = { (id: OperationID) in self.core.membership.isRevoked(id, in: workspace) }
        object.endedInvites = open.filter { isEnded($0) && !kept.contains($0) }
            .map(PublicID.invite)
        object.openInvites = open.filter { !isEnded($0) }.map(PublicID.invite)
        object.keptInvites = taken.map(PublicID.invite)
        return object
    }

    private func hasOnlyLeft(_ member: MemberID, _ workspace: Workspace) -> Bool {
        let ends = core.membership.revocations(ending: member, in: workspace)
        return !ends.isEmpty
            && ends.allSatisfy { id in
                if case .leave? = workspace.authority[id]?.payload { true } else { false }
            }
    }

    /// Revokes the remaining devices of a person who has left by a younger one. What that person
    /// said stays.
    private func removeLeaver(
        _ member: MemberID, from workspace: Workspace
    ) throws(NodeError) -> MemberObject {
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        let made = try stored { () throws(StorageError) in
            try core.membership.turnDown(member, in: workspace)
        }
        guard let made, core.membership.revocations(ending: member, in: workspace).contains(made)
        else {
            let name = NodeError.quoted(workspace.displayName(of: member))
            throw .forbidden(
                "\(name) has left, and you did not outrank them", reason: "rank",
                hint: "wsx-node member list --removed")
        }
        return try shown(member, in: workspace)
    }

    /// The open invites of a member to take over; the caller could have created each of them.
    private func invitesToKeep(
        _ names: [String], of member: MemberID, in workspace: Workspace
    ) throws(NodeError) -> [OperationID] {
        let open = core.membership.openInvites(of: member, in: workspace)
        var found: [OperationID] = []
        for name in names {
            guard let id = open.first(where: { PublicID.invite($0) == name }),
                case .invite(let invite)? = workspace.authority[id]?.payload, !invite.isAddress,
                workspace.psk(of: id) != nil
            else {
                throw .notFound("open invite by them", name, field: "keep_invites")
            }
            guard let own = workspace.ownRole, own < invite.role,
                own == .owner || workspace.fields.mayInvite != .owner
            else {
                throw .forbidden(
                    "you may not make an invite like \(name)", reason: "role",
                    hint: "wsx-node policy show")
            }
            if !found.contains(id) { found.append(id) }
        }
        return found
    }

    /// What this node does not know of a member is rejected everywhere after the removal. So it
    /// should first have heard what others know.
    private func refuseUnsynced(
        removing standing: MemberStanding, from workspace: Workspace
    ) throws(NodeError) {
        guard !network.exchange.synced.contains(workspace.number) else { return }
        let others = Set(core.links.devices(of: workspace)).subtracting(standing.devices)
        guard others.contains(where: { $0 != home?.device }) else { return }
        let name = NodeError.quoted(workspace.displayName(of: standing.member))
        throw NodeError(
            .unsynced,
            "this node has not synced with a peer since it started, and may lack what "
                + "\(name) wrote",
            hint: "try again when wsx-node peer list shows one, or add --force",
            reason: "member.unsynced")
    }

    private func widenRemoval(
        of member: MemberID, isAsked: Bool, in workspace: Workspace
    ) throws(NodeError) -> MemberObject {
        let name = NodeError.quoted(workspace.displayName(of: member))
        guard isAsked else {
            throw NodeError(
                .conflict, "\(name) was already removed",
                hint: "to keep what has arrived since, add --recut", reason: "member.removed")
        }
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        let ends = core.membership.revocations(ending: member, in: workspace)
        let before = core.membership.keptCount(of: member, in: workspace)
        var object = try shown(member, in: workspace)
        object.kept = 0
        // What has not arrived cannot be named, so there is nothing to write.
        guard before.kept < before.stored else { return object }
        let made = try stored { () throws(StorageError) in
            try core.membership.widen(ends, of: member, in: workspace)
        }
        guard !made.isEmpty else {
            throw .forbidden(
                "only the person who removed \(name), or someone stronger, can keep more",
                reason: "rank", hint: "wsx-node member list")
        }
        object.kept = core.membership.keptCount(of: member, in: workspace).kept - before.kept
        return object
    }
}
