import WorkspaceModel

/// What the two ends speak of when one of them is a guest (PROTOCOL.md, 5.4).
extension SyncSession {
    /// Notices when the scope is another one than before: this device got, or lost, a document or
    /// a role, or the peer did.
    ///
    /// - Returns: the replica as far as it lies in scope.
    mutating func lookAtScope<Seen: Replica>(
        _ replica: Seen, planner: inout PullPlanner
    ) -> Seen {
        if standing == .full, replica.ownDocuments != naming.named { naming.reopens = true }
        let seen = confine(replica)
        if naming.isNarrowed {
            naming.isNarrowed = false
            giveBack(planner: &planner)
        }
        return seen
    }

    /// The replica as far as it lies in scope. The rule is asked each time: whoever has just become
    /// a guest is told nothing more, whether or not anything was said about it.
    mutating func confine<Seen: Replica>(_ replica: Seen) -> Seen {
        let current = currentScope(replica)
        if current != scope { change(to: current) }
        return replica.confined(to: current)
    }

    /// The replica as far as both ends may speak of it now, for what is said beside the session:
    /// payloads that are asked for and given.
    public func confined<Seen: Replica>(_ replica: Seen) -> Seen {
        replica.confined(to: currentScope(replica))
    }

    private func currentScope(_ replica: some Replica) -> SyncScope? {
        let own = naming.named ?? (replica.ownDocuments == nil ? nil : [])
        let theirs = naming.theirNamed ?? (replica.isPeerGuest ? [] : nil)
        return SyncScope.common(own, theirs)
    }

    private mutating func change(to current: SyncScope?) {
        let before = scope
        scope = current
        agreedOnThisLink = false
        if !comparison.caughtUpWasTold { comparison.descent = .none }
        if naming.openingsSent > 0, standing == .full { naming.reopens = true }
        guard let current, !(before.map(current.covers) ?? false) else { return }
        naming.isNarrowed = true
        telling.gathered = []
        telling.gatherDeadline = nil
        telling.outgoing = [:]
        telling.theirs = [:]
        ahead = 0
    }

    /// Whether a comparison can tell anything: a guest has not said yet what it asks for.
    func knowsScope(_ replica: some Replica) -> Bool {
        naming.theirNamed != nil || !replica.isPeerGuest
    }

    /// Names the documents of another scope, or says that there is none any more.
    mutating func reopenWhenDue(replica: some Replica) {
        guard mayReopen, allowances.reopeningAllowance.take(at: now) else { return }
        sayRoot(replica: replica)
    }

    /// When the next opening may name another scope.
    var reopeningDeadline: UInt64? {
        mayReopen ? max(allowances.reopeningAllowance.next, now + 1) : nil
    }

    private var mayReopen: Bool {
        naming.reopens && standing == .full && naming.openingsReceived > 0 && !peerRefuses
    }
}

extension SyncScope {
    /// Whether everything of another scope lies in this one.
    fileprivate func covers(_ other: SyncScope) -> Bool {
        other.documents.isSubset(of: documents)
    }
}
