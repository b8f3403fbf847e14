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
    /// Arrival numbers that no operation has, taken since `begin()`.
    private var unused: [Int64] = []
    /// Credible times that were asked for since a row changed, by arrival number. Few are, again
    /// and again: those at which this person joined a conversation.
    private var times: [Int64: HybridTimestamp] = [:]

    /// The credible time of an operation, if it is known.
    func time(at arrival: Int64) -> HybridTimestamp? {
        if let newest, newest.place.arrival == arrival {
            return newest.place.link.timestamp.credible(at: newest.seen)
        }
        return times[arrival]
    }

    /// Keeps a credible time that was read, beyond the turn.
    mutating func keep(_ time: HybridTimestamp?, at arrival: Int64) {
        if times.count >= Self.max.count { times = [:] }
        times[arrival] = time
    }

    subscript(arrival: Int64) -> StoredOperation? { operations?[arrival] }

    /// Whether this arrival number is known to belong to no operation.
    func isUnused(_ arrival: Int64) -> Bool { unused.contains(arrival) }

    /// Notes an arrival number that was taken without an operation, while there is room.
    mutating func note(unused arrival: Int64) {
        if operations != nil, unused.count < Self.max.count { unused.append(arrival) }
    }

    /// Starts caching.
    mutating func begin() {
        unused.removeAll(keepingCapacity: true)
        guard operations?.isEmpty != true else { return }
        operations = [:]
    }

    /// Ends caching.
    mutating func end() { operations = nil }

    /// Drops cached rows that have changed.
    mutating func forget() {
        newest = nil
        times = [:]
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
