private import SyncProtocol
public import WorkspaceCrypto
public import WorkspaceModel

/// Which peer to dial, where and when.
///
/// A peer's addresses race, since most belong to networks that the peer has left: the next one is
/// tried when the one before has failed, or after a head start. When all have failed the peer
/// waits, longer after every round; a change of the network ends all waits. A link that breaks soon
/// after it was opened counts as a failure too, so a peer that hangs up on everyone is not dialled
/// a hundred times a second. Few devices of one person are dialled at a time, and the person with
/// the fewest running attempts goes first, since anyone can link devices and sign addresses without
/// limit. Dials per minute are bounded for each person, and for what beacons tell.
///
///     idle ──dialsDue──▶ dialing ──connected──▶ connected
///      ▲                   │ all failed            │ disconnected
///      └──────time─────── waiting ◀────────────────┘
///
/// It dials only what was added: its owner adds devices with which it shares a workspace, and
/// addresses from people, beacons and links.
public struct PeerRegistry: Sendable {
    /// A link that was open for this long counts as a success.
    public static let goodLinkMilliseconds: UInt64 = 60_000

    /// The groups that share places for dials.
    private enum Group: Hashable {
        /// A person's devices, by what names the person.
        case person([UInt8])
        /// Devices with an unknown owner.
        case nobody
        /// Addresses that beacons and links told.
        case heard
        /// An address that somebody typed.
        case typed(PeerName)
    }

    private var entries: [PeerName: PeerEntry] = [:]
    /// Anybody who is in may name any address, and as often as it likes; who listens there has not
    /// asked to be dialled.
    private var allowances = GroupAllowances<Group>(
        tokens: Limits.dialsOfOneMax, refillMilliseconds: Limits.dialOfOneMilliseconds)
    private var lastNumber: UInt64 = 0
    private var abandonedDials = AbandonedDials()

    /// Whether all dialling is off.
    public private(set) var isSuspended = false

    /// A registry that knows nobody.
    public init() {}
}

// MARK: What is known

extension PeerRegistry {
    /// All peers, in the order of their names.
    public var peers: [Peer] { entries.keys.sorted().compactMap(peer) }

    /// One peer, for display.
    public func peer(_ name: PeerName) -> Peer? {
        entries[name].map { entry in
            Peer(
                name: name, addresses: entry.addresses.entries, state: state(of: entry),
                failures: entry.failures, lastError: entry.lastError, lastSeen: entry.lastSeen,
                lastTried: entry.lastTried)
        }
    }

    private func state(of entry: PeerEntry) -> DialState {
        if entry.isBlocked { return .blocked }
        if entry.stage == .connected { return .connected }
        if isSuspended { return .suspended }
        switch entry.stage {
        case .idle, .connected: return .idle
        case .dialing(let attempts): return attempts.newest.map { .dialing($0) } ?? .idle
        case .waiting(let until): return .waiting(until: until)
        }
    }

    /// Whether somebody's word keeps this device out.
    public func isBlocked(_ device: DeviceID) -> Bool {
        entries[.device(device)]?.isBlocked ?? false
    }

    /// Adds a device with which we share something, and addresses of it. A new address of a
    /// resting peer is dialled at once.
    ///
    /// - Parameter person: whose it is, any bytes that name one person; `nil` where that is not known
    ///   or known already.
    public mutating func add(
        _ device: DeviceID, of person: [UInt8]? = nil, addresses: [KnownAddress] = []
    ) {
        var entry = entries[.device(device)] ?? PeerEntry()
        entry.person = person ?? entry.person
        for known in addresses where known.address.reach != .none {
            guard entry.addresses.add(known) else { continue }
            if case .waiting = entry.stage { entry.stage = .idle }
            entry.next = 0
        }
        entries[.device(device)] = entry
    }

    /// Notes whose a device is, where it is known here.
    mutating func note(_ device: DeviceID, isOf person: [UInt8]?) {
        entries[.device(device)]?.person = person
    }

    /// Adds what somebody typed. It is dialled at once, and again and again until it is removed.
    public mutating func addManual(_ address: PeerAddress, wallMilliseconds: UInt64) {
        insert(
            KnownAddress(address, source: .manual, freshness: wallMilliseconds), isPassing: false)
    }

    /// Adds what a beacon or a link told. It is dialled once, and forgotten when that fails or
    /// when too many are told.
    ///
    /// - Returns: whether it was new.
    @discardableResult
    public mutating func heard(_ address: PeerAddress, wallMilliseconds: UInt64) -> Bool {
        guard entries[.address(address)] == nil, address.reach != .none,
            entries.values.count(where: \.isPassing) < Limits.heardAddressesMax,
            !entries.values.contains(where: { $0.stage == .connected && $0.has(address) })
        else { return false }
        insert(
            KnownAddress(address, source: .learnt, freshness: wallMilliseconds), isPassing: true)
        return true
    }

    private mutating func insert(_ known: KnownAddress, isPassing: Bool) {
        var entry = entries[.address(known.address)] ?? PeerEntry()
        _ = entry.addresses.add(known)
        entry.isPassing = isPassing
        if !entry.isDialing { entry.stage = .idle }
        entries[.address(known.address)] = entry
    }

    /// Drops a device that shares no workspace, and its addresses. A typed address is resolved
    /// again, with its current dial schedule.
    public mutating func forgetStranger(_ device: DeviceID) {
        guard let entry = entries.removeValue(forKey: .device(device)) else { return }
        for known in entry.addresses.entries where known.source == .manual {
            guard entries[.address(known.address)] == nil else { continue }
            var typed = entry
            typed.person = nil
            typed.addresses = AddressList()
            _ = typed.addresses.add(known)
            typed.next = 0
            if typed.stage == .connected { typed.stage = .idle }
            entries[.address(known.address)] = typed
        }
    }

    /// Forgets a peer with all its addresses. Its link, if any, is the owner's to close.
    public mutating func remove(_ name: PeerName) { entries[name] = nil }

    /// Keeps a device out, or lets it in again. Its link is the owner's to close.
    public mutating func block(_ device: DeviceID, _ isBlocked: Bool = true) {
        entries[.device(device), default: PeerEntry()].isBlocked = isBlocked
    }

    /// Remembers from a row when a link to `device` last stood, in wall milliseconds.
    mutating func restoreLastSeen(_ device: DeviceID, _ lastSeen: UInt64?) {
        entries[.device(device)]?.lastSeen = lastSeen
    }

    /// Continues the numbering of the previous registry, so that late reports about its attempts
    /// match no attempt of this registry.
    mutating func goOn(after former: PeerRegistry) { lastNumber = former.lastNumber }

    /// Stops dialling. The owner ends and reports running attempts.
    public mutating func suspend() { isSuspended = true }

    /// Dials again, all peers at once.
    public mutating func resume(now: UInt64) {
        isSuspended = false
        networkChanged(now: now)
    }

    /// Everybody who is not linked is due at once: what failed before says nothing about this network,
    /// and what is under way left by the one before.
    public mutating func networkChanged(now: UInt64) {
        allowances.refill()
        for name in entries.keys {
            entries[name]?.forgetFailures()
            guard entries[name]?.stage != .connected else { continue }
            abandonedDials.insert(entries[name]?.attemptNumbers ?? [], now: now)
            entries[name]?.stage = .idle
            entries[name]?.next = 0
        }
    }
}

// MARK: Dialling

extension PeerRegistry {
    /// The attempts to make now. Each must be answered by `connected`, `failed` or `abandoned` with
    /// its number.
    public mutating func dialsDue(now: UInt64) -> [Dial] {
        guard !isSuspended else { return [] }
        abandonedDials.forgetOld(at: now)
        var underWay = dialsUnderWay
        let count = underWay.values.reduce(0, +)
        // Abandoned attempts have as many places of their own.
        var places = min(
            Limits.dialsInFlightMax - count,
            2 * Limits.dialsInFlightMax - count - abandonedDials.count)
        guard places > 0 else { return [] }
        var due = entries.filter { isDue($0.value, now: now) }
            .map { (name: $0.key, group: group(of: $0.key, $0.value), entry: $0.value) }
            .filter { underWay[$0.group] ?? 0 < Limits.dialsInFlightOfOneMax }
            .filter { nextAllowed($0.group) <= now }
        guard !due.isEmpty else { return [] }
        allowances.forgetFull(at: now)
        // The group with the fewest failures first, in it the peer with the fewest, then a peer
        // that has answered before.
        let tries = triesByGroup
        due.sort { left, right in
            let (one, other) = (tries[left.group] ?? 0, tries[right.group] ?? 0)
            guard one == other else { return one < other }
            return Self.order(left.name, left.entry) < Self.order(right.name, right.entry)
        }
        var dials: [Dial] = []
        while places > 0, let place = Self.next(of: due.map(\.group), besides: underWay) {
            let (name, group, entry) = due.remove(at: place)
            guard let next = entry.nextPlace else { continue }
            let address = entry.addresses.entries[next].address
            if isCounted(group), !allowances.take(group, at: now) { continue }
            places -= 1
            underWay[group, default: 0] += 1
            lastNumber += 1
            var attempts = entry.attempts ?? DialAttempts()
            attempts.began(lastNumber, at: address, now: now)
            entries[name]?.stage = .dialing(attempts)
            entries[name]?.next = next + 1
            dials.append(Dial(number: lastNumber, peer: name, address: address))
        }
        return dials
    }

    /// Which of the due dials goes first: the first of the group with the fewest running attempts,
    /// if that is below the limit of a group.
    private static func next(of due: [Group], besides underWay: [Group: Int]) -> Int? {
        let place = due.indices.min { underWay[due[$0]] ?? 0 < underWay[due[$1]] ?? 0 }
        return place.flatMap {
            underWay[due[$0]] ?? 0 < Limits.dialsInFlightOfOneMax ? $0 : nil
        }
    }

    private static func order(_ name: PeerName, _ entry: PeerEntry) -> (Int, Int, PeerName) {
        (entry.tries, entry.lastSeen == nil ? 1 : 0, name)
    }

    private var triesByGroup: [Group: Int] {
        var tries: [Group: Int] = [:]
        for (name, entry) in entries where entry.tries > 0 {
            tries[group(of: name, entry), default: 0] += entry.tries
        }
        return tries
    }

    private var dialsUnderWay: [Group: Int] {
        var count: [Group: Int] = [:]
        for (name, entry) in entries {
            guard let attempts = entry.attempts else { continue }
            count[group(of: name, entry), default: 0] += attempts.addresses.count
        }
        return count
    }

    private func group(of name: PeerName, _ entry: PeerEntry) -> Group {
        if let person = entry.person { return .person(person) }
        if case .device = name { return .nobody }
        return entry.isPassing ? .heard : .typed(name)
    }

    /// Where nobody but this home's owner told addresses, none are counted.
    private func isCounted(_ group: Group) -> Bool {
        if case .typed = group { false } else { true }
    }

    private func nextAllowed(_ group: Group) -> UInt64 {
        isCounted(group) ? allowances.next(of: group) : 0
    }

    private func isDue(_ entry: PeerEntry, now: UInt64) -> Bool {
        guard !entry.isBlocked, !entry.addresses.entries.isEmpty else { return false }
        switch entry.stage {
        case .idle: return true
        case .waiting(let until): return until <= now
        case .dialing(let attempts): return attempts.nextDue <= now && entry.nextPlace != nil
        case .connected: return false
        }
    }

    /// When `dialsDue` has something next, in monotonic milliseconds: 0 for at once, `nil` for not
    /// before something else happens.
    public var nextDeadline: UInt64? {
        guard !isSuspended else { return nil }
        let underWay = dialsUnderWay
        let count = underWay.values.reduce(0, +)
        guard count < Limits.dialsInFlightMax else { return nil }
        guard count + abandonedDials.count < 2 * Limits.dialsInFlightMax else {
            return abandonedDials.nextOver
        }
        var next: UInt64?
        for (name, entry) in entries where isDue(entry, now: .max) {
            var due = entry.attempts?.nextDue ?? 0
            if case .waiting(let until) = entry.stage { due = until }
            // Whose it is is looked up last: this is asked in each turn.
            guard due < next ?? .max else { continue }
            let group = group(of: name, entry)
            guard underWay[group] ?? 0 < Limits.dialsInFlightOfOneMax else { continue }
            next = min(next ?? .max, max(due, nextAllowed(group)))
        }
        return next
    }

    /// An attempt failed: no link, or a handshake that came to nothing.
    public mutating func failed(
        _ number: UInt64, error: String, now: UInt64, using random: any RandomSource
    ) {
        abandonedDials.remove(number)
        guard let name = target(ofAttempt: number), var entry = entries[name] else { return }
        entry.lastError = error
        entry.lastTried = now
        entry.tries += 1
        // An attempt that was still silent when its round ended takes part in no other one.
        let isOver = entry.attempts?.isResting == true
        entry.end(number)
        guard !isOver, entry.nextPlace == nil else {
            entries[name] = entry
            return
        }
        if entry.isPassing, !entry.isDialing {
            entries[name] = nil
            return
        }
        rest(&entry, now: now, using: random)
        entries[name] = entry
    }

    /// An attempt was cancelled locally, on suspending or because another link is open.
    public mutating func abandoned(_ number: UInt64) {
        abandonedDials.remove(number)
        guard let name = target(ofAttempt: number) else { return }
        entries[name]?.end(number)
        if entries[name]?.isDialing == false { entries[name]?.next = 0 }
    }

    /// The peer that an attempt is for; `nil` for one that is over, or that a link or a network
    /// change has made unnecessary: its result has to be dropped.
    public func target(ofAttempt number: UInt64) -> PeerName? {
        entries.first { $0.value.attempts?.addresses[number] != nil }?.key
    }

    /// A link to `device` is open.
    ///
    /// - Parameters:
    ///   - attempt: the dial that made it, `nil` if the device dialled us.
    ///   - wallMilliseconds: when, by the wall clock.
    public mutating func connected(
        _ device: DeviceID, attempt: UInt64?, now: UInt64, wallMilliseconds: UInt64
    ) {
        if let attempt { abandonedDials.remove(attempt) }
        var entry = entries[.device(device)] ?? PeerEntry()
        if let attempt, let name = target(ofAttempt: attempt), let dialled = entries[name],
            let address = dialled.attempts?.addresses[attempt]
        {
            let isManual = dialled.addresses.entries.contains {
                $0.address == address && $0.source == .manual
            }
            // A device that is new at an address takes over the address's dial schedule.
            if entries[.device(device)] == nil {
                entry.schedule = dialled.schedule
                (entry.failures, entry.tries) = (dialled.failures, dialled.tries)
            }
            // The address belongs to this device, even if another one was expected there.
            if name != .device(device) { resolve(name, attempt: attempt) }
            let known = KnownAddress(
                address, source: isManual ? .manual : .remembered, freshness: wallMilliseconds)
            _ = entry.addresses.add(known)
        }
        abandonedDials.insert(entry.attemptNumbers.filter { $0 != attempt }, now: now)
        entry.stage = .connected
        entry.next = 0
        entry.lastError = nil
        entry.lastSeen = wallMilliseconds
        entries[.device(device)] = entry
    }

    /// Somebody else answered at an address: it leaves the peer that was expected there.
    private mutating func resolve(_ name: PeerName, attempt: UInt64) {
        guard case .device = name, let address = entries[name]?.attempts?.addresses[attempt] else {
            entries[name] = nil
            return
        }
        entries[name]?.addresses.remove { $0.address == address && $0.source != .manual }
        entries[name]?.end(attempt)
        entries[name]?.lastError = "auth.unknown"
        if entries[name]?.isDialing == false { entries[name]?.next = 0 }
    }

    /// We answered ourselves at the address of this attempt: it is never dialled again.
    public mutating func reachedOurselves(_ number: UInt64) {
        abandonedDials.remove(number)
        guard let name = target(ofAttempt: number),
            let address = entries[name]?.attempts?.addresses[number]
        else { return }
        entries[name]?.addresses.remove { $0.address == address }
        entries[name]?.end(number)
        if entries[name]?.isDialing == false { entries[name]?.next = 0 }
        if entries[name]?.addresses.entries.isEmpty ?? false, case .address = name {
            entries[name] = nil
        }
    }

    /// The last link to `device` is gone.
    ///
    /// - Parameters:
    ///   - lived: how long it stood, in milliseconds.
    ///   - isRefused: whether the other side wants no link, so that dialling soon would be in vain.
    ///   - isSilent: whether it ended because nothing came any more. Who is silent has been waited for
    ///     long enough, and may be reached by another way.
    public mutating func disconnected(
        _ device: DeviceID, lived: UInt64, error: String?, isRefused: Bool = false,
        isSilent: Bool = false, now: UInt64, wallMilliseconds: UInt64,
        using random: any RandomSource
    ) {
        guard var entry = entries[.device(device)], entry.stage == .connected else { return }
        if lived >= Self.goodLinkMilliseconds { entry.forgetFailures() }
        if isRefused { entry.schedule.refused() }
        entry.lastError = error
        entry.lastSeen = wallMilliseconds
        rest(&entry, now: now, using: random)
        if isSilent, !isRefused { entry.stage = .idle }
        entries[.device(device)] = entry
    }

    private func rest(_ entry: inout PeerEntry, now: UInt64, using random: any RandomSource) {
        let delay = entry.schedule.delayAfterFailure(random: random.number())
        entry.failures += 1
        entry.next = 0
        // A silent attempt does not delay the other addresses.
        if var attempts = entry.attempts {
            attempts.rest(until: now + delay)
            entry.stage = .dialing(attempts)
        } else {
            entry.stage = .waiting(until: now + delay)
        }
    }
}
