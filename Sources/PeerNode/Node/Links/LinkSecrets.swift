import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The secrets that open links: those of workspaces and those of invites.
extension Links {
    /// The secrets under which others may open a link: what the newest group keys give, every discovery
    /// secret, newest first, and every invite's. Invites that are used up, expired or revoked stay for
    /// 30 days, the newest of them, so that their holders are told so instead of meeting silence.
    func pskCandidates() -> [PSKCandidate] {
        let members = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        let generations = members.map(\.secrets.index.generation)
        if let known = network.candidates, known.generations == generations { return known.all }
        let candidates = members.flatMap { secrets(of: $0) + invitePSKs(of: $0) }
        network.candidates = (candidates, generations)
        network.strangers.budget.divide(among: members.count)
        return candidates
    }

    /// The secrets that members of a workspace know, and those that former members knew.
    func secrets(of workspace: Workspace) -> [PSKCandidate] {
        let current = Set(workspace.linkEpochsOfMembersAlone().map(\.key))
        var seen: Set<KeyID> = []
        let epochs = workspace.linkEpochs().filter { seen.insert($0.key).inserted }.map {
            PSKCandidate(
                .epoch(workspace.id), psk: $0.psk,
                rank: current.contains($0.key) ? .newest : .older, in: workspace.id)
        }
        let discovery = workspace.discovery.enumerated().reversed().map { index, secret in
            PSKCandidate(
                .workspace(workspace.id, discovery: UInt32(clamping: index)),
                psk: secret.derived(Array("psk".utf8)),
                rank: index + 1 == workspace.discovery.count
                    && workspace.isNewestDiscoveryOfMembersAlone ? .newest : .older,
                in: workspace.id)
        }
        return epochs + discovery
    }

    /// The secrets among which that of somebody is looked for whose first message is here. To look
    /// among very many invites is what strangers may cost by the second: where that is used up, they
    /// are asked to come again, and members are let in.
    func candidatesOfStrangers() -> [PSKCandidate] {
        let all = pskCandidates()
        let inviteCount = all.count { $0.rank.isOfInvite }
        guard network.strangers.budget.look(among: inviteCount, now: time.monotonic) else {
            return all.filter { !$0.rank.isOfInvite }
        }
        return all
    }

    private func invitePSKs(of workspace: Workspace) -> [PSKCandidate] {
        // A former member could only turn joiners away; without an answer they find another member.
        guard workspace.ownRole != nil else { return [] }
        let month: UInt64 = 30 * 24 * 3_600 * 1_000
        // Each costs a hash per incoming connection, so few ended invites are answered.
        var endedLeft = Limits.endedInvitesAnsweredMax
        return workspace.authorityOrder.reversed().compactMap { id in
            guard case .invite(let invite)? = workspace.authority[id]?.payload,
                invite.expires > time.wall &- min(month, time.wall),
                !isFaulty(id, in: workspace)
            else { return nil }
            let hasEnded = hasEnded(id, invite, in: workspace)
            if hasEnded { endedLeft -= 1 }
            guard !hasEnded || endedLeft >= 0, let psk = workspace.psk(of: id) else { return nil }
            return PSKCandidate(
                .invite(id), psk: psk, rank: hasEnded ? .endedInvite : .invite, in: workspace.id)
        }
    }

    private func hasEnded(
        _ id: OperationID, _ invite: AuthorityPayload.Invite, in workspace: Workspace
    ) -> Bool {
        invite.expires < time.wall || !workspace.judged.isValid(id)
            || core.membership.isRevoked(id, in: workspace)
            || UInt64(workspace.invites.used[id] ?? 0) >= invite.maximum
            || workspace.judged.isUsedUp(id)
    }

    /// An invite that nobody was ever allowed to write opens no link: everybody could write some.
    private func isFaulty(_ invite: OperationID, in workspace: Workspace) -> Bool {
        workspace.judged.isFaulty(invite)
    }

    /// The secret for a dial from the registry: of a workspace that the device is in, else of the
    /// selected one, else of any. A peer that does not answer under the newest may not know it yet:
    /// the next attempts take the newest discovery secret, then each older one, and then start
    /// again.
    func candidate(toDial peer: PeerName, at address: String) -> PSKCandidate? {
        let members = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        var chosen = members.first
        var isGuest = false
        if case .device(let device) = peer {
            chosen =
                members.first { core.membership.standing(of: device, in: $0) == .full } ?? chosen
            isGuest = chosen.map { isOfGuest(device, in: $0) } ?? false
        } else if let selected = try? core.membership.selectedWorkspace() {
            chosen = selected
        }
        guard let chosen else { return nil }
        let secrets = secretsToDial(chosen, isGuest: isGuest)
        guard !secrets.isEmpty else { return nil }
        return secrets[(network.addresses.unanswered[address] ?? 0) % secrets.count]
    }

    /// In which order secrets are tried: a guest has no part in group keys.
    func secretsToDial(_ workspace: Workspace, isGuest: Bool) -> [PSKCandidate] {
        let newest =
            isGuest
            ? nil : workspace.linkEpochsOfMembersAlone().first ?? workspace.linkEpochs().first
        let discovery = workspace.discovery.enumerated().reversed().map { index, secret in
            PSKCandidate(
                .workspace(workspace.id, discovery: UInt32(clamping: index)),
                psk: secret.derived(Array("psk".utf8)))
        }
        return (newest.map { [PSKCandidate(.epoch(workspace.id), psk: $0.psk)] } ?? []) + discovery
    }

    func isOfGuest(_ device: DeviceID, in workspace: Workspace) -> Bool {
        workspace.judged.role(of: device) == .guest
    }
}
