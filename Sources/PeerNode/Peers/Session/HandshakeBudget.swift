public import WorkspaceCrypto
public import WorkspaceModel

/// Bounds the cost of peers that have proved nothing: places for running handshakes, and key
/// agreements per second.
///
///     opened ──▶ anonymous ──proved──▶ known ──closed──▶
///                    └─── another one needs the place ───┘
///
/// A connection is anonymous until its first message has arrived completely, with the hint of a
/// secret that is known here. Anonymous ones only replace each other: however many there are,
/// connections with a known hint keep their places. Nor can peers that know a secret of one rank in
/// one workspace take the places of others: each workspace has a reserved part of the places and
/// agreements, at least an eighth, and several together have as many agreements again.
///
/// All limits delay and never decide. When no agreement is left the caller waits for
/// `nextAgreement` while the handshake's own deadline runs.
public struct HandshakeBudget: Sendable {
    /// The budget of peers that know a secret of one rank in one workspace, or in all together.
    private struct Share {
        private let name: SecretShare
        var pool: HandshakePool
        private(set) var perSecond: UInt64
        /// Thousandths of an agreement, so that a millisecond refills a whole number of them.
        var tokens: UInt64
        var refilled: UInt64

        init(_ name: SecretShare, oneOf parts: Int, now: UInt64) {
            self.name = name
            pool = HandshakePool(countMax: 1, perSiteMax: Limits.halfOpenPerAddressMax)
            perSecond = 0
            tokens = name.rank.agreementsPerSecond * 1_000
            refilled = now
            divide(among: parts)
        }

        /// Makes it one of so many. The cost of an answer stays within the budget of a second.
        mutating func divide(among all: Int) {
            let parts = name.workspace == nil ? 1 : all
            pool.countMax = max(4, name.rank.placesMax / parts)
            perSecond = max(4, name.rank.agreementsPerSecond / UInt64(parts))
            tokens = min(tokens, perSecond * 1_000)
        }

        mutating func refill(now: UInt64) {
            guard now > refilled else { return }
            // More than a second fills the bucket, however long it was.
            let elapsed = min(now - refilled, 1_000)
            tokens = min(perSecond * 1_000, tokens + elapsed * perSecond)
            refilled = now
        }

        /// When this many agreements are available.
        func next(_ count: Int, now: UInt64) -> UInt64 {
            let price = UInt64(count) * 1_000
            precondition(price <= perSecond * 1_000, "more agreements than a second has")
            var share = self
            share.refill(now: now)
            guard share.tokens < price else { return now }
            return now + (price - share.tokens + perSecond - 1) / perSecond
        }
    }

    private var anonymous: HandshakePool
    private var shares: [SecretShare: Share] = [:]
    /// The number of workspaces that share the budget.
    private var parts = 1
    private let began: UInt64
    /// Invites among which the secret of a first message may be looked for, and when these were
    /// counted last.
    private var looks = UInt64(Limits.invitesLookedAtOnceMax)
    private var looked: UInt64

    /// A full budget at `now` (monotonic milliseconds).
    ///
    /// - Parameter anonymousMax: places for anonymous connections, fewer than
    ///   `Limits.anonymousLinksMax` where this process may open only few descriptors.
    public init(now: UInt64, anonymousMax: Int = Limits.anonymousLinksMax) {
        anonymous = HandshakePool(
            countMax: max(1, min(anonymousMax, Limits.anonymousLinksMax)),
            perSiteMax: Limits.halfOpenPerAddressMax)
        began = now
        looked = now
    }

    private func share(_ name: SecretShare) -> Share {
        shares[name] ?? Share(name, oneOf: parts, now: began)
    }

    /// Says in how many workspaces the node is.
    public mutating func divide(among workspaceCount: Int) {
        let parts = max(1, min(workspaceCount, Limits.handshakeSharesMax))
        guard parts != self.parts else { return }
        self.parts = parts
        for name in shares.keys { shares[name]?.divide(among: parts) }
    }

    /// How many handshakes are under way, anonymous or not.
    public var halfOpenCount: Int { shares.values.reduce(anonymous.count) { $0 + $1.pool.count } }
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
    /// - Parameter name: who can know the secret of it, and of which workspace.
    /// - Returns: the link that must be closed for it, if one must.
    public mutating func proved(
        link: UInt64, by name: SecretShare = SecretShare(.newest), using random: any RandomSource
    ) -> UInt64? {
        guard let place = anonymous.remove(link) else { return nil }
        let fresh = share(name)
        return shares[name, default: fresh].pool.add(place, using: random)
    }

    /// Gives the link's place back: its handshake finished, or it is gone. Harmless twice.
    public mutating func closed(link: UInt64) {
        anonymous.remove(link)
        for name in shares.keys { shares[name]?.pool.remove(link) }
    }

    /// When `overdue` has something to give at the earliest.
    public var nextDeadline: UInt64? {
        anonymous.nextDeadline(after: Limits.handshakeMilliseconds)
    }

    /// Anonymous links that have timed out. They have lost their places, and must be closed. The
    /// others have sessions, which know their own deadlines.
    public mutating func overdue(now: UInt64) -> [UInt64] {
        guard now >= Limits.handshakeMilliseconds else { return [] }
        return anonymous.overdue(since: now - Limits.handshakeMilliseconds)
    }

    /// Whether a stranger's secret may be looked for among this many invites now; if so that is
    /// counted.
    public mutating func look(among count: Int, now: UInt64) -> Bool {
        let most = UInt64(Limits.invitesLookedAtOnceMax)
        if now > looked {
            let elapsed = min(now - looked, 1_000)
            looks = min(most, looks + elapsed * UInt64(Limits.invitesLookedPerMillisecond))
            looked = now
        }
        let price = min(UInt64(clamping: count), most)
        guard looks >= price else { return false }
        looks -= price
        return true
    }

    /// Whether a stranger may cost `count` key agreements now; if so they are spent: from the
    /// workspace's reserve, else from the common budget, so that many members of one workspace can
    /// connect at once while nobody can flood.
    public mutating func spend(
        agreements count: Int, of name: SecretShare = SecretShare(.newest), now: UInt64
    ) -> Bool {
        for name in sources(of: name) {
            var share = share(name)
            share.refill(now: now)
            let price = UInt64(count) * 1_000
            let isEnough = share.tokens >= price
            if isEnough { share.tokens -= price }
            shares[name] = share
            if isEnough { return true }
        }
        return false
    }

    /// When `count` agreements can next be spent, in monotonic milliseconds; `now` if they can.
    ///
    /// - Precondition: `count` is at most what a second has of that share.
    public func nextAgreement(
        count: Int, of name: SecretShare = SecretShare(.newest), now: UInt64
    ) -> UInt64 {
        sources(of: name).map { share($0).next(count, now: now) }.min() ?? now
    }

    /// The share, and, where there are several workspaces, the one that all have together.
    private func sources(of name: SecretShare) -> [SecretShare] {
        name.workspace == nil || parts == 1 ? [name] : [name, SecretShare(name.rank)]
    }
}

extension PeerAddress.Host {
    /// The unit that counts as one host: an IPv4 address, or the 64-bit prefix of an IPv6 address,
    /// since a machine picks the other 64 bits as it likes.
    var site: Self {
        guard case .ipv6(let high, _, let scope) = self else { return self }
        return .ipv6(high, 0, scope: scope)
    }
}
