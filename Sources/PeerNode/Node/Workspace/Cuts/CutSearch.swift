import CRDTStore
import WorkspaceModel

/// Finds the places that cuts name on the branches of one log. Each place is read once, however
/// many entries refer to it.
struct CutSearch {
    /// An operation at one place.
    private struct Found {
        let holder: Int64
        let id: Identifier16<Named.Operation>
    }

    private let branch: LogBranch
    private let operations: OperationStore
    private let workspace: Int64
    /// The branches of its log; a place may be on any of them.
    private lazy var holders = operations.branches(of: branch.log, in: workspace)
    private var places: [UInt64: [Found]] = [:]
    /// Entries that were looked for.
    private(set) var looks = 0

    init(_ branch: LogBranch, _ operations: OperationStore, workspace: Int64) {
        self.branch = branch
        self.operations = operations
        self.workspace = workspace
    }

    /// The last place of the branch that counts by one of the alternatives, `nil` for none: one of
    /// the seats is enough.
    mutating func bound(of limit: PrivateContentLimit) throws(StorageError) -> UInt64? {
        var bound: UInt64?
        for alternative in limit.alternatives {
            guard let last = try self.bound(of: alternative) else { continue }
            bound = max(bound ?? 0, last)
        }
        return bound
    }

    /// The last place of the branch that is, or comes before, what one of each group names, `nil`
    /// for none.
    mutating func bound(of limit: ContentLimit) throws(StorageError) -> UInt64? {
        switch limit {
        case .everything: return .max
        case .nothing: return nil
        case .cuts(let groups):
            var bound = UInt64.max
            for group in groups {
                var reach: UInt64?
                for cut in group {
                    guard let last = try lastCovered(by: cut) else { continue }
                    reach = max(reach ?? 0, last)
                }
                guard let reach else { return nil }
                bound = min(bound, reach)
            }
            return bound
        }
    }

    /// The last place of the branch at or before the one that a cut names, on whichever branch of
    /// the log that is, since the part that branches share is the same.
    private mutating func lastCovered(by cut: CutPlace) throws(StorageError) -> UInt64? {
        looks += 1
        guard let found = try at(cut.sequence).first(where: { $0.id == cut.id }) else { return nil }
        return operations.lastCommon(
            of: branch.number, with: found.holder, through: cut.sequence)
    }

    private mutating func at(_ sequence: UInt64) throws(StorageError) -> [Found] {
        if let known = places[sequence] { return known }
        var found: [Found] = []
        var owners: Set<Int64> = []
        for holder in holders where holder.tipSequence >= sequence {
            guard let owner = operations.owner(of: sequence, in: holder.number),
                owners.insert(owner).inserted,
                let link = try operations.link(in: owner, at: sequence)
            else { continue }
            found.append(Found(holder: holder.number, id: Identifier16(prefixOf: link.id)))
        }
        places[sequence] = found
        return found
    }
}
