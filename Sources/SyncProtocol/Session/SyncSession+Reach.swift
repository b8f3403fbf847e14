public import WorkspaceModel

/// Whom an author reaches itself, so that others need not announce what it writes: in a team where all
/// are linked to all, that would be each operation from each to each (PROTOCOL.md, 5.4, step 4).
struct Reach: Sendable {
    /// How long an author may take to say that the peer does not confirm, in milliseconds; for so long
    /// is kept in mind what was left to it.
    static let memoryMilliseconds = 2 * patienceMilliseconds
    /// How long the peer may take to confirm what this device wrote.
    static let patienceMilliseconds: UInt64 = 5_000

    /// Devices that say that they reach the peer.
    fileprivate(set) var authors: Set<DeviceID> = []
    /// Logs that were left to their authors, and since when.
    fileprivate var left: [LogName: UInt64] = [:]
    /// When the peer has confirmed something last, or the first was told that it has not.
    fileprivate var unconfirmedSince: UInt64?
    /// What it had not confirmed then.
    fileprivate var unconfirmed: UInt64 = 0
    /// It has taken too long, and has not confirmed everything since.
    fileprivate(set) var isLate = false
}

extension SyncSession {
    /// Whether what this device writes is pushed to the peer, who confirms it in time. Never of guests,
    /// whose links speak of a part.
    public var isReached: Bool {
        phase == .open && standing == .full && scope == nil && naming.openingsReceived > 0
            && !peerRefuses && !reach.isLate
    }

    /// Whether an author says that the peer hears what it writes from it.
    public func isReached(by author: DeviceID) -> Bool { reach.authors.contains(author) }

    /// Announces what was stored, or leaves that to its author. Never of the authority document: what
    /// somebody may do is not up to whoever is concerned by it.
    mutating func announce(_ tip: LogTip, replica: some Replica) {
        guard reach.authors.contains(tip.log.device), tip.log.device != configuration.peerDevice,
            tip.log.document != replica.authorityDocument,
            reach.left.count < Limits.rememberedTipsMax
        else { return gather(tip.log) }
        reach.left[tip.log] = now
    }

    /// An author says that it reaches the peer, or that it does not any more, or is gone itself. Then
    /// what it wrote a moment ago may not have arrived.
    mutating func setReached(by author: DeviceID, _ isReached: Bool) {
        guard !isReached else {
            reach.authors.insert(author)
            return
        }
        reach.authors.remove(author)
        // In order: no more is gathered than there is room for.
        let left = reach.left.filter { $0.key.device == author }.sorted { $0.key < $1.key }
        for (log, since) in left {
            reach.left[log] = nil
            if since &+ Reach.memoryMilliseconds >= now { gather(log) }
        }
    }

    /// Both sides hold the same.
    mutating func forgetLeft() { reach.left = [:] }

    /// Looks whether the peer confirms what it was told of.
    mutating func noteConfirmations() {
        if ahead == 0 {
            reach.unconfirmedSince = nil
            reach.isLate = false
        } else if ahead < reach.unconfirmed || reach.unconfirmedSince == nil {
            reach.unconfirmedSince = now
        }
        reach.unconfirmed = ahead
    }

    /// When the peer is late.
    var reachDeadline: UInt64? {
        guard !reach.isLate else { return nil }
        return reach.unconfirmedSince.map { $0 + Reach.patienceMilliseconds }
    }

    mutating func noteLateness() {
        guard let due = reachDeadline, due <= now else { return }
        reach.isLate = true
        effects.append(.reachLost)
    }
}
