/// The validity of branches, by spans of one grant.
extension OperationStore {
    /// The spans of a branch's own operations, in order.
    public func spans(of branch: Int64) -> [GrantSpan] { spans[branch] }

    /// Those of them that overlap these places.
    ///
    /// - Cost: the spans after the first of the places.
    public func spans(
        of branch: Int64, overlapping places: ClosedRange<UInt64>
    ) -> [GrantSpan] {
        spans.overlapping(places, of: branch)
    }

    /// The places of one span; `index` counts from the branch's first one.
    public func places(ofSpan index: Int, in branch: Int64) -> ClosedRange<UInt64>? {
        let spans = spans[branch]
        guard let tip = branches[branch]?.tipSequence, spans.indices.contains(index) else {
            return nil
        }
        let next = index + 1 < spans.count ? spans[index + 1].first : nil
        let last = next.map { $0 - 1 } ?? tip
        guard last >= spans[index].first else { return nil }
        return spans[index].first...last
    }

    /// The last valid one of a branch's own operations, `nil` for none.
    public func lastValid(of branch: Int64) -> UInt64? {
        let spans = spans[branch]
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
        guard let through = spans.span(at: sequence, of: branch)?.validThrough else { return false }
        return sequence <= through
    }

    /// Sets how far a span is valid.
    public func setValid(
        through place: UInt64?, ofSpan index: Int, in branch: Int64
    ) throws(StorageError) {
        try spans.setValid(through: place, ofSpan: index, in: branch)
    }

    /// Rebuilds the spans of a branch whose rows cite other grants: the grant of a lost row is
    /// known once the row is restored. They must be judged again then.
    func respan(_ branch: Int64) throws(StorageError) {
        guard let first = branches[branch]?.forkSequence else { return }
        var spans: [GrantSpan] = []
        try connection.statement("SELECT seq, gid FROM operation WHERE lid = ? ORDER BY seq")
            .forEachRow(.integer(branch)) { row in
                let grant = row.integer(1)
                // A row that is still lost cites nothing.
                guard grant != spans.last?.grant, grant != 0 || spans.isEmpty else { return }
                spans.append(
                    GrantSpan(
                        first: spans.isEmpty ? first : UInt64(bitPattern: row.integer(0)),
                        grant: grant, validThrough: nil))
            }
        try self.spans.replace(spans, of: branch)
    }

    /// The view positions of a branch's own operations at these places.
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
