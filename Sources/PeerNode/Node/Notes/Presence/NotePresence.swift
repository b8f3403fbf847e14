import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Who else is in the notes that somebody here watches, and what this person tells there. Nothing
/// of it is stored, and it is dropped with the links that it came over.
struct NotePresence {
    /// Somebody else who has a note open.
    struct Guest {
        let member: MemberID
        let device: DeviceID
        /// Their latest update.
        var update: NotePresenceUpdate
        /// Their unpublished draft, as far as it is an edit.
        var draft: NoteEdit?
        /// Larger than of everybody who was heard before.
        var order: UInt64 = 0
    }

    /// Somebody who asks others to wait.
    struct Claim {
        let member: MemberID
        let device: DeviceID
        /// Since when, milliseconds since 1970, as they say.
        let at: UInt64
        /// When it is over without another update, on the monotonic clock.
        var until: UInt64
    }

    /// What others are told about this home in one note.
    struct Own {
        /// Where its person is in the text here.
        var selection: (at: Int, length: Int)?
        /// Since when others are asked to wait, and until when without another update.
        var claim: (at: UInt64, until: UInt64)?
        /// Whether others heard of that with the last update.
        var hasToldClaim = false
    }

    typealias Place = ViewStore.NotePlace

    var guests: [Place: [LinkID: Guest]] = [:]
    /// How often somebody said where they are.
    private var words: UInt64 = 0
    var claims: [Place: [LinkID: Claim]] = [:]
    var own: [Place: Own] = [:]
    /// On which links it was said that this home has a note open.
    var asked: [Place: Set<LinkID>] = [:]
    /// Notes with an update to send.
    var pending: Set<Place> = []
    /// When something was said last, on the monotonic clock.
    var lastSaid: UInt64?
    /// The guests whose changes have to be reported here, and their links.
    var changed: [Place: Set<LinkID>] = [:]
    /// The device that others were told to wait for.
    var toldClaims: [Place: DeviceID] = [:]
    /// Those who have left, to be reported.
    var left: [(place: Place, guest: Guest)] = []

    /// When the next update is due.
    var updateDue: UInt64? {
        pending.isEmpty ? nil : (lastSaid ?? 0) &+ Limits.noteWordMilliseconds
    }

    /// When the next claim is over.
    var claimEnd: UInt64? {
        (own.values.compactMap { $0.claim?.until }
            + claims.values.flatMap { $0.values.map(\.until) })
            .min()
    }

    /// Somebody has closed a note, or their link is gone.
    mutating func remove(_ link: LinkID, from place: Place) {
        claims[place]?[link] = nil
        changed[place]?.remove(link)
        guard let guest = guests[place]?.removeValue(forKey: link) else { return }
        let others = (guests[place] ?? [:]).filter { $0.value.device == guest.device }.keys
        // By another link they are still there, and say so there too.
        if others.isEmpty {
            left.append((place, guest))
        } else {
            changed[place, default: []].formUnion(others)
        }
    }

    /// Takes over where somebody is.
    mutating func note(_ guest: Guest, on link: LinkID, in place: Place) {
        words += 1
        var guest = guest
        guest.order = words
        guests[place, default: [:]][link] = guest
        changed[place, default: []].insert(link)
    }

    /// Who else is in a note: each device once, by its latest update.
    func present(in place: Place) -> [Guest] {
        var latest: [DeviceID: Guest] = [:]
        for guest in (guests[place] ?? [:]).values
        where guest.order > latest[guest.device]?.order ?? 0 {
            latest[guest.device] = guest
        }
        return latest.values.sorted { $0.device < $1.device }
    }

    /// How many notes somebody asks to wait in, by what they said on one link.
    func claimCount(of link: LinkID) -> Int {
        claims.values.reduce(0) { $0 + ($1[link] == nil ? 0 : 1) }
    }

    /// The cursors of everybody in a note have to be reported again.
    mutating func moved(_ place: Place) {
        guard let there = guests[place], !there.isEmpty else { return }
        changed[place, default: []].formUnion(there.keys)
    }
}

/// Tells others what this person does in a note.
final class NotePresenceSender: NotePart {
    // MARK: Saying

    /// Sends what is due: to members who have not heard that a note is open here, and changes to
    /// those who have it open too.
    func sendPresence() {
        room.attendance.forgetEnded()
        guard home != nil,
            !room.attendance.attended.isEmpty || !room.attendance.presence.pending.isEmpty
        else { return }
        for place in room.attendance.attended.sorted() {
            if room.attendance.isHidden(in: place) {
                withdraw(from: place)
            } else {
                introduce(place)
            }
        }
        guard let due = room.attendance.presence.updateDue, due <= time.monotonic else { return }
        room.attendance.presence.lastSaid = time.monotonic
        for place in room.attendance.presence.pending.sorted().prefix(Limits.noteWordsAtOnceMax) {
            room.attendance.presence.pending.remove(place)
            say(place)
        }
    }

    private func introduce(_ place: ViewStore.NotePlace) {
        guard let (workspace, channel) = room.attendance.whereabouts(of: place) else { return }
        for link in network.ordered
        where room.attendance.presence.asked[place]?.contains(link.id) != true
            && room.attendance.reader(on: link, of: channel, in: workspace) != nil
        {
            guard let update = update(of: place, in: channel, asks: true) else { return }
            guard send(update, of: place, in: workspace, on: link) else { continue }
            room.attendance.presence.asked[place, default: []].insert(link.id)
            if update.lock != nil { room.attendance.presence.own[place]?.hasToldClaim = true }
        }
    }

    private func say(_ place: ViewStore.NotePlace) {
        guard let (workspace, channel) = room.attendance.whereabouts(of: place),
            let update = update(of: place, in: channel)
        else { return }
        guard update.isThere else {
            sayGone(from: place, (workspace, channel))
            return room.attendance.forgetPresence(in: place)
        }
        // A request to wait is for everybody who might write.
        let isForAll =
            update.lock != nil || room.attendance.presence.own[place]?.hasToldClaim == true
        room.attendance.presence.own[place]?.hasToldClaim = update.lock != nil
        for link in network.ordered
        where isForAll || room.attendance.presence.guests[place]?[link.id] != nil {
            guard room.attendance.reader(on: link, of: channel, in: workspace) != nil,
                send(update, of: place, in: workspace, on: link)
            else { continue }
            room.attendance.presence.asked[place, default: []].insert(link.id)
        }
    }

    /// Tells others that nobody is here any more. Once that ends, everybody is told again.
    private func withdraw(from place: ViewStore.NotePlace) {
        guard room.attendance.presence.asked[place]?.isEmpty == false,
            let found = room.attendance.whereabouts(of: place)
        else {
            return
        }
        sayGone(from: place, found)
        room.attendance.presence.asked[place] = nil
        room.attendance.presence.own[place]?.hasToldClaim = false
    }

    /// Tells everyone who was told that a note is open here that it no longer is: also those who
    /// have not answered yet, since their answer may be on its way.
    private func sayGone(
        from place: ViewStore.NotePlace, _ found: (workspace: Workspace, channel: Channel)
    ) {
        guard let document = store.operations.document(numbered: place.document)?.id else { return }
        let update = NotePresenceUpdate(document, place.key, isThere: false)
        for link in network.ordered
        where room.attendance.presence.asked[place]?.contains(link.id) == true
            && room.attendance.reader(on: link, of: found.channel, in: found.workspace) != nil
        {
            send(update, of: place, in: found.workspace, on: link)
        }
    }

    /// Sends an update. A device that has not said that it has the note open hears nothing of what is done
    /// in it.
    ///
    /// - Returns: whether it is on its way; what a link cannot take now is pending.
    @discardableResult
    func send(
        _ update: NotePresenceUpdate, of place: ViewStore.NotePlace, in workspace: Workspace,
        on link: PeerLink
    ) -> Bool {
        guard let sync = link.syncs[workspace.number] else { return false }
        // A farewell is short, and comes once for each update that there was room for.
        guard !update.isThere || link.session.unsentBytes < Limits.unaskedUnsentBytesMax else {
            // Later, when it may be another update.
            room.attendance.presence.pending.insert(place)
            return false
        }
        let isThere = room.attendance.presence.guests[place]?[link.id] != nil
        let said = isThere ? update : update.withoutWork
        link.session.send(.note(sync.number, said), in: .live, isUnasked: false)
        return true
    }

    /// The update about a note; `nil` where nobody should know that somebody is here.
    func update(
        of place: ViewStore.NotePlace, in channel: Channel, asks: Bool = false
    ) -> NotePresenceUpdate? {
        guard let document = store.operations.document(numbered: place.document) else { return nil }
        var update = NotePresenceUpdate(document.id, place.key, asks: asks)
        guard room.attendance.attended.contains(place) else {
            update.isThere = false
            return update
        }
        guard !room.attendance.isHidden(in: place) else { return nil }
        update.lock = room.attendance.presence.own[place]?.claim?.at
        guard let note = room.texts.open[place] else { return update }
        if let edit = note.note.draft?.edit.encoded, edit.count <= Limits.noteWordDraftBytesMax {
            update.draft = edit
        }
        if let (at, length) = room.attendance.presence.own[place]?.selection {
            update.selection = .init(
                from: note.note.anchor(at: at).place, to: note.note.anchor(at: at + length).place)
        }
        return update
    }

    /// Says of all notes that they are closed here: the keys go that show them.
    func withdrawFromAll() {
        for place in room.attendance.presence.asked.keys.sorted() {
            if let found = room.attendance.whereabouts(of: place) { sayGone(from: place, found) }
        }
        room.attendance.presence = NotePresence()
    }
}

extension NoteAnchor {
    /// As an update says it.
    fileprivate var place: NotePresenceUpdate.Place? {
        guard case .behind(let key, let offset) = self else { return nil }
        return NotePresenceUpdate.Place(key, offset: UInt32(clamping: offset))
    }
}
