import WorkspaceModel

/// Computes how far branches must still be kept when something of their document is no
/// longer wanted: as far as they are wanted themselves, and as far as kept operations
/// cite or continue them.
///
/// Operations cite only earlier ones, so nothing keeps itself. A lowered branch releases what it
/// kept, which is examined next.
///
/// - Cost: what is removed, its citations, and the citations of those. Never the document.
public struct BranchLowering {
    /// How far a branch was kept before, `nil` if not at all.
    private let reach: (LogBranch) -> UInt64?
    /// How far a branch is wanted itself, `nil` for not at all; at least that far if nothing of it
    /// may be removed.
    private let wanted: (LogBranch) throws(StorageError) -> UInt64?
    /// Where a branch that must include a place may end: there or later.
    private let settle: (LogBranch, UInt64) throws(StorageError) -> UInt64
    private let operations: OperationStore

    /// The lowered branches by number, with their new ends; `nil` for not at all.
    public private(set) var ends: [Int64: UInt64?] = [:]

    private var queue: [Int64] = []
    private var queued: Set<Int64> = []
    /// Child branches in the logs examined so far.
    private var children: [Int64: [Int64]] = [:]
    private var knownLogs: Set<LogName> = []

    /// An empty computation.
    public init(
        _ operations: OperationStore, reach: @escaping (LogBranch) -> UInt64?,
        wanted: @escaping (LogBranch) throws(StorageError) -> UInt64?,
        settle: @escaping (LogBranch, UInt64) throws(StorageError) -> UInt64 = { $1 }
    ) {
        self.operations = operations
        self.reach = reach
        self.wanted = wanted
        self.settle = settle
    }

    /// Lowers these branches, and those that only they kept.
    public mutating func lower(_ branches: [LogBranch]) throws(StorageError) {
        for branch in branches { enqueue(branch.number) }
        var next = 0
        while next < queue.count {
            let number = queue[next]
            next += 1
            queued.remove(number)
            guard let branch = operations.branch(number) else { continue }
            try lower(branch)
        }
        queue.removeAll()
    }

    private mutating func enqueue(_ branch: Int64) {
        guard queued.insert(branch).inserted else { return }
        queue.append(branch)
    }

    private mutating func lower(_ branch: LogBranch) throws(StorageError) {
        guard let current = end(of: branch) else { return }
        let held = try heldEnd(of: branch, current)
        let end = try held.map { (end) throws(StorageError) in try settle(branch, end) }
        guard end.map({ $0 < current }) ?? true else { return }
        ends[branch.number] = .some(end)
        let first = end.map { $0 + 1 } ?? branch.forkSequence
        for place in try operations.past(of: branch.number, at: first...current) {
            enqueue(place.branch)
        }
    }

    /// How far kept operations need a branch: at most `current`.
    private mutating func heldEnd(
        of branch: LogBranch, _ current: UInt64
    ) throws(StorageError) -> UInt64? {
        var held = try wanted(branch).flatMap { $0 < branch.forkSequence ? nil : $0 }
        for child in children(of: branch) {
            guard let child = operations.branch(child), end(of: child) != nil else { continue }
            held = max(held ?? 0, child.forkSequence - 1)
        }
        if let held, held >= current { return current }
        return try operations.lastCited(in: branch.number, behind: held) { citing in
            operations.branch(citing.branch).flatMap(end).map { citing.sequence <= $0 } ?? false
        } ?? held
    }

    private func end(of branch: LogBranch) -> UInt64? {
        if let lowered = ends[branch.number] { return lowered }
        return reach(branch)
    }

    /// The branches that fork from another one, and have a part of it in their past.
    private mutating func children(of branch: LogBranch) -> [Int64] {
        if knownLogs.insert(branch.log).inserted {
            for other in operations.branches(of: branch) where other.forkSequence > 0 {
                other.parent.map { children[$0, default: []].append(other.number) }
            }
        }
        return children[branch.number] ?? []
    }
}
