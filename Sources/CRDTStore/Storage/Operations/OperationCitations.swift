import WorkspaceModel

/// The citations between branches of a document, in both directions, so that retention need not
/// scan the document.
///
/// Derived from the operations. Authority documents have none here, since none of their
/// operations is removed.
extension OperationStore {
    /// An operation by its storage place.
    public struct BranchPlace: Hashable, Sendable {
        /// The branch whose row holds it.
        public let branch: Int64
        /// Its place in the log.
        public let sequence: UInt64

        /// The operation `sequence` of a branch's own.
        public init(branch: Int64, sequence: UInt64) {
            self.branch = branch
            self.sequence = sequence
        }
    }

    /// The citations on other branches of a branch's own operations at these places, and the fork
    /// from the parent if the first place is among them.
    public func past(
        of branch: Int64, at places: ClosedRange<UInt64>
    ) throws(StorageError) -> [BranchPlace] {
        var past: [BranchPlace] = []
        let sql = """
            SELECT lid, seq FROM citation INDEXED BY citation_by
                WHERE by_lid = ? AND by_seq BETWEEN ? AND ?
            """
        let bounds: [SQLValue] = [
            .integer(branch), .integer(Int64(bitPattern: places.lowerBound)),
            .integer(Int64(bitPattern: places.upperBound)),
        ]
        try connection.statement(sql).scan(bounds) { row in
            past.append(
                .init(branch: row.integer(0), sequence: UInt64(bitPattern: row.integer(1))))
            return .next
        }
        guard let fork = branches[branch]?.forkSequence, fork > 0, places.lowerBound == fork,
            let parent = owner(of: fork - 1, in: branch)
        else { return past }
        past.append(.init(branch: parent, sequence: fork - 1))
        return past
    }

    /// The last of a branch's own operations after `place` that a counted operation cites.
    ///
    /// - Cost: the citations of what follows that operation.
    func lastCited(
        in branch: Int64, behind place: UInt64?, by counts: (BranchPlace) -> Bool
    ) throws(StorageError) -> UInt64? {
        var last: UInt64?
        let sql = """
            SELECT seq, by_lid, by_seq FROM citation WHERE lid = ? AND seq > ? ORDER BY seq DESC
            """
        let bounds: [SQLValue] = [
            .integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1),
        ]
        try connection.statement(sql).scan(bounds) { row in
            let citing = BranchPlace(
                branch: row.integer(1), sequence: UInt64(bitPattern: row.integer(2)))
            guard counts(citing) else { return .next }
            last = UInt64(bitPattern: row.integer(0))
            return .stop
        }
        return last
    }

    /// Records the citations of an operation that was just stored.
    func note(_ cited: [StoredPlace], by citing: BranchPlace) throws(StorageError) {
        for place in cited where place.branch != citing.branch {
            try connection.statement("INSERT OR IGNORE INTO citation VALUES(?, ?, ?, ?)").run(
                .integer(place.branch), .integer(Int64(bitPattern: place.sequence)),
                .integer(citing.branch), .integer(Int64(bitPattern: citing.sequence)))
        }
    }

    /// Records the citations of an operation whose row was repaired.
    func note(
        _ header: OperationHeader, by citing: BranchPlace
    ) throws(StorageError) {
        guard let number = branches[citing.branch]?.document, let document = documents[number],
            document.workspace != document.number
        else { return }
        try connection.statement("DELETE FROM citation WHERE by_lid = ? AND by_seq = ?")
            .run(.integer(citing.branch), .integer(Int64(bitPattern: citing.sequence)))
        try Citations(connection).note(header.dependencies, by: citing, in: number)
    }

    /// Rebuilds all citations.
    public func noteAllCitations() throws(StorageError) {
        try connection.execute("DELETE FROM citation")
        try Citations(connection).fill()
    }

    /// Removes a branch's citations after a place; for `nil` everything about the branch.
    func forgetCitations(of branch: Int64, behind place: UInt64?) throws(StorageError) {
        try connection.statement("DELETE FROM citation WHERE by_lid = ? AND by_seq > ?")
            .run(.integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1))
        try connection.statement("DELETE FROM citation WHERE lid = ? AND seq > ?")
            .run(.integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1))
    }
}

/// Fills table `citation` from a store's operations.
struct Citations {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Records all citations, in a store without any.
    func fill() throws(StorageError) {
        let sql = """
            SELECT operation.lid, seq, deps, did FROM operation INDEXED BY operation_citing
                JOIN log USING(lid) JOIN document USING(did)
                WHERE deps IS NOT NULL AND workspace <> did
            """
        try connection.statement(sql).forEachRow { (row) throws(StorageError) in
            // A damaged row is recorded when it is repaired.
            guard let blob = row.optionalBlob(2), let references = try? decodedReferences(blob)
            else { return }
            let citing = OperationStore.BranchPlace(
                branch: row.integer(0), sequence: UInt64(bitPattern: row.integer(1)))
            try note(references, by: citing, in: row.integer(3))
        }
    }

    /// Records the citations of one operation of a document.
    func note(
        _ references: [OperationReference], by citing: OperationStore.BranchPlace,
        in document: Int64
    ) throws(StorageError) {
        let insert = try connection.statement("INSERT OR IGNORE INTO citation VALUES(?, ?, ?, ?)")
        for reference in references {
            guard let cited = try branch(of: reference, in: document), cited != citing.branch
            else { continue }
            try insert.run(
                .integer(cited), .integer(Int64(bitPattern: reference.sequence)),
                .integer(citing.branch), .integer(Int64(bitPattern: citing.sequence)))
        }
    }

    /// The branch that stores the cited operation; if no row has the id, one with
    /// a damaged row there.
    private func branch(
        of reference: OperationReference, in document: Int64
    ) throws(StorageError) -> Int64? {
        let sql = """
            SELECT operation.lid FROM log JOIN operation USING(lid)
                WHERE did = ?1 AND device = ?2 AND inc = ?3 AND seq = ?4 AND (id = ?5
                    OR EXISTS(SELECT 1 FROM damaged
                        WHERE damaged.lid = operation.lid AND damaged.seq = ?4))
                ORDER BY id = ?5 DESC LIMIT 1
            """
        return try connection.statement(sql).integer(
            .integer(document), .blob(reference.device.bytes),
            .integer(Int64(reference.incarnation)),
            .integer(Int64(bitPattern: reference.sequence)), .blob(reference.id.bytes))
    }
}
