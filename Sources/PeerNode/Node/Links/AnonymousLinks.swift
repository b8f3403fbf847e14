import WorkspaceModel

/// Connections that have not yet proved to know a secret. There may be thousands a second, so each
/// costs only a place in a table until its first message is complete.
extension Links {
    func accept(_ id: LinkID, from address: String) {
        guard localIdentity != nil, !network.registry.isSuspended,
            !network.fullDisk.isOn(at: time.monotonic)
        else {
            turn.emit(.close(id))
            return
        }
        let host = PeerAddress(address, defaultPort: 0)?.host ?? .name(address)
        let dropped = network.strangers.budget.opened(
            link: id.number, from: host, now: time.monotonic, using: environment.random)
        network.strangers.anonymous[id] = AnonymousLink(address: address, openedAt: time.monotonic)
        makeWay(dropped)
    }

    /// Takes what an anonymous connection says.
    ///
    /// - Returns: its link, as soon as it has said enough to be judged.
    func knownLink(_ id: LinkID, saying bytes: [UInt8]) -> PeerLink? {
        guard var anonymous = network.strangers.anonymous.removeValue(forKey: id) else {
            return nil
        }
        anonymous.bytes += bytes
        guard LinkHandshake.hasWholeFirst(anonymous.bytes), let identity = localIdentity else {
            network.strangers.anonymous[id] = anonymous
            return nil
        }
        // From its first moment on: there are 5 s for all of it.
        let session = PeerSession.answering(
            as: identity,
            candidates: candidatesOfStrangers() + core.entrances.deviceLinkCandidates,
            now: anonymous.openedAt, wallMilliseconds: time.wall, using: environment.random)
        let link = PeerLink(
            id: id, session: session, address: anonymous.address, attempt: nil,
            openedAt: anonymous.openedAt)
        link.beginning.firstBytes = anonymous.bytes
        link.beginning.greeting = anonymous.bytes
        network.links[id] = link
        return link
    }

    /// The hint is one of ours: from now on the place is out of strangers' reach.
    func knowsSecret(_ link: PeerLink) {
        makeWay(
            network.strangers.budget.proved(
                link: link.id.number, by: link.session.share, using: environment.random))
    }

    /// Closes a link on which somebody replays another peer's message.
    func endReplay(on link: PeerLink) {
        turn.tally.noteEnding(.replayed)
        network.strangers.budget.closed(link: link.id.number)
        network.links[link.id] = nil
        link.isClosing = true
        turn.emit(.close(link.id))
    }

    /// Closes a link that lost its place.
    private func makeWay(_ number: UInt64?) {
        guard let id = number.map({ LinkID($0) }) else { return }
        turn.tally.noteEnding(.crowded)
        network.strangers.anonymous[id] = nil
        network.links[id] = nil
        turn.emit(.close(id))
    }

    /// Ends a connection that is anonymous still; others stay as they are.
    func endAnonymous(_ id: LinkID, because ending: LinkEnding) {
        guard let link = network.strangers.anonymous.removeValue(forKey: id) else { return }
        network.strangers.budget.closed(link: id.number)
        turn.tally.noteEnding(ending)
        turn.emit(
            .log(.debug, "link.closed address=\(link.address) reason=\(ending.word)"))
        turn.emit(.close(id))
    }

    /// Ends those that had their 5 s.
    func endOverdueAnonymous() {
        for number in network.strangers.budget.overdue(now: time.monotonic) {
            endAnonymous(LinkID(number), because: .handshakeTimeout)
        }
    }

    /// Ends all of them.
    func endAllAnonymous() {
        for id in network.strangers.anonymous.keys.sorted() {
            endAnonymous(id, because: LinkEnding("link.ended"))
        }
    }
}
