import WorkspaceModel

/// The scope of a link when one end is a guest (PROTOCOL.md, 5.4).
extension SyncSession {
    /// Detects a changed scope: this device, or the peer, gained or lost a document or a role.
    ///
    /// - Returns: the replica confined to the scope.
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

    /// The replica confined to the scope. Evaluated each time: a member who has just become a guest
    /// learns nothing more, even before any message about it.
    mutating func confine<Seen: Replica>(_ replica: Seen) -> Seen {
        let current = currentScope(replica)
        if current != scope { change(to: current) }
        return replica.confined(to: current)
    }

    /// The replica confined to what both ends may exchange now, for requests beside the session:
    /// missing payloads.
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

    /// Whether a comparison is meaningful: not before a guest has named its documents.
    func knowsScope(_ replica: some Replica) -> Bool {
        naming.theirNamed != nil || !replica.isPeerGuest
    }

    /// Sends an opening for a changed scope, or for none.
    mutating func reopenWhenDue(replica: some Replica) {
        guard mayReopen, allowances.reopeningAllowance.take(at: now) else { return }
        sayRoot(replica: replica)
    }

    /// When the next opening may change the scope.
    var reopeningDeadline: UInt64? {
        mayReopen ? max(allowances.reopeningAllowance.next, now + 1) : nil
    }

    private var mayReopen: Bool {
        naming.reopens && standing == .full && naming.openingsReceived > 0 && !peerRefuses
    }
}

extension SyncScope {
    /// Whether this scope contains all of another one.
    fileprivate func covers(_ other: SyncScope) -> Bool {
        other.documents.isSubset(of: documents)
    }
}
