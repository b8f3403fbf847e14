import WorkspaceModel

/// Which logs of a peer wait for which others, because their operations cite what is not here.
///
/// A log that waits is asked for again when all that it waits for has come, or was asked for again
/// after it had waited itself: then it comes behind that, in the same answer or the next one. So what
/// had no room to wait is brought twice, in whatever order the peer has announced it, and not each
/// time that anything comes.
struct ClaimCauses: Sendable {
    /// Where a log stands that cites something.
    enum Standing: Sendable {
        /// Some of what it cites was not asked for since that was found out.
        case blocked
        /// All of it was, and the log waits in memory for it.
        case kept
        /// All of it was, and it is the log's turn.
        case free
    }

    private struct Waiter {
        let log: LogName
        let isKept: Bool
        /// What it still waits for.
        var count: Int
    }

    private struct Edge {
        let waiter: UInt64
        /// The place that is cited.
        let sequence: UInt64
    }

    private var waiters: [UInt64: Waiter] = [:]
    private var numbers: [LogName: UInt64] = [:]
    private var nextNumber: UInt64 = 0
    /// What waits for something of a log. The waiter may be gone.
    private var edges: [LogName: [Edge]] = [:]
    private var edgeCount = 0

    /// What is remembered of one peer, 16 bytes each. A log that cites more than there is room for
    /// is asked for whenever something comes.
    static let edgesMax = 131_072

    /// Where `log` stands, `nil` where nothing is known that it waits for.
    func standing(of log: LogName) -> Standing? {
        guard let waiter = numbers[log].flatMap({ waiters[$0] }) else { return nil }
        if waiter.count > 0 { return .blocked }
        return waiter.isKept ? .kept : .free
    }

    /// Notes what `log` waits for, instead of what was noted before.
    mutating func note(_ tips: [LogTip], of log: LogName, isKept: Bool) {
        // What waits in memory lets go of one thing after the other; all of it is known.
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

    /// `log` waits no longer, as far as anybody knows.
    mutating func forget(_ log: LogName) {
        if let number = numbers.removeValue(forKey: log) { waiters[number] = nil }
    }

    /// The log up to `tip` is stored.
    ///
    /// - Returns: whose turn it is because of that.
    mutating func came(_ tip: LogTip) -> [LogName] {
        guard let all = edges[tip.log] else { return [] }
        let left = all.filter { $0.sequence > tip.sequence }
        guard left.count < all.count else { return [] }
        edges[tip.log] = left.isEmpty ? nil : left
        return resolve(all.filter { $0.sequence <= tip.sequence })
    }

    /// Nothing of `log` is missing any more.
    ///
    /// - Returns: whose turn it is because of that.
    mutating func settle(_ log: LogName) -> [LogName] {
        forget(log)
        return resolve(edges.removeValue(forKey: log) ?? [])
    }

    /// `log` is asked for. It comes in vain unless that is behind all that it waited for.
    ///
    /// - Returns: whose turn it is because of that.
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
                // It is here as soon as what it waits for is.
                resolved += edges.removeValue(forKey: waiter.log) ?? []
            } else {
                free.append(waiter.log)
            }
        }
        return free
    }
}
