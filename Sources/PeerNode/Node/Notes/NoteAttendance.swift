import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Which notes somebody here watches, who else is in them, and how their texts changed.
final class NoteAttendance: NotePart {
    /// The notes whose text somebody here watches: they stay open.
    private(set) var watched: Set<ViewStore.NotePlace> = []
    /// Who else is in these.
    var presence = NotePresence()
    /// Their changes since the last report.
    private(set) var moves: [NoteMove] = []

    /// Drops the cursors. Watched notes stay watched.
    func forget() { (moves, presence) = ([], NotePresence()) }

    /// Notes whose other readers are told what happens here.
    var attended: Set<ViewStore.NotePlace> {
        watched.union(presence.own.filter { $0.value.claim != nil }.map(\.key))
    }

    /// Marks a note to be included in the next update.
    func enqueue(_ place: ViewStore.NotePlace) {
        if watched.contains(place) || presence.own[place] != nil { presence.pending.insert(place) }
    }

    /// Takes up which notes are watched from now on.
    func setWatched(_ places: Set<ViewStore.NotePlace>) {
        guard places != watched else { return }
        presence.pending.formUnion(watched.symmetricDifference(places))
        watched = places
    }

    /// A person who wants to look offline is shown in no note, even if they were in one before.
    func isHidden(in place: ViewStore.NotePlace) -> Bool {
        guard let (workspace, _) = whereabouts(of: place) else { return false }
        return workspace.own.shownPresence.state == .offline
    }

    // MARK: Texts

    /// All texts were dropped: watchers read them again.
    func startAnew() { moves = watched.sorted().map { NoteMove(place: $0) } }

    /// The text of a note was dropped, and is built again.
    func noteDropped(_ place: ViewStore.NotePlace) {
        guard watched.contains(place) else { return }
        moves.append(NoteMove(place: place))
        presence.own[place]?.selection = nil
        presence.moved(place)
    }

    /// A note is open again. It may have changed while it was not, as behind a lock.
    func noteReopened(_ place: ViewStore.NotePlace) {
        if !moves.contains(where: { $0.place == place && $0.change == nil }) {
            moves.append(NoteMove(place: place))
        }
    }

    /// Notes that the text of a note has become another one.
    ///
    /// - Parameter patches: what changed, one after the other.
    func noteMove(
        of note: OpenNote, from before: NoteVersion, _ patches: [NotePatch], by member: MemberID?
    ) {
        guard watched.contains(note.place) else { return }
        moves.append(
            NoteMove(
                place: note.place, change: (before, note.version, patches), member: member))
        movePresence(in: note.place, past: patches)
    }

    /// The changes to report to watchers.
    func takeMoves() -> [NoteMove] {
        defer { moves = [] }
        return moves
    }

    // MARK: This person

    /// Where somebody here is in a note.
    ///
    /// - Parameter selection: in scalars of the current text.
    func select(_ selection: (at: Int, length: Int), in place: ViewStore.NotePlace) {
        guard watched.contains(place) else { return }
        presence.own[place, default: .init()].selection = selection
        noteWord(in: place)
    }

    /// Somebody here did something in a note: those who wait for them wait longer, and others are told.
    func noteWord(in place: ViewStore.NotePlace) {
        if presence.own[place]?.claim != nil {
            presence.own[place]?.claim?.until = time.monotonic &+ Limits.noteLockMilliseconds
        }
        enqueue(place)
    }

    /// Takes a change of a text along to where people are in it.
    func movePresence(in place: ViewStore.NotePlace, past patches: [NotePatch]) {
        presence.moved(place)
        guard let (at, length) = presence.own[place]?.selection else { return }
        let start = patches.reduce(at) { $1.moved($0, keeping: .behind) }
        let end = patches.reduce(at + length) { $1.moved($0, keeping: .behind) }
        presence.own[place]?.selection = (start, max(0, end - start))
    }

    // MARK: Waiting for each other

    /// Asks others not to write in a note for a while, or extends that.
    func claim(_ place: ViewStore.NotePlace) {
        let until = time.monotonic &+ Limits.noteLockMilliseconds
        let since = presence.own[place]?.claim?.at ?? time.wall
        presence.own[place, default: .init()].claim = (since, until)
        enqueue(place)
    }

    /// Lets others write.
    func release(_ place: ViewStore.NotePlace) {
        guard presence.own[place]?.claim != nil else { return }
        presence.own[place]?.claim = nil
        enqueue(place)
    }

    /// For whom the others are to wait: of several, who asked first.
    func claimant(
        of place: ViewStore.NotePlace
    ) -> (member: MemberID?, device: DeviceID, at: UInt64)? {
        var found = (presence.claims[place] ?? [:]).values.filter { $0.until > time.monotonic }
            .map { (member: MemberID?.some($0.member), device: $0.device, at: $0.at) }
        if let claim = presence.own[place]?.claim, claim.until > time.monotonic, let home {
            found.append((nil, home.device, claim.at))
        }
        return found.min { ($0.at, $0.device) < ($1.at, $1.device) }
    }

    // MARK: Others

    /// A device has now published its draft.
    func published(by device: DeviceID, in place: ViewStore.NotePlace) {
        for (link, guest) in presence.guests[place] ?? [:] where guest.device == device {
            presence.guests[place]?[link]?.draft = nil
            presence.changed[place, default: []].insert(link)
        }
    }

    // MARK: Who may hear it

    func whereabouts(
        of place: ViewStore.NotePlace
    ) -> (workspace: Workspace, channel: Channel)? {
        guard let document = store.operations.document(numbered: place.document),
            let workspace = core.workspaces[document.workspace],
            let role = workspace.ownRole,
            let channel = workspace.channel(numbered: place.document),
            channel.isPrivate ? channel.includes(workspace.member) : role <= .member
        else { return nil }
        return (workspace, channel)
    }

    /// The member at the other end of a link, if they may read the channel; also another device of
    /// the same person.
    func reader(
        on link: PeerLink, of channel: Channel, in workspace: Workspace
    ) -> MemberID? {
        guard !link.isClosing, link.syncs[workspace.number]?.standing == .full,
            let device = link.peer?.device,
            let standing = workspace.members.first(where: { $0.devices.contains(device) }),
            channel.isPrivate ? channel.includes(standing.member) : standing.role <= .member
        else { return nil }
        return standing.member
    }

    // MARK: Forgetting

    func forgetPresence(in place: ViewStore.NotePlace) {
        presence.guests[place] = nil
        presence.asked[place] = nil
        presence.own[place] = nil
        presence.changed[place] = nil
    }

    /// Drops members who are no longer linked or may no longer read, and claims that are over.
    func forgetEnded() {
        for (place, guests) in presence.guests {
            let found = whereabouts(of: place)
            for id in guests.keys {
                let link = network.links[id]
                let isThere =
                    found.flatMap { found in
                        link.flatMap { reader(on: $0, of: found.channel, in: found.workspace) }
                    } != nil
                if !isThere { presence.remove(id, from: place) }
            }
        }
        for (place, links) in presence.asked {
            presence.asked[place] = links.filter { network.links[$0]?.isClosing == false }
        }
        for (place, claims) in presence.claims {
            let left = claims.filter {
                $0.value.until > time.monotonic && network.links[$0.key]?.isClosing == false
            }
            presence.claims[place] = left.isEmpty ? nil : left
        }
        for (place, own) in presence.own where own.claim.map({ $0.until <= time.monotonic }) == true
        {
            presence.own[place]?.claim = nil
            presence.pending.insert(place)
        }
    }
}
