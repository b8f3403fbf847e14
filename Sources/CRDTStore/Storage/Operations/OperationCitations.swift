import WorkspaceModel

/// What operations cite on other branches of their document, in both directions: what has to stay
/// for what, without going through the document.
///
/// It follows from the operations. Of authority documents nothing is noted: none of them is removed.
extension OperationStore {
    /// An operation, by where it is stored.
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

    /// What the own operations of a branch at these places cite on other branches, and where the
    /// branch leaves its parent, if its first place is among them.
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

    /// The last of a branch's own operations behind `place` that something cites which counts.
    ///
    /// - Cost: the citations of what lies behind that operation.
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

    /// Notes what an operation cites that was just stored.
    func note(_ cited: [StoredPlace], by citing: BranchPlace) throws(StorageError) {
        for place in cited where place.branch != citing.branch {
            try connection.statement("INSERT OR IGNORE INTO citation VALUES(?, ?, ?, ?)").run(
                .integer(place.branch), .integer(Int64(bitPattern: place.sequence)),
                .integer(citing.branch), .integer(Int64(bitPattern: citing.sequence)))
        }
    }

    /// Notes anew what an operation cites whose row was damaged.
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

    /// Notes anew what all operations cite.
    public func noteAllCitations() throws(StorageError) {
        try connection.execute("DELETE FROM citation")
        try Citations(connection).fill()
    }

    /// Forgets what a branch cites behind a place; all that it has to do with where that is `nil`.
    func forgetCitations(of branch: Int64, behind place: UInt64?) throws(StorageError) {
        try connection.statement("DELETE FROM citation WHERE by_lid = ? AND by_seq > ?")
            .run(.integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1))
        try connection.statement("DELETE FROM citation WHERE lid = ? AND seq > ?")
            .run(.integer(branch), .integer(place.map { Int64(bitPattern: $0) } ?? -1))
    }
}

/// Makes table `citation` of the operations of a store.
struct Citations {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Notes what all operations cite, in a store that says nothing of it yet.
    func fill() throws(StorageError) {
        let sql = """
            SELECT operation.lid, seq, deps, did FROM operation INDEXED BY operation_citing
                JOIN log USING(lid) JOIN document USING(did)
                WHERE deps IS NOT NULL AND workspace <> did
            """
        try connection.statement(sql).forEachRow { (row) throws(StorageError) in
            // A damaged row is written again, and noted then.
            guard let blob = row.optionalBlob(2), let references = try? decodedReferences(blob)
            else { return }
            let citing = OperationStore.BranchPlace(
                branch: row.integer(0), sequence: UInt64(bitPattern: row.integer(1)))
            try note(references, by: citing, in: row.integer(3))
        }
    }

    /// Notes what one operation of a document cites.
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

    /// The branch whose row holds what is cited; where no row has the id, one that lost its own.
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
