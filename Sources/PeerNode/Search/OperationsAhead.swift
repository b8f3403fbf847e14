import CRDTStore
import WorkspaceModel

/// Stored operations in order of arrival, read some at a time.
struct OperationsAhead {
    /// Up to which arrival number operations are asked for.
    let through: Int64
    private var read: ArraySlice<StoredOperation> = []
    private var readThrough: Int64 = 0

    /// Numbers that are asked for at once: 4 MiB of the longest payloads.
    static let countMax: Int64 = 16

    init(through: Int64) { self.through = through }

    /// The operation with a number, `nil` where there is none.
    ///
    /// - Parameter arrival: larger than in the call before.
    mutating func operation(
        _ arrival: Int64, from operations: OperationStore
    ) throws(StorageError) -> StoredOperation? {
        if arrival > readThrough {
            readThrough = max(arrival, min(through, arrival + Self.countMax - 1))
            read = try operations.operations(arrived: arrival...readThrough)[...]
        }
        while let first = read.first, first.place.arrival < arrival { read.removeFirst() }
        return read.first?.place.arrival == arrival ? read.popFirst() : nil
    }
}

/// The last place that was read of each of some branches.
struct LastPlaces {
    private var places: [Int64: StoredPlace] = [:]

    /// Branches that are remembered; then all are forgotten.
    static let countMax = 1_024

    mutating func note(_ place: StoredPlace) {
        if places.count >= Self.countMax, places[place.branch] == nil { places = [:] }
        places[place.branch] = place
    }

    /// The id of the operation right before a place, `nil` where that was not the last one.
    func previous(of place: StoredPlace) -> OperationID? {
        guard let last = places[place.branch], last.sequence < place.sequence,
            place.sequence - last.sequence == 1
        else { return nil }
        return last.link.id
    }
}
