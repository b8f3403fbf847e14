import WorkspaceCrypto

/// Places for connections with a running handshake: bounded in total, and per host.
///
/// When the pool is full, four of its connections are drawn at random, and the oldest of these
/// loses its place. An honest peer cannot be recognized, but needs its place only for one round
/// trip, while an attacker who connects r times a second replaces r of n places. So a peer that
/// connected t seconds ago has lost its place with a probability of about (rt / n)⁴: very small
/// while rt is a fraction of n, and below 1 however large r is. A single draw would make it rt / n;
/// dropping the oldest would always lock out everybody who needs more than n / r seconds.
///
/// A pure value: time and randomness are arguments, and equal arguments give equal results.
struct HandshakePool: Sendable {
    /// One connection.
    struct Place: Sendable {
        let link: UInt64
        let site: PeerAddress.Host
        /// When it was opened, in monotonic milliseconds.
        let since: UInt64
    }

    private static let drawCount = 4
    /// Above zero and below 2^16. Where it shrinks, what has a place keeps it.
    var countMax: Int
    private let perSiteMax: Int
    private var places: [Place] = []
    /// Where in `places` a link is.
    private var indices: [UInt64: Int] = [:]
    /// The links of each host, at most `perSiteMax`.
    private var sites: [PeerAddress.Host: [UInt64]] = [:]
    /// A lower bound of the oldest place's time; `nil` for an empty pool. Too early once the oldest
    /// is gone, which costs one search in vain.
    private var oldest: UInt64?

    /// An empty pool.
    ///
    /// - Precondition: both bounds are above zero, the first below 2^16.
    init(countMax: Int, perSiteMax: Int) {
        precondition((1..<1 << 16).contains(countMax) && perSiteMax > 0, "no such pool")
        self.countMax = countMax
        self.perSiteMax = perSiteMax
    }

    /// How many places are taken.
    var count: Int { places.count }

    /// The earliest time at which `overdue` can return anything, for places with this lifetime.
    func nextDeadline(after milliseconds: UInt64) -> UInt64? { oldest.map { $0 &+ milliseconds } }

    /// Takes a place, and gives back the link that lost its own for it.
    ///
    /// - Precondition: the link has no place yet.
    mutating func add(_ place: Place, using random: any RandomSource) -> UInt64? {
        precondition(indices[place.link] == nil, "link \(place.link) opened twice")
        let dropped = victim(for: place, using: random)
        if let dropped { remove(dropped) }
        indices[place.link] = places.count
        places.append(place)
        sites[place.site, default: []].append(place.link)
        oldest = min(oldest ?? place.since, place.since)
        return dropped
    }

    /// Gives a place back, if the link has one.
    @discardableResult
    mutating func remove(_ link: UInt64) -> Place? {
        guard let index = indices.removeValue(forKey: link) else { return nil }
        let place = places[index]
        let last = places.removeLast()
        if last.link != link {
            places[index] = last
            indices[last.link] = index
        }
        sites[place.site]?.removeAll { $0 == link }
        if sites[place.site]?.isEmpty == true { sites[place.site] = nil }
        if places.isEmpty { oldest = nil }
        return place
    }

    /// Takes away the places that were opened at `since` or before, and gives back their links in
    /// the order of their numbers.
    mutating func overdue(since: UInt64) -> [UInt64] {
        guard let oldest, oldest <= since else { return [] }
        let links = places.filter { $0.since <= since }.map(\.link).sorted()
        for link in links { remove(link) }
        self.oldest = places.map(\.since).min()
        return links
    }

    /// The connection that a new one replaces, `nil` while there is room.
    private func victim(for place: Place, using random: any RandomSource) -> UInt64? {
        let neighbours = sites[place.site] ?? []
        let isCrowded = neighbours.count >= perSiteMax
        guard isCrowded || places.count >= countMax else { return nil }
        let count = UInt64(isCrowded ? neighbours.count : places.count)
        // One number is enough for four draws: a pool is smaller than 16 bits tell.
        var number = random.number()
        var first: Place?
        for _ in 0..<Self.drawCount {
            let index = Int(truncatingIfNeeded: (number & 0xffff) % count)
            number >>= 16
            let drawn = isCrowded ? places[indices[neighbours[index]] ?? 0] : places[index]
            guard let found = first else {
                first = drawn
                continue
            }
            if (drawn.since, drawn.link) < (found.since, found.link) { first = drawn }
        }
        return first?.link
    }
}
