import WorkspaceModel

/// A sent pull.
struct Outstanding: Sendable {
    /// After how long a pull that brings nothing is abandoned.
    static let patienceMilliseconds: UInt64 = 5_000
    /// How long a pull keeps its logs from other peers while its peer sends something, but no
    /// answer.
    static let slowPatienceMilliseconds: UInt64 = 20_000

    let request: RequestNumber
    /// The requested logs, in order, and the highest sequence wanted of each.
    let logs: [LogName]
    let highest: [LogName: UInt64]
    /// The branch tips of each log at the time of the request.
    var before: [LogName: [LogPoint]] = [:]
    /// When it was sent, and for how many bytes.
    var sent: UInt64 = 0
    var bytesMax = Limits.operationsMessageBytesMax
    /// `nil` once the answer is here and being stored.
    var deadline: UInt64?
    /// Logs for which the peer wants samples.
    var probed: Set<LogName> = []
    /// Whether the answer left nothing out for size.
    var isComplete = true
    /// How far the answer went, per log.
    var answered: [LogName: UInt64] = [:]
    /// About how many bytes it brought, and when, milliseconds.
    var came: (bytes: Int, at: UInt64)?

    /// Whether the answer brought everything requested, or as much as it had room for.
    var isAnswered: Bool {
        if !isComplete, let came, 2 * came.bytes >= bytesMax { return true }
        return logs.allSatisfy { (answered[$0] ?? 0) >= (highest[$0] ?? 0) && answered[$0] != nil }
    }

    /// The peer is slow, but sending, maybe something else: once it has had its time, logs that
    /// another peer offers too are no longer kept from that one.
    mutating func extend(from now: UInt64, planner: PullPlanner) {
        guard deadline != nil else { return }
        if now >= sent + Self.slowPatienceMilliseconds, planner.isWanted(logs) { return }
        deadline = now + Self.patienceMilliseconds
    }
}

/// Pulling what the peer announced (PROTOCOL.md, 5.4, step 3).
extension SyncSession {
    /// Bytes of items above which no more logs go into a pull. The last one may have 8 targets with
    /// 520 places each, 117 KiB, and the message has to stay below its limit with it.
    private static let itemBytesMax = 128 * 1024
    /// Operations that one answer may bring: a pull of more only repeats the request.
    private static let operationsPerPull: UInt64 = 8_192
    /// At least this many are requested, however large the last ones were.
    private static let operationsPerPullMin: UInt64 = 16
    /// Bytes that an unproven or slow peer is asked for at a time.
    private static let bytesOfUnproven = 128 * 1024
    /// Pulls that a peer may leave unanswered.
    private static let expiredMax = 8

    /// Records the peer's announcement.
    mutating func claim(_ tips: [LogTip], replica: some Replica) {
        guard standing != .joining else { return }
        let authority = replica.authorityDocument
        let tips = scope == nil ? tips : tips.filter { replica.takes($0.log.document) }
        if standing == .full, !tips.isEmpty { effects.append(.peerHolds(tips)) }
        for tip in tips {
            let isAuthority = tip.log.document == authority
            guard isAuthority || standing == .full else { continue }
            if replica.holds(tip) {
                noteTheirs(tip)
                confirm(tip)
                continue
            }
            comparison.isWanted = true
            let own = replica.branchTips(of: tip.log).last?.sequence
            // Without room the tip is dropped; the next comparison announces it again.
            guard claims.add(tip, ownSequence: own, isAuthority: isAuthority) else { continue }
            noteTheirs(tip)
            // It owed this and announces it again after a comparison: it gets another chance. So
            // does a log that has waited, maybe in vain.
            if case .tips = comparison.descent, let claim = claims[tip.log],
                claim.state == .ignored || claim.state == .waiting
            {
                claims.begin(tip.log)
            }
        }
    }

    /// Pulls what a waiting operation cites, whatever became of it before.
    mutating func want(_ citing: Citing, replica: some Replica) {
        guard standing == .full else { return }
        let missing = citing.tips.filter { !replica.holds($0) }
        for tip in missing {
            guard scope == nil || replica.takes(tip.log.document) else { continue }
            let own = replica.branchTips(of: tip.log).last?.sequence
            claims.want(tip, ownSequence: own)
        }
        claims.note(missing, citedBy: citing.log, isKept: citing.isKept)
    }

    /// Sends pulls while there is something to request and fewer than two are outstanding.
    mutating func plan(replica: some Replica, planner: inout PullPlanner) {
        guard phase == .open, standing != .joining else { return }
        if claims.activeCount > 0 { planner.meet(configuration.source) }
        let isProven = planner.isProven(configuration.source)
        while pulls.outstanding.count < (isProven ? Limits.pullsOutstandingMax : 1) {
            let most = isProven ? Limits.operationsMessageBytesMax : Self.bytesOfUnproven
            let items = nextItems(bytesMax: most, replica: replica, planner: &planner)
            guard !items.isEmpty else { return }
            pulls.lastRequest = pulls.lastRequest == .max ? 1 : pulls.lastRequest + 1
            var logs: [LogName] = []
            var highest: [LogName: UInt64] = [:]
            for item in items {
                let log = item.target.log
                if let before = highest[log] {
                    highest[log] = max(before, item.target.sequence)
                } else {
                    logs.append(log)
                    highest[log] = item.target.sequence
                }
            }
            let before = logs.map { ($0, replica.branchTips(of: $0)) }
            pulls.outstanding.append(
                Outstanding(
                    request: pulls.lastRequest, logs: logs, highest: highest,
                    before: .init(uniqueKeysWithValues: before), sent: now, bytesMax: most,
                    deadline: now + Outstanding.patienceMilliseconds))
            pulls.futileTakeovers = 0
            let pull = PullRequest(request: pulls.lastRequest, items: items, maxBytes: most)
            send(.pull(configuration.workspace, pull), .control)
        }
    }

    /// How many operations fit an answer, judging by the last one. More would be left out, while
    /// the next pull, already under way, brings what cites it.
    private func operationsMax(in bytes: Int) -> UInt64 {
        let fitting = pulls.bytesPerOperation.map { UInt64(bytes / max($0, 1)) } ?? .max
        return min(max(fitting, Self.operationsPerPullMin), Self.operationsPerPull)
    }

    /// The places that a pull names. A removed peer learns of no place after its end.
    private func points(
        of log: LogName, _ claim: ClaimTable.Claim, _ replica: some Replica
    ) -> [LogPoint] {
        if standing == .removed { return pointsForFormer(of: log, replica) }
        return claim.needsSamples
            ? replica.samples(of: log, and: claim.reached) : replica.branchTips(of: log)
    }

    private mutating func nextItems(
        bytesMax: Int, replica: some Replica, planner: inout PullPlanner
    ) -> [PullItem] {
        var items: [PullItem] = []
        var bytes = 0
        var operations: UInt64 = 0
        let operationsMax = operationsMax(in: bytesMax)
        let countMax = SyncMessage.pullItemsMax - ClaimTable.targetsMax
        var logs = planner.window(of: configuration.source)
        while items.count <= countMax, bytes < Self.itemBytesMax,
            operations < operationsMax, logs > 0, let log = claims.nextQueued()
        {
            if claims.settle(log, holds: replica.holds) { continue }
            if replica.holdsBack(log) {
                leave(log)
                continue
            }
            guard planner.reserve(log, for: configuration.source, at: now) else {
                leaveToOthers(log)
                continue
            }
            logs -= 1
            claims.set(.pulling, of: log)
            guard let claim = claims[log] else { continue }
            let have = [LogPoint](points(of: log, claim, replica).prefix(SyncMessage.pullPointsMax))
            for target in claims.nextTargets(of: log) {
                let tip = LogTip(log: log, sequence: target.sequence, id: target.id)
                items.append(PullItem(target: tip, have: have))
                bytes += 112 + 28 * have.count
            }
            operations += claim.behind
        }
        return items
    }

    /// Operations arrived: the answer to a pull, or with number 0 a push.
    mutating func receive(
        _ runs: [OperationRun], _ request: RequestNumber, isComplete: Bool,
        _ replica: some Replica, _ planner: inout PullPlanner
    ) throws(SyncViolation) {
        if request == 0 {
            try receivePush(runs, replica: replica)
        } else {
            try receiveAnswer(runs, to: request, isComplete: isComplete, replica, &planner)
        }
    }

    /// A live push: an author sends its own new operations.
    private mutating func receivePush(
        _ runs: [OperationRun], replica: some Replica
    ) throws(SyncViolation) {
        guard runs.allSatisfy({ $0.log.device == configuration.peerDevice }) else {
            throw .unasked
        }
        let authority = replica.authorityDocument
        let wanted: [OperationRun]
        switch standing {
        case .full: wanted = runs.filter { replica.takes($0.log.document) }
        case .authorityOnly, .removed: wanted = runs.filter { $0.log.document == authority }
        case .joining: wanted = []
        }
        if !wanted.isEmpty { effects.append(.ingest(wanted, answering: 0)) }
    }

    /// The answer to a pull.
    private mutating func receiveAnswer(
        _ runs: [OperationRun], to request: RequestNumber, isComplete: Bool,
        _ replica: some Replica, _ planner: inout PullPlanner
    ) throws(SyncViolation) {
        if let late = pulls.expired.firstIndex(where: { $0.request == request }) {
            let pull = pulls.expired.remove(at: late)
            guard pull.covers(runs) else { throw .unasked }
            planner.note(
                Self.byteCount(of: runs), in: now - pull.sent, isWhole: nil,
                by: configuration.source)
            // It was only slow: what it still owes is pulled again.
            for log in pull.logs where claims[log]?.state == .ignored { requeue(log) }
            if !runs.isEmpty { effects.append(.ingest(runs, answering: request)) }
            return
        }
        guard
            let index = pulls.outstanding.firstIndex(where: {
                $0.request == request && $0.deadline != nil
            }), pulls.outstanding[index].covers(runs)
        else { throw .unasked }
        pulls.outstanding[index].deadline = nil
        pulls.outstanding[index].isComplete = isComplete
        pulls.outstanding[index].came = (Self.byteCount(of: runs), now)
        let count = runs.reduce(0) { $0 + $1.entries.count }
        if count > 0 {
            pulls.bytesPerOperation = runs.reduce(0) { $0 + $1.encodedBytesEstimate } / count
        }
        for run in runs where !run.entries.isEmpty {
            let last = run.firstSequence &+ UInt64(run.entries.count) &- 1
            let before = pulls.outstanding[index].answered[run.log] ?? 0
            pulls.outstanding[index].answered[run.log] = max(before, last)
        }
        if runs.isEmpty {
            settle(request, stored: [], waiting: [], replica, &planner)
        } else {
            effects.append(.ingest(runs, answering: request))
        }
    }

    /// The peer found none of our places on its target's branch.
    mutating func probed(_ log: LogName) {
        guard
            let index = pulls.outstanding.firstIndex(where: {
                $0.deadline != nil && $0.highest[log] != nil
            }), let claim = claims[log], !claim.needsSamples
        else { return }
        pulls.outstanding[index].probed.insert(log)
    }

    /// Operations are stored, from any peer.
    mutating func stored(
        _ tips: [LogTip], waiting: [LogName], answering request: RequestNumber?,
        _ replica: some Replica, _ planner: inout PullPlanner
    ) {
        if request == 0, tips.isEmpty || !waiting.isEmpty { comparison.want(urgently: true) }
        for tip in tips {
            if replica.serves(tip.log.document) { announce(tip, replica: replica) }
            claims.came(tip)
            guard let claim = claims[tip.log], claim.state != .pulling else { continue }
            if !claims.settle(tip.log, holds: replica.holds), claim.state != .queued,
                claim.state != .ignored, !claims.isBlocked(tip.log)
            {
                requeue(tip.log)
            }
        }
        if let request, request != 0 {
            let logs = Set(tips.map(\.log))
            settle(request, stored: logs, waiting: Set(waiting), replica, &planner)
        }
        guard !tips.isEmpty else { return }
        comparison.isWanted = true
        for log in claims.takeWaiting() { requeue(log) }
    }

    mutating func requeue(_ log: LogName) {
        claims.set(.queued, of: log)
    }

    /// A pull is over: claims that were delivered are dropped, those that may still come are pulled
    /// again, and what the peer claimed without delivering is left to others.
    private mutating func settle(
        _ request: RequestNumber, stored: Set<LogName>, waiting: Set<LogName>,
        _ replica: some Replica, _ planner: inout PullPlanner
    ) {
        guard let index = pulls.outstanding.firstIndex(where: { $0.request == request }) else {
            return
        }
        let pull = pulls.outstanding.remove(at: index)
        let hasProgress = !stored.isEmpty || !waiting.isEmpty || !pull.probed.isEmpty
        if let came = pull.came {
            let isHeld = pull.logs.allSatisfy { claims.settle($0, holds: replica.holds) }
            let isWhole = (hasProgress && pull.isAnswered) || isHeld
            planner.note(
                hasProgress ? came.bytes : 0, in: came.at - min(pull.sent, came.at),
                isWhole: isWhole, by: configuration.source)
        }
        let isProven = planner.isProven(configuration.source)
        comparison.hasMoved = comparison.hasMoved || !stored.isEmpty
        // A truncated answer without any use must not be requested endlessly.
        var blamesNext = !pull.isComplete && !hasProgress && pull.answered.isEmpty
        for log in pull.logs {
            // A source not known to be fast brought a little of it: the next one takes over.
            let isOthersTurn = !isProven && planner.isWanted(log)
            release(log, planner: &planner)
            guard !claims.settle(log, holds: replica.holds) else { continue }
            // What was stored may have been a branch beyond the limit, and be pruned again.
            let isOfUse = replica.branchTips(of: log) != pull.before[log]
            if isOfUse { claims.hasBroughtSome(log) }
            if stored.contains(log) { noteShown(pull.answered[log], of: log) }
            if pull.probed.contains(log) {
                claims.askForSamples(log)
                claims.set(.queued, of: log)
            } else if isOthersTurn, stored.contains(log) {
                leaveToOthers(log)
            } else if waiting.contains(log), pull.isComplete || !stored.contains(log) {
                let isStuck = claims.isFutileAgain(log, most: ClaimTable.futileMax.waiting)
                isStuck ? leave(log) : claims.set(.waiting, of: log)
            } else if isOfUse {
                claims.set(.queued, of: log)
            } else if pull.isComplete || blamesNext || isFutile(pull.answered[log], log, replica) {
                blamesNext = false
                // Other claimed branches may still be useful.
                claims.hasFresh(log) ? claims.set(.queued, of: log) : leave(log)
            } else if let last = pull.answered[log], claims.reaches(last, of: log) {
                // It began before the common part, and had no room for more. A peer with nothing to
                // offer could go on like that for the length of the log.
                let isStuck = claims.isFutileAgain(log, most: ClaimTable.futileMax.waiting)
                isStuck ? leave(log) : claims.set(.queued, of: log)
            } else if pull.answered[log] != nil,
                claims.isFutileAgain(log, most: ClaimTable.futileMax.cut)
            {
                leave(log)
            } else {
                claims.set(.queued, of: log)
            }
        }
    }

    /// The approximate size of an answer.
    private static func byteCount(of runs: [OperationRun]) -> Int {
        runs.reduce(0) { bytes, run in
            run.entries.reduce(bytes) { $0 + $1.payload.count + 128 }
        }
    }

    /// Another session pulls this log. It is tried again after a while, since that session may be
    /// slow.
    private mutating func leaveToOthers(_ log: LogName) {
        claims.set(.elsewhere, of: log)
        if pulls.takeoverDeadline == nil { pulls.takeoverDeadline = now + takeoverInterval }
    }

    /// Frequently for two seconds, then less often.
    private var takeoverInterval: UInt64 {
        SourcePace.shortPatience << UInt64(min(max(pulls.futileTakeovers - 7, 0), 4))
    }

    /// Tries again to pull what other sessions pull.
    mutating func takeOverWhenDue() {
        guard let due = pulls.takeoverDeadline, due <= now else { return }
        pulls.takeoverDeadline = nil
        pulls.futileTakeovers += 1
        // A busy session is in the way as well.
        guard pulls.outstanding.isEmpty else {
            pulls.takeoverDeadline = now + takeoverInterval
            return
        }
        for log in claims.takeElsewhere() { requeue(log) }
    }

    /// Whether an answer brought operations of a log that were not accepted.
    private func isFutile(_ last: UInt64?, _ log: LogName, _ replica: some Replica) -> Bool {
        guard let last else { return false }
        return !replica.branchTips(of: log).contains { $0.sequence >= last }
    }

    /// Gives up the peer's claim of a log until a comparison brings it up again.
    private mutating func leave(_ log: LogName) {
        comparison.want(urgently: true)
        claims.set(.ignored, of: log)
    }

    /// Abandons pulls that brought nothing in time.
    mutating func expirePulls(
        replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        while let index = pulls.outstanding.firstIndex(where: { ($0.deadline ?? .max) <= now }) {
            guard pulls.expired.count < Self.expiredMax else { throw .unresponsive }
            let pull = pulls.outstanding.remove(at: index)
            pulls.expired.append(pull)
            planner.note(0, in: now - pull.sent, isWhole: false, by: configuration.source)
            for log in pull.logs {
                release(log, planner: &planner)
                // A joining node has nobody else to ask.
                let state: ClaimTable.State = standing == .authorityOnly ? .queued : .ignored
                claims.set(state, of: log)
            }
            // Nothing else would ever bring it up again on a link that lasts.
            comparison.want(urgently: true)
        }
    }

    /// Frees all logs that this session pulls, and drops the peer's claims.
    mutating func giveBack(planner: inout PullPlanner) {
        for pull in pulls.outstanding {
            for log in pull.logs { release(log, planner: &planner) }
        }
        // Answers may still be under way: they count as requested.
        pulls.expired = [Outstanding]((pulls.expired + pulls.outstanding).suffix(Self.expiredMax))
        pulls.outstanding = []
        claims.removeAll()
    }

    private mutating func release(_ log: LogName, planner: inout PullPlanner) {
        guard planner.release(log, by: configuration.source),
            !effects.contains(.replanOthers)
        else { return }
        effects.append(.replanOthers)
    }
}

extension Outstanding {
    /// Whether `runs` belong to the requested logs, and none goes past its target.
    ///
    /// A run ends on a signature that its sender has verified. The target, such as the last
    /// operation that a removal keeps, need not have one; then the run continues to the next
    /// signature in the same segment.
    func covers(_ runs: [OperationRun]) -> Bool {
        runs.allSatisfy { run in
            guard let target = highest[run.log], run.firstSequence <= target else { return false }
            guard !run.entries.isEmpty else { return true }
            let (last, overflows) = run.firstSequence.addingReportingOverflow(
                UInt64(run.entries.count - 1))
            return !overflows && last / Limits.segmentLength <= target / Limits.segmentLength
        }
    }
}
