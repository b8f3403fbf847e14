public import WorkspaceModel

/// The devices that an author reaches directly, so that others need not announce its operations: in
/// a fully connected team that would be each operation from each to each (PROTOCOL.md, 5.4, step
/// 4).
struct Reach: Sendable {
    /// How long an author may take to report that the peer does not confirm, in milliseconds; logs
    /// left to their authors are remembered that long.
    static let memoryMilliseconds = 2 * patienceMilliseconds
    /// How long the peer may take to confirm this device's operations.
    static let patienceMilliseconds: UInt64 = 5_000

    /// Devices that report reaching the peer.
    fileprivate(set) var authors: Set<DeviceID> = []
    /// Logs that were left to their authors, and since when.
    fileprivate var left: [LogName: UInt64] = [:]
    /// When the peer last confirmed something, or the first unconfirmed operation was announced.
    fileprivate var unconfirmedSince: UInt64?
    /// How many were unconfirmed then.
    fileprivate var unconfirmed: UInt64 = 0
    /// It has taken too long, and has not confirmed everything since.
    fileprivate(set) var isLate = false
}

extension SyncSession {
    /// Whether this device's operations are pushed to the peer and confirmed in time. Never true of
    /// guests, whose links cover only a part.
    public var isReached: Bool {
        phase == .open && standing == .full && scope == nil && naming.openingsReceived > 0
            && !peerRefuses && !reach.isLate
    }

    /// Whether an author reports that the peer receives its operations directly.
    public func isReached(by author: DeviceID) -> Bool { reach.authors.contains(author) }

    /// Announces a stored operation, or leaves that to its author. Never leaves the authority
    /// document to its author: an author must not be able to withhold an operation that affects its
    /// own rights.
    mutating func announce(_ tip: LogTip, replica: some Replica) {
        guard reach.authors.contains(tip.log.device), tip.log.device != configuration.peerDevice,
            tip.log.document != replica.authorityDocument,
            reach.left.count < Limits.rememberedTipsMax
        else { return gather(tip.log) }
        reach.left[tip.log] = now
    }

    /// An author reports that it reaches the peer, or no longer does, or is itself gone. In the
    /// latter cases its most recent operations may not have arrived.
    mutating func setReached(by author: DeviceID, _ isReached: Bool) {
        guard !isReached else {
            reach.authors.insert(author)
            return
        }
        reach.authors.remove(author)
        // In a fixed order, since the room for announcements is limited.
        let left = reach.left.filter { $0.key.device == author }.sorted { $0.key < $1.key }
        for (log, since) in left {
            reach.left[log] = nil
            if since &+ Reach.memoryMilliseconds >= now { gather(log) }
        }
    }

    /// Both sides hold the same.
    mutating func forgetLeft() { reach.left = [:] }

    /// Checks whether the peer confirms what was announced.
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
