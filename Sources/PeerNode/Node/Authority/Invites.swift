import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Creates, lists and ends invites.
extension Memberships {
    func inviteRole(
        _ draft: InviteDraft, in workspace: Workspace
    ) throws(NodeError) -> Role {
        guard let role = Role(word: draft.role), role != .owner else {
            throw NodeError(
                .badRequest, "you cannot invite someone as \(NodeError.quoted(draft.role))",
                hint: "use admin, member or guest", reason: "bad_role",
                fields: [.init(name: "role", reason: "form")])
        }
        guard let own = workspace.ownRole else { throw notAllowed(in: workspace) }
        let isAllowed =
            switch workspace.fields.mayInvite {
            case .owner: own == .owner
            case .admins: own <= .admin
            case .members: own <= .admin || (own == .member && role == .member)
            }
        if !isAllowed, own <= .admin {
            throw .forbidden(
                "only the owner of \(NodeError.quoted(workspace.displayName)) can invite",
                reason: "policy", hint: "wsx-node policy show")
        }
        guard isAllowed, own < role || own == .member else {
            throw notAllowed(in: workspace)
        }
        return role
    }

    /// - Returns: whether this device may end the invite, and did.
    func revoke(
        _ invite: OperationID, in workspace: Workspace, signedBy signer: SigningKey? = nil
    ) throws(StorageError) -> Bool {
        let made = try core.log.authorAuthority(in: workspace, signedBy: signer, naming: [invite]) {
            _ in
            .revokeInvite(invite)
        }
        return made.map { workspace.judged.evaluator.isValid($0) } ?? false
    }

    /// Ends the open invites that certain devices have created: a stolen device holds the links,
    /// and revoking the device does not end its invites.
    func endInvites(
        of workspace: Workspace, signedBy signer: SigningKey? = nil,
        madeBy isMeant: (DeviceID) -> Bool
    ) throws(StorageError) {
        for invite in workspace.invites.invites
        where !isRevoked(invite, in: workspace)
            && !workspace.judged.evaluator.isClosed(invite: invite)
        {
            guard let maker = workspace.authority[invite]?.log.device, isMeant(maker) else {
                continue
            }
            _ = try revoke(invite, in: workspace, signedBy: signer)
        }
    }

    /// Whether this device may end an invite: admins may if they are not weaker than its author,
    /// and members may end their own. Asked before anything is written, because an operation stays,
    /// valid or not.
    func mayRevoke(_ invite: OperationID, in workspace: Workspace) -> Bool {
        guard let home, case .invite(let terms)? = workspace.authority[invite]?.payload,
            let grant = workspace.judged.evaluator.bestGrant(of: home.device, as: workspace.member),
            let rank = workspace.judged.evaluator.standing(ofGrant: grant, device: home.device),
            let role = workspace.ownRole,
            let authors = workspace.judged.evaluator.authorRank(of: invite)
        else { return false }
        let isOwn =
            workspace.judged.evaluator.author(of: invite) == workspace.member
            && terms.policy != nil
        return (role <= .admin || isOwn) && !(authors < rank)
    }

    /// Ends the caller's open invites before the caller gives up the role under which they were
    /// created: afterwards nobody could end them, because the next owner ranks below the former one
    /// (F-15).
    ///
    /// - Parameter sparesAddress: whether the address of the workspace, which belongs to everybody,
    ///   stays valid.
    /// - Returns: whether an address was among them.
    @discardableResult
    func endOwnInvites(
        in workspace: Workspace, sparesAddress: Bool = false
    ) throws(StorageError) -> Bool {
        var hadAddress = false
        for invite in openInvites(of: workspace.member, in: workspace)
        where state(ofInvite: invite, in: workspace) == .open
            && mayRevoke(invite, in: workspace)
        {
            if case .invite(let terms)? = workspace.authority[invite]?.payload, terms.isAddress {
                if sparesAddress { continue }
                hadAddress = true
            }
            _ = try revoke(invite, in: workspace)
        }
        return hadAddress
    }

    // MARK: Objects

    func object(ofInvite id: OperationID, in workspace: Workspace) -> InviteObject? {
        guard case .invite(let invite)? = workspace.authority[id]?.payload,
            let author = workspace.judged.evaluator.author(of: id),
            let state = state(ofInvite: id, in: workspace)
        else { return nil }
        let used = workspace.invites.used[id] ?? 0
        var object = InviteObject(
            id: PublicID.invite(id), link: link(ofInvite: id, in: workspace),
            role: invite.role.word, uses: Int64(clamping: invite.maximum),
            expiresAt: Int64(clamping: invite.expires),
            createdBy: person(author, in: workspace))
        object.used = Int64(used)
        object.channels =
            invite.role == .guest
            ? workspace.documents(of: invite).map { PublicID.channel($0.id) }
            : invite.channels.map(PublicID.channel)
        object.needsApproval = invite.approve
        object.state = state.rawValue
        return object
    }

    /// The state of an invite; `nil` for anything else.
    func state(ofInvite id: OperationID, in workspace: Workspace) -> InviteState? {
        guard case .invite(let invite)? = workspace.authority[id]?.payload else { return nil }
        if isRevoked(id, in: workspace) { return .revoked }
        if UInt64(workspace.invites.used[id] ?? 0) >= invite.maximum { return .used }
        return invite.expires < time.wall ? .expired : .open
    }

    func isRevoked(_ invite: OperationID, in workspace: Workspace) -> Bool {
        workspace.judged.evaluator.isClosed(invite: invite)
    }

    /// The link of an invite that was made here, or of the workspace's address; only the device
    /// that made an invite holds its seed.
    func link(ofInvite id: OperationID, in workspace: Workspace) -> String? {
        guard let home else { return nil }
        let sealed = try? store.registry.value("seed:" + Hexadecimal.text(id.bytes))
        let seed = sealed.flatMap { home.open($0, name: id.bytes) }
        guard
            let secret = (seed ?? workspace.sealedSecret(of: id))
                .flatMap(InviteSecret.init(untrusted:))
        else { return nil }
        return InviteLink(
            workspace: Identifier16(prefixOf: workspace.id), secret: secret,
            invite: id.leadingWord, hints: linkHints(in: workspace)
        ).text.link
    }

    /// Two addresses of this device, or one and that of another device that may admit.
    private func linkHints(in workspace: Workspace) -> [PeerAddress] {
        var hints = Array(network.addresses.listening.prefix(1))
        let members = workspace.members.filter { $0.role <= .member }
        for device in members.flatMap(\.devices) where device != home?.device {
            let record = network.addresses.book.record(of: device)
            if let other = record?.dialable(isAlone: network.addresses.isAlone).first,
                !hints.contains(other)
            {
                hints.append(other)
                break
            }
        }
        if hints.count < 2 {
            hints += network.addresses.listening.dropFirst().prefix(2 - hints.count)
        }
        return hints
    }
}

/// The state of an invite, as lists name it.
enum InviteState: String {
    case open, revoked, used, expired
}
