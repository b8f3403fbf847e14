import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Hearing of others what they do in a note, and forgetting it.
extension Notes {
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
        company.note(
            NoteCompany.Guest(
                member: member, device: device, word: word,
                draft: word.draft.flatMap { try? NoteEdit(decoding: $0) }),
            on: link.id, in: place)
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
        guard
            company.claims[place]?[link.id] != nil
                || company.claimCount(of: link.id) < Limits.noteClaimsMax
        else { return }
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

    /// Who is at the end of a link, if they may read the channel; another device of the same person, too.
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

    func forgetCompany(in place: ViewStore.NotePlace) {
        company.guests[place] = nil
        company.asked[place] = nil
        company.own[place] = nil
        company.changed[place] = nil
    }

    /// Forgets who is not linked any more or may not read any more, and the claims that are over.
    func forgetEnded() {
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

extension NoteWord.Place? {
    /// As the text knows it.
    var anchor: NoteAnchor {
        map { .behind($0.operation, offset: Int($0.offset)) } ?? .beginning
    }
}
