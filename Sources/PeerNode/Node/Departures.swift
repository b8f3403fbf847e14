import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Whose last link to this node has ended in this run, and when.
///
/// It is kept in memory alone. So after a start everybody is `unknown` until something is heard of
/// them, and one entry for each member who was linked is all that it grows to.
struct Departures {
    /// By workspace and member, milliseconds since 1970.
    private var ends: [Int64: [MemberID: UInt64]] = [:]

    /// Whether nobody in a workspace has gone.
    func isEmpty(in workspace: Int64) -> Bool { ends[workspace]?.isEmpty ?? true }

    /// When the last link to a device of somebody ended; `nil` of whom something newer was heard,
    /// and of whom there never was a link.
    func end(of member: MemberID, in workspace: Int64) -> UInt64? { ends[workspace]?[member] }

    mutating func note(_ member: MemberID, in workspace: Int64, at wall: UInt64) {
        ends[workspace, default: [:]][member] = wall
    }

    mutating func forget(_ member: MemberID, in workspace: Int64) {
        ends[workspace]?[member] = nil
    }

    mutating func forgetAll() { ends = [:] }
}

/// Who is offline, and of whom nobody here can say (PROTOCOL.md, 5.10).
///
/// Offline is who was linked to this node and is not any more, or says so. Of anybody else without
/// a word nothing is known: they may be linked to others. That they are is known of whom another
/// member says to reach, and of who has written something since the link ended.
extension NodeCore {
    /// Notes who is gone with a link.
    func noteDepartures(
        of people: [(workspace: Workspace, member: MemberID)], with ended: PeerLink
    ) {
        for (workspace, member) in people
        where !isLinked(member, in: workspace, besides: ended) {
            network.departures.note(member, in: workspace.number, at: time.wall)
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

    /// Those of some devices' people who are gone from here.
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

    /// Something that a device wrote has come, by whatever way: if it is newer than the end of the
    /// last link to its person, that one is not offline but elsewhere.
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
