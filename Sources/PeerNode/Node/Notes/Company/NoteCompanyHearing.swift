import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Handles what others tell about their activity in a note.
extension NoteSpeaking {
    /// Takes over what somebody says of a note. The link says who speaks.
    func heard(_ word: NoteWord, in workspace: Workspace, on link: PeerLink) {
        guard home != nil, let sync = link.syncs[workspace.number],
            sync.noteWords.take(at: time.monotonic),
            let number = store.operations.document(word.document, in: workspace.number)?.number,
            let device = link.peer?.device
        else { return }
        let place = ViewStore.NotePlace(document: number, key: word.note)
        guard let (_, channel) = room.attendance.whereabouts(of: place),
            let member = room.attendance.reader(on: link, of: channel, in: workspace)
        else { return }
        hear(claim: word.lock, of: member, device, at: place, on: link)
        guard room.attendance.attended.contains(place) else { return }
        guard word.isThere else { return room.attendance.company.remove(link.id, from: place) }
        let isNew = room.attendance.company.guests[place]?[link.id] == nil
        room.attendance.company.note(
            NoteCompany.Guest(
                member: member, device: device, word: word,
                draft: word.draft.flatMap { try? NoteEdit(decoding: $0) }),
            on: link.id, in: place)
        guard isNew || word.asks, let answer = self.word(of: place, in: channel) else { return }
        guard word.asks else {
            // The first word to this device left out what is done here.
            if answer != answer.withoutWork { room.attendance.company.owed.insert(place) }
            return
        }
        if send(answer, of: place, in: workspace, on: link) {
            room.attendance.company.asked[place, default: []].insert(link.id)
        }
    }

    private func hear(
        claim at: UInt64?, of member: MemberID, _ device: DeviceID, at place: ViewStore.NotePlace,
        on link: PeerLink
    ) {
        guard let at else {
            room.attendance.company.claims[place]?[link.id] = nil
            return
        }
        guard
            room.attendance.company.claims[place]?[link.id] != nil
                || room.attendance.company.claimCount(of: link.id) < Limits.noteClaimsMax
        else { return }
        room.attendance.company.claims[place, default: [:]][link.id] = NoteCompany.Claim(
            member: member, device: device, at: at,
            until: time.monotonic &+ Limits.noteLockMilliseconds)
    }

}

extension NoteWord.Place? {
    /// As the text knows it.
    var anchor: NoteAnchor {
        map { .behind($0.operation, offset: Int($0.offset)) } ?? .beginning
    }
}
