public import WorkspaceCrypto
public import WorkspaceModel

/// What people who have not proved anything may cost: places for handshakes under way, and key
/// agreements a second.
///
///     opened ──▶ anonymous ──proved──▶ known ──closed──▶
///                    └─── another one needs the place ───┘
///
/// A connection is anonymous until its first message has come, whole and with the hint of a secret
/// that is known here. Anonymous ones replace each other and nobody else: however many there are,
/// those whose hint is known keep their places, of which strangers cannot take any.
///
/// All limits delay and never decide. When no agreement is left the caller waits for
/// `nextAgreement` while the handshake's own deadline runs.
public struct HandshakeBudget: Sendable {
    private var anonymous: HandshakePool
    private var known = HandshakePool(
        countMax: Limits.knownHandshakesMax, perSiteMax: Limits.halfOpenPerAddressMax)
    /// Thousandths of an agreement, so that a millisecond refills a whole number of them.
    private var tokens: UInt64
    private var refilled: UInt64

    private static let perSecond = UInt64(Limits.strangerAgreementsPerSecondMax)
    private static let tokensMax = perSecond * 1_000

    /// A full budget at `now` (monotonic milliseconds).
    ///
    /// - Parameter anonymousMax: places for anonymous connections, fewer than
    ///   `Limits.anonymousLinksMax` where this process may open only few descriptors.
    public init(now: UInt64, anonymousMax: Int = Limits.anonymousLinksMax) {
        anonymous = HandshakePool(
            countMax: max(1, min(anonymousMax, Limits.anonymousLinksMax)),
            perSiteMax: Limits.halfOpenPerAddressMax)
        tokens = Self.tokensMax
        refilled = now
    }

    /// How many handshakes are under way, anonymous or not.
    public var halfOpenCount: Int { anonymous.count + known.count }
    /// How many of them are anonymous.
    public var anonymousCount: Int { anonymous.count }

    /// Takes a place for a link that `host` has just opened.
    ///
    /// - Returns: the link that must be closed for it, if one must.
    /// - Precondition: `link` has no place yet.
    public mutating func opened(
        link: UInt64, from host: PeerAddress.Host, now: UInt64, using random: any RandomSource
    ) -> UInt64? {
        anonymous.add(.init(link: link, site: host.site, since: now), using: random)
    }

    /// The link's first message came, with a hint that is known: it goes over to those.
    ///
    /// - Returns: the link that must be closed for it, if one must.
    public mutating func proved(link: UInt64, using random: any RandomSource) -> UInt64? {
        guard let place = anonymous.remove(link) else { return nil }
        return known.add(place, using: random)
    }

    /// Gives the link's place back: its handshake finished, or it is gone. Harmless twice.
    public mutating func closed(link: UInt64) {
        anonymous.remove(link)
        known.remove(link)
    }

    /// When `overdue` has something to give at the earliest.
    public var nextDeadline: UInt64? {
        anonymous.nextDeadline(after: Limits.handshakeMilliseconds)
    }

    /// Anonymous links whose time is over. They have no place any more, and must be closed. The
    /// others have sessions, which know their own time.
    public mutating func overdue(now: UInt64) -> [UInt64] {
        guard now >= Limits.handshakeMilliseconds else { return [] }
        return anonymous.overdue(since: now - Limits.handshakeMilliseconds)
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

extension PeerAddress.Host {
    /// What counts as one host: an IPv4 address, or the 64 bits of an IPv6 address that a network
    /// gives to each machine, which picks the other 64 as it likes.
    var site: Self {
        guard case .ipv6(let high, _, let scope) = self else { return self }
        return .ipv6(high, 0, scope: scope)
    }
}
