import WorkspaceModel

/// A pull that was sent.
struct Outstanding: Sendable {
    /// A pull that brings nothing for so long is given up.
    static let patienceMilliseconds: UInt64 = 5_000
    /// How long a pull whose peer sends something, but no answer, keeps a log from another peer.
    static let slowPatienceMilliseconds: UInt64 = 20_000

    let request: RequestNumber
    /// The logs that were asked for, in order, and the highest sequence wanted of each.
    let logs: [LogName]
    let highest: [LogName: UInt64]
    /// What was there of each log when it was asked for.
    var before: [LogName: [LogPoint]] = [:]
    /// When it was asked for, and for how many bytes.
    var sent: UInt64 = 0
    var bytesMax = Limits.operationsMessageBytesMax
    /// `nil` once the answer is here and being stored.
    var deadline: UInt64?
    /// Logs for which the peer wants samples.
    var probed: Set<LogName> = []
    /// Whether the answer left nothing out for size.
    var isComplete = true
    /// How far the answer went, log by log.
    var answered: [LogName: UInt64] = [:]
    /// About how many bytes it brought, and when, milliseconds.
    var came: (bytes: Int, at: UInt64)?

    /// Whether the answer brought all that was asked for, or as much as it had room for.
    var isAnswered: Bool {
        if !isComplete, let came, 2 * came.bytes >= bytesMax { return true }
        return logs.allSatisfy { (answered[$0] ?? 0) >= (highest[$0] ?? 0) && answered[$0] != nil }
    }

    /// The peer is slow, but sending. That may be anything: once it has had its time, what another
    /// peer offers as well is not kept from that one any longer.
    mutating func extend(from now: UInt64, planner: PullPlanner) {
        guard deadline != nil else { return }
        if now >= sent + Self.slowPatienceMilliseconds, planner.isWanted(logs) { return }
        deadline = now + Self.patienceMilliseconds
    }
}

/// Asking for what the peer announced (PROTOCOL.md, 5.4, step 3).
extension SyncSession {
    /// Bytes of items above which no more logs go into a pull. The last one may have 8 targets with
    /// 520 places each, 117 KiB, and the message has to stay below its limit with it.
    private static let itemBytesMax = 128 * 1024
    /// Operations that one answer may bring: asking for more only repeats the question.
    private static let operationsPerPull: UInt64 = 8_192
    /// So many are asked for however large the last ones were.
    private static let operationsPerPullMin: UInt64 = 16
    /// Bytes that a peer is asked for at a time of whom nothing is known, or who is slow.
    private static let bytesOfUnproven = 128 * 1024
    /// Pulls that a peer may leave unanswered.
    private static let expiredMax = 8

    /// Notes what the peer announces.
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
            // Without room the tip is lost; the next comparison announces it again.
            guard claims.add(tip, ownSequence: own, isAuthority: isAuthority) else { continue }
            noteTheirs(tip)
            // It owed this and announces it again after a comparison: it gets another chance. And
            // so does what has waited, maybe in vain.
            if case .tips = comparison.descent, let claim = claims[tip.log],
                claim.state == .ignored || claim.state == .waiting
            {
                claims.begin(tip.log)
            }
        }
    }

    /// Asks for what something that waits cites, whatever became of it before.
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

    /// Sends pulls while there is something to ask for and fewer than two are outstanding.
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
            pulls.takeoversInVain = 0
            let pull = PullRequest(request: pulls.lastRequest, items: items, maxBytes: most)
            send(.pull(configuration.workspace, pull), .control)
        }
    }

    /// How many operations fit an answer, as far as the last one tells. What is asked for beyond
    /// that is left out, while the next pull, which is under way by then, brings what cites it.
    private func operationsMax(in bytes: Int) -> UInt64 {
        let fitting = pulls.bytesPerOperation.map { UInt64(bytes / max($0, 1)) } ?? .max
        return min(max(fitting, Self.operationsPerPullMin), Self.operationsPerPull)
    }

    /// What a pull says is here. Whoever is out is told of no place that came after the end.
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

    /// Operations came: the answer to a pull, or with number 0 what nobody asked for.
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
            // It was only slow: what it still owes is asked for again.
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

    /// The peer found none of our places on its branch.
    mutating func probed(_ log: LogName) {
        guard
            let index = pulls.outstanding.firstIndex(where: {
                $0.deadline != nil && $0.highest[log] != nil
            }), let claim = claims[log], !claim.needsSamples
        else { return }
        pulls.outstanding[index].probed.insert(log)
    }

    /// Operations are stored, from whomever they came.
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

    /// A pull is over: what came is forgotten, what may still come is asked for again, and what
    /// the peer claimed without delivering is left to others.
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
        // An answer cut short without any use must not be asked for again for ever.
        var blamesNext = !pull.isComplete && !hasProgress && pull.answered.isEmpty
        for log in pull.logs {
            // Somebody of whom it is not known that he is quick brought a little of it: it is the
            // next one's turn.
            let isOthersTurn = !isProven && planner.isWanted(log)
            release(log, planner: &planner)
            guard !claims.settle(log, holds: replica.holds) else { continue }
            // What was stored may have been one branch too many, and be gone again.
            let isOfUse = replica.branchTips(of: log) != pull.before[log]
            if isOfUse { claims.hasBroughtSome(log) }
            if stored.contains(log) { noteShown(pull.answered[log], of: log) }
            if pull.probed.contains(log) {
                claims.askForSamples(log)
                claims.set(.queued, of: log)
            } else if isOthersTurn, stored.contains(log) {
                leaveToOthers(log)
            } else if waiting.contains(log), pull.isComplete || !stored.contains(log) {
                let isStuck = claims.isInVainAgain(log, most: ClaimTable.vainMax.waiting)
                isStuck ? leave(log) : claims.set(.waiting, of: log)
            } else if isOfUse {
                claims.set(.queued, of: log)
            } else if pull.isComplete || blamesNext || isInVain(pull.answered[log], log, replica) {
                blamesNext = false
                // Of many branches the next ones may be of use.
                claims.hasFresh(log) ? claims.set(.queued, of: log) : leave(log)
            } else if let last = pull.answered[log], claims.reaches(last, of: log) {
                // It began before what is common, and had no room for more. Who has nothing to bring
                // could go on like that for as long as the log is.
                let isStuck = claims.isInVainAgain(log, most: ClaimTable.vainMax.waiting)
                isStuck ? leave(log) : claims.set(.queued, of: log)
            } else if pull.answered[log] != nil,
                claims.isInVainAgain(log, most: ClaimTable.vainMax.cut)
            {
                leave(log)
            } else {
                claims.set(.queued, of: log)
            }
        }
    }

    /// About how large an answer was.
    private static func byteCount(of runs: [OperationRun]) -> Int {
        runs.reduce(0) { bytes, run in
            run.entries.reduce(bytes) { $0 + $1.payload.count + 128 }
        }
    }

    /// Another session pulls this log. After a while it is looked at again: that one may be slow.
    private mutating func leaveToOthers(_ log: LogName) {
        claims.set(.elsewhere, of: log)
        if pulls.takeoverDeadline == nil { pulls.takeoverDeadline = now + takeoverInterval }
    }

    /// Often for two seconds, then more rarely.
    private var takeoverInterval: UInt64 {
        SourcePace.shortPatience << UInt64(min(max(pulls.takeoversInVain - 7, 0), 4))
    }

    /// Tries once more what other sessions pull.
    mutating func takeOverWhenDue() {
        guard let due = pulls.takeoverDeadline, due <= now else { return }
        pulls.takeoverDeadline = nil
        pulls.takeoversInVain += 1
        // Who is busy is as much in the way as they are.
        guard pulls.outstanding.isEmpty else {
            pulls.takeoverDeadline = now + takeoverInterval
            return
        }
        for log in claims.takeElsewhere() { requeue(log) }
    }

    /// Whether an answer brought something of a log that was not taken.
    private func isInVain(_ last: UInt64?, _ log: LogName, _ replica: some Replica) -> Bool {
        guard let last else { return false }
        return !replica.branchTips(of: log).contains { $0.sequence >= last }
    }

    /// Leaves what the peer holds of a log until a comparison brings it up again.
    private mutating func leave(_ log: LogName) {
        comparison.want(urgently: true)
        claims.set(.ignored, of: log)
    }

    /// Gives up pulls that brought nothing in time.
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
                // Who joins has nobody else to ask.
                let state: ClaimTable.State = standing == .authorityOnly ? .queued : .ignored
                claims.set(state, of: log)
            }
            // Nothing else would ever bring it up again on a link that stays.
            comparison.want(urgently: true)
        }
    }

    /// Frees all logs that this session pulls, and forgets what the peer claims.
    mutating func giveBack(planner: inout PullPlanner) {
        for pull in pulls.outstanding {
            for log in pull.logs { release(log, planner: &planner) }
        }
        // Answers may be under way still: they are not unasked.
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
    /// Whether `runs` are of the logs that were asked for, and none goes past its target.
    ///
    /// A run ends on a signature that its sender has verified. The target, such as the last
    /// operation that a removal leaves, need not have one; then the run goes on to the next, which
    /// lies in the same segment.
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
