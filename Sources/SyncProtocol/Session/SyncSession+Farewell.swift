import WorkspaceModel

/// A peer whose membership has ended (PROTOCOL.md, 5.4): it is told so, and may answer with
/// operations that refute it.
extension SyncSession {
    /// Tells a peer that it is removed, with the operations it may see about that.
    mutating func sayFarewell(replica: some Replica) {
        let tips = replica.farewell(to: configuration.peerDevice)
        // The opening defines the number that the tips refer to.
        if !tips.isEmpty { sayRoot(replica: replica) }
        send(.workspaceResult(tag: configuration.tag, .removed), .control)
        if !tips.isEmpty { sendInParts(tips) }
    }

    /// Handles a removed peer: it may fetch what ended its membership, and send its own operations
    /// of the authority document, which may undo that.
    mutating func receiveFromFormer(
        _ message: SyncMessage, replica: some Replica, planner: inout PullPlanner
    ) throws(SyncViolation) {
        switch message {
        case .pull(_, let pull):
            guard !replica.farewell(to: configuration.peerDevice).isEmpty else { return }
            try serve(pull, replica: replica)
        case .tips(_, let tips, _): claim(tips, replica: replica)
        case .operations(_, let request, let runs, let isComplete):
            try receive(runs, request, isComplete: isComplete, replica, &planner)
        case .forkProbe(_, let tip): probed(tip.log)
        default: break
        }
    }

    /// The places of a log that a pull from a removed peer names: what the peer may see, and what
    /// it has sent itself. A removed peer does not learn that more is here, or how much.
    func pointsForFormer(of log: LogName, _ replica: some Replica) -> [LogPoint] {
        let known = replica.farewell(to: configuration.peerDevice).filter { $0.log == log }
        let points = known.map { LogPoint(sequence: $0.sequence, id: $0.id) }
        guard let place = shownByFormer[log] else { return points }
        return points + replica.samples(of: log, and: place).filter { $0.sequence == place }
    }

    /// An answer brought operations that are stored now, up to this place.
    mutating func noteShown(_ place: UInt64?, of log: LogName) {
        guard standing == .removed, let place else { return }
        shownByFormer[log] = max(place, shownByFormer[log] ?? 0)
    }
}
