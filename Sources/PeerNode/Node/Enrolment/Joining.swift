import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Joining by an invite: the call, and the exchange that follows (PROTOCOL.md, 5.6).
extension Enrolment {
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        if let made = try core.replay(scope) {
            guard let id = WorkspaceID(untrusted: made),
                let known = workspaces.values.first(where: { $0.id == id })
            else { throw .internalFailure(reason: "replay") }
            let shown = try stored { () throws(StorageError) in try core.queries.object(of: known) }
            return .reply(Made(shown, isReplayed: true))
        }
        let link: InviteLink
        do throws(InviteLink.Problem) { link = try InviteLink(draft.link) } catch {
            throw .inviteLink(error)
        }
        if let known = workspaces.values.first(where: {
            $0.standing == .member && Identifier16(prefixOf: $0.id) == link.workspace
        }), known.ownRole != nil {
            guard known.fields.deletion == nil else { throw .deleted(known) }
            guard core.membership.isInHere(known) else { throw .inByAnotherDevice(known) }
            if let doubt = core.membership.doubt(about: known) { throw .doubted(known, doubt) }
            let shown = try stored { () throws(StorageError) in
                try core.membership.select(known)
                return try core.queries.object(of: known)
            }
            try core.remember(scope, made: known.id.bytes)
            return .reply(shown.json)
        }
        guard !network.registry.isSuspended else { throw .suspendedNetwork }
        // Last, because it writes, and nothing may be refused after a write.
        if home == nil {
            guard let name = draft.name else {
                throw NodeError(
                    .badRequest, "you need a name to join for the first time",
                    hint: "wsx-node join LINK --name NAME", reason: "missing_parameter",
                    fields: [.init(name: "name", reason: "missing")])
            }
            try founding.makeIdentity(
                name: try NewNames.person(name, field: "name"),
                recovery: draft.hasRecovery ? .drawn : .none)
        }
        let deadline = time.monotonic &+ UInt64(max(draft.timeoutMilliseconds, 0))
        if try resumeJoin(by: link, for: scope, deadline: deadline) { return .later }
        network.joining.joins.append(
            JoinAttempt(scope: scope, link: link, addresses: link.hints, deadline: deadline))
        network.beacons.hurry(for: nil, at: time.monotonic)
        return .later
    }

    // MARK: The conversation

    func joinEstablished(_ link: PeerLink, _ peer: PeerIdentity) throws(StorageError) {
        guard let index = joinIndex(of: link) else {
            return try core.links.drop(link, because: LinkEnding("join.over"))
        }
        let secret = network.joining.joins[index].link.secret
        link.session.send(
            .joinHello(
                invite: secret.doorName(in: network.joining.joins[index].link.workspace),
                proof: secret.joinProof(handshakeHash: peer.handshakeHash)),
            in: .control, isUnasked: false)
    }

    func joinResult(_ result: JoinResult, on link: PeerLink) throws(StorageError) {
        guard let index = joinIndex(of: link) else { return }
        network.joining.joins[index].progressed(now: time.monotonic)
        switch result.code {
        case .open: try joinOpened(result, index, on: link)
        case .admitted:
            let stage = network.joining.joins[index].stage
            guard stage == .asked || stage == .waiting, let admission = result.admission,
                let number = network.joining.joins[index].workspace,
                let sync = link.syncs[number]
            else { return try core.links.drop(link, because: LinkEnding("join.protocol")) }
            network.joining.joins[index].stage = .admitted(admission)
            network.joining.joins[index].tips = result.tips ?? []
            try core.syncs.feed(.announced(result.tips ?? []), to: sync, on: link)
            try joinsMayGoOn()
        case .pending:
            guard network.joining.joins[index].stage == .asked else {
                return try core.links.drop(link, because: LinkEnding("join.protocol"))
            }
            guard network.joining.joins[index].needsApproval else {
                return try turnAway(index, Self.refusal(.busy))
            }
            // The phrase is not kept, so it is asked for again.
            if network.joining.joins[index].phrase != nil {
                return try endJoin(index, .failure(Recovery.waitsForApproval))
            }
            try joinWaits(index)
        case .busy where isRemembered(network.joining.joins[index].link):
            try core.links.drop(link, because: LinkEnding("join.busy"))
        case .invalid, .expired, .used, .busy:
            try turnAway(index, refusal(result.code, to: network.joining.joins[index]))
        }
    }

    /// What a refusal means to a person who has asked: 3 in answer to a request rejects it, and an
    /// invite that is over took the request with it (PROTOCOL.md, J-31).
    private func refusal(_ code: JoinResult.Code, to join: JoinAttempt) -> NodeError {
        let hasAsked = join.needsApproval && (join.stage == .asked || join.stage == .waiting)
        switch code {
        case .invalid where hasAsked: return Self.declined
        case .invalid, .expired, .used:
            return isRemembered(join.link) ? Self.endedUndecided : Self.refusal(code)
        default: return Self.refusal(code)
        }
    }

    static func refusal(_ code: JoinResult.Code) -> NodeError {
        switch code {
        case .expired:
            NodeError(
                .inviteExpired, "the invite has expired", hint: "ask for a new one",
                reason: "invite.expired")
        case .used:
            NodeError(
                .inviteUsed, "the invite was used up", hint: "ask for a new one",
                reason: "invite.used")
        case .pending:
            NodeError(
                .pending, "waiting for an admin to approve; you will be let in automatically",
                hint: "wsx-node status", reason: "invite.pending")
        case .busy:
            NodeError(
                .unreachable, "the node that answered cannot let anyone in now",
                hint: "try again when another member is online", reason: "join.busy")
        case .invalid, .open, .admitted:
            NodeError(
                .inviteInvalid,
                "the invite is not valid: it was revoked, or its workspace was deleted",
                hint: "ask for a new one", reason: "invite.invalid")
        }
    }

    private func joinOpened(
        _ result: JoinResult, _ index: Int, on link: PeerLink
    ) throws(StorageError) {
        let join = network.joining.joins[index]
        guard join.stage == .searching, let id = result.workspace,
            let home = core.membership.enteringHome
        else {
            return try core.links.drop(link, because: LinkEnding("join.protocol"))
        }
        guard Identifier16(prefixOf: id) == join.link.workspace else {
            return try turnAway(index, Self.refusal(.invalid))
        }
        // A returning person learns their member id from the authority document.
        let member = home.member(salt: id.bytes)
        let workspace: Workspace
        if let known = workspaces.values.first(where: { $0.id == id }) {
            workspace = known
        } else {
            workspace = try founding.enter(id, member: member, standing: .joining)
        }
        network.joining.joins[index].workspace = workspace.number
        network.joining.joins[index].stage = .reading
        network.joining.joins[index].tips = result.tips ?? []
        guard let sync = try core.syncs.openSync(workspace, on: link, as: .authorityOnly) else {
            return
        }
        try core.syncs.feed(.announced(result.tips ?? []), to: sync, on: link)
        // A second attempt may hold all of it already; then no newly stored operation would
        // continue the join.
        try joinsMayGoOn()
    }

    /// Goes on with every join whose next step has become possible by what was stored.
    func joinsMayGoOn() throws(StorageError) {
        for index in network.joining.joins.indices.reversed()
        where index < network.joining.joins.count {
            let join = network.joining.joins[index]
            guard let number = join.workspace, let workspace = core.workspaces[number],
                let id = join.linkID, let link = network.links[id],
                let sync = link.syncs[number]
            else { continue }
            network.joining.joins[index].progressed(
                holding: workspace.authorityOrder.count, now: time.monotonic)
            let replica = CoreReplica(for: self, workspace: workspace)
            guard join.tips.allSatisfy({ replica.holds($0) }) else { continue }
            // A result that is full may be followed by more: what is not here may still come.
            let isWhole = join.tips.count < network.joining.joinTipsMax
            switch join.stage {
            case .reading where isWhole && join.phrase != nil:
                if let phrase = join.phrase {
                    try recovery.comeBack(index, phrase, workspace, on: link)
                }
            case .reading
            where join.phrase == nil
                && (isWhole || invite(of: join, in: workspace, isWhole: false) != nil):
                try askToBeAdmitted(index, workspace, on: link)
            case .admitted(let admission) where isWhole || workspace.authority[admission] != nil:
                try becomeMember(index, by: admission, workspace, sync, on: link)
            case .reading, .admitted: break
            case .searching, .asked, .waiting, .syncing: break
            }
        }
    }

    /// The invite of the link. If it is here, so is what it cites.
    ///
    /// - Parameter isWhole: whether the whole document is here: before that, only the one that the link
    ///   names counts, for anybody who may invite can write another one of its key.
    func invite(
        of join: JoinAttempt, in workspace: Workspace, isWhole: Bool = true
    ) -> OperationID? {
        let found = workspace.invites.byKey[join.link.secret.publicKey.bytes] ?? []
        let named = found.first { $0.leadingWord == join.link.invite }
        if let named, !core.membership.isRevoked(named, in: workspace) { return named }
        guard isWhole else { return nil }
        // Earlier links name none.
        let standing = found.filter { id in
            !core.membership.isRevoked(id, in: workspace)
                && (named.map { takesThePlace(id, of: $0, in: workspace) } ?? true)
        }
        return workspace.judged.evaluator.strongest(of: standing) ?? named ?? found.first
    }

    /// Whether an invite replaces an ended one with the same key: the workspace address is renewed
    /// when its author leaves, and an admin who removes someone may take over their invites. A
    /// member's invite never replaces another's.
    private func takesThePlace(
        _ id: OperationID, of former: OperationID, in workspace: Workspace
    ) -> Bool {
        guard case .invite(let invite)? = workspace.authority[id]?.payload,
            case .invite(let ended)? = workspace.authority[former]?.payload, invite.policy == nil
        else { return false }
        return ended.isAddress
            ? invite.isAddress : workspace.judged.evaluator.strongest(of: [id, former]) == id
    }

    func askToBeAdmitted(
        _ index: Int, _ workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let home else { return }
        let secret = network.joining.joins[index].link.secret
        let invite = invite(of: network.joining.joins[index], in: workspace)
        guard let invite else { return try turnAway(index, Self.refusal(.invalid)) }
        let entrance: JoinEntrance
        do throws(NodeError) {
            entrance = try self.entrance(to: workspace, by: invite, before: link.peer?.device)
        } catch {
            return try turnAway(index, error)
        }
        workspace.seat.member = entrance.member
        network.joining.joins[index].needsApproval =
            entrance.answering != nil || asksFirst(invite, in: workspace)
        network.joining.joins[index].isReturning =
            workspace.judged.evaluator.hasLetIn(entrance.member)
        let devices = DeviceEntry.encoded(entrance.devices)
        network.joining.joins[index].stage = .asked
        link.session.send(
            .joinRequest(
                JoinRequest(
                    invite: invite, member: workspace.member, devices: devices,
                    proof: secret.admissionProof(
                        workspace: workspace.id, invite: invite, member: workspace.member,
                        encodedDevices: devices),
                    name: core.membership.personName(of: home), answering: entrance.answering)),
            in: .control, isUnasked: false)
    }

    /// Whether joining by an invite needs an admin's approval.
    private func asksFirst(_ invite: OperationID, in workspace: Workspace) -> Bool {
        guard case .invite(let terms)? = workspace.authority[invite]?.payload else { return false }
        return terms.approve
    }

    private func becomeMember(
        _ index: Int, by admission: OperationID, _ workspace: Workspace, _ sync: WorkspaceLink,
        on link: PeerLink
    ) throws(StorageError) {
        guard let home, workspace.judged.evaluator.isValid(admission),
            workspace.judged.evaluator.subject(ofGrant: admission, device: home.device)
                == workspace.member
        else { return try turnAway(index, Self.refusal(.invalid)) }
        guard workspace.isKeyed || isWithheld(admission, from: workspace, on: link) else {
            // A readmitted person gets the key from an operation after the grant.
            if case .grant? = workspace.authority[admission]?.payload { return }
            return try turnAway(index, Self.refusal(.invalid))
        }
        // The invite was used up by an earlier admission of the same person, who was removed since.
        guard workspace.judged.evaluator.role(of: workspace.member) != nil else {
            return try turnAway(index, Self.refusal(.used))
        }
        let name = core.membership.personName(of: home)
        // Nobody's next command acts elsewhere because an admin has approved meanwhile.
        let selected = try core.membership.selectedWorkspace()
        try settleIn(
            workspace, selects: selected == nil || network.joining.joins[index].scope != nil)
        try core.profiles.nameDevice(in: workspace)
        // The member who answered wrote the name into the admission, and may have written another
        // one.
        if workspace.displayName(of: workspace.member) != name {
            _ = try core.profiles.authorProfile(.profile(name: name), in: workspace)
        }
        network.joining.joins[index].stage = .syncing
        if let peer = link.peer {
            network.registry.connected(
                peer.device, attempt: nil, now: time.monotonic, wallMilliseconds: time.wall)
            if let address = PeerAddress(link.address, defaultPort: 0), link.session.isInitiator {
                network.registry.add(
                    peer.device,
                    addresses: [KnownAddress(address, source: .remembered, freshness: time.wall)])
            }
            network.isRegistryDirty = true
            try core.links.compareClocks(on: link)
            try turn.record(.peerConnected, workspace: nil, extra: peer.device.bytes)
        }
        core.links.workspaceListChanged()
        try core.syncs.setStanding(.full, of: sync, workspace, on: link)
        try core.syncs.openWhereShared(workspace)
    }

    /// Whether a member other than this peer admitted this device and withheld the key. Then
    /// everyone else sees it as admitted, and any member gives it the key on request (PROTOCOL.md,
    /// 4.2).
    private func isWithheld(
        _ admission: OperationID, from workspace: Workspace, on link: PeerLink
    ) -> Bool {
        guard case .admit? = workspace.authority[admission]?.payload, workspace.ownRole != .guest,
            let author = workspace.judged.evaluator.author(of: admission),
            let peer = link.peer?.device
        else { return false }
        return workspace.owner(of: peer) != author
    }

    /// From now on the workspace is one of ours.
    func settleIn(_ workspace: Workspace, selects: Bool = true) throws(StorageError) {
        try write()
        workspace.seat.standing = .member
        workspace.seat.joined = time.wall
        try store.registry.setWorkspace(
            .init(
                number: workspace.number, standing: .member, member: workspace.member,
                joined: Int64(time.wall)))
        if selects { try core.membership.select(workspace) }
        try core.membership.enterComputedDocuments(of: workspace)
        try core.channels.refreshChannels(of: workspace)
        network.candidates = nil
    }

    /// The first sync of a workspace is over.
    func caughtUp(_ workspace: Workspace, on link: PeerLink) throws(StorageError) {
        if let device = link.peer?.device {
            try turn.record(.syncCaughtUp, workspace: workspace.number, extra: device.bytes)
        }
        try linking.linkCaughtUp(workspace)
        try endSyncedJoin(of: workspace)
    }

    /// Ends a join whose first sync is complete, maybe over another link than the one that admitted
    /// this home. A guest's join ends when it is in each channel that it got a key of: a member who
    /// has not heard of the guest yet does not serve these channels, so its sync is complete at
    /// once.
    func endSyncedJoin(of workspace: Workspace) throws(StorageError) {
        let waiting = network.joining.joins.firstIndex {
            $0.workspace == workspace.number && $0.stage == .syncing
        }
        guard let index = waiting, workspace.ownRole != .guest || isSeated(in: workspace) else {
            return
        }
        let isCaughtUp = network.links.values.contains {
            $0.syncs[workspace.number]?.isCaughtUp == true
        }
        guard isCaughtUp else { return }
        try turn.record(
            .workspaceJoined, workspace: workspace.number,
            extra: EventType.roleByte(workspace.ownRole)
        )
        try endJoin(index, .success(try core.queries.object(of: workspace).json))
        try endOtherJoins(into: workspace)
        // What it writes may end joins, too.
        try core.profiles.introduce(in: workspace)
    }

    private func isSeated(in workspace: Workspace) -> Bool {
        core.log.namedDocuments(of: workspace).allSatisfy {
            workspace.sealed.documents[$0]?.isIn(workspace.member) == true
        }
    }
}
