private import WorkspaceModel

/// What people who have not proved anything may cost: places for handshakes under way, and key
/// agreements a second.
///
/// Both limits delay and never decide. When a place is missing the oldest handshake loses it, for
/// an honest one takes a fraction of the time that it had; when no agreement is left the caller
/// waits for `nextAgreement` while the handshake's own deadline runs.
public struct HandshakeBudget: Sendable {
    /// A TCP connection whose handshake is under way.
    private struct HalfOpen {
        let link: UInt64
        let host: PeerAddress.Host
    }

    /// Oldest first; at most `Limits.halfOpenMax`, so a scan costs less than a dictionary.
    private var halfOpen: [HalfOpen] = []
    /// Thousandths of an agreement, so that a millisecond refills a whole number of them.
    private var tokens: UInt64
    private var refilled: UInt64

    private static let perSecond = UInt64(Limits.strangerAgreementsPerSecondMax)
    private static let tokensMax = perSecond * 1_000

    /// A full budget at `now` (monotonic milliseconds).
    public init(now: UInt64) {
        tokens = Self.tokensMax
        refilled = now
    }

    /// How many handshakes are under way.
    public var halfOpenCount: Int { halfOpen.count }

    /// Takes a place for a link that `host` has just opened, and returns the links that must be
    /// closed for it, oldest first.
    ///
    /// - Precondition: `link` has no place yet.
    public mutating func opened(link: UInt64, from host: PeerAddress.Host) -> [UInt64] {
        precondition(!halfOpen.contains { $0.link == link }, "link \(link) opened twice")
        var dropped: [UInt64] = []
        let fromHost = halfOpen.filter { $0.host == host }
        if fromHost.count >= Limits.halfOpenPerAddressMax, let oldest = fromHost.first {
            dropped.append(oldest.link)
        } else if halfOpen.count >= Limits.halfOpenMax, let oldest = halfOpen.first {
            dropped.append(oldest.link)
        }
        for link in dropped { closed(link: link) }
        halfOpen.append(HalfOpen(link: link, host: host))
        return dropped
    }

    /// Gives the link's place back: its handshake finished, or it is gone. Harmless twice.
    public mutating func closed(link: UInt64) {
        halfOpen.removeAll { $0.link == link }
    }

    /// Whether a stranger may cost `count` key agreements now; if so they are spent.
    public mutating func spend(agreements count: Int, now: UInt64) -> Bool {
        refill(now: now)
        let price = UInt64(count) * 1_000
        guard tokens >= price else { return false }
        tokens -= price
        return true
    }

    /// When `count` agreements can next be spent, in monotonic milliseconds; `now` if they can.
    ///
    /// - Precondition: `count` is at most `Limits.strangerAgreementsPerSecondMax`.
    public func nextAgreement(count: Int, now: UInt64) -> UInt64 {
        let price = UInt64(count) * 1_000
        precondition(price <= Self.tokensMax, "more agreements than a second has")
        var later = self
        later.refill(now: now)
        guard later.tokens < price else { return now }
        return now + (price - later.tokens + Self.perSecond - 1) / Self.perSecond
    }

    private mutating func refill(now: UInt64) {
        guard now > refilled else { return }
        // More than a second fills the bucket, however long it was.
        let elapsed = min(now - refilled, 1_000)
        tokens = min(Self.tokensMax, tokens + elapsed * Self.perSecond)
        refilled = now
    }
}
