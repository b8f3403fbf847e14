import WorkspaceModel

/// What a turn has stored and will soon be read again: by the answer of the call that wrote it, its
/// event, the index of the search.
struct RecentOperations {
    /// Operations that are kept as they were stored, and bytes of a payload that are.
    private static let max = (count: 64, bytes: 4_096)

    /// What the row of an operation says of its place.
    struct Newest {
        let place: StoredPlace
        /// When it came, milliseconds since 1970.
        let seen: UInt64
    }

    /// What was stored last, which is asked for at once more than anything else.
    var newest: Newest?
    /// What was stored since `begin()`, by arrival number; `nil` where none is kept.
    private var operations: [Int64: StoredOperation]?

    subscript(arrival: Int64) -> StoredOperation? { operations?[arrival] }

    /// Keeps what is stored from now on.
    mutating func begin() {
        guard operations?.isEmpty != true else { return }
        operations = [:]
    }

    /// Keeps nothing from now on.
    mutating func end() { operations = nil }

    /// Rows say something else from now on than they did when they were stored.
    mutating func forget() {
        newest = nil
        if operations != nil { begin() }
    }

    /// Keeps an operation that was stored just now, while there is room.
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
