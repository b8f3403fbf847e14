public import WorkspaceModel

/// Assigns the logs of a workspace to the links that pull them, so that nothing is pulled twice at
/// a time, and a slow peer does not keep a log from others.
///
/// The node owns one for each workspace and lends it to the sessions. A log that a source fails to
/// deliver is free again, and another session with a source for it takes it over. An idle session
/// does not wait for a slow one.
public struct PullPlanner: Sendable {
    /// A session, by a number that the node never reuses.
    public typealias SourceID = UInt64

    private struct Reservation {
        let source: SourceID
        /// Milliseconds.
        let since: UInt64
    }

    private var reservations: [LogName: Reservation] = [:]
    /// Logs that another session wanted while they were reserved.
    private var wanted: Set<LogName> = []
    /// Measured speeds of sources.
    private var paces: [SourceID: SourcePace] = [:]

    /// The pace of root comparisons.
    var comparisons = ComparisonPace()

    /// A planner without pulls.
    public init() {}

    /// How many logs are being pulled.
    public var count: Int { reservations.count }

    /// The session that pulls `log` at present.
    public func source(of log: LogName) -> SourceID? { reservations[log]?.source }

    /// Whether another session wanted this log while it was reserved.
    func isWanted(_ log: LogName) -> Bool { wanted.contains(log) }

    /// Whether another session wanted one of these logs while it was reserved.
    func isWanted(_ logs: [LogName]) -> Bool {
        !wanted.isEmpty && logs.contains { wanted.contains($0) }
    }

    /// Reserves `log` for `source`, even if another one has held it longer than it should take.
    ///
    /// - Parameter now: milliseconds.
    mutating func reserve(_ log: LogName, for source: SourceID, at now: UInt64) -> Bool {
        if let held = reservations[log], held.source != source {
            guard now >= held.since &+ patience(of: source, with: held.source) else {
                wanted.insert(log)
                return false
            }
        }
        reservations[log] = Reservation(source: source, since: now)
        return true
    }

    /// Frees `log` if `source` holds it, and tells whether another one wanted it meanwhile.
    mutating func release(_ log: LogName, by source: SourceID) -> Bool {
        guard reservations[log]?.source == source else { return false }
        reservations[log] = nil
        return wanted.remove(log) != nil
    }

    // MARK: Pace

    /// Registers a source that has something to offer.
    mutating func meet(_ source: SourceID) {
        if paces[source] == nil { paces[source] = SourcePace() }
    }

    /// Records how long an answer of a source took, or how long it is overdue.
    ///
    /// - Parameters:
    ///   - bytes: the useful part of it.
    ///   - milliseconds: since the request.
    ///   - isWhole: whether the answer was complete, or as large as allowed; `nil` if unknown.
    mutating func note(
        _ bytes: Int, in milliseconds: UInt64, isWhole: Bool?, by source: SourceID
    ) {
        paces[source, default: SourcePace()].note(bytes, in: milliseconds, isWhole: isWhole)
    }

    /// How many logs are pulled from a source at a time. An unproven source must not hold back
    /// everything while others exist, or may appear in a moment.
    func window(of source: SourceID) -> Int {
        guard let pace = paces[source] else { return SourcePace.firstWindow }
        guard paces.count > 1 else {
            return pace.isProven ? .max : SourcePace.firstWindowAlone
        }
        return isSlow(source) ? SourcePace.firstWindow : pace.window
    }

    /// Forgets a source that is gone.
    mutating func forget(_ source: SourceID) { paces[source] = nil }

    /// Whether a source is known to be far slower than another one.
    func isSlow(_ source: SourceID) -> Bool {
        guard let own = paces[source]?.bytesPerSecond else { return false }
        let best = paces.values.compactMap(\.bytesPerSecond).max() ?? 0
        return own * SourcePace.slowerFactor < best
    }

    /// Whether a source has proved to be about as fast as any.
    func isProven(_ source: SourceID) -> Bool {
        paces[source]?.isProven == true && !isSlow(source)
    }

    /// How long an idle session leaves a log to another one, milliseconds.
    private func patience(of source: SourceID, with holder: SourceID) -> UInt64 {
        guard isProven(holder) else {
            return isProven(source) ? SourcePace.shortPatience : SourcePace.firstPatience
        }
        guard let pace = paces[holder]?.bytesPerSecond else { return SourcePace.longPatience }
        let whole = Double(Limits.operationsMessageBytesMax) / max(pace, 1)
        return SourcePace.longPatience + UInt64(min(4_000 * whole, 60_000))
    }
}

/// The useful bytes per second of a source, newer answers weighing more.
struct SourcePace: Sendable {
    /// How long a proven source waits for an unproven or slow one.
    static let shortPatience: UInt64 = 250
    /// How long two unproven sources wait for each other.
    static let firstPatience: UInt64 = 500
    /// How long any source waits for one that delivers, in addition to four times that one's time
    /// for a whole message.
    static let longPatience: UInt64 = 2_000
    /// A source this many times slower than the best is slow: less may be chance, or a shared link.
    static let slowerFactor = 4.0
    /// Logs that an unproven source is asked for.
    static let firstWindow = 8
    /// The same where it is the only source.
    static let firstWindowAlone = 256
    /// A quick and small answer tells nothing about the speed.
    private static let tellingBytes = 16 * 1024
    private static let tellingMilliseconds: UInt64 = 500

    /// `nil` while nothing is known.
    private(set) var bytesPerSecond: Double?
    /// How many logs it is asked for: doubled after each complete answer, halved after each other
    /// one.
    private(set) var window = firstWindow
    var isProven: Bool { window > Self.firstWindow }

    mutating func note(_ bytes: Int, in milliseconds: UInt64, isWhole: Bool?) {
        if let isWhole {
            window = isWhole ? min(2 * window, 1 << 20) : max(window / 2, Self.firstWindow)
        }
        guard bytes >= Self.tellingBytes || milliseconds >= Self.tellingMilliseconds else { return }
        let seen = Double(bytes) * 1_000 / Double(max(milliseconds, 1))
        bytesPerSecond = bytesPerSecond.map { ($0 + seen) / 2 } ?? seen
    }
}
