public import WorkspaceModel

/// Which link of a workspace pulls which log, so that nothing is pulled twice at a time, and nobody
/// who is slow keeps a log from others.
///
/// The node owns one for each workspace and lends it to the sessions. A log that a source fails to
/// deliver is free again, and another session that knows a source for it takes it over. A session
/// that has nothing else to do does not wait for a slow one.
public struct PullPlanner: Sendable {
    /// A session, by a number that the node gives it and never gives again.
    public typealias SourceID = UInt64

    private struct Reservation {
        let source: SourceID
        /// Milliseconds.
        let since: UInt64
    }

    private var reservations: [LogName: Reservation] = [:]
    /// Logs that somebody else wanted while they were taken.
    private var wanted: Set<LogName> = []
    /// How fast sources were, as far as that was seen.
    private var paces: [SourceID: SourcePace] = [:]

    /// When roots are compared.
    var comparisons = ComparisonPace()

    /// A planner without pulls.
    public init() {}

    /// How many logs are being pulled.
    public var count: Int { reservations.count }

    /// Who pulls `log` at present.
    public func source(of log: LogName) -> SourceID? { reservations[log]?.source }

    /// Whether another session wanted this log while it was taken.
    func isWanted(_ log: LogName) -> Bool { wanted.contains(log) }

    /// Whether another session wanted one of these logs while it was taken.
    func isWanted(_ logs: [LogName]) -> Bool {
        !wanted.isEmpty && logs.contains { wanted.contains($0) }
    }

    /// Gives `log` to `source`, also where another one has had it for longer than it should take.
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

    /// Frees `log` if `source` has it, and says whether another one wanted it meanwhile.
    mutating func release(_ log: LogName, by source: SourceID) -> Bool {
        guard reservations[log]?.source == source else { return false }
        reservations[log] = nil
        return wanted.remove(log) != nil
    }

    // MARK: Pace

    /// Takes a source up that has something to offer.
    mutating func meet(_ source: SourceID) {
        if paces[source] == nil { paces[source] = SourcePace() }
    }

    /// Notes how long a source took for an answer, or how long it has given none.
    ///
    /// - Parameters:
    ///   - bytes: of what was of use in it.
    ///   - milliseconds: since it was asked.
    ///   - isWhole: whether that was all that it was asked for, or as much as fits; `nil` where
    ///     nobody can tell.
    mutating func note(
        _ bytes: Int, in milliseconds: UInt64, isWhole: Bool?, by source: SourceID
    ) {
        paces[source, default: SourcePace()].note(bytes, in: milliseconds, isWhole: isWhole)
    }

    /// How many logs a source is asked for at a time. Where there are others, somebody of whom
    /// nothing is known would keep everything from them; and others may come in a moment.
    func window(of source: SourceID) -> Int {
        guard let pace = paces[source] else { return SourcePace.firstWindow }
        guard paces.count > 1 else {
            return pace.isProven ? .max : SourcePace.firstWindowAlone
        }
        return isSlow(source) ? SourcePace.firstWindow : pace.window
    }

    /// Forgets a source that is gone.
    mutating func forget(_ source: SourceID) { paces[source] = nil }

    /// Whether a source is known to deliver far less than another one does.
    func isSlow(_ source: SourceID) -> Bool {
        guard let own = paces[source]?.bytesPerSecond else { return false }
        let best = paces.values.compactMap(\.bytesPerSecond).max() ?? 0
        return own * SourcePace.slowerFactor < best
    }

    /// Whether a source has shown that it delivers about as well as any.
    func isProven(_ source: SourceID) -> Bool {
        paces[source]?.isProven == true && !isSlow(source)
    }

    /// For how long a session that has nothing else to do leaves a log to another one,
    /// milliseconds.
    private func patience(of source: SourceID, with holder: SourceID) -> UInt64 {
        guard isProven(holder) else {
            return isProven(source) ? SourcePace.shortPatience : SourcePace.firstPatience
        }
        guard let pace = paces[holder]?.bytesPerSecond else { return SourcePace.longPatience }
        let whole = Double(Limits.operationsMessageBytesMax) / max(pace, 1)
        return SourcePace.longPatience + UInt64(min(4_000 * whole, 60_000))
    }
}

/// How much of use a source delivers in a second, newer answers weighing more.
struct SourcePace: Sendable {
    /// How long who has delivered waits for one of whom nothing is known, or who is slow.
    static let shortPatience: UInt64 = 250
    /// How long two wait for each other of whom nothing is known.
    static let firstPatience: UInt64 = 500
    /// How long anybody waits for one that delivers, besides four times what that takes for a whole
    /// message.
    static let longPatience: UInt64 = 2_000
    /// So many times slower than the best is slow: less may be chance, or a link that is shared.
    static let slowerFactor = 4.0
    /// Logs that somebody is asked for of whom nothing is known.
    static let firstWindow = 8
    /// The same where there is nobody else.
    static let firstWindowAlone = 256
    /// An answer that was quick and small says nothing of the pace.
    private static let tellingBytes = 16 * 1024
    private static let tellingMilliseconds: UInt64 = 500

    /// `nil` while nothing is known.
    private(set) var bytesPerSecond: Double?
    /// How many logs it is asked for: twice as many after each whole answer, half as many after
    /// each other one.
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
