import WorkspaceModel

/// The operations that the peer announced and this device lacks, per log.
///
/// Queues keep the order: the authority document first, then the rest as announced, which is in
/// causal order (PROTOCOL.md, 5.4). A log that is pulled again keeps its place, so that nothing
/// that cites it overtakes it; one that turns out to precede what it cites goes behind that
/// (`ClaimCauses`). Queue entries may be outdated; `place` and `state` decide.
struct ClaimTable: Sendable {
    /// The state of a claim.
    enum State: Sendable {
        /// Waits for its turn.
        case queued
        /// Asked for in an outstanding pull.
        case pulling
        /// Another session pulls this log.
        case elsewhere
        /// Received, but waits for operations that it cites.
        case waiting
        /// The peer did not deliver; it is not asked again unless the answer was only late.
        case ignored
    }

    /// One log of which the peer holds more.
    struct Claim: Sendable {
        /// The announced tips, one for each branch: first those not pulled yet.
        var targets: [LogPoint]
        /// How many of them were not pulled yet.
        var freshCount: Int
        /// How often each cited place was pulled.
        var wanted: [LogPoint: Int] = [:]
        var state = State.queued
        /// Its place in the order of pulls.
        var place: UInt64
        /// The place under which a queue lists it.
        var listed: UInt64?
        /// Consecutive truncated answers that brought nothing useful.
        var futileCount = 0
        /// The peer found no common branch: the next pull sends samples.
        var needsSamples = false
        /// How far the peer's answers without news went: up to there both sides hold the same.
        var reached: UInt64?
        let isAuthority: Bool
        /// How many operations are missing, as far as the sequence numbers say.
        var behind: UInt64
    }

    private let most: Int
    private let mostOfAuthority: Int
    private(set) var claims: [LogName: Claim] = [:]
    /// How many of them are of the authority document.
    private var authorityCount = 0
    /// Missing operations of all claims.
    private(set) var behind: UInt64 = 0
    /// Claims that are not settled or ignored.
    private(set) var activeCount = 0

    private var authority = ClaimQueue()
    private var others = ClaimQueue()
    private var nextPlace: UInt64 = 0
    /// Which claims wait for which.
    private var causes = ClaimCauses()
    private var elsewhere: [LogName] = []
    private var waiting: [LogName] = []
    /// Targets of all claims beyond those that every log may have.
    private var extraCount = 0

    /// Branches of one log that are pulled at a time: as many as everybody keeps. A peer may claim
    /// this many of each log.
    static let targetsMax = 8
    /// Further branches that a peer may claim, of one log and of all logs together: branches that
    /// others cite are kept.
    static let extraTargetsMax = (ofLog: 248, ofAll: 4_096)
    /// How often a cited place is pulled until a comparison brings it up again.
    private static let wantedMax = 8
    /// The limits of consecutive useless answers: truncated ones, and those with operations that
    /// wait for what they cite.
    static let futileMax = (cut: 3, waiting: 64)
    /// More than any log has, so that sums of claims cannot overflow.
    private static let behindMax: UInt64 = 1 << 40

    /// An empty table with room for this many logs of the authority document, and of all others.
    init(
        most: Int = Limits.rememberedTipsMax, mostOfAuthority: Int = Limits.authorityTipsMax
    ) {
        self.most = most
        self.mostOfAuthority = mostOfAuthority
    }

    subscript(log: LogName) -> Claim? { claims[log] }

    /// Whether operations of `device` are still to come.
    func hasActive(of device: DeviceID) -> Bool {
        activeCount > 0
            && claims.contains { $0.key.device == device && Self.isActive($0.value.state) }
    }

    /// Notes that the peer holds `tip`; `false` when there is no room for one more log.
    mutating func add(_ tip: LogTip, ownSequence: UInt64?, isAuthority: Bool) -> Bool {
        let log = tip.log
        let point = LogPoint(tip)
        let start = ownSequence.map { $0 &+ 1 } ?? 0
        // The tip itself is missing too, so at least one is.
        let before = tip.sequence >= start ? tip.sequence - start : 0
        let amount = min(before, Self.behindMax - 1) + 1
        if var claim = claims[log] {
            guard !claim.targets.contains(point) else { return true }
            // A higher place of the same branch replaces the lower one once that is stored.
            if isFull(claim) {
                drop(claim.freshCount > 1 ? 0 : claim.targets.count - 1, of: &claim)
            }
            insert(point, at: claim.freshCount, of: &claim)
            behind -= claim.behind
            claim.behind = max(claim.behind, amount)
            behind += claim.behind
            claims[log] = claim
            // News justifies another pull; otherwise one late answer would end the log here.
            if claim.state == .ignored { set(.queued, of: log) }
            return true
        }
        guard isAuthority ? authorityCount < mostOfAuthority : claims.count - authorityCount < most
        else { return false }
        claims[log] = Claim(
            targets: [point], freshCount: 1, place: nextPlace, isAuthority: isAuthority,
            behind: amount)
        nextPlace += 1
        if isAuthority { authorityCount += 1 }
        behind += amount
        activeCount += 1
        list(log)
        return true
    }

    /// Drops the targets that are stored; `true` when nothing of the log is missing any more.
    mutating func settle(_ log: LogName, holds: (LogTip) -> Bool) -> Bool {
        guard var claim = claims[log] else { return true }
        for place in claim.targets.indices.reversed() {
            let point = claim.targets[place]
            if holds(LogTip(log: log, sequence: point.sequence, id: point.id)) {
                drop(place, of: &claim)
            }
        }
        if claim.targets.isEmpty {
            remove(log)
            return true
        }
        claims[log] = claim
        return false
    }

    mutating func remove(_ log: LogName) {
        guard let claim = claims.removeValue(forKey: log) else { return }
        behind -= claim.behind
        extraCount -= max(claim.targets.count - Self.targetsMax, 0)
        if claim.isAuthority { authorityCount -= 1 }
        if Self.isActive(claim.state) { activeCount -= 1 }
        goOn(causes.settle(log))
    }

    /// Drops idle claims: both sides hold the same, so the peer does not keep them either.
    mutating func removeIdle() {
        let idle = claims.filter { $0.value.state == .ignored || $0.value.state == .waiting }
        for log in idle.keys.sorted() { remove(log) }
    }

    mutating func removeAll() {
        self = ClaimTable(most: most, mostOfAuthority: mostOfAuthority)
    }

    // MARK: Targets

    /// Records a place that a waiting operation cites: it is pulled before the rest of its log,
    /// even where that was given up.
    mutating func want(_ tip: LogTip, ownSequence: UInt64?) {
        let (log, point) = (tip.log, LogPoint(tip))
        if brings(point, of: log) { return }
        let count = claims[log]?.wanted[point] ?? 0
        guard count < Self.wantedMax,
            add(tip, ownSequence: ownSequence, isAuthority: false), var claim = claims[log],
            let place = claim.targets.firstIndex(of: point)
        else { return }
        drop(place, of: &claim)
        insert(point, at: 0, of: &claim)
        claim.wanted[point] = count + 1
        claims[log] = claim
        if claim.state == .ignored || claim.state == .waiting { set(.queued, of: log) }
    }

    /// The next targets to pull of a log, which are then moved behind all others.
    mutating func nextTargets(of log: LogName) -> [LogPoint] {
        guard var claim = claims[log] else { return [] }
        let next = claim.targets.prefix(Self.targetsMax)
        claim.targets = Array(claim.targets.dropFirst(next.count) + next)
        claim.freshCount = max(claim.freshCount - next.count, 0)
        claims[log] = claim
        return Array(next)
    }

    /// Counts a useless answer; `true` if it was the last one allowed.
    mutating func isFutileAgain(_ log: LogName, most: Int) -> Bool {
        claims[log]?.futileCount += 1
        return (claims[log]?.futileCount ?? 0) >= most
    }

    /// Starts over with a log that was given up.
    mutating func begin(_ log: LogName) {
        claims[log]?.futileCount = 0
        claims[log]?.wanted = [:]
        causes.forget(log)
        set(.queued, of: log)
    }

    /// Resets the count of useless answers.
    mutating func hasBroughtSome(_ log: LogName) { claims[log]?.futileCount = 0 }

    /// Whether the peer claims branches of a log that were not pulled yet.
    func hasFresh(_ log: LogName) -> Bool { (claims[log]?.freshCount ?? 0) > 0 }

    private func isFull(_ claim: Claim) -> Bool {
        let extra = claim.targets.count - Self.targetsMax
        return extra >= 0
            && (extra >= Self.extraTargetsMax.ofLog || extraCount >= Self.extraTargetsMax.ofAll)
    }

    private mutating func insert(_ point: LogPoint, at place: Int, of claim: inout Claim) {
        claim.targets.insert(point, at: place)
        claim.freshCount += 1
        if claim.targets.count > Self.targetsMax { extraCount += 1 }
    }

    private mutating func drop(_ place: Int, of claim: inout Claim) {
        if claim.targets.count > Self.targetsMax { extraCount -= 1 }
        claim.wanted[claim.targets.remove(at: place)] = nil
        if place < claim.freshCount { claim.freshCount -= 1 }
    }

    mutating func askForSamples(_ log: LogName) {
        claims[log]?.needsSamples = true
    }

    /// Records how far an answer without news went.
    ///
    /// - Returns: whether that is farther than before, so that the next one brings more.
    mutating func reaches(_ place: UInt64, of log: LogName) -> Bool {
        guard let claim = claims[log], claim.reached ?? 0 < place else { return false }
        claims[log]?.reached = place
        claims[log]?.needsSamples = true
        return true
    }

    /// Changes a claim's state, and moves it to the queue of the new state.
    mutating func set(_ state: State, of log: LogName) {
        guard let before = claims[log] else { return }
        claims[log]?.state = state
        activeCount += (Self.isActive(state) ? 1 : 0) - (Self.isActive(before.state) ? 1 : 0)
        switch state {
        case .queued: list(log)
        case .pulling: goOn(causes.ask(for: log))
        case .elsewhere: elsewhere.append(log)
        case .waiting:
            switch causes.standing(of: log) {
            case .blocked: break
            case .free: goOn([log])
            case nil, .kept: waiting.append(log)
            }
        case .ignored: break
        }
    }

    private mutating func list(_ log: LogName) {
        guard let claim = claims[log], claim.listed != claim.place else { return }
        claims[log]?.listed = claim.place
        if claim.isAuthority {
            authority.insert(log, at: claim.place)
        } else {
            others.insert(log, at: claim.place)
        }
    }

    /// The next log to pull.
    mutating func nextQueued() -> LogName? {
        while let (place, log) = authority.popFirst() ?? others.popFirst() {
            guard claims[log]?.listed == place else { continue }
            claims[log]?.listed = nil
            if claims[log]?.state == .queued { return log }
        }
        return nil
    }

    // MARK: Causes

    /// Records what an answer's operations of a log wait for; all of that was announced or is
    /// wanted now.
    ///
    /// - Parameter isKept: they wait in memory, and need not be pulled again.
    mutating func note(_ tips: [LogTip], citedBy log: LogName, isKept: Bool) {
        // With several branches, some may wait and others not.
        guard let claim = claims[log], claim.targets.count == 1 else { return }
        let known = tips.filter { $0.log != log && claims[$0.log] != nil }
        causes.note(known, of: log, isKept: isKept)
    }

    /// Operations are stored: what waits for them may go on.
    mutating func came(_ tip: LogTip) { goOn(causes.came(tip)) }

    /// Whether a log waits, and will be pulled once what it cites was.
    func isBlocked(_ log: LogName) -> Bool { causes.standing(of: log) == .blocked }

    /// Whether a pull of the log's single claimed tip will bring the place too. As a second target
    /// of the log it would be unclear which target waits for what. If the place is on another
    /// branch, it is still missing once that tip has arrived.
    private func brings(_ point: LogPoint, of log: LogName) -> Bool {
        guard let claim = claims[log], claim.targets.count == 1,
            claim.targets.allSatisfy({ $0 == point || $0.sequence > point.sequence })
        else { return false }
        switch claim.state {
        case .queued, .pulling: return true
        case .waiting: return isBlocked(log)
        case .elsewhere, .ignored: return false
        }
    }

    /// Moves logs that waited behind everything pulled before them.
    private mutating func goOn(_ logs: [LogName]) {
        for log in logs where claims[log] != nil {
            claims[log]?.place = nextPlace
            nextPlace += 1
            if claims[log]?.state == .waiting { set(.queued, of: log) }
        }
    }

    /// Logs that another session was pulling, to be tried again.
    mutating func takeElsewhere() -> [LogName] {
        defer { elsewhere = [] }
        return elsewhere.filter { claims[$0]?.state == .elsewhere }
    }

    /// Logs that waited for others, to be tried again after an arrival.
    mutating func takeWaiting() -> [LogName] {
        defer { waiting = [] }
        return waiting.filter { claims[$0]?.state == .waiting }
    }

    private static func isActive(_ state: State) -> Bool {
        switch state {
        case .queued, .pulling, .elsewhere: true
        case .waiting, .ignored: false
        }
    }
}

/// A min-heap of logs by place.
struct ClaimQueue: Sendable {
    private var entries: [(place: UInt64, log: LogName)] = []

    mutating func insert(_ log: LogName, at place: UInt64) {
        entries.append((place, log))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].place < entries[parent].place else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    mutating func popFirst() -> (place: UInt64, log: LogName)? {
        guard let last = entries.popLast() else { return nil }
        guard let first = entries.first else { return last }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].place < entries[least].place { least = child }
            }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
