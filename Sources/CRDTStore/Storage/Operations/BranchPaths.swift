public import WorkspaceModel

/// The path from the start of a log to one of its operations, over the branches that store it.
struct BranchPath {
    /// Consecutive operations of one branch; the first follows the last of the previous step.
    struct Step: Equatable {
        let owner: Int64
        let last: UInt64
    }

    var steps: [Step]

    /// Where two paths diverge, as the first differing places; `nil` if one is a
    /// prefix of the other.
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

    /// One path leaves the other's step after `last`.
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

    /// The last common place, `nil` for none.
    func lastCommon(with other: Self) -> UInt64? {
        if let parting = parting(from: other) {
            return parting.place == 0 ? nil : parting.place - 1
        }
        guard let own = steps.last?.last, let theirs = other.steps.last?.last else { return nil }
        return min(own, theirs)
    }
}

/// The order of branches (PROTOCOL.md, 2.1): two are compared by the ids of the operations where
/// they diverge. It depends only on the operations, not on their order of arrival.
extension OperationStore {
    /// The last counted place of each branch, by branch number.
    public typealias BranchEnds = [Int64: UInt64]

    /// The leaf branches, in their order.
    public func leaves(of branches: [LogBranch], ends: BranchEnds) throws(StorageError) -> [Int64] {
        try sortedPaths(of: branches, ends: ends).map(\.branch)
    }

    /// The ends that remain when only the first `count` leaves and their past count.
    public func ends(
        ofFirst count: Int, of branches: [LogBranch], ends: BranchEnds
    ) throws(StorageError) -> BranchEnds {
        var left: BranchEnds = [:]
        for (_, path) in try sortedPaths(of: branches, ends: ends).prefix(count) {
            for step in path.steps { left[step.owner] = max(left[step.owner] ?? 0, step.last) }
        }
        return left
    }

    /// How many leaves come before an operation that would be stored at `sequence` after `branch`.
    public func leafCount(
        before id: OperationID, at sequence: UInt64, behind branch: Int64, of branches: [LogBranch],
        ends: BranchEnds
    ) throws(StorageError) -> Int {
        // A number that no branch has.
        let newcomer: Int64 = -1
        var path = BranchPath(steps: [])
        if sequence > 0 { path = self.path(through: sequence - 1, of: branch) }
        path.steps.append(.init(owner: newcomer, last: sequence))
        var count = 0
        for (_, leaf) in leafPaths(of: branches, ends: ends) {
            guard let parting = leaf.parting(from: path) else { continue }
            let theirs =
                parting.other == newcomer
                ? id : try orderingID(at: parting.place, ownedBy: parting.other)
            if let own = try orderingID(at: parting.place, ownedBy: parting.own), let theirs,
                own < theirs
            {
                count += 1
            }
        }
        return count
    }

    /// The last place that a branch shares with the path to `sequence` of another.
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
        let leaves = leafPaths(of: branches, ends: ends)
        guard leaves.count > 1 else { return leaves }
        for leaf in leaves {
            for step in leaf.path.steps { try learnFork(of: step.owner) }
        }
        return leaves.sorted { comes($0.path, before: $1.path) }
    }

    /// The leaf branches, in no order.
    private func leafPaths(
        of branches: [LogBranch], ends: BranchEnds
    ) -> [(branch: Int64, path: BranchPath)] {
        var paths: [(branch: Int64, path: BranchPath)] = []
        // How far the paths of others use each branch.
        var through: [Int64: UInt64] = [:]
        for branch in branches {
            guard let end = ends[branch.number], end >= branch.forkSequence else { continue }
            let path = path(through: end, of: branch.number)
            for step in path.steps.dropLast() {
                through[step.owner] = max(through[step.owner] ?? 0, step.last)
            }
            paths.append((branch.number, path))
        }
        return paths.filter { leaf in
            guard let end = ends[leaf.branch], let passed = through[leaf.branch] else {
                return true
            }
            return passed < end
        }
    }

    /// The ids that order a branch and its parent.
    struct ForkIDs {
        /// The branch's first own operation.
        let own: OperationID
        /// The parent's operation at the same place, `nil` if the parent ends before it.
        let other: OperationID?
    }

    /// Reads the ids at the place where a branch forks from its parent, if they are not known.
    private func learnFork(of number: Int64) throws(StorageError) {
        guard let branch = branches[number], forkIDs[number]?.other == nil else { return }
        let place = branch.forkSequence
        var known = forkIDs[number]?.own
        if known == nil { known = try id(at: place, ownedBy: number) }
        guard let own = known else { return }
        var other: OperationID?
        if place > 0, let parent = branch.parent { other = try id(at: place, ownedBy: parent) }
        forkIDs[number] = ForkIDs(own: own, other: other)
    }

    /// Where two paths diverge, one of them starts a branch, and the other starts one too or
    /// continues the parent.
    private func comes(_ path: BranchPath, before other: BranchPath) -> Bool {
        guard let parting = path.parting(from: other),
            let own = knownID(at: parting.place, ownedBy: parting.own, beside: parting.other),
            let theirs = knownID(at: parting.place, ownedBy: parting.other, beside: parting.own)
        else { return false }
        return own < theirs
    }

    private func orderingID(
        at place: UInt64, ownedBy branch: Int64
    ) throws(StorageError) -> OperationID? {
        guard branches[branch]?.forkSequence == place else {
            return try id(at: place, ownedBy: branch)
        }
        try learnFork(of: branch)
        return forkIDs[branch]?.own
    }

    private func knownID(
        at place: UInt64, ownedBy branch: Int64, beside other: Int64
    ) -> OperationID? {
        branches[branch]?.forkSequence == place
            ? forkIDs[branch]?.own : forkIDs[other]?.other
    }

    private func id(at sequence: UInt64, ownedBy branch: Int64) throws(StorageError) -> OperationID?
    {
        try link(in: branch, at: sequence)?.id
    }

    /// The id and time of the operation at `sequence` of a branch, which may be its parent's.
    public func link(in branch: Int64, at sequence: UInt64) throws(StorageError) -> ChainLink? {
        if let tip = branches[branch], tip.tipSequence == sequence { return tip.tip }
        return try place(in: branch, at: sequence)?.link
    }

    /// The path to `sequence` of a branch, which may be on one of its ancestors.
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
