import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Who else is in the notes that somebody here watches, and what is said of oneself there. Nothing of it is
/// stored, and it goes with the links over which it came.
struct NoteCompany {
    /// Somebody else who has a note open.
    struct Guest {
        let member: MemberID
        let device: DeviceID
        /// What they said last.
        var word: NoteWord
        /// What they have not published, as far as it is an edit.
        var draft: NoteEdit?
    }

    /// Somebody who asks others to wait.
    struct Claim {
        let member: MemberID
        let device: DeviceID
        /// Since when, milliseconds since 1970, as they say.
        let at: UInt64
        /// When it is over without another word, on the monotonic clock.
        var until: UInt64
    }

    /// What is said of this home in one note.
    struct Own {
        /// Where its person is in the text here.
        var selection: (at: Int, length: Int)?
        /// Since when others are asked to wait, and until when without another word.
        var claim: (at: UInt64, until: UInt64)?
        /// Whether others heard of that with the last word.
        var hasToldClaim = false
    }

    typealias Place = ViewStore.NotePlace

    var guests: [Place: [LinkID: Guest]] = [:]
    var claims: [Place: [LinkID: Claim]] = [:]
    var own: [Place: Own] = [:]
    /// On which links it was said that this home has a note open.
    var asked: [Place: Set<LinkID>] = [:]
    /// Notes of which there is something new to be said.
    var owed: Set<Place> = []
    /// When something was said last, on the monotonic clock.
    var lastSaid: UInt64?
    /// Who of whom is to be told here, and where all of them are.
    var changed: [Place: Set<LinkID>] = [:]
    /// Of whom it was told that others are to wait.
    var toldClaims: [Place: DeviceID] = [:]
    /// Those who went, to be told of.
    var left: [(place: Place, guest: Guest)] = []

    /// When the next word is due.
    var wordDue: UInt64? {
        owed.isEmpty ? nil : (lastSaid ?? 0) &+ Limits.noteWordMilliseconds
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
        if let guest = guests[place]?.removeValue(forKey: link) { left.append((place, guest)) }
    }

    /// Notes that the places of everybody in a note are to be told of again.
    mutating func moved(_ place: Place) {
        guard let there = guests[place], !there.isEmpty else { return }
        changed[place, default: []].formUnion(there.keys)
    }
}

/// Telling others what happens here in a note, and hearing it of them.
extension Notes {
    /// Notes of which others are told what happens here.
    private var attended: Set<ViewStore.NotePlace> {
        watched.union(company.own.filter { $0.value.claim != nil }.map(\.key))
    }

    /// Has others told of a note with the next word.
    func owe(_ place: ViewStore.NotePlace) {
        if watched.contains(place) || company.own[place] != nil { company.owed.insert(place) }
    }

    /// Takes up which notes are watched from now on.
    func setWatched(_ places: Set<ViewStore.NotePlace>) {
        guard places != watched else { return }
        company.owed.formUnion(watched.symmetricDifference(places))
        watched = places
    }

    // MARK: Saying

    /// Says what is due: to whoever has not heard that a note is open here, and what is new to those who
    /// have it open, too.
    func tellCompany() {
        forgetEnded()
        guard home != nil, !attended.isEmpty || !company.owed.isEmpty else { return }
        for place in attended.sorted() { introduce(place) }
        guard let due = company.wordDue, due <= time.monotonic else { return }
        company.lastSaid = time.monotonic
        for place in company.owed.sorted().prefix(Limits.noteWordsAtOnceMax) {
            company.owed.remove(place)
            say(place)
        }
    }

    private func introduce(_ place: ViewStore.NotePlace) {
        guard let (workspace, channel) = whereabouts(of: place) else { return }
        for link in network.ordered
        where company.asked[place]?.contains(link.id) != true
            && reader(on: link, of: channel, in: workspace) != nil
        {
            guard let word = word(of: place, in: channel, asks: true) else { return }
            guard send(word, of: workspace, on: link) else { continue }
            company.asked[place, default: []].insert(link.id)
            if word.lock != nil { company.own[place]?.hasToldClaim = true }
        }
    }

    private func say(_ place: ViewStore.NotePlace) {
        guard let (workspace, channel) = whereabouts(of: place),
            let word = word(of: place, in: channel)
        else { return }
        // That others are to wait is for everybody who might write.
        let isForAll = word.lock != nil || company.own[place]?.hasToldClaim == true
        company.own[place]?.hasToldClaim = word.lock != nil
        for link in network.ordered
        where isForAll || company.guests[place]?[link.id] != nil {
            guard reader(on: link, of: channel, in: workspace) != nil else { continue }
            send(word, of: workspace, on: link)
        }
        if !word.isThere { forgetCompany(in: place) }
    }

    /// - Returns: whether it is on its way; what a link cannot take now is owed.
    @discardableResult
    private func send(_ word: NoteWord, of workspace: Workspace, on link: PeerLink) -> Bool {
        guard let sync = link.syncs[workspace.number] else { return false }
        guard link.session.unsentBytes < Limits.unaskedUnsentBytesMax else {
            // Later, when it may be another word.
            company.owed.insert(
                .init(
                    document: store.operations.document(word.document, in: workspace.number)?
                        .number ?? 0, key: word.note))
            return false
        }
        link.session.send(.note(sync.number, word), in: .live, isUnasked: false)
        return true
    }

    /// What is to be said of a note; `nil` where nobody is to know that somebody is here.
    private func word(
        of place: ViewStore.NotePlace, in channel: Channel, asks: Bool = false
    ) -> NoteWord? {
        guard let document = store.operations.document(numbered: place.document) else { return nil }
        var word = NoteWord(document.id, place.key, asks: asks)
        guard attended.contains(place) else {
            word.isThere = false
            return word
        }
        guard core.workspaces[document.workspace]?.reach.shown.state != .offline else { return nil }
        word.lock = company.own[place]?.claim?.at
        guard let note = open[place] else { return word }
        if let edit = note.note.draft?.edit.encoded, edit.count <= Limits.noteWordDraftBytesMax {
            word.draft = edit
        }
        if let (at, length) = company.own[place]?.selection {
            word.selection = .init(
                from: note.note.anchor(at: at).place, to: note.note.anchor(at: at + length).place)
        }
        return word
    }

    /// Says of all notes that they are closed here: the keys go that show them.
    func leaveCompany() {
        for place in attended.sorted() {
            guard let (workspace, channel) = whereabouts(of: place),
                let document = store.operations.document(numbered: place.document)?.id
            else { continue }
            let word = NoteWord(document, place.key, isThere: false)
            for link in network.ordered
            where company.asked[place]?.contains(link.id) == true
                && reader(on: link, of: channel, in: workspace) != nil
            {
                send(word, of: workspace, on: link)
            }
        }
        company = NoteCompany()
    }

    // MARK: Hearing

    /// Takes over what somebody says of a note. The link says who speaks.
    func heard(_ word: NoteWord, in workspace: Workspace, on link: PeerLink) {
        guard home != nil, let sync = link.syncs[workspace.number],
            sync.noteWords.take(at: time.monotonic),
            let number = store.operations.document(word.document, in: workspace.number)?.number,
            let device = link.peer?.device
        else { return }
        let place = ViewStore.NotePlace(document: number, key: word.note)
        guard let (_, channel) = whereabouts(of: place),
            let member = reader(on: link, of: channel, in: workspace)
        else { return }
        hear(claim: word.lock, of: member, device, at: place, on: link)
        guard attended.contains(place) else { return }
        guard word.isThere else { return company.remove(link.id, from: place) }
        company.guests[place, default: [:]][link.id] = NoteCompany.Guest(
            member: member, device: device, word: word,
            draft: word.draft.flatMap { try? NoteEdit(decoding: $0) })
        company.changed[place, default: []].insert(link.id)
        guard word.asks, let answer = self.word(of: place, in: channel),
            send(answer, of: workspace, on: link)
        else { return }
        company.asked[place, default: []].insert(link.id)
    }

    private func hear(
        claim at: UInt64?, of member: MemberID, _ device: DeviceID, at place: ViewStore.NotePlace,
        on link: PeerLink
    ) {
        guard let at else {
            company.claims[place]?[link.id] = nil
            return
        }
        let count = company.claims.values.reduce(0) { $0 + $1.count }
        guard count < Limits.noteClaimsMax || company.claims[place]?[link.id] != nil else { return }
        company.claims[place, default: [:]][link.id] = NoteCompany.Claim(
            member: member, device: device, at: at,
            until: time.monotonic &+ Limits.noteLockMilliseconds)
    }

    /// What a device had not published it has published now.
    func published(by device: DeviceID, in place: ViewStore.NotePlace) {
        for (link, guest) in company.guests[place] ?? [:] where guest.device == device {
            company.guests[place]?[link]?.draft = nil
            company.changed[place, default: []].insert(link)
        }
    }

    // MARK: Who may hear it

    private func whereabouts(
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

    /// Who is at the end of a link, if they may read the channel; another device of the same person, too.
    private func reader(
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

    private func forgetCompany(in place: ViewStore.NotePlace) {
        company.guests[place] = nil
        company.asked[place] = nil
        company.own[place] = nil
        company.changed[place] = nil
    }

    /// Forgets who is not linked any more or may not read any more, and the claims that are over.
    private func forgetEnded() {
        for (place, guests) in company.guests {
            let found = whereabouts(of: place)
            for id in guests.keys {
                let link = network.links[id]
                let isThere =
                    found.flatMap { found in
                        link.flatMap { reader(on: $0, of: found.channel, in: found.workspace) }
                    } != nil
                if !isThere { company.remove(id, from: place) }
            }
        }
        for (place, links) in company.asked {
            company.asked[place] = links.filter { network.links[$0]?.isClosing == false }
        }
        for (place, claims) in company.claims {
            let left = claims.filter {
                $0.value.until > time.monotonic && network.links[$0.key]?.isClosing == false
            }
            company.claims[place] = left.isEmpty ? nil : left
        }
        for (place, own) in company.own where own.claim.map({ $0.until <= time.monotonic }) == true
        {
            company.own[place]?.claim = nil
            company.owed.insert(place)
        }
    }
}

extension NoteAnchor {
    /// As a word says it.
    fileprivate var place: NoteWord.Place? {
        guard case .behind(let key, let offset) = self else { return nil }
        return NoteWord.Place(key, offset: UInt32(clamping: offset))
    }
}

extension NoteWord.Place? {
    /// As the text knows it.
    var anchor: NoteAnchor {
        map { .behind($0.operation, offset: Int($0.offset)) } ?? .beginning
    }
}
