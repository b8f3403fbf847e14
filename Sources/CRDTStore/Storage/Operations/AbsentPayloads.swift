import WorkspaceCrypto
public import WorkspaceModel

/// Operations without their payloads: erased after a deletion, or missing.
///
/// An erased payload is overwritten with zeros of the same length, so that SQLite overwrites the
/// same bytes and moves no row, which would leave copies behind. Length and hash, which the header
/// needs, are in table `absent`.
extension OperationStore {
    /// Whether the bytes of a row may be those of an absent payload. A sealed one begins with 24
    /// random bytes, so hardly any other needs a look-up.
    static func isBlank(_ payload: [UInt8]) -> Bool {
        payload.first ?? 0 == 0 && payload.prefix(24).allSatisfy { $0 == 0 }
    }

    /// Length and hash of an operation's absent payload, `nil` if it is present.
    public func absentPayload(
        _ arrival: Int64
    ) throws(StorageError) -> (payload: OperationRun.AbsentPayload, isMissing: Bool)? {
        try connection.statement("SELECT plen, phash, missing FROM absent WHERE arr = ?")
            .firstRow(.integer(arrival)) { (row) throws(StorageError) in
                (
                    OperationRun.AbsentPayload(
                        length: Int(row.integer(0)), hash: try row.identifier32(1)),
                    row.integer(2) == 1
                )
            }
    }

    /// Overwrites a payload with zeros, and removes its file references.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func erasePayload(of arrival: Int64) throws(StorageError) -> Bool {
        guard let stored = try operation(arrival), stored.entry.absent == nil else { return false }
        let payload = stored.entry.payload
        recent.forget()
        try insertAbsent(
            arrival,
            OperationRun.AbsentPayload(
                length: payload.count, hash: OperationSigning.hash(ofPayload: payload)),
            isMissing: false)
        try connection.statement(
            "UPDATE operation SET payload = zeroblob(length(payload)) WHERE arr = ?"
        ).run(.integer(arrival))
        try connection.statement("DELETE FROM blob_reference WHERE arr = ?").run(.integer(arrival))
        return true
    }

    /// Writes the payload of an operation that lacks it.
    ///
    /// - Returns: `false` for bytes of another hash, and where nothing is absent.
    public func restorePayload(
        _ payload: [UInt8], of arrival: Int64
    ) throws(StorageError) -> Bool {
        guard let (absent, _) = try absentPayload(arrival), absent.length == payload.count,
            OperationSigning.hash(ofPayload: payload) == absent.hash
        else { return false }
        recent.forget()
        try connection.statement("UPDATE operation SET payload = ? WHERE arr = ?")
            .run(.blob(payload), .integer(arrival))
        try forgetAbsence(of: arrival)
        return true
    }

    /// Sets whether an absent payload is missing, or was deleted as it should be.
    public func setMissing(_ isMissing: Bool, _ arrival: Int64) throws(StorageError) {
        try connection.statement("UPDATE absent SET missing = ? WHERE arr = ?")
            .run(.integer(isMissing ? 1 : 0), .integer(arrival))
    }

    /// How many payloads are missing.
    public func missingPayloadCount() throws(StorageError) -> Int64 {
        try connection.statement("SELECT count(*) FROM absent WHERE missing = 1").integer() ?? 0
    }

    /// Whether any payload is missing.
    public func hasMissingPayloads() throws(StorageError) -> Bool {
        try connection.statement("SELECT EXISTS(SELECT 1 FROM absent WHERE missing = 1)")
            .integer() == 1
    }

    /// The arrival numbers of operations with missing payloads, after `arrival`.
    public func missingPayloads(
        after arrival: Int64, limit: Int
    ) throws(StorageError) -> [Int64] {
        try connection.statement(
            "SELECT arr FROM absent WHERE missing = 1 AND arr > ? ORDER BY arr LIMIT ?"
        ).rows(.integer(arrival), .integer(Int64(limit))) { $0.integer(0) }
    }

    // MARK: Rows

    func noteMissing(_ header: OperationHeader, arrival: Int64) throws(StorageError) {
        try insertAbsent(
            arrival,
            OperationRun.AbsentPayload(length: header.payloadLength, hash: header.payloadHash),
            isMissing: true)
    }

    private func insertAbsent(
        _ arrival: Int64, _ absent: OperationRun.AbsentPayload, isMissing: Bool
    ) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO absent VALUES(?, ?, ?, ?)").run(
            .integer(arrival), .integer(Int64(absent.length)), .blob(absent.hash.bytes),
            .integer(isMissing ? 1 : 0))
    }

    func forgetAbsence(of arrival: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM absent WHERE arr = ?").run(.integer(arrival))
    }

    /// Called before a part of a branch is removed.
    func forgetAbsence(in branch: Int64, behind place: UInt64?) throws(StorageError) {
        let first = place.map { Int64(bitPattern: $0) } ?? -1
        for table in ["absent WHERE arr", "redacted WHERE arr", "redaction WHERE by"] {
            try connection.statement(
                """
                DELETE FROM \(table) IN
                    (SELECT arr FROM operation WHERE lid = ? AND seq > ?)
                """
            ).run(.integer(branch), .integer(first))
        }
    }
}
