import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Who is offline, and whose presence nobody here knows (PROTOCOL.md, 5.10).
///
/// A member is offline who was linked to this node and is no longer, or who says so. About any
/// other member without an update nothing is known: they may be linked to others. They are online
/// if another member says that they are linked, or if they have written something since the link
/// ended.
extension Presences {
    /// Notes who is gone with a link.
    func noteDepartures(
        of people: [(workspace: Workspace, member: MemberID)], with ended: PeerLink
    ) {
        for (workspace, member) in people {
            if isLinked(member, in: workspace, besides: ended) {
                network.departures.wait(for: member, in: workspace.number)
            } else {
                network.departures.note(member, in: workspace.number, at: time.wall)
            }
        }
    }

    /// Members who may leave with a link that never counted: their last one that did has ended.
    func awaited(on link: PeerLink) -> [(workspace: Workspace, member: MemberID)] {
        guard home != nil, let device = link.peer?.device else { return [] }
        return workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let member = workspace.owner(of: device),
                network.departures.isAwaited(member, in: workspace.number)
            else { return nil }
            return (workspace, member)
        }
    }

    /// Takes over the departures of a discarded core. Its links have ended with it, and this is not
    /// a start.
    func noteDepartures(with former: Presences) {
        guard home != nil, former.home != nil else { return }
        for workspace in workspaces.values {
            guard let known = former.workspaces.values.first(where: { $0.id == workspace.id })
            else { continue }
            network.departures.goOn(
                after: former.network.departures, numbered: known.number,
                as: workspace.number,
                at: time.wall)
            for link in former.network.links.values
            where link.syncs[known.number]?.standing == .full {
                guard let member = former.companion(on: link, in: known) else { continue }
                network.departures.note(member, in: workspace.number, at: time.wall)
            }
        }
    }

    /// Whether a device of somebody has a link but `ended`, even one that is still being opened.
    private func isLinked(
        _ member: MemberID, in workspace: Workspace, besides ended: PeerLink
    ) -> Bool {
        let devices = devices(of: member, in: workspace)
        return network.links.values.contains { link in
            guard link !== ended, !link.isClosing, let peer = link.peer else { return false }
            return devices.contains(peer.device)
        }
    }

    private func devices(of member: MemberID, in workspace: Workspace) -> [DeviceID] {
        workspace.members.first { $0.member == member }?.devices ?? []
    }

    /// Whether somebody without a word is offline: gone from here, and not known to be elsewhere.
    func isOffline(_ standing: MemberStanding, in workspace: Workspace) -> Bool {
        guard network.departures.end(of: standing.member, in: workspace.number) != nil else {
            return false
        }
        let names = standing.devices.map { DeviceName(of: $0) }
        return !network.links.values.contains { link in
            guard !link.isClosing, let reach = link.syncs[workspace.number]?.reach else {
                return false
            }
            return names.contains { reach.contains($0) }
        }
    }

    /// The people of some devices who are no longer linked to this node.
    func departed(
        _ names: some Sequence<DeviceName>, in workspace: Workspace
    ) -> [(workspace: Workspace, member: MemberID)] {
        guard home != nil, !network.departures.isEmpty(in: workspace.number) else { return [] }
        let names = Set(names)
        return workspace.members.filter { standing in
            network.departures.end(of: standing.member, in: workspace.number) != nil
                && standing.devices.contains { names.contains(DeviceName(of: $0)) }
        }.map { (workspace, $0.member) }
    }

    /// An operation of a device has arrived, over any path: if it is newer than the end of the last
    /// link to its person, they are not offline but linked elsewhere.
    ///
    /// - Parameter wroteAt: when, as the author's clock says, milliseconds since 1970.
    func noteSign(of device: DeviceID, wroteAt: UInt64, in workspace: Workspace) {
        guard home != nil, !network.departures.isEmpty(in: workspace.number),
            let member = workspace.owner(of: device),
            let end = network.departures.end(of: member, in: workspace.number), wroteAt > end
        else { return }
        changePresence(of: [(workspace, member)]) {
            network.departures.forget(member, in: workspace.number)
        }
    }
}
