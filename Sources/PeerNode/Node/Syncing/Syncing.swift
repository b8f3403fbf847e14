import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Tells peers what this node has of each workspace, and tracks what they have.
final class Syncing: Component, LinkSyncs {
    /// Which devices got what this device wrote, in this turn.
    var heldNews = HeldNews()
    /// When receipts are written that no COMMIT has taken along, on the monotonic clock.
    var receiptsDue: UInt64?
    /// When a COMMIT took receipts along last, on the monotonic clock.
    var receiptsWritten: UInt64?

    override var nextDeadline: UInt64? { receiptsDue }
}

/// Messages from peers, and the sync sessions they belong to.
extension Syncing {
    // MARK: Messages

    func received(_ message: SyncMessage, on link: PeerLink) throws(StorageError) {
        switch message {
        case .workspaceOpen(let opening): try opened(opening, message, on: link)
        case .workspaceResult(let tag, _):
            guard let workspace = workspace(tagged: tag, on: link),
                let sync = link.syncs[workspace.number]
            else { return }
            try feed(.received(message), to: sync, on: link)
        case .joinHello(let invite, let proof):
            try core.enrolment.admissions.joinHello(invite, proof, on: link)
        case .joinRequest(let request):
            if !holdsJoin(request, on: link) {
                try core.enrolment.admissions.joinRequest(request, on: link)
            }
        case .joinResult(let result): try core.enrolment.joinResult(result, on: link)
        case .linkOffer(let offer): try core.enrolment.linking.linkOffered(offer, on: link)
        case .linkRequest(let proofs): try core.enrolment.linking.linkRequested(proofs, on: link)
        case .linkResult(let result): try core.enrolment.linking.linkAnswered(result, on: link)
        case .keyWant(let want):
            guard let workspace = workspace(numbered: want.workspace, on: link) else { return }
            try core.privates.asking.keysWanted(want, in: workspace, on: link)
        case .keyHave(let have):
            guard let workspace = workspace(numbered: have.workspace, on: link) else { return }
            try core.privates.asking.keyGiven(have, in: workspace, on: link)
        case .payloadWant(let want):
            guard let workspace = workspace(numbered: want.workspace, on: link) else { return }
            try core.integrity.payloadsWanted(want, in: workspace, on: link)
        case .payloadHave(let have):
            guard let workspace = workspace(numbered: have.workspace, on: link) else { return }
            try core.integrity.payloadGiven(have, in: workspace, from: link)
        case .presence(let number, let word):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            core.presence.presenceHeard(word, in: workspace, on: link)
        case .typing(let number, let document):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            core.presence.typingHeard(document, in: workspace, on: link)
        case .reading(let number, let word):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            try core.own.readingHeard(word, in: workspace, on: link)
        case .book(let number, let word):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            try core.links.bookHeard(word, in: workspace, on: link)
        case .reach(let number, let word):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            try reachHeard(word, in: workspace, on: link)
        case .note(let number, let word):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            core.notes.presenceSender.heard(word, in: workspace, on: link)
        case .receipt(let number, _), .receiptResult(let number, _):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            try core.ledgers.received(message, in: workspace, on: link)
        case .proofAsk, .proofAnswer, .accountAsk, .accountAnswer:
            try proofWord(message, on: link)
        case .peers(let number, let records):
            guard let workspace = workspace(numbered: number, on: link) else { return }
            try core.links.learned(records, in: workspace, from: link)
        case .error(let code, _):
            turn.emit(.log(.info, "peer.error code=\(TerminalText.forLog(code))"))
            if code == LinkEnding.doubled.word { core.links.toldDoubled(on: link) }
        case .ping: break
        case .workspaceDigest, .documentDigests, .tips, .pull, .operations, .forkProbe:
            if message.movesOperations { link.farewell?.moved(at: time.monotonic) }
            guard let number = message.workspace,
                let workspace = workspace(numbered: number, on: link),
                let sync = link.syncs[workspace.number]
            else { return }
            try feed(.received(message), to: sync, on: link)
        }
    }

    /// `ws_open`: which workspace the peer means is in the tag, that only members can make.
    private func opened(
        _ opening: WorkspaceOpening, _ message: SyncMessage, on link: PeerLink
    ) throws(StorageError) {
        guard let peer = link.peer, let workspace = workspace(tagged: opening.tag, on: link) else {
            link.session.send(
                .workspaceResult(tag: opening.tag, .unknown), in: .control, isUnasked: false)
            return
        }
        // One number for each workspace is what an honest peer needs.
        guard link.theirNumbers.count < 1_024 || link.theirNumbers[opening.workspace] != nil else {
            return try core.links.drop(
                link, because: LinkEnding("sync.violation", "too many numbers"))
        }
        link.theirNumbers[opening.workspace] = workspace.number
        if link.syncs[workspace.number] == nil {
            guard
                isShared(workspace, withLink: link, peer)
                    || core.links.hasShownSecret(opening, of: workspace, on: link)
            else {
                link.session.send(
                    .workspaceResult(tag: opening.tag, .unknown), in: .control, isUnasked: false)
                return
            }
            try openSync(workspace, on: link)
        }
        guard let sync = link.syncs[workspace.number] else { return }
        try feed(.received(message), to: sync, on: link)
    }

    private func isShared(
        _ workspace: Workspace, withLink link: PeerLink, _ peer: PeerIdentity
    ) -> Bool {
        // A peer that knows the tag knows the workspace's id; in the handshake it proved to know a
        // secret of it, or of another workspace that both are in. A former member has to be told
        // there that they were removed.
        if peer.knowsSecret(of: workspace.id) { return true }
        if link.secrets.provenWorkspaces.contains(workspace.number) { return true }
        return core.membership.standing(of: peer.device, in: workspace) != .authorityOnly
    }

    private func workspace(tagged tag: WorkspaceTag, on link: PeerLink) -> Workspace? {
        guard let peer = link.peer else { return nil }
        return workspaces.values.sorted { $0.number < $1.number }
            .first { Self.tag(of: $0.id, handshakeHash: peer.handshakeHash) == tag }
    }

    func workspace(numbered number: WorkspaceNumber, on link: PeerLink) -> Workspace? {
        link.theirNumbers[number].flatMap { core.workspaces[$0] }
    }

    /// H16("wsx-wstag1", workspace || handshake hash).
    static func tag(of workspace: WorkspaceID, handshakeHash: [UInt8]) -> WorkspaceTag {
        WorkspaceTag(
            prefixOf: Hash.name("wsx-wstag1", workspace.bytes, handshakeHash) as OperationID)
    }

    // MARK: Sync sessions

    /// Opens a workspace on a link, with what the peer may do there.
    @discardableResult
    func openSync(
        _ workspace: Workspace, on link: PeerLink, as wanted: SyncSession.Standing? = nil
    ) throws(StorageError) -> WorkspaceLink? {
        guard let peer = link.peer, let own = turn.session.ownDevice, !link.isClosing,
            link.syncs[workspace.number] == nil
        else {
            return link.syncs[workspace.number]
        }
        let standing = wanted ?? core.membership.standing(of: peer.device, in: workspace)
        let session = SyncSession(
            .init(
                workspace: link.nextNumber,
                tag: Self.tag(of: workspace.id, handshakeHash: peer.handshakeHash),
                ownDevice: own, peerDevice: peer.device, source: network.exchange.nextSource,
                authorityClaimsMax: core.enrolment.isJoining(workspace)
                    ? Limits.authorityTipsMaxAtJoining : Limits.authorityTipsMax))
        network.exchange.nextSource += 1
        let sync = WorkspaceLink(
            workspace: workspace.number, number: link.nextNumber, session: session,
            standing: standing)
        link.nextNumber += 1
        link.syncs[workspace.number] = sync
        let agreed = try store.peers.agreed(with: peer.device, workspace: workspace.number)
        try feed(
            .opened(
                standing,
                agreed: agreed.map {
                    .init(root: $0.root, arrival: UInt64(max($0.arrival, 0)))
                }), to: sync, on: link)
        if standing == .full {
            sync.owesPresence = true
            try core.links.renewOwnRecord()
            core.links.introduce(workspace, on: link)
        }
        try applyReach(in: workspace.number, to: link)
        return sync
    }

    /// Gives a session an input and carries out what it wants.
    func feed(
        _ input: SyncSession.Input, to sync: WorkspaceLink, on link: PeerLink
    ) throws(StorageError) {
        guard let workspace = core.workspaces[sync.workspace] else { return }
        var planner = network.exchange.planners[sync.workspace] ?? PullPlanner()
        let wanted = sync.session.handle(
            input, at: time.monotonic,
            replica: CoreReplica(for: self, workspace: workspace, peer: link.peer?.device),
            planner: &planner)
        network.exchange.planners[sync.workspace] = planner
        if let failure = turn.failure { throw failure }
        for effect in wanted { try perform(effect, of: sync, workspace, on: link) }
    }

    private func perform(
        _ effect: SyncSession.Effect, of sync: WorkspaceLink, _ workspace: Workspace,
        on link: PeerLink
    ) throws(StorageError) {
        switch effect {
        case .send(let message, let messageClass, let isUnasked):
            guard !link.isClosing else { return }
            link.session.send(
                core.links.showingSecret(message, of: workspace, on: link), in: messageClass,
                isUnasked: isUnasked)
        case .ingest(let runs, let request):
            try ingest(runs, request, of: sync, on: link)
        case .remember(let agreement):
            link.wasToldRemoval = false
            network.exchange.synced.insert(workspace.number)
            sync.unknownSince = nil
            try remember(agreement, workspace, with: link)
            try core.keys.giveWithheld(in: workspace)
            core.privates.asking.askForKeys(of: workspace, on: link, sync)
            try core.integrity.askForPayloads(of: workspace, on: link, sync)
        case .agreedInScope:
            link.wasToldRemoval = false
            sync.unknownSince = nil
            network.exchange.synced.insert(workspace.number)
            core.keys.noteAgreedInScope(workspace, with: link)
            try core.keys.giveWithheld(in: workspace)
            core.privates.asking.askForKeys(of: workspace, on: link, sync)
            try core.integrity.askForPayloads(of: workspace, on: link, sync)
        case .peerHolds(let tips):
            guard let device = link.peer?.device else { return }
            receipts(tips, of: device, in: workspace)
        case .ownOperationsConfirmed: sync.knowsOwnHistory = true
        case .refused(let refusal):
            // A peer that is about to be admitted, or does not know this device yet, serves nothing
            // so far.
            guard refusal != .authorityOnly else {
                sync.unknownSince = sync.unknownSince ?? time.monotonic
                return
            }
            sync.knowsOwnHistory = true
            turn.emit(.log(.info, "workspace.refused code=\(refusal)"))
            if refusal == .removed { link.wasToldRemoval = true }
            if refusal == .unknown {
                core.enrolment.joinRefused(on: link)
                // The peer did not record this session's number either. Once it knows the workspace
                // it opens it, and both start over.
                try feed(.closed, to: sync, on: link)
                link.syncs[sync.workspace] = nil
                try forgetReach(in: sync.workspace, of: link)
                try core.links.showSecret(of: workspace, on: link)
            }
        case .caughtUp:
            sync.isCaughtUp = true
            sync.unknownSince = nil
            network.exchange.synced.insert(workspace.number)
            try core.integrity.askForPayloads(of: workspace, on: link, sync)
            try core.enrolment.caughtUp(workspace, on: link)
        case .replanOthers:
            for other in network.ordered where other !== link {
                if let session = other.syncs[sync.workspace] {
                    try feed(.replan, to: session, on: other)
                }
            }
        case .reachLost: network.exchange.lostReach.insert(sync.workspace)
        case .setDeadline(let deadline): sync.deadline = deadline
        case .close(let violation):
            try core.links.drop(link, because: LinkEnding(violation))
        }
    }

    private func remember(
        _ agreement: SyncSession.Agreement, _ workspace: Workspace, with link: PeerLink
    ) throws(StorageError) {
        guard let device = link.peer?.device else { return }
        let agreed = PeerStore.Agreed(
            root: agreement.root, arrival: Int64(clamping: agreement.arrival))
        let before = try store.peers.agreed(with: device, workspace: workspace.number)
        guard before != agreed else { return }
        try write()
        try store.peers.setAgreed(agreed, with: device, workspace: workspace.number)
        noteAgreed(with: device, before, in: workspace)
    }

    /// Records what a peer says it holds. Kept in memory, and written with the next COMMIT.
    private func receipts(_ tips: [LogTip], of device: DeviceID, in workspace: Workspace) {
        let replica = CoreReplica(for: self, workspace: workspace)
        for tip in tips {
            guard let branch = replica.branch(holding: tip) else { continue }
            let before = store.peers.noteHeld(
                by: device, branch: branch.number, through: tip.sequence)
            if let before { noteHolding(branch, by: device, before) }
        }
    }

    // MARK: The turn

    /// Tells every session what this turn has stored; the frames leave after COMMIT.
    func tellPeers() throws(StorageError) {
        try core.processDeadlines()
        takeReachBack()
        try tellStored()
        try core.links.settleFarewells()
        try core.links.writeRegistry()
        core.presence.tellPresence()
        core.notes.presenceSender.sendPresence()
        try core.own.tellMarkers()
        for link in network.ordered {
            try core.links.perform(link.session.flush(now: time.monotonic), on: link)
        }
        if let failure = turn.failure { throw failure }
    }

    /// Operations that are accepted while sessions are told, such as a joiner's own admission, are
    /// told in the next round.
    private func tellStored() throws(StorageError) {
        var rounds = 0
        while rounds < 4,
            !core.log.appended.isEmpty || !core.log.retention.moved.isEmpty
                || !core.log.needed.isEmpty
                || hasIngested
        {
            rounds += 1
            let stored = core.log.appended
            let branches = core.log.retention.moved
            let logs = core.log.needed
            core.log.appended = []
            core.log.retention.moved = [:]
            core.log.needed = [:]
            // First, since a member who was removed in this turn must not get what follows in it.
            try standingsMayHaveEnded(stored)
            for workspace in Set(stored.filter { $0.own != nil }.map(\.workspace)).sorted() {
                tellReach(of: workspace)
            }
            for link in network.ordered {
                for sync in link.orderedSyncs {
                    // First: what waits for what it cites is not asked for again before that.
                    if !sync.cited.isEmpty {
                        let cited = sync.cited
                        sync.cited = []
                        try feed(.cited(cited), to: sync, on: link)
                    }
                    try tell(sync, on: link, stored, branches[sync.workspace] ?? [])
                    guard let logs = logs[sync.workspace] else { continue }
                    try feed(.needed(logs.sorted()), to: sync, on: link)
                }
            }
            try standingsMayHaveChanged(stored)
            try core.enrolment.admissions.tellDecisions()
            try core.enrolment.joinsMayGoOn()
            try core.enrolment.linking.linkingMayGoOn()
        }
    }

    private var hasIngested: Bool {
        network.links.values.contains { link in
            link.syncs.values.contains { !$0.ingested.isEmpty }
        }
    }

    private func tell(
        _ sync: WorkspaceLink, on link: PeerLink, _ stored: [AppendedRun], _ moved: Set<Int64>
    ) throws(StorageError) {
        for appended in stored where appended.workspace == sync.workspace {
            guard let run = appended.own else { continue }
            try feed(.appended(run, tip: appended.tip), to: sync, on: link)
        }
        // What this device wrote was already told as `appended`.
        let own = Set(stored.filter { $0.own != nil }.map(\.branch))
        guard let workspace = core.workspaces[sync.workspace] else { return }
        var tips: [LogTip] = []
        for branch in moved.subtracting(own).sorted().compactMap({ store.operations.branch($0) })
        where !workspace.isGone(branch.log.document) {
            try store.operations.intact(branch)?.announcement.map { tips.append($0) }
        }
        let answered = sync.ingested
        sync.ingested = []
        if answered.isEmpty {
            if !tips.isEmpty {
                try feed(.stored(tips, waiting: [], answering: nil), to: sync, on: link)
            }
            return
        }
        for (index, answer) in answered.enumerated() {
            try feed(
                .stored(
                    index == 0 ? tips : [], waiting: answer.waiting, answering: answer.request),
                to: sync, on: link)
        }
    }

    /// The end of a grant takes from peers what they may do on their links.
    private func standingsMayHaveEnded(_ stored: [AppendedRun]) throws(StorageError) {
        let changed = workspacesWithNewAuthority(stored)
        try changeStandings(in: changed) { $0 == .full && $1 != .full }
    }

    /// A new grant, or the end of one, changes what peers may do on their links.
    private func standingsMayHaveChanged(_ stored: [AppendedRun]) throws(StorageError) {
        let changed = workspacesWithNewAuthority(stored)
        guard !changed.isEmpty else { return }
        network.candidates = nil
        for number in changed.sorted() {
            guard let workspace = core.workspaces[number] else { continue }
            try openWhereShared(workspace)
            core.keys.planKeyChange(of: workspace)
            core.membership.planConfirming(of: workspace)
            core.privates.guests.guestPlansDue.insert(number)
        }
        try changeStandings(in: changed) { _, _ in true }
        core.presence.reviewCompanions(in: changed)
        core.links.planAddressNews()
    }

    private func workspacesWithNewAuthority(_ stored: [AppendedRun]) -> Set<Int64> {
        Set(
            stored.filter { core.workspaces[$0.workspace]?.id == $0.log.document }
                .map(\.workspace))
    }

    private func changeStandings(
        in changed: Set<Int64>,
        where isWanted: (SyncSession.Standing, SyncSession.Standing) -> Bool
    ) throws(StorageError) {
        guard !changed.isEmpty else { return }
        for link in network.ordered {
            guard let peer = link.peer else { continue }
            for sync in link.orderedSyncs
            where changed.contains(sync.workspace) && sync.standing != .joining {
                guard let workspace = core.workspaces[sync.workspace],
                    workspace.standing == .member
                else { continue }
                let standing = core.membership.standing(of: peer.device, in: workspace)
                guard standing != sync.standing, isWanted(sync.standing, standing) else {
                    continue
                }
                try setStanding(standing, of: sync, workspace, on: link)
            }
        }
    }

    /// Opens a workspace on the links that stand already: a peer became a member of it, or we did.
    func openWhereShared(_ workspace: Workspace) throws(StorageError) {
        guard workspace.standing == .member else { return }
        for link in network.ordered where link.syncs[workspace.number] == nil {
            guard let peer = link.peer, !link.isClosing, core.enrolment.joinIndex(of: link) == nil,
                network.joining.linking?.connection != link.id,
                core.membership.standing(of: peer.device, in: workspace) == .full
            else { continue }
            try openSync(workspace, on: link)
        }
    }

    func setStanding(
        _ standing: SyncSession.Standing, of sync: WorkspaceLink, _ workspace: Workspace,
        on link: PeerLink
    ) throws(StorageError) {
        sync.standing = standing
        try feed(.standingChanged(standing), to: sync, on: link)
        guard standing == .full else {
            sync.presence = nil
            return
        }
        sync.owesPresence = true
        try core.links.welcomeBack(link)
        try core.links.renewOwnRecord()
        core.links.introduce(workspace, on: link)
        try core.links.openOthers(on: link)
    }

    func feedReceiving(_ link: PeerLink) throws(StorageError) {
        for sync in link.orderedSyncs
        where sync.deadline != nil {
            try feed(.receiving, to: sync, on: link)
        }
    }

    func feedQueueLevel(_ link: PeerLink) throws(StorageError) {
        let unasked = link.session.unaskedUnsentBytes
        let asked = link.session.unsentBytes - unasked
        for sync in link.orderedSyncs {
            try feed(.sendQueueLevel(unasked: unasked, asked: max(asked, 0)), to: sync, on: link)
        }
    }
}
