/// The spans of all branches: the rows of table `grant_span`, all in memory.
struct GrantSpanTable {
    private let connection: Connection
    private var byBranch: [Int64: [GrantSpan]] = [:]

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        let sql = "SELECT lid, first, gid, valid FROM grant_span ORDER BY lid, first"
        try connection.statement(sql).forEachRow { row in
            byBranch[row.integer(0), default: []].append(
                GrantSpan(
                    first: UInt64(bitPattern: row.integer(1)), grant: row.integer(2),
                    validThrough: row.optionalInteger(3).map { UInt64(bitPattern: $0) }))
        }
    }

    /// The spans of a branch's own operations, in order.
    subscript(branch: Int64) -> [GrantSpan] { byBranch[branch] ?? [] }

    /// Those of them that overlap these places.
    ///
    /// - Cost: the spans after the first of the places.
    func overlapping(_ places: ClosedRange<UInt64>, of branch: Int64) -> [GrantSpan] {
        var found: [GrantSpan] = []
        for span in self[branch].reversed() where span.first <= places.upperBound {
            found.append(span)
            if span.first <= places.lowerBound { break }
        }
        return found.reversed()
    }

    /// The span that contains a place.
    func span(at sequence: UInt64, of branch: Int64) -> GrantSpan? {
        self[branch].last { $0.first <= sequence }
    }

    mutating func setValid(
        through place: UInt64?, ofSpan index: Int, in branch: Int64
    ) throws(StorageError) {
        guard let span = byBranch[branch]?[index], span.validThrough != place else { return }
        byBranch[branch]?[index].validThrough = place
        try connection.statement(
            "UPDATE grant_span SET valid = ? WHERE lid = ? AND first = ?"
        ).run { row in
            row.bind(1, place.map { Int64(bitPattern: $0) })
            row.bind(2, branch)
            row.bind(3, Int64(bitPattern: span.first))
        }
    }

    /// Starts a span where the grant changes.
    mutating func note(
        grant: Int64, at sequence: UInt64, of branch: Int64
    ) throws(StorageError) {
        if byBranch[branch]?.last?.grant == grant { return }
        let span = GrantSpan(first: sequence, grant: grant, validThrough: nil)
        byBranch[branch, default: []].append(span)
        try insert(span, of: branch)
    }

    /// Replaces the spans of a branch, if they differ.
    mutating func replace(_ spans: [GrantSpan], of branch: Int64) throws(StorageError) {
        guard
            !spans.elementsEqual(
                self[branch], by: { $0.first == $1.first && $0.grant == $1.grant })
        else { return }
        byBranch[branch] = spans
        try connection.statement("DELETE FROM grant_span WHERE lid = ?").run(.integer(branch))
        for span in spans { try insert(span, of: branch) }
    }

    /// Removes what begins after a place.
    mutating func cut(_ branch: Int64, behind place: UInt64) throws(StorageError) {
        byBranch[branch]?.removeAll { $0.first > place }
        try connection.statement("DELETE FROM grant_span WHERE lid = ? AND first > ?")
            .run(.integer(branch), .integer(Int64(bitPattern: place)))
    }

    /// Removes all spans of a branch.
    mutating func remove(_ branch: Int64) throws(StorageError) {
        byBranch[branch] = nil
        try connection.statement("DELETE FROM grant_span WHERE lid = ?").run(.integer(branch))
    }

    private func insert(_ span: GrantSpan, of branch: Int64) throws(StorageError) {
        try connection.statement("INSERT INTO grant_span VALUES(?, ?, ?, NULL)")
            .run(
                .integer(branch), .integer(Int64(bitPattern: span.first)), .integer(span.grant))
    }
}

/// A range of a branch whose operations all cite one grant, with their validity.
///
/// An author changes grants seldom, so a branch has few spans however long it is. Changes of
/// verdicts are applied by span: they cost only the rows that change.
public struct GrantSpan: Sendable, Equatable {
    /// Its first place. It ends before the next span, or at the tip.
    public let first: UInt64
    /// The short number of the grant.
    public let grant: Int64
    /// The last valid place; may be beyond the span's end, and is the largest number if unbounded.
    /// `nil` if nothing is valid, or it was not judged yet.
    public internal(set) var validThrough: UInt64?
}
