import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Devices whose membership has ended: they are told, the link is closed, and they are no longer
/// dialled.
extension Links {
    /// Whether a device may do nothing here any more, in any workspace, but once could.
    func isFormer(_ device: DeviceID) -> Bool {
        var wasIn = false
        for workspace in workspaces.values where workspace.standing == .member {
            switch core.membership.standing(of: device, in: workspace) {
            case .full: return false
            case .removed: wasIn = true
            case .authorityOnly, .joining: break
            }
        }
        return wasIn
    }

    /// Begins and ends farewells, after what this turn has changed.
    func settleFarewells() throws(StorageError) {
        let now = time.monotonic
        for link in network.ordered {
            let isOut =
                !link.syncs.isEmpty && link.syncs.values.allSatisfy { $0.standing == .removed }
            guard isOut, link.asking == nil else {
                link.farewell = nil
                continue
            }
            var farewell = link.farewell ?? Farewell(at: now)
            let isBusy =
                link.session.unsentBytes > 0 || !link.backlog.isEmpty
                || link.syncs.values.contains { $0.session.isAsking }
            let isOver = farewell.isOver(at: now, isBusy: isBusy)
            link.farewell = farewell
            if isOver { try drop(link, because: .farewell) }
        }
    }

    /// Somebody is a member again whose link stood as that of one who was out.
    func welcomeBack(_ link: PeerLink) throws(StorageError) {
        guard let peer = link.peer, link.wasFormer else { return }
        link.wasFormer = false
        network.registry.connected(
            peer.device, attempt: nil, now: time.monotonic, wallMilliseconds: time.wall)
        network.isRegistryDirty = true
        try compareClocks(on: link)
        try turn.record(.peerConnected, workspace: nil, extra: peer.device.bytes)
    }

    /// Handles a link of a device that may no longer do anything. It is told so, and not listed.
    func establishedFormer(_ link: PeerLink, _ device: DeviceID) throws(StorageError) {
        link.wasFormer = true
        // The attempt is over, whether somebody typed the address or not.
        network.registry.connected(
            device, attempt: link.attempt, now: time.monotonic, wallMilliseconds: time.wall)
        try forgetPeer(.device(device))
        turn.emit(.log(.info, "peer.former device=\(PublicID.device(device))"))
    }
}
