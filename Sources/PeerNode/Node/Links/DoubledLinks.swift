import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Several links to one device: one is kept per store. A home that runs twice has two stores, and
/// one copy must not cut the other off.
extension Links {
    /// Settles which of the links to the other end's device stay. To be called when `link` is
    /// established.
    func settleLinks(besides link: PeerLink) throws(StorageError) {
        guard let peer = link.peer, let own = turn.session.ownDevice else { return }
        let others = network.links(to: peer.device).filter { $0 !== link }
        if others.isEmpty { return }
        for each in others + [link] { each.hadParallelLink = true }
        guard others.count < Limits.linksPerDeviceMax else {
            return try drop(link, because: LinkEnding("link.crowded"))
        }
        for other in others {
            let verdict = LinkRule.judge(
                older: contestant(other, own), newer: contestant(link, own))
            switch verdict {
            case .close(let number):
                if let loser = network.links[LinkID(number)] {
                    try drop(loser, because: .doubled)
                }
            case .ask(let contest):
                _ = other.session.ping(now: time.monotonic)
                network.contests.append(contest)
            }
        }
    }

    private func contestant(_ link: PeerLink, _ own: DeviceID) -> LinkRule.Link {
        LinkRule.Link(
            number: link.id.number,
            opener: link.session.isInitiator ? own : link.peer?.device ?? own,
            established: link.session.established ?? time.monotonic, store: link.peer?.store)
    }

    /// The older one of two links lives.
    func answeredPing(_ link: PeerLink) throws(StorageError) {
        let contests = network.contests.filter { $0.older.number == link.id.number }
        network.contests.removeAll { $0.older.number == link.id.number }
        for contest in contests {
            let isStanding = network.links[LinkID(contest.newer.number)] != nil
            if isStanding, contest.older.store != contest.newer.store, let peer = link.peer {
                try noteCopies(of: peer.device)
            }
            try closeLoser(of: contest, answered: true)
        }
    }

    /// Ends contests whose older link has not answered in time.
    func endContests() throws(StorageError) {
        let now = time.monotonic
        for contest in network.contests where contest.deadline <= now {
            try closeLoser(of: contest, answered: false)
        }
        network.contests.removeAll { $0.deadline <= now }
    }

    private func closeLoser(
        of contest: LinkContest, answered: Bool
    ) throws(StorageError) {
        guard let number = contest.loser(answered: answered, now: time.monotonic),
            let loser = network.links[LinkID(number)]
        else { return }
        // A peer with another link to the same store knows of both. One without learns that a copy
        // is running.
        try drop(loser, because: .doubled, telling: answered)
    }

    /// When a device was last heard, milliseconds since 1970; for this one, and for one with an
    /// open link, that is now.
    func lastSeen(_ device: DeviceID) -> Int64? {
        let peer = network.registry.peer(.device(device))
        let isHere = device == home?.device || peer?.state == .connected
        return (isHere ? time.wall : peer?.lastSeen).map { Int64(clamping: $0) }
    }
}

extension LinkEnding {
    /// There is another link to the same store of the same device.
    static let doubled = LinkEnding("link.doubled")
}
