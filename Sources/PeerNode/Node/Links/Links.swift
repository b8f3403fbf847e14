import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Links to other nodes: dialling, handshakes, addresses, and the messages they deliver.
final class Links: Component {
    lazy var network = NetworkState(announces: environment.announces)
    var clocks = PeerClocks()
    /// Kinds of warnings about clocks that were told since the start.
    var toldClocks: Set<WarningKind> = []

    override var nextDeadline: UInt64? {
        var first = Earliest(
            network.strangers.budget.nextDeadline, network.addresses.addressNews.due,
            nextReachingDeadline)
        for contest in network.contests { first.take(contest.deadline) }
        for link in network.links.values {
            first.take(link.session.nextDeadline)
            first.take(link.beginning.agreementDue)
            first.take(link.farewell?.due)
            for sync in link.syncs.values { first.take(sync.deadline) }
        }
        return first.moment
    }

    override func tick() throws(StorageError) {
        let now = time.monotonic
        endOverdueAnonymous()
        for link in network.ordered {
            if let due = link.beginning.agreementDue, due <= now { try grantAgreement(to: link) }
            if let due = link.session.nextDeadline, due <= now {
                try perform(link.session.tick(now: now), on: link)
            }
            for sync in link.orderedSyncs {
                if let due = sync.deadline, due <= now {
                    sync.deadline = nil
                    try core.syncs.feed(.deadline, to: sync, on: link)
                }
            }
        }
        try endContests()
    }

    override func forgetSecrets() { network.candidates = nil }

    override func forgetWorkspaces() {
        let former = network
        network = NetworkState(announces: former.addresses.announces)
        network.exchange.nextSource = former.exchange.nextSource
        network.joining.nextJoinDial = former.joining.nextJoinDial
    }

    override func goOn(after former: Component) {
        guard let former = former as? Links else { return }
        (clocks, toldClocks) = (former.clocks, former.toldClocks)
        let state = former.network
        network.addresses.listening = state.addresses.listening
        if state.registry.isSuspended { network.registry.suspend() }
        network.joining.nextJoinDial = state.joining.nextJoinDial
        network.registry.goOn(after: state.registry)
        network.fullDisk = state.fullDisk
        network.copies = state.copies
    }
}

/// Opening, keeping and closing links.
extension Links {
    // MARK: Inputs

    func handleNetwork(_ input: NodeInput) throws(StorageError) {
        switch input {
        case .accepted(let link, let address): accept(link, from: address)
        case .dialled(let link, let number, let address):
            try dialled(link, number: number, address: address)
        case .dialFailed(let number, let reason): dialFailed(number, reason)
        case .received(let link, let bytes):
            guard let link = network.links[link] ?? knownLink(link, saying: bytes) else { return }
            let new = link.beginning.firstBytes.take() ?? bytes
            try perform(link.session.received(new, now: time.monotonic), on: link)
            core.files.transfers.heard(link)
            try core.syncs.feedReceiving(link)
            try noteUnfinished(on: link)
        case .unsent(let link, let byteCount):
            guard let link = network.links[link] else { return }
            try perform(
                link.session.writeQueueLevel(byteCount, now: time.monotonic), on: link)
            try core.syncs.feedQueueLevel(link)
        case .linkClosed(let link):
            endAnonymous(link, because: .short)
            guard let link = network.links[link] else { return }
            try perform(link.session.endOfStream(now: time.monotonic), on: link)
            try drop(link, because: .closedByPeer)
        case .beaconSources(let hosts): beaconsLeave(from: hosts)
        case .networkChanged: try networkChanged()
        case .stopping:
            core.events.subscriptions.say(.stopping, as: .made(.nodeStopping))
            try core.own.writeMarkers(all: true)
            try core.notes.publishing.publishAll()
        case .beacon(let bytes, let host): try heard(bytes, from: host)
        case .listening, .tick, .call, .keysDerived, .searched, .blobbed, .controlClosed, .noticed,
            .mailed, .backedUp, .inspected, .metered, .tokenChecked:
            break
        }
    }

    /// All that was written to these links has left. Mostly that is all that there is to it, and a turn
    /// for it would do nothing; it would be one for each message that is sent, and for each receipt.
    ///
    /// - Returns: `false` where somebody may wait for that, so that `NodeInput.unsent` has to come; or
    ///   where the last turn has left something to tell for the next one.
    func noteAllSent(on ids: [LinkID], now: UInt64) -> Bool {
        guard !owesTelling, network.ordered.allSatisfy({ !$0.session.hasMoreToSeal })
        else { return false }
        var isNoted = true
        for id in ids {
            guard let link = network.links[id], !link.isEnding, link.asking == nil,
                !core.files.serving.waits(for: id), link.session.noteAllSent(now: now)
            else {
                isNoted = false
                continue
            }
            for sync in link.orderedSyncs where !sync.session.noteAllSent(at: now) {
                isNoted = false
            }
        }
        return isNoted
    }

    /// More pieces of files for a link that has sent some of what was written to it, where a turn for
    /// that would do no more. That is so for most of a large file: a turn comes when the next pieces are
    /// to be read.
    ///
    /// - Parameter unsent: bytes that were written to the link and have not left.
    /// - Returns: what to write now, empty where it has enough; `nil` where `NodeInput.unsent` has to come.
    func sealMore(for id: LinkID, unsent: Int, now: UInt64) -> [UInt8]? {
        guard !owesTelling, let link = network.links[id], !link.isEnding, link.asking == nil,
            link.orderedSyncs.allSatisfy({ !$0.session.mayWaitForRoom(at: now) })
        else { return nil }
        return link.session.sealPieces(unsent: unsent, now: now)
    }

    /// Whether the last turn has left something to tell for the next one.
    private var owesTelling: Bool {
        !core.log.appended.isEmpty || !core.log.retention.moved.isEmpty || !core.log.needed.isEmpty
    }

    /// This machine has come to another network, or an interface came back: linked peers prove that
    /// the path still works, all others are dialled, and neighbours learn at once who is here.
    private func networkChanged() throws(StorageError) {
        network.registry.networkChanged(now: time.monotonic)
        network.beacons.next = min(network.beacons.next, time.monotonic)
        for index in network.joining.joins.indices { network.joining.joins[index].networkChanged() }
        for link in network.ordered where !link.isClosing {
            try perform(link.session.demandSign(now: time.monotonic), on: link)
        }
    }

    private func dialled(
        _ id: LinkID, number: UInt64, address: String
    ) throws(StorageError) {
        let join = network.joining.joins.firstIndex { $0.dial == number }
        let linking = network.joining.linking.flatMap { $0.dial == number ? $0 : nil }
        let candidate =
            join.map { network.joining.joins[$0].candidate } ?? linking?.candidate
            ?? network.registry.target(ofAttempt: number)
            .flatMap { self.core.links.candidate(toDial: $0, at: address) }
        guard let identity = localIdentity, let candidate else {
            network.registry.abandoned(number)
            turn.emit(.close(id))
            return
        }
        let (session, first): (PeerSession, [PeerSession.Effect])
        do throws(LinkEnding) {
            (session, first) = try PeerSession.dialling(
                as: identity, under: candidate, now: time.monotonic,
                wallMilliseconds: time.wall, using: environment.random)
        } catch {
            dialFailed(number, error.word)
            turn.emit(.close(id))
            return
        }
        let link = PeerLink(
            id: id, session: session, address: address,
            attempt: join == nil && linking == nil ? number : nil, openedAt: time.monotonic)
        network.links[id] = link
        if let join { network.joining.joins[join].connected(id, now: time.monotonic) }
        if linking != nil { network.joining.linking?.connection = id }
        try perform(first, on: link)
    }

    /// Counts the bytes of unfinished messages, and closes links where there are too many.
    private func noteUnfinished(on link: PeerLink) throws(StorageError) {
        guard network.links[link.id] === link else { return }
        let (byteCount, since) = link.session.unfinished
        let isMember = link.syncs.values.contains { $0.standing == .full }
        network.exchange.unfinished.note(
            link.id, byteCount: byteCount, since: since, isMember: isMember)
        while let id = network.exchange.unfinished.tooOld(
            beyond: network.exchange.unfinishedBytesMax)
        {
            guard let oldest = network.links[id] else {
                network.exchange.unfinished.forget(id)
                continue
            }
            if network.strangers.strangerLines.takes(at: time.monotonic) {
                turn.emit(
                    .log(.warning, "link.unfinished address=\(oldest.address) links held too much"))
            }
            try drop(oldest, because: LinkEnding("frame.unfinished"))
        }
    }

    private func dialFailed(_ number: UInt64, _ reason: String) {
        if let join = network.joining.joins.firstIndex(where: { $0.dial == number }) {
            network.joining.joins[join].dialFailed(now: time.monotonic)
        } else if network.joining.linking?.dial == number {
            network.joining.linking?.dialFailed(now: time.monotonic)
        } else {
            network.registry.failed(
                number, error: reason, now: time.monotonic, using: environment.random)
        }
    }

    // MARK: Session effects

    /// Carries out what a link's session wants.
    func perform(
        _ wanted: [PeerSession.Effect], on link: PeerLink
    ) throws(StorageError) {
        for effect in wanted {
            // Messages behind the one that made this node close the link are ignored.
            if link.isClosing, !effect.isLast { continue }
            switch effect {
            case .write(let bytes): turn.emit(.write(link.id, bytes))
            case .wantsAgreement:
                guard network.strangers.greetings.isNew(link.beginning.greeting) else {
                    return endReplay(on: link)
                }
                knowsSecret(link)
                try grantAgreement(to: link)
            case .established(let peer): try established(link, peer)
            case .message(let message, _):
                guard link.backlog.isEmpty else {
                    link.backlog.messages.append(message)
                    continue
                }
                try core.syncs.received(message, on: link)
            case .blob(let bytes):
                if let ending = try core.files.received(bytes, on: link) {
                    try drop(link, because: ending, telling: true)
                }
            case .pong: try answeredPing(link)
            case .close(let ending):
                turn.tally.noteEnding(ending)
                try drop(link, because: ending)
            }
        }
    }

    /// Lets a handshake continue, as soon as the budget for strangers allows it.
    func grantAgreement(to link: PeerLink) throws(StorageError) {
        let count = PeerSession.agreementsPerAnswer
        let (share, now) = (link.session.share, time.monotonic)
        guard network.strangers.budget.spend(agreements: count, of: share, now: now) else {
            link.beginning.agreementDue = network.strangers.budget.nextAgreement(
                count: count, of: share, now: now)
            return
        }
        link.beginning.agreementDue = nil
        try perform(link.session.agreementGranted(now: time.monotonic), on: link)
    }

    private func established(_ link: PeerLink, _ peer: PeerIdentity) throws(StorageError) {
        network.strangers.budget.closed(link: link.id.number)
        if peer.labels == [.joining] { return try core.entrances.joinEstablished(link, peer) }
        if peer.labels == [.linking] {
            return try core.entrances.linkingEstablished(link, peer.device)
        }
        try makeRoom(for: link)
        guard !network.registry.isBlocked(peer.device) else {
            return try drop(link, because: LinkEnding("auth.blocked"))
        }
        if peer.labels.contains(.deviceLink) { return core.entrances.offerLink(on: link) }
        // A peer that only holds an invite says so in its first message.
        if peer.labels.allSatisfy({ $0.workspace == nil }) { return }
        network.addresses.unanswered[link.address] = nil
        if isFormer(peer.device) {
            try establishedFormer(link, peer.device)
        } else {
            network.registry.connected(
                peer.device, attempt: link.attempt, now: time.monotonic,
                wallMilliseconds: time.wall)
        }
        network.isRegistryDirty = true
        try compareClocks(on: link)
        try settleLinks(besides: link)
        guard !link.isClosing else { return }
        try openWhatIsShared(with: peer, on: link)
        guard !link.wasFormer else { return }
        try turn.record(.peerConnected, workspace: nil, extra: peer.device.bytes)
        turn.emit(.log(.info, "peer.connected device=\(PublicID.device(peer.device))"))
    }

    /// A non-member who knows a secret, by an old invite or as a removed member, can connect under
    /// any number of keys. The oldest such link is closed.
    private func makeRoom(for link: PeerLink) throws(StorageError) {
        let strangers = network.ordered.filter { other in
            other !== link && other.peer != nil
                && !other.syncs.values.contains { $0.standing == .full }
        }
        guard strangers.count >= Limits.strangerLinksMax, let oldest = strangers.first else {
            return
        }
        try drop(oldest, because: LinkEnding("link.crowded"))
    }

    /// Opens what both ends are in.
    private func openWhatIsShared(
        with peer: PeerIdentity, on link: PeerLink
    ) throws(StorageError) {
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.standing == .member && isShared(workspace, with: peer) {
            try core.syncs.openSync(workspace, on: link, as: nil)
        }
    }

    /// Opens on a link that began as a coming in what both ends were in before.
    func openOthers(on link: PeerLink) throws(StorageError) {
        guard let peer = link.peer, !link.isClosing, network.joining.linking?.connection != link.id
        else {
            return
        }
        try openWhatIsShared(with: peer, on: link)
    }

    /// Whether a workspace is opened towards a peer: it is known there, or the peer has shown to
    /// hold a secret of it.
    private func isShared(_ workspace: Workspace, with peer: PeerIdentity) -> Bool {
        if peer.knowsSecret(of: workspace.id) { return true }
        return core.membership.standing(of: peer.device, in: workspace) == .full
    }

    // MARK: Closing

    /// Ends a link and everything that went over it.
    ///
    /// - Parameter telling: whether the other end hears why.
    func drop(
        _ link: PeerLink, because ending: LinkEnding, telling: Bool = false
    ) throws(StorageError) {
        guard network.links[link.id] != nil else { return }
        core.presence.forgetPresence(on: link)
        core.files.left(link)
        network.links[link.id] = nil
        network.exchange.unfinished.forget(link.id)
        link.isClosing = true
        link.backlog = Backlog()
        network.strangers.budget.closed(link: link.id.number)
        core.log.waiting.forget(source: link.id.number)
        for sync in link.orderedSyncs {
            try core.syncs.feed(.closed, to: sync, on: link)
            try core.syncs.forgetReach(in: sync.workspace, of: link)
        }
        if !link.session.isClosed {
            for case .write(let bytes) in link.session.close(
                ending, telling: telling, now: time.monotonic)
            {
                turn.emit(.write(link.id, bytes))
            }
        }
        turn.emit(.close(link.id))
        core.entrances.closed(link, because: ending)
        try forget(link, because: ending)
    }

    private func forget(_ link: PeerLink, because ending: LinkEnding) throws(StorageError) {
        let line = "link.closed address=\(link.address) reason=\(ending.word)"
        // A peer that never proved anything can connect once per port: a few lines a minute are
        // enough for the log's reader, and more would push out what matters.
        let isUnproved = link.peer == nil && !link.session.isInitiator
        let isTold = !isUnproved || network.strangers.strangerLines.takes(at: time.monotonic)
        let level: LogLevel = link.peer == nil && isTold ? .info : .debug
        turn.emit(.log(ending.isOurComplaint ? .warning : level, line))
        endAttempt(of: link, because: ending)
        guard let peer = link.peer, link.session.established != nil else { return }
        // A link by an invite counts from the admission on; then its end is one as any other.
        guard network.links(to: peer.device).isEmpty,
            network.registry.peer(.device(peer.device))?.state == .connected
        else { return }
        network.registry.disconnected(
            peer.device, lived: time.monotonic - (link.session.established ?? time.monotonic),
            error: link.wasToldRemoval ? LinkEnding.removed.word : ending.word,
            isRefused: link.wasToldRemoval, isSilent: ending == .dead, now: time.monotonic,
            wallMilliseconds: time.wall, using: environment.random)
        network.isRegistryDirty = true
        // A peer that knows of the end of this membership is not dialled again; any other is, to be
        // told.
        if isStranger(peer.device) {
            try forgetStranger(peer.device)
        } else if ending == .farewell {
            try forgetPeer(.device(peer.device))
        }
        try turn.record(.peerDisconnected, workspace: nil, extra: peer.device.bytes)
    }

    /// The attempt that made a link is over with it at the latest: where nothing came of the link, or who
    /// answered is kept out, the address is tried again later. After a link that stood it is long over.
    private func endAttempt(of link: PeerLink, because ending: LinkEnding) {
        guard let attempt = link.attempt else { return }
        if ending == .ourselves { return network.registry.reachedOurselves(attempt) }
        if link.session.established == nil { network.addresses.noteUnanswered(link.address) }
        network.registry.failed(
            attempt, error: ending.word, now: time.monotonic, using: environment.random)
    }

    /// Whether a device is not worth remembering: it neither is nor was a member's. Someone who
    /// knows a former secret may answer each dial under a new key.
    func isStranger(_ device: DeviceID) -> Bool {
        network.registry.peer(.device(device))?.state != .blocked
            && !workspaces.values.contains {
                !$0.judged.members(everUsing: device).isEmpty
                    || core.membership.standing(of: device, in: $0) == .full
            }
    }

    /// The links that are open, for a host that has to close them all.
    var openLinks: [LinkID] {
        network.links.keys.sorted() + network.strangers.anonymous.keys.sorted()
    }
}

extension PeerSession.Effect {
    /// Whether it is carried out for a link that is over, too.
    fileprivate var isLast: Bool {
        switch self {
        case .write, .close: true
        case .wantsAgreement, .established, .message, .blob, .pong: false
        }
    }
}

extension LinkEnding {
    /// Whether a peer that had proved who it is broke a rule of the messages.
    fileprivate var isOurComplaint: Bool { word.hasPrefix("sync.") }
}
