import WorkspaceModel

/// A peer whose membership has ended (PROTOCOL.md, 5.4): it is told so, and may answer with what
/// says otherwise.
extension SyncSession {
    /// Tells a peer that it is out, and what it may see of how that came.
    mutating func sayFarewell(replica: some Replica) {
        let tips = replica.farewell(to: configuration.peerDevice)
        // The number in the opening is what the tips are about.
        if !tips.isEmpty { sayRoot(replica: replica) }
        send(.workspaceResult(tag: configuration.tag, .removed), .control)
        if !tips.isEmpty { sendInParts(tips) }
    }

    /// Hears a peer that is out: it may fetch what ended its membership, and show of the authority
    /// document what it holds, which may undo that.
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

    /// What a pull says is here of a log: what the peer may see of it, and what it has shown itself.
    /// That more is here, and how much, is told to nobody who is out.
    func pointsForFormer(of log: LogName, _ replica: some Replica) -> [LogPoint] {
        let known = replica.farewell(to: configuration.peerDevice).filter { $0.log == log }
        let points = known.map { LogPoint(sequence: $0.sequence, id: $0.id) }
        guard let place = shownByFormer[log] else { return points }
        return points + replica.samples(of: log, and: place).filter { $0.sequence == place }
    }

    /// An answer brought what is stored, up to this place.
    mutating func noteShown(_ place: UInt64?, of log: LogName) {
        guard standing == .removed, let place else { return }
        shownByFormer[log] = max(place, shownByFormer[log] ?? 0)
    }
}
