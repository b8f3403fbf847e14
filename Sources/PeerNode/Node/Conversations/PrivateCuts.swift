import CRDTStore
import WorkspaceModel

/// How far valid removals and departures keep each log of a private document. Computed on demand
/// and once per log, however long the log is and however many of them there are.
///
/// It is discarded when the document is judged again.
struct PrivateCuts {
    /// A range of a log on one branch.
    private struct BranchRange: Hashable {
        let place: PrivateDocument.LimitPlace
        let branch: Int64
    }

    /// By log, and by the engine's record of the operation that ends a seat.
    private var kept: [LogName: [Int: ArraySlice<CutPlace>]] = [:]
    /// The beginnings of the ids that these name. Two may be alike: then a document is read once
    /// more than it had to be.
    private var named: [LogName: Set<UInt64>] = [:]
    private var bounds: [BranchRange: UInt64?] = [:]
    /// Entries that were looked for among what is stored; for tests.
    private(set) var looks = 0

    /// How far an operation that ends a seat keeps a log.
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

    /// The cached bound of a range on a branch: the last valid place, `.some(nil)` where nothing
    /// counts.
    func bound(of place: PrivateDocument.LimitPlace, on branch: Int64) -> UInt64?? {
        bounds[BranchRange(place: place, branch: branch)]
    }

    mutating func note(
        _ bound: UInt64?, of place: PrivateDocument.LimitPlace, on branch: Int64, looks: Int
    ) {
        bounds.updateValue(bound, forKey: BranchRange(place: place, branch: branch))
        self.looks &+= looks
    }

    /// Called when an operation came at which something ends, or went: other places may count.
    mutating func forgetBounds() { bounds = [:] }

    /// About the bytes that it takes besides what the operations list; for tests.
    var byteCount: Int {
        named.values.reduce(0) { $0 + 2 * MemoryLayout<UInt64>.stride * $1.count }
    }
}
