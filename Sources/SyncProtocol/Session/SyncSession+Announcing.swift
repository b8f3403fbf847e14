import WorkspaceModel

/// What was announced of one log to the peer. Counts are sequence numbers plus one.
struct Outgoing: Sendable {
    /// How far it was announced.
    var told: UInt64
    /// How far the peer confirmed it, as far as known.
    var confirmed: UInt64
    /// How far the peer will hold it when the pushes under way have arrived.
    var pushed: UInt64

    var missing: UInt64 { told > confirmed ? told - confirmed : 0 }
}

/// Live pushes, gathered announcements, receipts (PROTOCOL.md, 5.4, step 4).
extension SyncSession {
    /// How long announcements are collected, in milliseconds.
    static let gatherMilliseconds: UInt64 = 100
    /// Tips in one live message: in a busy relay few logs move at a time.
    private static let liveTipsMax = 2_048

    /// Pushes a new operation of this device, or announces it if the peer is slow or lacks the
    /// operations before it.
    mutating func append(_ run: OperationRun, tip: LogTip, replica: some Replica) {
        guard standing == .full, naming.openingsReceived > 0, replica.serves(run.log.document)
        else {
            return
        }
        comparison.isWanted = true
        // Without agreement, only what was pushed or confirmed on this link is certain to be there.
        let start = agreedOnThisLink ? run.firstSequence : 0
        var log =
            telling.outgoing[run.log]
            ?? Outgoing(told: run.firstSequence, confirmed: start, pushed: start)
        let bytes = run.encodedBytesEstimate
        let isTooMuch = serving.unaskedUnsent + bytes > Limits.unaskedUnsentBytesMax
        let end = run.firstSequence + UInt64(run.entries.count)
        if log.pushed >= run.firstSequence, !isTooMuch, !telling.gathered.contains(run.log) {
            serving.unaskedUnsent += bytes
            send(
                .operations(configuration.workspace, request: 0, [run], isComplete: true), .live,
                isUnasked: true)
            log.pushed = max(log.pushed, end)
        } else {
            gather(run.log)
        }
        let before = telling.outgoing[run.log]?.missing ?? 0
        log.told = max(log.told, end)
        if telling.outgoing[run.log] == nil {
            log.confirmed = max(log.confirmed, run.firstSequence)
            guard telling.outgoing.count < Limits.rememberedTipsMax else { return }
        }
        telling.outgoing[run.log] = log
        ahead += log.missing - min(before, log.missing)
    }

    /// Schedules an announcement of `log`.
    mutating func gather(_ log: LogName) {
        guard standing == .full, naming.openingsReceived > 0, !peerRefuses else { return }
        guard telling.gathered.count < Limits.rememberedTipsMax else { return }
        telling.gathered.insert(log)
        telling.gatherDeadline = telling.gatherDeadline ?? (now + Self.gatherMilliseconds)
    }

    /// Sends the collected announcements, unless the peer has not even accepted the waiting ones.
    mutating func announceWhenDue(replica: some Replica) {
        guard let due = telling.gatherDeadline, due <= now else { return }
        guard serving.unaskedUnsent < Limits.unaskedUnsentBytesMax else {
            telling.gatherDeadline = now + Self.gatherMilliseconds
            return
        }
        telling.gatherDeadline = nil
        var tips: [LogTip] = []
        for log in replica.inOrder(telling.gathered) where replica.serves(log.document) {
            for point in replica.branchTips(of: log) {
                tips.append(LogTip(log: log, sequence: point.sequence, id: point.id))
            }
        }
        telling.gathered = []
        for start in stride(from: 0, to: tips.count, by: Self.liveTipsMax) {
            let part = [LogTip](tips[start..<min(start + Self.liveTipsMax, tips.count)])
            serving.unaskedUnsent += 32 + 80 * part.count
            send(.tips(configuration.workspace, part, final: false), .live, isUnasked: true)
        }
    }

    /// These tips were announced to the peer at the end of a descent.
    mutating func noteAnnounced(_ tips: [LogTip]) {
        for tip in tips where telling.outgoing[tip.log] == nil && tip.sequence < .max {
            // The peer's own announcement may have come first, with as much or more of the log.
            if let count = telling.theirs[tip.log], count > tip.sequence { continue }
            guard telling.outgoing.count < Limits.rememberedTipsMax else { return }
            // At least the tip is missing; the peer's pull tells how much.
            telling.outgoing[tip.log] = Outgoing(
                told: tip.sequence + 1, confirmed: tip.sequence, pushed: 0)
            ahead += 1
        }
    }

    /// A pull tells exactly what the peer has.
    mutating func noteHave(_ item: PullItem) {
        guard var log = telling.outgoing[item.target.log] else { return }
        let highest = item.have.map(\.sequence).max()
        guard highest != .max else { return }
        let before = log.missing
        log.confirmed = highest.map { $0 + 1 } ?? 0
        telling.outgoing[item.target.log] = log
        ahead = ahead - before + log.missing
    }

    /// The operations that the peer pulled are on their way: the next ones may be pushed after
    /// them. If a push overtakes them, it waits at the peer until they have arrived.
    mutating func noteServed(_ run: OperationRun) {
        let end = run.firstSequence + UInt64(run.entries.count)
        // A joining peer pulls the authority document before anything is announced, and does not
        // acknowledge it.
        guard var log = telling.outgoing[run.log] else { return remember(end, of: run.log) }
        log.pushed = max(log.pushed, end)
        telling.outgoing[run.log] = log
    }

    /// The peer holds this operation, which this device may lack, so it needs no more of this log
    /// from us. On another branch of a fork that is wrong, but affects only a number that people
    /// see; the peer's pull corrects it.
    mutating func noteTheirs(_ tip: LogTip) {
        guard tip.sequence < .max else { return }
        let count = tip.sequence + 1
        remember(count, of: tip.log)
        guard var log = telling.outgoing[tip.log], log.confirmed < count else { return }
        let before = log.missing
        log.confirmed = count
        telling.outgoing[tip.log] = log
        ahead = ahead - before + log.missing
    }

    private mutating func remember(_ count: UInt64, of log: LogName) {
        guard telling.theirs[log] != nil || telling.theirs.count < Limits.rememberedTipsMax else {
            return
        }
        telling.theirs[log] = max(telling.theirs[log] ?? 0, count)
    }

    /// The peer holds this operation, which this device has as well, and all before it.
    mutating func confirm(_ tip: LogTip) {
        guard var log = telling.outgoing[tip.log], tip.sequence < .max else { return }
        let before = log.missing
        log.confirmed = max(log.confirmed, tip.sequence + 1)
        log.pushed = max(log.pushed, log.confirmed)
        telling.outgoing[tip.log] = log
        ahead = ahead - before + log.missing
    }
}
