import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Admitting the holder of an invite: the side of the member who answers (PROTOCOL.md, 5.6).
final class Admissions: CorePart {
    /// `join1`: shows the authority document to a peer that proves it holds a valid invite.
    func joinHello(
        _ name: InviteHash, _ proof: Signature, on link: PeerLink
    ) throws(StorageError) {
        guard let peer = link.peer,
            let (workspace, publicKey) = door(named: name, with: peer.invites),
            let key = DeviceID(untrusted: publicKey),
            InviteSecret.verifies(joinProof: proof, by: key, handshakeHash: peer.handshakeHash)
        else { return answerJoin(.init(code: .invalid), on: link) }
        // Another invite of the same key says nothing of the one that the link is of.
        let doors = (workspace.invites.byKey[publicKey] ?? []).filter {
            stands($0, in: workspace)
        }
        guard !doors.isEmpty, workspace.fields.deletion == nil else {
            return answerJoin(.init(code: .invalid), on: link)
        }
        // A device that asked in time, or is in, may return after the invite has expired to learn
        // the decision.
        let open = doors.first {
            !hasExpired($0, in: workspace) || isKnown(peer.device, by: $0, in: workspace)
        }
        guard let id = open else { return answerJoin(.init(code: .expired), on: link) }
        link.invite = (workspace.number, id)
        let tips = CoreReplica(for: self, workspace: workspace).tips(of: workspace.id)
        let limit = network.joining.joinTipsMax
        answerJoin(
            .init(code: .open, workspace: workspace.id, tips: Array(tips.prefix(limit))), on: link)
        guard let sync = try core.syncs.openSync(workspace, on: link, as: .joining) else {
            return
        }
        for start in stride(from: limit, to: tips.count, by: limit) {
            let part = Array(tips[start..<min(start + limit, tips.count)])
            link.session.send(
                .tips(sync.number, part, final: false), in: .control, isUnasked: false)
        }
    }

    /// The workspace that a newcomer means, and the public key of the link: any member of two workspaces
    /// can write an invite of the one into the other, with its key or its secret.
    ///
    /// - Parameter found: all invites with the secret that the newcomer used.
    private func door(
        named name: InviteHash, with found: [OperationID]
    ) -> (Workspace, [UInt8])? {
        let inOrder = workspaces.values.sorted { $0.number < $1.number }
        var keys: [(key: [UInt8], workspace: Workspace)] = []
        for id in found {
            guard let workspace = inOrder.first(where: { $0.authority[id] != nil }),
                case .invite(let invite)? = workspace.authority[id]?.payload
            else { continue }
            keys.append((invite.publicKey, workspace))
        }
        for (key, _) in keys {
            let meant = inOrder.first {
                $0.ownRole != nil && $0.invites.byKey[key] != nil
                    && InviteSecret.doorName(key, in: Identifier16(prefixOf: $0.id)) == name
            }
            if let meant { return (meant, key) }
        }
        // Earlier programs name the key alone.
        return keys.first { InviteSecret.publicKeyName($0.key) == name }.map {
            ($0.workspace, $0.key)
        }
    }

    private func stands(_ id: OperationID, in workspace: Workspace) -> Bool {
        guard case .invite(let invite)? = workspace.authority[id]?.payload else { return false }
        return !core.membership.isRevoked(id, in: workspace) && workspace.isServed(invite)
    }

    private func hasExpired(_ id: OperationID, in workspace: Workspace) -> Bool {
        guard case .invite(let invite)? = workspace.authority[id]?.payload else { return true }
        return invite.expires < time.wall
    }

    private func isKnown(
        _ device: DeviceID, by invite: OperationID, in workspace: Workspace
    ) -> Bool {
        let index = workspace.invites
        let all = (index.requests[invite] ?? []) + (index.admissions[invite] ?? [])
        return all.contains { id in
            workspace.authority[id]?.payload.joiner?.devices.contains { $0.device == device }
                == true
        }
    }

    /// `join2`: writes the admission, with the keys in it; or the request, where an admin decides.
    func joinRequest(_ request: JoinRequest, on link: PeerLink) throws(StorageError) {
        let id = request.invite
        guard let (number, shown) = link.invite, let workspace = core.workspaces[number],
            let sync = link.syncs[number],
            case .invite(let invite)? = workspace.authority[id]?.payload,
            workspace.invites.byKey[invite.publicKey]?.contains(shown) == true,
            let devices = try? DeviceEntry.list(decoding: request.devices),
            request.answering != nil
                || devices.contains(where: { $0.device == link.peer?.device }),
            (try? CheckedName.checkWire(request.name)) != nil
        else { return answerJoin(.init(code: .invalid), on: link) }
        if let known = entry(of: link.peer?.device, as: request.member, in: workspace) {
            return try admitted(known, workspace, sync, on: link)
        }
        link.invite = (number, id)
        let joiner = JoinerTerms(
            invite: id, member: request.member, devices: devices, proof: request.proof,
            name: request.name, answering: request.answering)
        // Without keys nobody is let in and no request is written: another member may.
        guard let home else { return answerJoin(.init(code: .busy), on: link) }
        let asked = workspace.joinRequests(by: joiner.member).first { $0.isOf(joiner) }
        if let refusal = refusal(of: joiner, invite, asked, in: workspace) {
            return answerJoin(.init(code: refusal), on: link)
        }
        guard Binding.isGood(joiner.unnamed, before: home.device, in: workspace) else {
            return answerJoin(.init(code: .invalid), on: link)
        }
        // A device that was bound here before is not admitted by an invite alone: a person decides
        // about it.
        if invite.approve || joiner.answering != nil {
            if asked == nil, try writeRequest(joiner, in: workspace) == nil {
                return answerJoin(.init(code: .invalid), on: link)
            }
            link.asking = request.member
            link.askedBefore = nil
            return answerJoin(.init(code: .pending), on: link)
        }
        guard workspace.judged.evaluator.isNewcomer(joiner.member, devices.map(\.device)) else {
            return answerJoin(.init(code: .invalid), on: link)
        }
        guard let admission = try admit(joiner, request: nil, to: workspace) else {
            return answerJoin(.init(code: .busy), on: link)
        }
        try admitted(admission, workspace, sync, on: link)
    }

    /// Whether the invite is valid, and this device may do what it requires.
    private func refusal(
        of joiner: JoinerTerms, _ invite: AuthorityPayload.Invite, _ asked: JoinRequestGroup?,
        in workspace: Workspace
    ) -> JoinResult.Code? {
        let id = joiner.invite
        let asksFirst = invite.approve || joiner.answering != nil
        if answersNothing(joiner.answering, of: joiner.member, in: workspace) { return .invalid }
        if let asked, asksFirst { return decision(on: asked, in: workspace) }
        if core.membership.isRevoked(id, in: workspace) || !workspace.isServed(invite) {
            return .invalid
        }
        if invite.expires < time.wall { return .expired }
        let used = workspace.invites.used[id] ?? 0
        if joiner.answering == nil,
            UInt64(used) >= invite.maximum || workspace.judged.evaluator.isUsedUp(id)
        {
            return .used
        }
        guard let own = workspace.ownRole, own <= .member,
            core.log.shares.mayOpenDoor(in: workspace)
        else {
            return .busy
        }
        if asksFirst {
            // A rejected request takes no room, as in A-10.
            let requests = workspace.invites.requests[id] ?? []
            let count = requests.count { request in
                guard let member = workspace.authority[request]?.payload.joiner?.member else {
                    return false
                }
                return workspace.invites.removals[member]?.isEmpty ?? true
            }
            let room = max(Limits.requestsPerInviteMin, invite.maximum)
            return UInt64(count) < room ? nil : .busy
        }
        return own <= invite.role ? nil : .busy
    }

    /// What a person hears about a request that exists: `nil` while it waits. An invite that ended
    /// before anybody decided is told from a rejection.
    private func decision(
        on asked: JoinRequestGroup, in workspace: Workspace
    ) -> JoinResult.Code? {
        let id = asked.joiner.invite
        guard case .invite(let invite)? = workspace.authority[id]?.payload else { return .invalid }
        switch state(of: asked, in: workspace) {
        case .pending: return workspace.isServed(invite) ? nil : .expired
        case .void
        where !answersNothing(
            asked.joiner.answering, of: asked.joiner.member, in: workspace):
            let isUsedUp = UInt64(workspace.invites.used[id] ?? 0) >= invite.maximum
            return isUsedUp && !core.membership.isRevoked(id, in: workspace) ? .used : .expired
        // Who was in by it needs another invite, and was not turned down.
        case .approved, .removed: return .expired
        case .rejected, .void: return .invalid
        }
    }

    /// Writes the admission, and adds the newcomer to the channels that the invite names.
    ///
    /// - Returns: its id, or `nil` when this device may not.
    func admit(
        _ joiner: JoinerTerms, request: OperationID?, to workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        guard let current = workspace.currentKey, let discovery = workspace.discovery.last else {
            return nil
        }
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload,
            joiner.answering == nil
        else { return nil }
        let isGuest = invite.role == .guest
        let wraps = core.keys.wraps(
            isGuest ? nil : current.key, discovery, for: joiner.devices)
        let named = [joiner.invite, request].compactMap { $0 }
        let admission = try core.log.authorAuthority(in: workspace, naming: named) { authoring in
            .admit(
                joiner.sealed(authoring, field: 7), keyID: current.id, wraps: wraps,
                request: request)
        }
        guard let admission else { return nil }
        if isGuest {
            try core.privates.guests.addGuests(only: joiner.member, in: workspace)
        } else {
            try add(joiner.member, to: invite.channels, in: workspace)
        }
        return admission
    }

    /// Adds a newcomer to the channels that an invite names.
    func add(
        _ member: MemberID, to documents: [DocumentID], in workspace: Workspace
    ) throws(StorageError) {
        for document in documents {
            guard let channel = workspace.book.channels[document], !channel.isDefault,
                !channel.isArchived
            else { continue }
            _ = try core.channels.say(.add, of: [member], in: document, of: workspace)
        }
    }

    /// The valid admission of a member by an invite, so that asking twice admits once.
    func admission(
        by invite: OperationID, of member: MemberID, in workspace: Workspace
    ) -> OperationID? {
        workspace.invites.admissions[invite]?.first { id in
            workspace.authority[id]?.payload.joiner?.member == member
                && workspace.judged.evaluator.isValid(id)
        }
    }

    /// The operation that currently makes a device the member's: the admission, or a later one.
    func entry(
        of device: DeviceID?, as member: MemberID, in workspace: Workspace
    ) -> OperationID? {
        guard let device else { return nil }
        return workspace.judged.evaluator.bestGrant(of: device, as: member)
    }

    private func admitted(
        _ admission: OperationID, _ workspace: Workspace, _ sync: WorkspaceLink,
        on link: PeerLink
    ) throws(StorageError) {
        // The log of the admission comes first: the joiner waits for that one, and what it cites
        // was announced before, or is announced by the comparison that follows.
        let log = workspace.authority[admission]?.log
        let tips = CoreReplica(for: self, workspace: workspace).tips(of: workspace.id)
        let ordered = tips.filter { $0.log == log } + tips.filter { $0.log != log }
        answerJoin(
            .init(
                code: .admitted, workspace: workspace.id,
                tips: Array(ordered.prefix(network.joining.joinTipsMax)), admission: admission),
            on: link)
        link.asking = nil
        guard let device = link.peer?.device else { return }
        network.registry.connected(
            device, attempt: nil, now: time.monotonic, wallMilliseconds: time.wall)
        network.isRegistryDirty = true
        try core.links.compareClocks(on: link)
        try turn.record(.peerConnected, workspace: nil, extra: device.bytes)
        try core.syncs.setStanding(
            core.membership.standing(of: device, in: workspace), of: sync, workspace, on: link)
    }

    /// Tells those who wait on a link what was decided, here or by an admin elsewhere.
    func tellDecisions() throws(StorageError) {
        for link in network.ordered {
            guard let member = link.asking, let (number, id) = link.invite,
                let workspace = core.workspaces[number], let sync = link.syncs[number]
            else { continue }
            // Only authority operations decide, and most operations are not.
            guard link.askedBefore != workspace.authorityOrder.last else { continue }
            link.askedBefore = workspace.authorityOrder.last
            if let admission = entry(of: link.peer?.device, as: member, in: workspace) {
                try admitted(admission, workspace, sync, on: link)
                continue
            }
            let asked = workspace.joinRequests(by: member).filter {
                $0.joiner.invite == id
            }
            guard asked.contains(where: { state(of: $0, in: workspace) == .pending }) else {
                link.asking = nil
                // Of several, under different ends, the last was asked over this link.
                let code = asked.last.flatMap { decision(on: $0, in: workspace) }
                answerJoin(.init(code: code ?? .invalid), on: link)
                continue
            }
        }
    }

    private func answerJoin(_ result: JoinResult, on link: PeerLink) {
        link.session.send(.joinResult(result), in: .control, isUnasked: false)
    }
}
