import WorkspaceModel

/// A turn's cache of stored operations, which are soon read again: by the answer of the call that
/// wrote them, their event, the search index.
struct RecentOperations {
    /// The limits: operations in the cache, and bytes of a cached payload.
    private static let max = (count: 64, bytes: 4_096)

    /// The place columns of an operation's row.
    struct Newest {
        let place: StoredPlace
        /// When it arrived, milliseconds since 1970.
        let seen: UInt64
    }

    /// The last stored operation, which is requested most often.
    var newest: Newest?
    /// Operations stored since `begin()`, by arrival number; `nil` while nothing is cached.
    private var operations: [Int64: StoredOperation]?

    subscript(arrival: Int64) -> StoredOperation? { operations?[arrival] }

    /// Starts caching.
    mutating func begin() {
        guard operations?.isEmpty != true else { return }
        operations = [:]
    }

    /// Ends caching.
    mutating func end() { operations = nil }

    /// Drops cached rows that have changed.
    mutating func forget() {
        newest = nil
        if operations != nil { begin() }
    }

    /// Caches an operation that was just stored, while there is room.
    mutating func keep(
        _ operation: CheckedOperation, at place: StoredPlace, of branch: LogBranch, seen: UInt64,
        grant: Int64
    ) {
        newest = Newest(place: place, seen: seen)
        guard let count = operations?.count, count < Self.max.count,
            operation.payload.count <= Self.max.bytes, !operation.isPayloadAbsent
        else { return }
        let header = operation.header
        operations?[place.arrival] = StoredOperation(
            place: place, document: branch.document, log: branch.log,
            entry: OperationRun.Entry(
                kind: header.kind, timestamp: header.timestamp, grant: header.grant,
                keyID: header.keyID, dependencies: header.dependencies,
                payload: operation.payload, signature: operation.signature),
            seen: Int64(bitPattern: seen), grantNumber: grant,
            isSignatureVerified: operation.isSignatureVerified)
    }
}
