import CRDTStore
import WorkspaceModel

/// What valid removals and departures leave of the logs of a private document, as far as anybody
/// asked: found out once for each log, however much is written there and however many of them
/// there are.
///
/// It serves until the document is judged anew.
struct PrivateCuts {
    /// A stretch of a log on one branch.
    private struct Stretch: Hashable {
        let place: PrivateDocument.LimitPlace
        let branch: Int64
    }

    /// By log, and by the engine's record of the operation that ends a seat.
    private var kept: [LogName: [Int: ArraySlice<CutPlace>]] = [:]
    /// The beginnings of the ids that these name. Two may be alike: then a document is read once
    /// more than it had to be.
    private var named: [LogName: Set<UInt64>] = [:]
    private var bounds: [Stretch: UInt64?] = [:]
    /// Entries that were looked for among what is stored; for tests.
    private(set) var looks = 0

    /// What an operation that ends a seat leaves of a log.
    mutating func places(
        of end: Int, in log: LogName, _ authority: PrivateAuthority
    ) -> ArraySlice<CutPlace> {
        if let known = kept[log]?[end] { return known }
        let found = authority.cuts(of: end, in: log)
        kept[log, default: [:]][end] = found
        named[log, default: []].formUnion(found.map(\.id.words.0))
        return found
    }

    /// Whether something that was asked about ends at this operation.
    func names(_ id: OperationID, of log: LogName) -> Bool {
        named[log]?.contains(id.words.0) == true
    }

    /// Whether something that was asked about leaves places of a log.
    func concern(_ log: LogName) -> Bool { named[log]?.isEmpty == false }

    /// How far a stretch counts on a branch, as it was found out: the last place, `.some(nil)` where
    /// nothing counts.
    func bound(of place: PrivateDocument.LimitPlace, on branch: Int64) -> UInt64?? {
        bounds[Stretch(place: place, branch: branch)]
    }

    mutating func note(
        _ bound: UInt64?, of place: PrivateDocument.LimitPlace, on branch: Int64, looks: Int
    ) {
        bounds.updateValue(bound, forKey: Stretch(place: place, branch: branch))
        self.looks &+= looks
    }

    /// Called when an operation came at which something ends, or went: other places may count.
    mutating func forgetBounds() { bounds = [:] }

    /// About the bytes that it takes besides what the operations list; for tests.
    var byteCount: Int {
        named.values.reduce(0) { $0 + 2 * MemoryLayout<UInt64>.stride * $1.count }
    }
}

/// Looks for what cuts name on the branches of one log. Each place is read once, however many
/// entries stand for it.
struct CutSearch {
    /// An operation at one place.
    private struct Found {
        let holder: Int64
        let id: Identifier16<Named.Operation>
    }

    private let branch: LogBranch
    private let holders: [LogBranch]
    private let operations: OperationStore
    private var places: [UInt64: [Found]] = [:]
    /// Entries that were looked for.
    private(set) var looks = 0

    init(_ branch: LogBranch, _ operations: OperationStore, workspace: Int64) {
        self.branch = branch
        self.operations = operations
        holders = operations.branches(of: branch.log, in: workspace)
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
