import CRDTStore
import WorkspaceModel

/// When this device tells of the reminders of one workspace.
struct ReminderTimes {
    /// When the first one is due that was not told, milliseconds since 1970; `nil` for none.
    private(set) var next: UInt64?
    /// Whether this has to be computed: it never was, or an own document has changed since.
    var isStale = true
    /// Until when reminders are held that came due while the person was away, on the monotonic
    /// clock.
    private var heldUntil: UInt64?

    /// Which reminders were told, and with which due time: a postponed one is told again.
    struct Told {
        private(set) var dues: [[UInt8]: UInt64] = [:]
        /// A name and a time.
        private static let byteCount = ReminderName.byteCount + 8

        /// The name in `meta` for those of a workspace.
        static func name(of workspace: Int64) -> String { "reminders.told.\(workspace)" }

        /// - Parameter bytes: as `bytes` gives them; what is behind the last whole entry is nothing.
        init(_ bytes: [UInt8]) {
            for start in stride(from: 0, to: bytes.count, by: Self.byteCount) {
                let entry = bytes[start...].prefix(Self.byteCount)
                guard entry.count == Self.byteCount else { return }
                let due: UInt64 = entry.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
                dues[Array(entry.prefix(ReminderName.byteCount))] = due
            }
        }

        /// In the order of names; `nil` where there is nothing to keep.
        var bytes: [UInt8]? {
            guard !dues.isEmpty else { return nil }
            return dues.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .flatMap { $0.key + bigEndianBytes(of: $0.value) }
        }

        /// When a reminder is due that was not told for that time.
        func pending(_ row: ViewStore.Register) -> UInt64? {
            guard let due = row.due, dues[row.place.subject] != due else { return nil }
            return due
        }

        mutating func note(_ row: ViewStore.Register) { dues[row.place.subject] = row.due }

        /// Drops those that no longer exist.
        mutating func keep(_ rows: [ViewStore.Register]) {
            var now: [[UInt8]: UInt64] = [:]
            for row in rows { now[row.place.subject] = row.due }
            dues = dues.filter { now[$0.key] == $0.value }
        }
    }

    /// Takes over which reminders there are.
    mutating func take(_ rows: [ViewStore.Register], _ told: Told) {
        next = rows.compactMap { told.pending($0) }.min()
        isStale = false
        heldUntil = nil
    }

    /// Whether it is time to look at them.
    func wantsLook(at wall: UInt64) -> Bool { isStale || next.map { $0 <= wall } ?? false }

    /// Whether what is due waits a little: nobody was there when it came due, and another device may
    /// have dismissed it.
    mutating func waits(at time: TurnTime) -> Bool {
        guard let next, next <= time.wall,
            time.wall - next > Limits.reminderLateMilliseconds
        else { return false }
        let until = heldUntil ?? time.monotonic &+ Limits.reminderGraceMilliseconds
        heldUntil = until
        return time.monotonic < until
    }

    /// When there is something to do, on the monotonic clock.
    func deadline(at time: TurnTime) -> UInt64? {
        guard let next else { return nil }
        guard next > time.wall else { return heldUntil ?? time.monotonic }
        // Anybody may write any number: what is millions of years away never comes.
        return time.monotonic &+ min(next - time.wall, 1 << 53)
    }
}

extension ViewStore.Register {
    /// When a reminder is due, milliseconds since 1970; `nil` once it was dismissed.
    var due: UInt64? { place.kind == .reminder ? key?.timestamp.rawValue : nil }
}
