import WorkspaceModel

/// Answering pulls. Requests are the flow control, so only their number is limited here.
extension SyncSession {
    /// Pulls that wait until the link has sent earlier answers.
    private static let waitingPullsMax = 2 * Limits.pullsOutstandingMax
    /// The size of an `ops` message besides its runs.
    private static let envelopeBytes = 64

    /// Answers a pull now, or when the link has room.
    mutating func serve(_ pull: PullRequest, replica: some Replica) throws(SyncViolation) {
        guard serving.waitingPulls.count < Self.waitingPullsMax else { throw .tooMany }
        serving.waitingPulls.append(pull)
        serveWaiting(replica: replica)
    }

    /// Everything sent has left the link. Does what `sendQueueLevel` would, if nothing of this
    /// session waits for room.
    ///
    /// - Returns: `false` if something may be waiting; the caller must then send that input.
    public mutating func noteAllSent(at now: UInt64) -> Bool {
        guard !mayWaitForRoom(at: now) else { return false }
        serving.unaskedUnsent = 0
        serving.askedUnsent = 0
        return true
    }

    /// Whether `sendQueueLevel` may be what this session waits for.
    public func mayWaitForRoom(at now: UInt64) -> Bool {
        phase != .open || standing != .full || scope != nil || claims.activeCount > 0
            || !serving.waitingPulls.isEmpty || telling.gatherDeadline ?? .max <= now
    }

    /// Answers the pulls for which the link has room.
    mutating func serveWaiting(replica: some Replica) {
        let room = Limits.unsentBytesMax - Limits.operationsMessageBytesMax
        while serving.askedUnsent <= room, let pull = serving.waitingPulls.first {
            serving.waitingPulls.removeFirst()
            answer(pull, replica: replica)
        }
    }

    /// The first run is sent whole, regardless of the requested size: it ends on the next verified
    /// signature, and an asker that repeats a request this small would never get anything.
    private mutating func answer(_ pull: PullRequest, replica: some Replica) {
        var runs: [OperationRun] = []
        let most = Limits.operationsMessageBytesMax - Self.envelopeBytes
        var left = min(pull.maxBytes - Self.envelopeBytes, most)
        var isComplete = true
        for item in pull.items where isServed(item.target, replica: replica) {
            noteHave(item)
            switch replica.runs(for: item, maxBytes: max(left, 0)) {
            case .runs(let found, let isWhole):
                isComplete = isWhole
                for run in found {
                    left -= run.encodedBytesMax
                    guard left >= 0 || runs.isEmpty && run.encodedBytesMax <= most else {
                        isComplete = false
                        break
                    }
                    runs.append(run)
                    noteServed(run)
                }
            case .noCommonBranch:
                // Control overtakes the answer, so the asker knows before it draws conclusions.
                send(.forkProbe(configuration.workspace, item.target), .control)
            case .unknownTarget:
                break
            }
            if !isComplete { break }
        }
        if !runs.isEmpty { comparison.hasMoved = true }
        serving.askedUnsent += runs.reduce(into: Self.envelopeBytes) {
            $0 += $1.encodedBytesEstimate
        }
        send(
            .operations(
                configuration.workspace, request: pull.request, runs, isComplete: isComplete),
            .bulk)
    }

    private func isServed(_ target: LogTip, replica: some Replica) -> Bool {
        switch standing {
        case .full: replica.serves(target.log.document)
        case .joining: target.log.document == replica.authorityDocument
        // What ended the membership, and what precedes it; nothing beyond.
        case .removed: replica.farewell(to: configuration.peerDevice).contains(target)
        case .authorityOnly: false
        }
    }
}
