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
        let leaves = leafPaths(of: branches, ends: ends)
        guard leaves.count > 1 else { return leaves }
        for leaf in leaves {
            for step in leaf.path.steps { try learnFork(of: step.owner) }
        }
        return leaves.sorted { comes($0.path, before: $1.path) }
    }

    /// The branches whose ends nothing goes on from, in no order.
    private func leafPaths(
        of branches: [LogBranch], ends: BranchEnds
    ) -> [(branch: Int64, path: BranchPath)] {
        var paths: [(branch: Int64, path: BranchPath)] = []
        // How far others lead over each branch.
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

    /// The ids that order a branch and the one that it leaves.
    struct ForkIDs {
        /// The first own operation.
        let own: OperationID
        /// What the branch that it leaves has in its place, `nil` where that ends before it.
        let other: OperationID?
    }

    /// Reads the ids at the place where a branch leaves another one, if they are not known.
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

    /// Where two ways part, one of them begins a branch, and the other one too or goes on with what
    /// that leaves.
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
