import WorkspaceModel

/// When roots are compared again, and the state of the last comparison.
struct Comparison: Sendable {
    /// The shortest time between two comparisons, in milliseconds.
    static let intervalMin: UInt64 = 30_000
    /// The longest, after descents without transfers.
    static let intervalMax: UInt64 = 10 * 60 * 1_000

    var last: UInt64 = 0
    var interval = Comparison.intervalMin
    /// Something changed since the last comparison, so another one may find a difference.
    var isWanted = false
    /// Something is known to be missing that only a comparison brings up: it does not wait for a
    /// slot.
    private(set) var isUrgent = false
    /// Its reserved slot among those of all peers.
    var place: UInt64?
    /// The last comparison found a difference.
    var wasUnequal = false
    /// Operations were transferred because of it.
    var hasMoved = false
    /// Whether the peer has sent a root on this link.
    var hasCompared = false
    /// The last root that was equal within a scope.
    var agreedInScope: SetDigest?
    /// How many tips of unequal documents were announced, if they exceed one descent; keyed by the
    /// first bucket of the digest they answer.
    var announcedThrough: [UInt8: Int] = [:]
    var descent = SyncSession.Descent.none
    var caughtUpWasTold = false

    /// Requests another comparison.
    mutating func want(urgently: Bool) {
        isWanted = true
        isUrgent = isUrgent || urgently
    }

    /// The next comparison begins.
    mutating func begin(at now: UInt64) {
        if wasUnequal, !hasMoved {
            interval = min(interval * 2, Self.intervalMax)
        } else {
            interval = Self.intervalMin
        }
        last = now
        isWanted = false
        isUrgent = false
        place = nil
        wasUnequal = false
        hasMoved = false
    }
}

/// Opening, comparing and descending (PROTOCOL.md, 5.4, steps 1 and 2).
extension SyncSession {
    /// Tips that one descent announces at most; the next descent continues.
    static let announcedTipsMax = 16_384
    /// Tips in one message: about 75 bytes each.
    private static let tipsPerMessage = 2_048
    /// Documents in one message: about 52 bytes each.
    private static let documentsPerMessage = 4_096

    /// Opens with this side's standing of the peer.
    mutating func open(as standing: Standing, replica: some Replica) {
        phase = .open
        self.standing = standing
        if standing == .removed { return sayFarewell(replica: replica) }
        sayRoot(replica: replica)
        if standing == .authorityOnly {
            send(.workspaceResult(tag: configuration.tag, .authorityOnly), .control)
        }
    }

    /// Sends `ws_open`; a peer that may not know the workspace gets no digest.
    mutating func sayRoot(replica: some Replica) {
        let documents = standing == .full ? replica.ownDocuments : nil
        naming.openingsSent += 1
        if documents != naming.named { naming.namedSince = naming.openingsSent }
        naming.named = documents
        naming.answeredNamed = naming.theirNamed
        let replica = confine(replica)
        naming.reopens = false
        // Each opening of ours may be answered by a digest, even one that crossed a change of
        // standing.
        allowances.digestsAllowed = min(allowances.digestsAllowed + 1, 4)
        comparison.begin(at: now)
        let isFull = standing == .full && knowsScope(replica)
        let opening = WorkspaceOpening(
            workspace: configuration.workspace, tag: configuration.tag,
            root: isFull ? replica.root : .zero,
            agreedRoot: isFull && scope == nil ? agreed?.root : nil,
            mine: isFull ? replica.ownTipsDigest(of: configuration.ownDevice) : .zero,
            documents: naming.named,
            seen: naming.theirNamed == nil ? nil : UInt64(naming.openingsReceived))
        send(.workspaceOpen(opening), .control)
    }

    /// The peer sent its root. Each side answers an opening that it did not request with its own.
    mutating func opened(
        by opening: WorkspaceOpening, replica: some Replica
    ) throws(SyncViolation) {
        guard allowances.openingAllowance.take(at: now) else { throw .tooMany }
        naming.openingsReceived += 1
        peerRefuses = false
        naming.theirNamed = opening.documents
        let replica = confine(replica)
        if naming.openingsSent < naming.openingsReceived
            || naming.theirNamed != naming.answeredNamed
        {
            sayRoot(replica: replica)
            if standing == .authorityOnly {
                send(.workspaceResult(tag: configuration.tag, .authorityOnly), .control)
            }
        }
        // A peer that may not know us yet sends no root; it compares nothing, and would count our
        // digest as one too many.
        guard standing == .full, opening.root != .zero || opening.mine != .zero else { return }
        // A root of the previous scope: the peer has not seen what this side names now, and a newly
        // named document that is empty here would not show in the comparison.
        guard naming.named == nil || (opening.seen ?? 0) >= UInt64(naming.namedSince) else {
            return
        }
        let isFirst = !comparison.hasCompared
        comparison.hasCompared = true
        let root = replica.root
        if opening.root == root { return agree(on: root, replica: replica) }
        comparison.wasUnequal = true
        descend(against: opening, isFirst: isFirst, replica: replica)
    }

    /// A peer that was restored to an earlier state must not write before it has received its own
    /// operations: its own logs come first, before the digest.
    private mutating func tellPeersOwn(_ opening: WorkspaceOpening, replica: some Replica) {
        let peer = configuration.peerDevice
        guard opening.mine != replica.ownTipsDigest(of: peer) else { return }
        let tips = replica.tips(by: peer, limit: Self.announcedTipsMax)
        for start in stride(from: 0, to: tips.count, by: Self.tipsPerMessage) {
            let part = [LogTip](tips[start..<min(start + Self.tipsPerMessage, tips.count)])
            send(.tips(configuration.workspace, part, final: false), .control)
        }
    }

    private mutating func agree(on root: SetDigest, replica: some Replica) {
        comparison.descent = .finished
        ownHistory.isAnswered = true
        let isFirst = !agreedOnThisLink
        agreedOnThisLink = true
        comparison.isWanted = false
        claims.removeIdle()
        telling.outgoing = [:]
        telling.theirs = [:]
        ahead = 0
        forgetLeft()
        guard scope == nil else {
            if comparison.agreedInScope != root { effects.append(.agreedInScope) }
            comparison.agreedInScope = root
            return
        }
        if let agreed, agreed.root == root {
            // Nothing is new, but what the peer holds besides may be pulled on this link.
            if isFirst { effects.append(.remember(agreed)) }
            return
        }
        let agreement = Agreement(root: root, arrival: replica.arrival)
        agreed = agreement
        effects.append(.remember(agreement))
    }

    private mutating func descend(
        against opening: WorkspaceOpening, isFirst: Bool, replica: some Replica
    ) {
        if scope == nil, let agreed, opening.agreedRoot == agreed.root {
            let limit = Self.announcedTipsMax
            let tips = replica.tips(changedSince: agreed.arrival, limit: limit)
            if tips.count <= limit {
                comparison.descent = .tips(1)
                return announce(tips)
            }
        }
        comparison.descent = .digest
        if isFirst { tellPeersOwn(opening, replica: replica) }
        // A workspace with very many documents is answered in several messages.
        allowances.documentDigestsAllowed = min(allowances.documentDigestsAllowed + 64, 256)
        send(
            .workspaceDigest(configuration.workspace, buckets: replica.bucketDigests), .bulk)
    }

    /// The tips that end a descent, in messages of limited size, the last one marked final.
    private mutating func announce(_ tips: [LogTip]) {
        noteAnnounced(tips)
        var start = 0
        repeat {
            let end = min(start + Self.tipsPerMessage, tips.count)
            let part = [LogTip](tips[start..<end])
            send(.tips(configuration.workspace, part, final: end == tips.count), .bulk)
            start = end
        } while start < tips.count
    }

    /// Answers a digest with the documents of all unequal buckets.
    mutating func answerDigest(_ buckets: [UInt8], replica: some Replica) throws(SyncViolation) {
        guard standing == .full else { return }
        guard allowances.digestsAllowed > 0 else { throw .outOfTurn }
        allowances.digestsAllowed -= 1
        let own = replica.bucketDigests
        var messages: [[BucketDigests]] = [[]]
        var room = Self.documentsPerMessage
        for bucket in UInt8.min...UInt8.max {
            let range = Int(bucket) * 16..<Int(bucket) * 16 + 16
            guard own[range] != buckets[range] else { continue }
            var documents = replica.documentDigests(inBucket: bucket)[...]
            repeat {
                if room == 0 {
                    messages.append([])
                    room = Self.documentsPerMessage
                }
                let part = [DocumentDigest](documents.prefix(room))
                messages[messages.count - 1].append(
                    BucketDigests(bucket: bucket, documents: part))
                documents = documents.dropFirst(part.count)
                room -= part.count
            } while !documents.isEmpty
        }
        comparison.descent = .tips(messages.count)
        for message in messages {
            send(.documentDigests(configuration.workspace, message), .bulk)
        }
    }

    /// Answers document digests with the tips of all unequal documents.
    mutating func answerDocumentDigests(
        _ buckets: [BucketDigests], replica: some Replica
    ) throws(SyncViolation) {
        guard standing == .full else { return }
        guard allowances.documentDigestsAllowed > 0 else { throw .outOfTurn }
        allowances.documentDigestsAllowed -= 1
        var tips: [LogTip] = []
        for bucket in buckets {
            var theirs = bucket.documents[...]
            for own in replica.documentDigests(inBucket: bucket.bucket) {
                theirs = theirs.drop { $0.document < own.document }
                guard theirs.first != own else { continue }
                tips += replica.tips(of: own.document)
            }
        }
        announce(part(of: tips, from: buckets.first?.bucket ?? 0))
    }

    /// As many tips as one descent announces, continuing after the last one: otherwise the first of
    /// very many would be announced each time, and the rest never.
    ///
    /// - Parameter bucket: the first bucket of the answered part, since a digest of many documents
    ///   is answered in parts.
    private mutating func part(of tips: [LogTip], from bucket: UInt8) -> [LogTip] {
        guard tips.count > Self.announcedTipsMax else { return tips }
        let start = comparison.announcedThrough[bucket, default: 0] % tips.count
        let end = min(start + Self.announcedTipsMax, tips.count)
        comparison.announcedThrough[bucket] = end
        comparison.want(urgently: true)
        return [LogTip](tips[start..<end])
    }

    /// One part of the peer's announcement is complete.
    mutating func finalTipsCame() {
        guard case .tips(let count) = comparison.descent else { return }
        comparison.descent = count > 1 ? .tips(count - 1) : .finished
    }

    /// The peer does not serve the workspace. If it requests the authority document, or says that
    /// we are removed, which only we may be able to refute, it gets that document's tips.
    mutating func refused(
        _ refusal: WorkspaceRefusal, replica: some Replica
    ) throws(SyncViolation) {
        guard allowances.refusalAllowance.take(at: now) else { throw .tooMany }
        peerRefuses = true
        effects.append(.refused(refusal))
        guard refusal != .unknown, standing == .full else { return }
        sendInParts(replica.tips(of: replica.authorityDocument))
    }

    /// In parts: a member can give the document more logs than one message holds.
    mutating func sendInParts(_ tips: [LogTip]) {
        var start = 0
        repeat {
            let end = min(start + Self.tipsPerMessage, tips.count)
            let part = [LogTip](tips[start..<end])
            send(.tips(configuration.workspace, part, final: end == tips.count), .control)
            start = end
        } while start < tips.count
    }

    /// When the roots are compared next, if there is anything to find.
    var comparisonDeadline: UInt64? {
        guard standing == .full, naming.openingsReceived > 0, !peerRefuses, comparison.isWanted
        else { return nil }
        // Not while operations are still arriving: the roots would surely differ.
        let place = comparison.isUrgent ? 0 : comparison.place ?? 0
        let due = max(comparison.last + comparison.interval, place)
        return pulls.outstanding.isEmpty ? due : max(due, now + 1_000)
    }

    mutating func compareWhenDue(replica: some Replica, planner: inout PullPlanner) {
        guard let due = comparisonDeadline, due <= now else { return }
        if comparison.place == nil, !comparison.isUrgent {
            let place = planner.comparisons.place(at: now)
            comparison.place = place
            guard place <= now else { return }
        }
        sayRoot(replica: replica)
    }
}
