import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Handles what others tell about their activity in a note.
extension NotePresenceSender {
    /// Takes over what somebody says of a note. The link says who speaks.
    func heard(_ update: NotePresenceUpdate, in workspace: Workspace, on link: PeerLink) {
        guard home != nil, let sync = link.syncs[workspace.number],
            sync.noteWords.take(at: time.monotonic),
            let number = store.operations.document(update.document, in: workspace.number)?.number,
            let device = link.peer?.device
        else { return }
        let place = ViewStore.NotePlace(document: number, key: update.note)
        guard let (_, channel) = room.attendance.whereabouts(of: place),
            let member = room.attendance.reader(on: link, of: channel, in: workspace)
        else { return }
        hear(claim: update.lock, of: member, device, at: place, on: link)
        guard room.attendance.attended.contains(place) else { return }
        guard update.isThere else { return room.attendance.presence.remove(link.id, from: place) }
        let isNew = room.attendance.presence.guests[place]?[link.id] == nil
        room.attendance.presence.note(
            NotePresence.Guest(
                member: member, device: device, update: update,
                draft: update.draft.flatMap { try? NoteEdit(decoding: $0) }),
            on: link.id, in: place)
        guard isNew || update.asks, let answer = self.update(of: place, in: channel) else { return }
        guard update.asks else {
            // The first update to this device left out what is done here.
            if answer != answer.withoutWork { room.attendance.presence.pending.insert(place) }
            return
        }
        if send(answer, of: place, in: workspace, on: link) {
            room.attendance.presence.asked[place, default: []].insert(link.id)
        }
    }

    private func hear(
        claim at: UInt64?, of member: MemberID, _ device: DeviceID, at place: ViewStore.NotePlace,
        on link: PeerLink
    ) {
        guard let at else {
            room.attendance.presence.claims[place]?[link.id] = nil
            return
        }
        guard
            room.attendance.presence.claims[place]?[link.id] != nil
                || room.attendance.presence.claimCount(of: link.id) < Limits.noteClaimsMax
        else { return }
        room.attendance.presence.claims[place, default: [:]][link.id] = NotePresence.Claim(
            member: member, device: device, at: at,
            until: time.monotonic &+ Limits.noteLockMilliseconds)
    }

}

extension NotePresenceUpdate.Place? {
    /// As the text knows it.
    var anchor: NoteAnchor {
        map { .behind($0.operation, offset: Int($0.offset)) } ?? .beginning
    }
}
