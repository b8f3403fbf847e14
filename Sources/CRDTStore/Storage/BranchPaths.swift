public import WorkspaceModel

/// The way from the start of a log to one of its operations, over the branches whose rows hold it.
struct BranchPath {
    /// Operations of one branch in a row; the first of them follows the last of the step before.
    struct Step: Equatable {
        let owner: Int64
        let last: UInt64
    }

    var steps: [Step]

    /// Where two paths part, as the first places that differ; `nil` when one goes on where the
    /// other ends.
    func parting(from other: Self) -> (place: UInt64, own: Int64, other: Int64)? {
        var place: UInt64 = 0
        for (own, theirs) in zip(steps, other.steps) {
            if own == theirs {
                place = own.last &+ 1
                continue
            }
            guard own.owner == theirs.owner else { return (place, own.owner, theirs.owner) }
            return parting(behind: min(own.last, theirs.last), from: other)
        }
        return nil
    }

    /// One of the two leaves the other's step behind `last`.
    private func parting(
        behind last: UInt64, from other: Self
    ) -> (place: UInt64, own: Int64, other: Int64)? {
        guard let own = owner(of: last &+ 1), let theirs = other.owner(of: last &+ 1) else {
            return nil
        }
        return (last &+ 1, own, theirs)
    }

    private func owner(of place: UInt64) -> Int64? {
        steps.first { $0.last >= place }?.owner
    }

    /// The last place that both have, `nil` for none.
    func lastCommon(with other: Self) -> UInt64? {
        if let parting = parting(from: other) {
            return parting.place == 0 ? nil : parting.place - 1
        }
        guard let own = steps.last?.last, let theirs = other.steps.last?.last else { return nil }
        return min(own, theirs)
    }
}

/// The order of branches (PROTOCOL.md, 2.1): two are compared by the ids of the operations with
/// which they part. It is a property of the operations, whatever came first here.
extension OperationStore {
    /// How far the operations of each branch count, by branch number.
    public typealias BranchEnds = [Int64: UInt64]

    /// The branches whose ends nothing goes on from, in their order.
    public func leaves(of branches: [LogBranch], ends: BranchEnds) throws(StorageError) -> [Int64] {
        try sortedPaths(of: branches, ends: ends).map(\.branch)
    }

    /// The ends that are left when only the first `count` leaves count, and what is before them.
    public func ends(
        ofFirst count: Int, of branches: [LogBranch], ends: BranchEnds
    ) throws(StorageError) -> BranchEnds {
        var left: BranchEnds = [:]
        for (_, path) in try sortedPaths(of: branches, ends: ends).prefix(count) {
            for step in path.steps { left[step.owner] = max(left[step.owner] ?? 0, step.last) }
        }
        return left
    }

    /// How many leaves come before an operation that would stand at `sequence` behind `branch`.
    public func leafCount(
        before id: OperationID, at sequence: UInt64, behind branch: Int64, of branches: [LogBranch],
        ends: BranchEnds
    ) throws(StorageError) -> Int {
        // No branch has this number.
        let newcomer: Int64 = -1
        var path = BranchPath(steps: [])
        if sequence > 0 { path = self.path(through: sequence - 1, of: branch) }
        path.steps.append(.init(owner: newcomer, last: sequence))
        var count = 0
        for (_, leaf) in try sortedPaths(of: branches, ends: ends) {
            guard let parting = leaf.parting(from: path) else { continue }
            let theirs =
                parting.other == newcomer
                ? id : try self.id(at: parting.place, ownedBy: parting.other)
            if let own = try self.id(at: parting.place, ownedBy: parting.own), let theirs,
                own < theirs
            {
                count += 1
            }
        }
        return count
    }

    /// The last place that a branch shares with what leads to `sequence` of another.
    public func lastCommon(
        of branch: Int64, with other: Int64, through sequence: UInt64
    ) -> UInt64? {
        guard let tip = branches[branch]?.tipSequence else { return nil }
        if branch == other { return min(tip, sequence) }
        return path(through: tip, of: branch)
            .lastCommon(with: path(through: sequence, of: other))
    }

    private func sortedPaths(
        of branches: [LogBranch], ends: BranchEnds
    ) throws(StorageError) -> [(branch: Int64, path: BranchPath)] {
        var paths: [(branch: Int64, path: BranchPath)] = []
        for branch in branches {
            guard let end = ends[branch.number], end >= branch.forkSequence else { continue }
            paths.append((branch.number, path(through: end, of: branch.number)))
        }
        var sorted: [(branch: Int64, path: BranchPath)] = []
        for (index, candidate) in paths.enumerated() {
            let isInner = paths.indices.contains { other in
                other != index && candidate.path.isBefore(paths[other].path)
            }
            if isInner { continue }
            var place = sorted.count
            while place > 0, try comes(candidate.path, before: sorted[place - 1].path) {
                place -= 1
            }
            sorted.insert(candidate, at: place)
        }
        return sorted
    }

    private func comes(
        _ path: BranchPath, before other: BranchPath
    ) throws(StorageError) -> Bool {
        guard let parting = path.parting(from: other),
            let own = try id(at: parting.place, ownedBy: parting.own),
            let theirs = try id(at: parting.place, ownedBy: parting.other)
        else { return false }
        return own < theirs
    }

    private func id(at sequence: UInt64, ownedBy branch: Int64) throws(StorageError) -> OperationID?
    {
        if let tip = branches[branch], tip.tipSequence == sequence { return tip.tip.id }
        return try place(in: branch, at: sequence)?.link.id
    }

    /// The way to `sequence` of a branch, which may be one of its parents'.
    func path(through sequence: UInt64, of branch: Int64) -> BranchPath {
        var steps: [BranchPath.Step] = []
        var number = branch
        var end = sequence
        // A branch's parent has a smaller number, so this ends.
        while let current = branches[number] {
            if end >= current.forkSequence {
                steps.append(.init(owner: number, last: end))
                guard current.forkSequence > 0 else { break }
                end = current.forkSequence - 1
            }
            guard let parent = current.parent, parent < number else { break }
            number = parent
        }
        return BranchPath(steps: steps.reversed())
    }
}

extension BranchPath {
    /// Whether `other` goes on from where this one ends.
    fileprivate func isBefore(_ other: Self) -> Bool {
        guard parting(from: other) == nil, let own = steps.last, let theirs = other.steps.last
        else { return false }
        return own.last < theirs.last
    }
}
