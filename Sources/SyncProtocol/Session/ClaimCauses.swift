import WorkspaceModel

/// Dependencies among a peer's claims: which logs wait for which others, because their operations
/// cite missing ones.
///
/// A waiting log is pulled again when everything it waits for has arrived, or was itself pulled
/// again after waiting: then it follows that in the same answer or the next one. So operations that
/// found no room to wait are sent twice, in whatever order the peer announced them, and not on
/// every arrival.
struct ClaimCauses: Sendable {
    /// The state of a log whose operations cite missing ones.
    enum Standing: Sendable {
        /// Some of what it cites was not requested since that was found out.
        case blocked
        /// All of it was requested, and the log's operations wait in memory.
        case kept
        /// All of it was requested; the log may be pulled.
        case free
    }

    private struct Waiter {
        let log: LogName
        let isKept: Bool
        /// How many places it still waits for.
        var count: Int
    }

    private struct Edge {
        let waiter: UInt64
        /// The cited place.
        let sequence: UInt64
    }

    private var waiters: [UInt64: Waiter] = [:]
    private var numbers: [LogName: UInt64] = [:]
    private var nextNumber: UInt64 = 0
    /// Logs that wait for something of a log. A waiter may no longer exist.
    private var edges: [LogName: [Edge]] = [:]
    private var edgeCount = 0

    /// Edges remembered per peer, 16 bytes each. A log that cites more is pulled on every arrival.
    static let edgesMax = 131_072

    /// The state of `log`, `nil` where it is not known to wait.
    func standing(of log: LogName) -> Standing? {
        guard let waiter = numbers[log].flatMap({ waiters[$0] }) else { return nil }
        if waiter.count > 0 { return .blocked }
        return waiter.isKept ? .kept : .free
    }

    /// Records what `log` waits for, replacing earlier records.
    mutating func note(_ tips: [LogTip], of log: LogName, isKept: Bool) {
        // Operations waiting in memory report one missing place after another; all of them are
        // known already.
        if isKept, let waiter = numbers[log].flatMap({ waiters[$0] }), waiter.isKept,
            waiter.count > 0
        {
            return
        }
        forget(log)
        guard !tips.isEmpty, edgeCount + tips.count <= Self.edgesMax else { return }
        waiters[nextNumber] = Waiter(log: log, isKept: isKept, count: tips.count)
        numbers[log] = nextNumber
        for tip in tips {
            edges[tip.log, default: []].append(Edge(waiter: nextNumber, sequence: tip.sequence))
        }
        edgeCount += tips.count
        nextNumber += 1
    }

    /// `log` no longer waits, as far as known.
    mutating func forget(_ log: LogName) {
        if let number = numbers.removeValue(forKey: log) { waiters[number] = nil }
    }

    /// The log up to `tip` is stored.
    ///
    /// - Returns: logs that may be pulled because of that.
    mutating func came(_ tip: LogTip) -> [LogName] {
        guard let all = edges[tip.log] else { return [] }
        let left = all.filter { $0.sequence > tip.sequence }
        guard left.count < all.count else { return [] }
        edges[tip.log] = left.isEmpty ? nil : left
        return resolve(all.filter { $0.sequence <= tip.sequence })
    }

    /// Nothing of `log` is missing any more.
    ///
    /// - Returns: logs that may be pulled because of that.
    mutating func settle(_ log: LogName) -> [LogName] {
        forget(log)
        return resolve(edges.removeValue(forKey: log) ?? [])
    }

    /// `log` is pulled. That is useless unless it comes after everything it waited for.
    ///
    /// - Returns: logs that may be pulled because of that.
    mutating func ask(for log: LogName) -> [LogName] {
        let isFree = standing(of: log) == .free
        forget(log)
        return isFree ? resolve(edges.removeValue(forKey: log) ?? []) : []
    }

    private mutating func resolve(_ first: [Edge]) -> [LogName] {
        var resolved = first
        var free: [LogName] = []
        var next = 0
        while next < resolved.count {
            let number = resolved[next].waiter
            next += 1
            edgeCount -= 1
            guard var waiter = waiters[number] else { continue }
            waiter.count -= 1
            waiters[number] = waiter
            guard waiter.count == 0 else { continue }
            if waiter.isKept {
                // Its operations are in memory and complete as soon as what they wait for is.
                resolved += edges.removeValue(forKey: waiter.log) ?? []
            } else {
                free.append(waiter.log)
            }
        }
        return free
    }
}
