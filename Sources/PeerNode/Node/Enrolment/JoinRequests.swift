import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Who asks to join, before the name is sealed into an operation.
struct JoinerTerms {
    let invite: OperationID
    let member: MemberID
    let devices: [DeviceEntry]
    let proof: Signature
    let name: String
    /// The end of the membership after which a person asks to be readmitted, or the admission
    /// without effect.
    var answering: OperationID?

    /// The same with no name, for checks that do not look at it.
    var unnamed: AuthorityPayload.Joiner {
        .init(
            invite: invite, member: member, devices: devices, proof: proof,
            name: SealedField(keyID: .zero, nonce: [], ciphertext: []), answering: answering)
    }

    func sealed(
        _ authoring: OperationLog.AuthorityDraft, field: UInt64
    ) -> AuthorityPayload.Joiner {
        .init(
            invite: invite, member: member, devices: devices, proof: proof,
            name: authoring.sealed(name, field: field),
            answering: field == AuthorityPayload.Joiner.requestNameField ? answering : nil)
    }
}

/// The state of a request.
enum JoinRequestState: String {
    /// `removed`: it was approved, and its person removed since.
    case pending, approved, rejected, removed, void
}

extension AuthorityPayload.Joiner {
    /// The map key under which a request has the name.
    static var requestNameField: UInt64 { 5 }
}

extension JoinRequestGroup {
    func isOf(_ terms: JoinerTerms) -> Bool { Person(joiner) == Person(terms.unnamed) }
}

/// Requests to join: listing and deciding them (PROTOCOL.md, 5.6).
extension Admissions {
    /// A function of the authority document alone, except for the expiry of invites.
    ///
    /// A removal of a non-member by an admin who knew the request rejects it. Like every removal,
    /// it voids an admission that did not know of it. A grant to a former member by someone who
    /// knew the request approves it, even if that person was removed again.
    func state(of group: JoinRequestGroup, in workspace: Workspace) -> JoinRequestState {
        let joiner = group.joiner
        if answersNothing(joiner.answering, of: joiner.member, in: workspace) { return .void }
        let isIn = workspace.members.contains { $0.member == joiner.member }
        let admission = admission(by: joiner.invite, of: joiner.member, in: workspace)
        if isIn, admission != nil || isBound(joiner, in: workspace) { return .approved }
        let answers = (workspace.invites.removals[joiner.member] ?? []).filter { removal in
            group.operations.contains { workspace.judged.evaluator.isAncestor($0, of: removal) }
        }
        if !answers.isEmpty {
            let wasIn = answers.contains { wasLetIn(group, before: $0, in: workspace) }
            return wasIn ? .removed : .rejected
        }
        if admission != nil, joiner.answering == nil { return .approved }
        if wasTakenBack(group, in: workspace) { return .approved }
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload,
            !core.membership.isRevoked(joiner.invite, in: workspace),
            citable(group, in: workspace) != nil,
            joiner.answering != nil
                || UInt64(workspace.invites.used[joiner.invite] ?? 0) < invite.maximum
        else { return .void }
        return .pending
    }

    /// Whether a removal knew that its person had been let in by who knew the request.
    private func wasLetIn(
        _ group: JoinRequestGroup, before removal: OperationID, in workspace: Workspace
    ) -> Bool {
        let joiner = group.joiner
        let entrances =
            (workspace.invites.grants[joiner.member] ?? [])
            + workspace.authority.entrances.filter { id in
                guard case .admit(let admitted, _, _, _)? = workspace.authority[id]?.payload else {
                    return false
                }
                return admitted.member == joiner.member
            }
        return entrances.contains { entrance in
            workspace.judged.evaluator.isAncestor(entrance, of: removal)
                && group.operations.contains {
                    workspace.judged.evaluator.isAncestor($0, of: entrance)
                }
        }
    }

    /// Whether somebody who knew the request let that person in, maybe by another invite: who asked
    /// several times got one answer. It stays the answer when they leave once more: who left is not
    /// taken back because of what they asked before.
    private func wasTakenBack(_ group: JoinRequestGroup, in workspace: Workspace) -> Bool {
        FormerMembership.entrances(of: group.joiner.member, in: workspace).contains { entrance in
            group.operations.contains {
                workspace.judged.evaluator.isAncestor($0, of: entrance)
            }
        }
    }

    /// Whether a request answers what took nothing from its member: an admission that has effect,
    /// as of a device that was revoked since, which can never be added again; or a rejection,
    /// though there is an end to answer.
    func answersNothing(
        _ answered: OperationID?, of member: MemberID, in workspace: Workspace
    ) -> Bool {
        guard let answered else { return false }
        switch workspace.authority[answered]?.payload {
        case .admit?: return workspace.judged.evaluator.isValid(answered)
        case .remove?:
            return FormerMembership(of: member, in: workspace).rejections.contains(answered)
                && core.enrolment.lastEnd(of: member, in: workspace) != answered
        default: return false
        }
    }

    /// The request that an admission may cite: one that was written before the invite ended.
    private func citable(_ group: JoinRequestGroup, in workspace: Workspace) -> OperationID? {
        guard case .invite(let invite)? = workspace.authority[group.joiner.invite]?.payload else {
            return nil
        }
        return group.operations.first { id in
            workspace.authority[id].map { $0.timestamp.milliseconds <= invite.expires } ?? false
        }
    }

    func writeRequest(
        _ joiner: JoinerTerms, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let named = [joiner.invite, joiner.answering].compactMap { $0 }
        return try core.log.authorAuthority(in: workspace, naming: named) {
            .request(joiner.sealed($0, field: AuthorityPayload.Joiner.requestNameField))
        }
    }

    func object(of group: JoinRequestGroup, in workspace: Workspace) -> RequestObject {
        let first = group.operations.first ?? .zero
        let at = group.operations.compactMap { workspace.authority[$0]?.timestamp.milliseconds }
        var object = RequestObject(
            id: group.id, name: name(of: group, in: workspace),
            member: PublicID.member(group.joiner.member),
            device: group.joiner.devices.last.map { PublicID.device($0.device) } ?? "",
            invite: PublicID.invite(group.joiner.invite),
            at: Int64(at.min() ?? workspace.authority[first]?.timestamp.milliseconds ?? 0),
            state: state(of: group, in: workspace).rawValue)
        object.note = note(on: group.joiner, in: workspace)
        return object
    }

    /// A note about a returning person: what had ended the membership, when and by whom, and the
    /// role they will have once the reader approves.
    private func note(on joiner: AuthorityPayload.Joiner, in workspace: Workspace) -> String? {
        guard let end = joiner.answering, let record = workspace.authority[end],
            !answersNothing(end, of: joiner.member, in: workspace)
        else { return nil }
        let name = workspace.displayName(of: joiner.member)
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload else {
            return nil
        }
        let own = workspace.ownRole ?? .member
        let role = returningRole(of: joiner, by: invite, own: own, in: workspace)
        let isBack = hasBeenIn(joiner, workspace) ? "come back" : "join"
        let wish = "asks to \(isBack) as \(role == .admin ? "an" : "a") \(role.word)"
        let days = (time.wall - min(time.wall, record.timestamp.milliseconds)) / 86_400_000
        let when = days == 0 ? "today" : days == 1 ? "yesterday" : "\(days) days ago"
        let by = workspace.judged.evaluator.author(of: end).map { workspace.displayName(of: $0) }
        let whom = by.map { " by \($0)" } ?? ""
        return switch record.payload {
        case .remove: "\(name), removed \(when)\(whom), \(wish)"
        case .admit: "\(name), let in \(when)\(whom), which did not count, \(wish)"
        default: "\(name), who left \(when), \(wish)"
        }
    }

    private func name(of group: JoinRequestGroup, in workspace: Workspace) -> String? {
        for id in group.operations {
            guard let joiner = workspace.authority[id]?.payload.joiner,
                let name = workspace.name(joiner.name, key: 5, of: id),
                (try? CheckedName.checkWire(name)) != nil
            else { continue }
            return name
        }
        return nil
    }

    // MARK: Commands

    /// Pending ones first.
    func requests(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<RequestObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let all = workspace.joinRequests.map { object(of: $0, in: workspace) }
        let waiting = all.filter { $0.state == JoinRequestState.pending.rawValue }
        let decided = all.filter { $0.state != JoinRequestState.pending.rawValue }
        let (items, next) = try core.queries.page(waiting + decided, request)
        return Page(Array(items), next: next)
    }

    /// Writes the admission. The newcomer may be offline; the next member they reach tells them.
    func approveRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let group = try request(id, in: workspace)
        let state = state(of: group, in: workspace)
        if state == .approved { return object(of: group, in: workspace) }
        guard state != .void, let cited = citable(group, in: workspace) else {
            throw NodeError(
                .conflict, "the invite ended before this was decided",
                hint: "send a new one: wsx-node invite create", reason: "request.void")
        }
        // The member who recorded the request may have sealed a name that nobody can open. The
        // newcomer writes it again after joining.
        let name =
            name(of: group, in: workspace) ?? workspace.displayName(of: group.joiner.member)
        let terms = JoinerTerms(
            invite: group.joiner.invite, member: group.joiner.member,
            devices: group.joiner.devices, proof: group.joiner.proof, name: name)
        let isBound = isBound(group.joiner, in: workspace)
        if isBound, devices(of: group.joiner, in: workspace).isEmpty {
            throw core.membership.noDevice(of: group.joiner.member, in: workspace)
        }
        let made = try stored { () throws(StorageError) in
            isBound
                ? try takeBack(group.joiner, in: workspace)
                : try admit(terms, request: cited, to: workspace)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return object(of: group, in: workspace)
    }

    /// Whether no admission can let somebody in: who was in before, or whom somebody has admitted
    /// who may not, where a member has cited that (A-13).
    private func isBound(
        _ joiner: AuthorityPayload.Joiner, in workspace: Workspace
    ) -> Bool {
        joiner.answering != nil
            || !workspace.judged.evaluator.isNewcomer(joiner.member, joiner.devices.map(\.device))
    }

    /// The requesting person's devices that a grant may list, by rank.
    private func devices(
        of joiner: AuthorityPayload.Joiner, in workspace: Workspace
    ) -> [DeviceID] {
        let devices = workspace.judged.evaluator.listable(
            joiner.devices.map(\.device), of: joiner.member)
        return workspace.judged.evaluator.byStrength(devices, of: joiner.member)
    }

    /// Lets somebody in who is bound: a grant to the devices that asked, and a key that they may
    /// hold.
    private func takeBack(
        _ joiner: AuthorityPayload.Joiner, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload,
            let own = workspace.ownRole, own <= .admin
        else { return nil }
        let devices = devices(of: joiner, in: workspace)
        let role = returningRole(of: joiner, by: invite, own: own, in: workspace)
        let answered = [joiner.answering].compactMap { $0 }
        let named = try core.membership.gatherBindings(
            of: devices, and: answered, in: workspace)
        let made = try core.log.authorAuthority(in: workspace, naming: named) { _ in
            .grant(
                .init(
                    member: joiner.member, devices: devices, role: role, replaces: false,
                    drops: nil, cuts: []))
        }
        guard made != nil else { return nil }
        try takeBackWords(of: joiner, in: workspace)
        if role == .guest {
            try core.privates.guests.addGuests(only: joiner.member, in: workspace)
        } else if !hasBeenIn(joiner, workspace) {
            try add(joiner.member, to: invite.channels, in: workspace)
        }
        try core.keys.changeKey(of: workspace)
        return made
    }

    /// Whether a membership ended before somebody asked: else nothing that let them in had effect.
    private func hasBeenIn(
        _ joiner: AuthorityPayload.Joiner, _ workspace: Workspace
    ) -> Bool {
        guard let end = joiner.answering else { return false }
        if case .admit? = workspace.authority[end]?.payload { return false }
        return true
    }

    /// The role of a returning person: no more than the invite gives, and than they had in the end.
    /// A used invite gives at most the role of member. An admin admits nobody as admin, whatever
    /// the invite says.
    private func returningRole(
        of joiner: AuthorityPayload.Joiner, by invite: AuthorityPayload.Invite, own: Role,
        in workspace: Workspace
    ) -> Role {
        var role = invite.role
        let used = UInt64(workspace.invites.used[joiner.invite] ?? 0)
        if used >= invite.maximum || role <= own { role = max(role, .member) }
        return max(role, workspace.judged.evaluator.lastRole(of: joiner.member) ?? role)
    }

    /// A member who left by one device may not have known there what their other devices had
    /// written.
    private func takeBackWords(
        of joiner: AuthorityPayload.Joiner, in workspace: Workspace
    ) throws(StorageError) {
        guard let end = joiner.answering, case .leave? = workspace.authority[end]?.payload else {
            return
        }
        let count = core.membership.keptCount(of: joiner.member, in: workspace)
        guard count.kept < count.stored else { return }
        _ = try core.membership.widen([end], of: joiner.member, in: workspace)
    }

    func rejectRequest(_ id: String, _ scope: CallScope) throws(NodeError) -> RequestObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let group = try request(id, in: workspace)
        switch state(of: group, in: workspace) {
        case .rejected, .removed, .void: return object(of: group, in: workspace)
        case .approved:
            throw NodeError(
                .conflict, "that person was already let in", hint: "wsx-node member list",
                reason: "request.approved")
        case .pending: break
        }
        let made = try stored { () throws(StorageError) in
            try core.membership.turnDown(group.joiner.member, in: workspace)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return object(of: group, in: workspace)
    }

    private func request(
        _ id: String, in workspace: Workspace
    ) throws(NodeError) -> JoinRequestGroup {
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        // Somebody who asks again by the same invite, after another end, asks under the same id.
        let named = workspace.joinRequests.filter { $0.id == id }
        let waiting = named.last { state(of: $0, in: workspace) == .pending }
        guard let found = waiting ?? named.last else {
            throw .notFound("request", id, field: "id", hint: "wsx-node request list")
        }
        return found
    }
}
