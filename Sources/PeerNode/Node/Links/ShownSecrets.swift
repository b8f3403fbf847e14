import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Proves to know a workspace's secret on a link that was opened under another workspace's
/// (PROTOCOL.md, 5.4). A member who was readmitted to both is known in the first only, and nobody
/// would dial again for the second.
extension Links {
    /// The other end does not know this device in a workspace in which it is: shows the next of the
    /// secrets by which it would dial.
    func showSecret(of workspace: Workspace, on link: PeerLink) throws(StorageError) {
        let count = link.secrets.shownSecrets[workspace.number] ?? 0
        guard count < Limits.shownSecretsMax, secret(count, of: workspace, on: link) != nil else {
            return
        }
        link.secrets.shownSecrets[workspace.number] = count + 1
        try core.syncs.openSync(workspace, on: link, as: nil)
    }

    /// The message that proves knowledge of the secret, if there is one to show now.
    func showingSecret(
        _ message: SyncMessage, of workspace: Workspace, on link: PeerLink
    ) -> SyncMessage {
        guard case .workspaceOpen(var opening) = message, let own = turn.session.ownDevice,
            let count = link.secrets.shownSecrets[workspace.number],
            let secret = secret(count - 1, of: workspace, on: link)
        else { return message }
        opening.shown = secret.shown(under: opening.tag, by: own)
        return .workspaceOpen(opening)
    }

    private func secret(
        _ place: Int, of workspace: Workspace, on link: PeerLink
    ) -> PSKCandidate? {
        guard let peer = link.peer, !peer.knowsSecret(of: workspace.id),
            workspace.standing == .member, workspace.ownRole != nil
        else { return nil }
        let isGuest = isOfGuest(peer.device, in: workspace)
        return secretsToDial(workspace, isGuest: isGuest).dropFirst(place).first
    }

    /// Whether the other end holds a secret of a workspace in which its device is not known. It may
    /// try a few times.
    func hasShownSecret(
        _ opening: WorkspaceOpening, of workspace: Workspace, on link: PeerLink
    ) -> Bool {
        guard let shown = opening.shown, let peer = link.peer, workspace.standing == .member,
            link.secrets.unmatchedSecretCount < Limits.unmatchedSecretsMax
        else { return false }
        let holds = secrets(of: workspace).contains {
            $0.shown(under: opening.tag, by: peer.device) == shown
        }
        if holds {
            link.secrets.provenWorkspaces.insert(workspace.number)
        } else {
            link.secrets.unmatchedSecretCount += 1
        }
        return holds
    }
}

extension PSKCandidate {
    /// The proof on a link that this device holds the psk: the first 16 bytes of Hk(psk,
    /// "wsx-show1" || workspace tag 16 || own device 32).
    func shown(under tag: WorkspaceTag, by device: DeviceID) -> ShownSecret {
        ShownSecret(
            Array(
                Hash.keyed(psk, Array("wsx-show1".utf8) + tag.bytes + device.bytes)
                    .prefix(ShownSecret.byteCount)))
    }
}
