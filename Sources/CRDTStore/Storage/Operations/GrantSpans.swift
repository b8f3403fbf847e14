/// A stretch of a branch whose operations all cite one grant, and how far they are valid.
///
/// An author changes grants seldom, so a branch has few of these however long it is. A verdict
/// that changes is therefore carried out by spans: what it costs are the rows that it changes.
public struct GrantSpan: Sendable, Equatable {
    /// Its first place. It ends before the next span, or at the tip.
    public let first: UInt64
    /// The short number of the grant.
    public let grant: Int64
    /// The last place that is valid; may lie beyond the span's end, and is the largest number
    /// where nothing bounds it. `nil` where nothing is valid, and before it was judged.
    public internal(set) var validThrough: UInt64?
}

extension OperationStore {
    /// The spans of a branch's own operations, in order.
    public func spans(of branch: Int64) -> [GrantSpan] { spansByBranch[branch] ?? [] }

    /// Those of them that have any of these places.
    ///
    /// - Cost: the spans behind the first of the places.
    public func spans(
        of branch: Int64, overlapping places: ClosedRange<UInt64>
    ) -> [GrantSpan] {
        var found: [GrantSpan] = []
        for span in (spansByBranch[branch] ?? []).reversed() where span.first <= places.upperBound {
            found.append(span)
            if span.first <= places.lowerBound { break }
        }
        return found.reversed()
    }

    /// The places of one span; `index` counts from the branch's first one.
    public func places(ofSpan index: Int, in branch: Int64) -> ClosedRange<UInt64>? {
        guard let tip = branches[branch]?.tipSequence, let spans = spansByBranch[branch],
            spans.indices.contains(index)
        else { return nil }
        let next = index + 1 < spans.count ? spans[index + 1].first : nil
        let last = next.map { $0 - 1 } ?? tip
        guard last >= spans[index].first else { return nil }
        return spans[index].first...last
    }

    /// The last valid operation among a branch's own, `nil` for none.
    public func lastValid(of branch: Int64) -> UInt64? {
        let spans = spansByBranch[branch] ?? []
        for index in spans.indices.reversed() {
            guard let through = spans[index].validThrough,
                let places = places(ofSpan: index, in: branch), through >= places.lowerBound
            else { continue }
            return min(through, places.upperBound)
        }
        return nil
    }

    /// Whether the operation at `sequence`, one of the branch's own, is valid.
    public func isValid(_ sequence: UInt64, in branch: Int64) -> Bool {
        guard let span = (spansByBranch[branch] ?? []).last(where: { $0.first <= sequence }),
            let through = span.validThrough
        else { return false }
        return sequence <= through
    }

    /// Notes how far a span is valid.
    public func setValid(
        through place: UInt64?, ofSpan index: Int, in branch: Int64
    ) throws(StorageError) {
        guard let span = spansByBranch[branch]?[index], span.validThrough != place else { return }
        spansByBranch[branch]?[index].validThrough = place
        try connection.statement(
            "UPDATE grant_span SET valid = ? WHERE lid = ? AND first = ?"
        ).run { row in
            row.bind(1, place.map { Int64(bitPattern: $0) })
            row.bind(2, branch)
            row.bind(3, Int64(bitPattern: span.first))
        }
    }

    /// Begins a span where the grant changes.
    func note(grant: Int64, at sequence: UInt64, of branch: Int64) throws(StorageError) {
        if spansByBranch[branch]?.last?.grant == grant { return }
        spansByBranch[branch, default: []].append(
            GrantSpan(first: sequence, grant: grant, validThrough: nil))
        try connection.statement("INSERT INTO grant_span VALUES(?, ?, ?, NULL)")
            .run(.integer(branch), .integer(Int64(bitPattern: sequence)), .integer(grant))
    }

    /// Makes the spans of a branch anew where its rows cite other grants than the spans say: which
    /// grant a lost row cited is known once it is back. What counts of them is to be judged then.
    func respan(_ branch: Int64) throws(StorageError) {
        guard let first = branches[branch]?.forkSequence else { return }
        var spans: [GrantSpan] = []
        try connection.statement("SELECT seq, gid FROM operation WHERE lid = ? ORDER BY seq")
            .forEachRow(.integer(branch)) { row in
                let grant = row.integer(1)
                // A row that is lost still cites nothing.
                guard grant != spans.last?.grant, grant != 0 || spans.isEmpty else { return }
                spans.append(
                    GrantSpan(
                        first: spans.isEmpty ? first : UInt64(bitPattern: row.integer(0)),
                        grant: grant, validThrough: nil))
            }
        let known = spansByBranch[branch] ?? []
        guard !spans.elementsEqual(known, by: { $0.first == $1.first && $0.grant == $1.grant })
        else { return }
        spansByBranch[branch] = spans
        try connection.statement("DELETE FROM grant_span WHERE lid = ?").run(.integer(branch))
        for span in spans {
            try connection.statement("INSERT INTO grant_span VALUES(?, ?, ?, NULL)")
                .run(
                    .integer(branch), .integer(Int64(bitPattern: span.first)),
                    .integer(span.grant))
        }
    }

    func loadSpans() throws(StorageError) {
        let sql = "SELECT lid, first, gid, valid FROM grant_span ORDER BY lid, first"
        try connection.statement(sql).forEachRow { row in
            spansByBranch[row.integer(0), default: []].append(
                GrantSpan(
                    first: UInt64(bitPattern: row.integer(1)), grant: row.integer(2),
                    validThrough: row.optionalInteger(3).map { UInt64(bitPattern: $0) }))
        }
    }

    /// Where the own operations of a branch at these places stand in the view.
    public func positions(
        in branch: Int64, _ range: ClosedRange<UInt64>
    ) throws(StorageError) -> [ViewStore.Position] {
        let sql = "SELECT sort, arr FROM operation WHERE lid = ? AND seq BETWEEN ? AND ?"
        var found: [ViewStore.Position] = []
        let bounds: [SQLValue] = [
            .integer(branch), .integer(Int64(bitPattern: range.lowerBound)),
            .integer(Int64(bitPattern: range.upperBound)),
        ]
        try connection.statement(sql).scan(bounds) { row in
            found.append(.init(sort: row.integer(0), arrival: row.integer(1)))
            return .next
        }
        return found
    }
}
