import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Linking another device of the same person: the side of the existing device (PROTOCOL.md, 5.8).
final class DeviceLinking: CorePart {
    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject> {
        guard let home else { throw .noIdentity }
        if let made = try core.replay(scope) {
            guard let issued = network.joining.issuedLink,
                issued.link.secret.publicKeyName.bytes == made
            else {
                throw NodeError(
                    .inviteExpired, "the device link has ended", hint: "wsx-node device link",
                    reason: "link.expired")
            }
            return Made(object(of: issued), isReplayed: true)
        }
        guard workspaces.values.contains(where: { canAddDevices(in: $0) }) else {
            throw NodeError(
                .notFound, "this device is in no workspace that you could link another device to",
                hint: "wsx-node up --workspace NAME", reason: "workspace.none")
        }
        let issued = IssuedDeviceLink(
            link: DeviceLink(
                secret: InviteSecret(using: environment.random), issuer: home.device,
                hints: Array(network.addresses.listening.prefix(2))),
            expiresAt: time.wall &+ DeviceLink.lifetimeMilliseconds,
            deadline: time.monotonic &+ DeviceLink.lifetimeMilliseconds)
        network.joining.issuedLink = issued
        try core.remember(scope, made: issued.link.secret.publicKeyName.bytes)
        return Made(object(of: issued))
    }

    func object(of issued: IssuedDeviceLink) -> DeviceLinkObject {
        DeviceLinkObject(link: issued.link.text, expiresAt: Int64(clamping: issued.expiresAt))
    }

    private func canAddDevices(in workspace: Workspace) -> Bool {
        guard let home, workspace.standing == .member, workspace.isKeyed else {
            return false
        }
        return workspace.judged.evaluator.bestGrant(of: home.device, as: workspace.member) != nil
    }

    /// The secret under which a new device may open a link, while the ten minutes last.
    var deviceLinkCandidates: [PSKCandidate] {
        guard let issued = network.joining.issuedLink, issued.deadline > time.monotonic else {
            return []
        }
        return [PSKCandidate(.deviceLink, psk: issued.link.secret.psk, rank: .deviceLink)]
    }

    /// Whether the link is valid for this device.
    private func isOpen(to device: DeviceID) -> Bool {
        guard let issued = network.joining.issuedLink, issued.deadline > time.monotonic else {
            return false
        }
        return issued.user == nil || issued.user == device
    }

    // MARK: The conversation

    /// Says whose device the other end becomes, and where.
    func offerLink(on link: PeerLink) {
        guard let home, let device = link.peer?.device else { return }
        guard isOpen(to: device) else { return answerLink(LinkResult(code: .expired), on: link) }
        let memberships = workspaces.values.sorted { $0.number < $1.number }
            .filter { canAddDevices(in: $0) && mayAdd(device, to: $0) }
            .prefix(SyncMessage.linkedWorkspacesMax)
            .map { workspace in
                LinkOffer.Membership(workspace: workspace.id, member: workspace.member)
            }
        link.session.send(
            .linkOffer(
                LinkOffer(
                    name: core.membership.personName(of: home), memberships: Array(memberships))),
            in: .control, isUnasked: false)
    }

    /// A key is bound to one member permanently. A key that is bound to this member may ask again,
    /// even if the membership had ended in between, unless the device itself was revoked.
    private func mayAdd(_ device: DeviceID, to workspace: Workspace) -> Bool {
        guard let owner = workspace.owner(of: device) else { return true }
        return owner == workspace.member && !workspace.judged.evaluator.isBarred(device)
            && (isIn(device, workspace) || !isRevoked(device, workspace))
    }

    /// Whether a device was revoked by itself, and not because its person's membership ended.
    private func isRevoked(_ device: DeviceID, _ workspace: Workspace) -> Bool {
        workspace.judged.evaluator.revocations(ending: device).contains { id in
            if case .removeDevice? = workspace.authority[id]?.payload { true } else { false }
        }
    }

    private func isIn(_ device: DeviceID, _ workspace: Workspace) -> Bool {
        workspace.judged.evaluator.bestGrant(of: device, as: workspace.member) != nil
    }

    /// Writes an `adddev` in each workspace for which the proof is good.
    func linkRequested(
        _ proofs: [LinkConsent], on link: PeerLink
    ) throws(StorageError) {
        guard let peer = link.peer, peer.labels.contains(.deviceLink) else {
            return try core.links.drop(link, because: LinkEnding("link.protocol"))
        }
        guard isOpen(to: peer.device) else {
            return answerLink(LinkResult(code: .expired), on: link)
        }
        var additions: [LinkResult.Addition] = []
        var isBad = proofs.isEmpty
        for proof in proofs {
            guard let workspace = workspaces.values.first(where: { $0.id == proof.workspace }),
                canAddDevices(in: workspace), mayAdd(peer.device, to: workspace)
            else { continue }
            let entry = DeviceEntry(
                device: peer.device, agreementKey: proof.agreementKey,
                signature: proof.signature)
            let consent = home.map {
                DeviceConsent.adding(
                    to: workspace.id, before: $0.device, member: workspace.member)
            }
            guard consent?.isSigned(by: [entry], mayRecover: false) == true else {
                isBad = true
                continue
            }
            if let id = try addition(of: entry, to: workspace) {
                additions.append(.init(workspace: workspace.id, operation: id))
            }
        }
        guard !additions.isEmpty else {
            return answerLink(LinkResult(code: isBad ? .invalid : .busy), on: link)
        }
        network.joining.issuedLink?.user = peer.device
        network.registry.connected(
            peer.device, attempt: nil, now: time.monotonic, wallMilliseconds: time.wall)
        network.isRegistryDirty = true
        try core.links.compareClocks(on: link)
        try turn.record(.peerConnected, workspace: nil, extra: peer.device.bytes)
        answerLink(LinkResult(code: .linked, additions: additions), on: link)
    }

    /// The operation that made the device ours, written now unless there is one.
    private func addition(
        of entry: DeviceEntry, to workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let known = workspace.authorityOrder.first { id in
            guard case .addDevices(let devices, _, _, _)? = workspace.authority[id]?.payload else {
                return false
            }
            return devices.contains { $0.device == entry.device }
                && workspace.judged.evaluator.isValid(id)
        }
        if let known, isIn(entry.device, workspace) { return known }
        return try addDevice(entry, to: workspace)
    }

    /// Writes an `adddev` with the keys of this moment in it.
    func addDevice(
        _ entry: DeviceEntry, to workspace: Workspace, signedBy other: SigningKey? = nil,
        takesPlace: Bool = false
    ) throws(StorageError) -> OperationID? {
        guard let discovery = workspace.discovery.last else { return nil }
        let isGuest = workspace.ownRole == .guest
        let current = isGuest ? nil : workspace.currentKey
        guard let name = isGuest ? workspace.newestKeyName : current?.id else { return nil }
        let added = try core.log.authorAuthority(in: workspace, signedBy: other) { _ in
            .addDevices(
                [entry], keyID: name,
                wraps: core.keys.wraps(current?.key, discovery, for: [entry]),
                takesPlace: takesPlace)
        }
        // In the same transaction: a device that is in must not be left without them.
        if added != nil, entry.device != home?.device {
            try core.privates.handover.handOver(to: entry, in: workspace)
        }
        return added
    }

    private func answerLink(_ result: LinkResult, on link: PeerLink) {
        link.session.send(.linkResult(result), in: .control, isUnasked: false)
    }
}
