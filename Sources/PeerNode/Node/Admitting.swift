import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Invites, and letting in whoever holds one.
extension NodeCore {
    // MARK: Invites

    func createInvite(
        _ draft: InviteDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<InviteObject> {
        if let made = try replay(scope) {
            guard let id = OperationID(untrusted: made),
                let workspace = workspaces.values.first(where: { $0.authority[id] != nil }),
                let object = object(ofInvite: id, in: workspace)
            else { throw .internalFailure(reason: "replay") }
            return Made(object, isReplayed: true)
        }
        let workspace: Workspace = try workspace(scope)
        let role = try inviteRole(draft, in: workspace)
        let secret = InviteSecret(using: environment.random)
        let expires = time.wall &+ UInt64(max(draft.expiresInMilliseconds, 0))
        let id = try stored { () throws(StorageError) in
            let id = try authorAuthority(in: workspace) { authoring in
                .invite(
                    .init(
                        role: role, maximum: UInt64(max(draft.uses, 1)), expires: expires,
                        publicKey: secret.publicKey.bytes, approve: false, documents: [],
                        psk: authoring.sealed(secret.psk.exposedCopy(), field: 7), policy: nil))
            }
            if let id, let home {
                try store.registry.setValue(
                    home.seal(
                        secret.exposedSeed(), name: id.bytes, using: environment.random),
                    of: "seed:" + hexadecimal(id.bytes))
            }
            return id
        }
        guard let id, let object = object(ofInvite: id, in: workspace) else {
            throw notAllowed(in: workspace)
        }
        try remember(scope, made: id.bytes)
        return Made(object)
    }

    private func inviteRole(
        _ draft: InviteDraft, in workspace: Workspace
    ) throws(NodeError) -> Role {
        guard let role = Role(word: draft.role), role != .owner else {
            throw NodeError(
                .badRequest, "nobody is invited as \(NodeError.quoted(draft.role))",
                hint: "use admin or member", reason: "bad_role",
                fields: [.init(name: "role", reason: "form")])
        }
        guard role != .guest, draft.channels.isEmpty else {
            throw NodeError(
                .unsupported, "this version has no guests and no private channels yet",
                hint: "invite a member: wsx-node invite create")
        }
        guard let own = workspace.ownRole, own <= .admin, own < role else {
            throw notAllowed(in: workspace)
        }
        return role
    }

    func invites(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<InviteObject> {
        let workspace: Workspace = try workspace(scope)
        let all = workspace.authorityOrder.filter { id in
            guard case .invite? = workspace.authority[id]?.payload else { return false }
            return workspace.evaluator.isValid(id)
        }
        let (items, next) = try page(all, request)
        return Page(items.compactMap { object(ofInvite: $0, in: workspace) }, next: next)
    }

    func revokeInvite(_ id: String, _ scope: CallScope) throws(NodeError) -> InviteObject {
        let workspace: Workspace = try workspace(scope)
        let found = workspace.authorityOrder.first { other in
            guard case .invite? = workspace.authority[other]?.payload else { return false }
            return PublicID.invite(other) == id
        }
        guard let found else {
            throw .notFound("invite", id, field: "id", hint: "wsx-node invite list")
        }
        if !isRevoked(found, in: workspace) {
            guard mayRevoke(found, in: workspace) else { throw notAllowed(in: workspace) }
            let made = try stored { () throws(StorageError) in
                try authorAuthority(in: workspace) { _ in .revokeInvite(found) }
            }
            guard let made, workspace.evaluator.isValid(made) else {
                throw notAllowed(in: workspace)
            }
        }
        guard let object = object(ofInvite: found, in: workspace) else {
            throw .internalFailure(reason: "invite")
        }
        return object
    }

    /// Every admin may end an invite who is not weaker than its author. Asked before anything is
    /// written: what is written stays, valid or not.
    private func mayRevoke(_ invite: OperationID, in workspace: Workspace) -> Bool {
        guard let home, let own = workspace.evaluator.bestGrant(of: home.device),
            let record = workspace.authority[invite]
        else { return false }
        guard let role = workspace.evaluator.role(ofGrant: own), role <= .admin,
            let rank = workspace.evaluator.rank(ofGrant: own),
            let authors = workspace.evaluator.rank(ofGrant: record.grant)
        else { return false }
        return !(authors < rank)
    }

    /// The link of an invite that was made here; others hold no seed and show none.
    func link(ofInvite id: OperationID, in workspace: Workspace) -> String? {
        guard let home,
            let sealed = try? store.registry.value("seed:" + hexadecimal(id.bytes)),
            let seed = home.open(sealed, name: id.bytes),
            let secret = InviteSecret(untrusted: seed)
        else { return nil }
        return InviteLink(
            workspace: Identifier16(prefixOf: workspace.id), secret: secret,
            inviter: home.device, hints: linkHints(in: workspace)
        ).text.link
    }

    /// Two addresses of ours, or one and that of another device that may admit.
    private func linkHints(in workspace: Workspace) -> [PeerAddress] {
        var hints = Array(network.listening.prefix(1))
        let members = workspace.members.filter { $0.role <= .member }
        for device in members.flatMap(\.devices) where device != home?.device {
            if let other = network.book.record(of: device)?.dialable.first, !hints.contains(other) {
                hints.append(other)
                break
            }
        }
        if hints.count < 2 { hints += network.listening.dropFirst().prefix(2 - hints.count) }
        return hints
    }

    // MARK: Letting in

    /// `join1`: shows the authority document to whoever holds an invite that stands.
    func joinHello(
        _ name: InviteHash, _ proof: Signature, on link: PeerLink
    ) throws(StorageError) {
        guard let peer = link.peer, case .invite(let id) = peer.psk,
            let workspace = workspaces.values.first(where: { $0.authority[id] != nil }),
            case .invite(let invite)? = workspace.authority[id]?.payload,
            InviteSecret.publicKeyName(invite.publicKey) == name,
            let key = DeviceID(untrusted: invite.publicKey),
            InviteSecret.verifies(joinProof: proof, by: key, handshakeHash: peer.handshakeHash)
        else { return answerJoin(.init(code: .invalid), on: link) }
        if isRevoked(id, in: workspace) { return answerJoin(.init(code: .invalid), on: link) }
        guard invite.expires >= time.wall else {
            return answerJoin(.init(code: .expired), on: link)
        }
        link.invite = (workspace.number, id)
        let tips = CoreReplica(core: self, workspace: workspace).tips(of: workspace.id)
        answerJoin(
            .init(
                code: .open, workspace: workspace.id, tips: Array(tips.prefix(Self.joinTipsMax))),
            on: link)
        guard let sync = try openSync(workspace, on: link, as: .joining) else { return }
        for start in stride(from: Self.joinTipsMax, to: tips.count, by: Self.joinTipsMax) {
            let part = Array(tips[start..<min(start + Self.joinTipsMax, tips.count)])
            link.session.send(
                .tips(sync.number, part, final: false), in: .control, isUnasked: false)
        }
    }

    /// Tips in one `join_result`, so that it stays below the limit of a message.
    private static let joinTipsMax = 2_048

    /// `join2`: writes the admission, with the keys in it.
    func joinRequest(_ request: JoinRequest, on link: PeerLink) throws(StorageError) {
        guard let (number, id) = link.invite, let workspace = workspaces[number],
            let sync = link.syncs[number], request.invite == id,
            case .invite(let invite)? = workspace.authority[id]?.payload,
            let devices = try? DeviceEntry.list(decoding: request.devices),
            devices.contains(where: { $0.device == link.peer?.device }),
            (try? CheckedName.checkWire(request.name)) != nil
        else { return answerJoin(.init(code: .invalid), on: link) }
        if let known = admission(by: id, of: request.member, in: workspace) {
            return try admitted(known, workspace, sync, on: link)
        }
        if let refusal = refusal(of: id, invite, in: workspace) {
            return answerJoin(.init(code: refusal), on: link)
        }
        guard Binding.isGood(request, devices, in: workspace) else {
            return answerJoin(.init(code: .invalid), on: link)
        }
        guard let admission = try admit(request, devices, to: workspace) else {
            return answerJoin(.init(code: .busy), on: link)
        }
        try admitted(admission, workspace, sync, on: link)
    }

    /// Whether the invite stands, and this device may admit by it.
    private func refusal(
        of id: OperationID, _ invite: AuthorityPayload.Invite, in workspace: Workspace
    ) -> JoinResult.Code? {
        if isRevoked(id, in: workspace) { return .invalid }
        if invite.expires < time.wall { return .expired }
        let used = workspace.authorityOrder.filter { other in
            guard case .admit(let joiner, _, _, _)? = workspace.authority[other]?.payload else {
                return false
            }
            return joiner.invite == id
        }.count
        if UInt64(used) >= invite.maximum { return .used }
        if invite.approve { return .pending }
        guard let own = workspace.ownRole, own <= min(invite.role, .member) else { return .busy }
        return nil
    }

    private func admit(
        _ request: JoinRequest, _ devices: [DeviceEntry], to workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        guard let current = workspace.currentKey, let discovery = workspace.discovery.last else {
            return nil
        }
        let wraps = devices.compactMap { entry in
            AgreementPublicKey(untrusted: entry.agreementKey).flatMap {
                wrap(current.key, discovery, for: entry.device, to: $0)
            }
        }.sorted { $0.devicePrefix.lexicographicallyPrecedes($1.devicePrefix) }
        return try authorAuthority(in: workspace) { authoring in
            .admit(
                .init(
                    invite: request.invite, member: request.member, devices: devices,
                    proof: request.proof, name: authoring.sealed(request.name, field: 7)),
                keyID: current.id, wraps: wraps, request: nil)
        }
    }

    /// The valid admission of a member by an invite, so that asking twice admits once.
    private func admission(
        by invite: OperationID, of member: MemberID, in workspace: Workspace
    ) -> OperationID? {
        workspace.authorityOrder.first { id in
            guard case .admit(let joiner, _, _, _)? = workspace.authority[id]?.payload else {
                return false
            }
            return joiner.invite == invite && joiner.member == member
                && workspace.evaluator.isValid(id)
        }
    }

    private func admitted(
        _ admission: OperationID, _ workspace: Workspace, _ sync: WorkspaceLink,
        on link: PeerLink
    ) throws(StorageError) {
        answerJoin(
            .init(
                code: .admitted, workspace: workspace.id,
                tips: Array(
                    CoreReplica(core: self, workspace: workspace).tips(of: workspace.id)
                        .prefix(Self.joinTipsMax)),
                admission: admission),
            on: link)
        guard let device = link.peer?.device else { return }
        network.registry.connected(device, attempt: nil, wallMilliseconds: time.wall)
        network.isRegistryDirty = true
        try record(.peerConnected, workspace: nil, extra: device.bytes)
        try setStanding(standing(of: device, in: workspace), of: sync, workspace, on: link)
    }

    private func answerJoin(_ result: JoinResult, on link: PeerLink) {
        link.session.send(.joinResult(result), in: .control, isUnasked: false)
    }

    // MARK: Secrets of links

    /// The secrets under which others may open a link: every discovery secret, newest first, and
    /// every invite's. Invites that are used up, expired or revoked stay for 30 days, so that
    /// their holders are told so instead of meeting silence.
    func pskCandidates() -> [PSKCandidate] {
        if let known = network.candidates { return known }
        var candidates: [PSKCandidate] = []
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member {
            for (index, discovery) in workspace.discovery.enumerated().reversed() {
                candidates.append(
                    PSKCandidate(
                        .workspace(workspace.id, discovery: UInt32(clamping: index)),
                        psk: discovery.derived(Array("psk".utf8))))
            }
            candidates += invitePSKs(of: workspace)
        }
        network.candidates = candidates
        return candidates
    }

    private func invitePSKs(of workspace: Workspace) -> [PSKCandidate] {
        let month: UInt64 = 30 * 24 * 3_600 * 1_000
        return workspace.authorityOrder.reversed().compactMap { id in
            guard let record = workspace.authority[id], case .invite(let invite) = record.payload,
                invite.expires &+ month > time.wall,
                let key = workspace.keys[invite.psk.keyID],
                let bytes = XChaCha20Poly1305.open(
                    invite.psk.ciphertext, under: key.nameKey, nonce: invite.psk.nonce,
                    associatedData: Workspace.nameContext(
                        document: workspace.id, device: record.log.device,
                        incarnation: record.log.incarnation, sequence: record.sequence, key: 7)),
                let psk = SymmetricKey(untrusted: bytes)
            else { return nil }
            return PSKCandidate(.invite(id), psk: psk)
        }
    }

    /// The secret for a dial of the registry: of a workspace that the device is in, else of the
    /// selected one, else of any.
    func candidate(forDial number: UInt64) -> PSKCandidate? {
        let dialled = network.dials.removeValue(forKey: number)
        let members = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        var chosen = members.first
        if case .device(let device)? = dialled {
            chosen = members.first { standing(of: device, in: $0) == .full } ?? chosen
        } else if let selected = try? selectedWorkspace() {
            chosen = selected
        }
        guard let chosen, let index = chosen.discovery.indices.last else { return nil }
        return PSKCandidate(
            .workspace(chosen.id, discovery: UInt32(clamping: index)),
            psk: chosen.discovery[index].derived(Array("psk".utf8)))
    }
}
