public import WorkspaceModel

extension OperationStore {
    /// The first of `runs(of:from:through:byteCountMax:)`.
    public func run(
        of branch: Int64, from first: UInt64, through last: UInt64, byteCountMax: Int
    ) throws(StorageError) -> OperationRun? {
        try piece(of: branch, from: first, through: last, byteCountMax)?.run
    }

    /// A branch's operations from `first` to `last`, or until `byteCountMax` is reached: bytes of a
    /// message, by `encodedBytesMax`. The first run is included whatever its size.
    ///
    /// Each run ends on an operation whose signature was verified here, since only such a run
    /// convinces its receiver. So the last one goes beyond `last`, and beyond the bytes, if the
    /// next verified signature is later: by less than a segment.
    ///
    /// At a fork, the operations before the forking place may be covered only by a later signature
    /// on the other branch. They arrived with that signature, and together with the operations here
    /// they could exceed what one signature may cover. So they are sent as a run of the other
    /// branch, up to that signature.
    ///
    /// - Returns: the runs, none if nothing from `first` on is stored; and whether
    ///   they include `last`.
    public func runs(
        of branch: Int64, from first: UInt64, through last: UInt64, byteCountMax: Int
    ) throws(StorageError) -> (runs: [OperationRun], isWhole: Bool) {
        var runs: [OperationRun] = []
        var (next, left) = (first, byteCountMax)
        while next <= last, runs.isEmpty || left > 0 {
            guard
                let piece = try piece(
                    of: branch, from: next, through: last,
                    max(left, 0) - OperationRun.encodedHeadBytesMax)
            else { break }
            left -= piece.run.encodedBytesMax
            guard left >= 0 || runs.isEmpty else { break }
            runs.append(piece.run)
            next = piece.next
        }
        return (runs, next > last)
    }

    /// A run, and the next place of the branch.
    private typealias Piece = (run: OperationRun, next: UInt64)

    private func piece(
        of branch: Int64, from first: UInt64, through last: UInt64, _ byteCountMax: Int
    ) throws(StorageError) -> Piece? {
        guard let log = branches[branch]?.log, first <= last else { return nil }
        let previous = try previous(ofPlace: first, in: branch)
        guard first == 0 || previous != nil else { return nil }
        var reading = RunReading()
        var next = first
        // Up to where the operations read are on this branch.
        var end: UInt64 = .max
        while !reading.isFull, let owner = owner(of: next, in: branch) {
            let lastOwn = lastOwn(of: owner, towards: branch)
            try read(owner, next...lastOwn, wanted: last, byteCountMax, into: &reading)
            guard !reading.isFull, lastOwn < .max else { break }
            if !reading.isVouched, let voucher = try voucher(of: owner, behind: lastOwn) {
                try read(owner, lastOwn + 1...voucher, wanted: last, byteCountMax, into: &reading)
                end = lastOwn
                break
            }
            next = lastOwn + 1
        }
        guard let entries = reading.finished, !entries.isEmpty else { return nil }
        let run = OperationRun(
            log: log, firstSequence: first, previous: previous, entries: entries)
        return (run, min(first + UInt64(entries.count - 1), end) + 1)
    }

    /// The first place of a branch's own after `place` with a signature verified here.
    private func voucher(
        of branch: Int64, behind place: UInt64
    ) throws(StorageError) -> UInt64? {
        guard place < branches[branch]?.tipSequence ?? 0 else { return nil }
        return try connection.statement(
            "SELECT seq FROM operation WHERE lid = ? AND seq > ? AND sigok <> 0 ORDER BY seq LIMIT 1"
        ).integer(.integer(branch), .integer(Int64(bitPattern: place)))
            .map { UInt64(bitPattern: $0) }
    }

    /// The id of the operation before a place, `nil` if there is none, or it is damaged: its stored
    /// id may not be the right one.
    private func previous(
        ofPlace sequence: UInt64, in branch: Int64
    ) throws(StorageError) -> OperationID? {
        guard sequence > 0, let owner = owner(of: sequence - 1, in: branch),
            !damage.contains(sequence - 1, in: owner)
        else { return nil }
        return try link(in: owner, at: sequence - 1)?.id
    }

    /// The last place that belongs to `owner` on the path to the tip of `branch`.
    private func lastOwn(of owner: Int64, towards branch: Int64) -> UInt64 {
        var number = branch
        var end = branches[branch]?.tipSequence ?? 0
        while number != owner, let current = branches[number], let parent = current.parent {
            // The minimum: a branch may fork below the place where its parent began.
            if current.forkSequence > 0 { end = min(end, current.forkSequence - 1) }
            number = parent
        }
        return end
    }

    private struct RunReading {
        var entries: [OperationRun.Entry] = []
        var byteCount = 0
        var lastSigned = -1
        var isFull = false

        /// Whether a verified signature covers all of it.
        var isVouched: Bool { lastSigned == entries.count - 1 }

        /// The entries up to the last one that may end a run.
        var finished: [OperationRun.Entry]? {
            lastSigned < 0 ? nil : Array(entries.prefix(lastSigned + 1))
        }
    }

    private func read(
        _ owner: Int64, _ range: ClosedRange<UInt64>, wanted last: UInt64, _ byteCountMax: Int,
        into reading: inout RunReading
    ) throws(StorageError) {
        let sql = """
            SELECT seq, kind, hlc, gid, kid, deps, payload, sig, sigok, arr FROM operation
                WHERE lid = ? AND seq BETWEEN ? AND ? ORDER BY seq
            """
        let bounds: [SQLValue] = [
            .integer(owner), .integer(Int64(bitPattern: range.lowerBound)),
            .integer(Int64(bitPattern: range.upperBound)),
        ]
        try connection.statement(sql).scan(bounds) { (row) throws(StorageError) in
            // A damaged operation would make the receiver drop us.
            if damage.contains(UInt64(bitPattern: row.integer(0)), in: owner) {
                reading.isFull = true
                return .stop
            }
            let entry = try entry(row, sql, arrival: row.integer(9))
            let byteCount = entry.encodedBytesMax
            if reading.byteCount + byteCount > byteCountMax, reading.lastSigned >= 0 {
                reading.isFull = true
                return .stop
            }
            reading.byteCount += byteCount
            reading.entries.append(entry)
            guard row.integer(8) != 0 else { return .next }
            reading.lastSigned = reading.entries.count - 1
            reading.isFull = UInt64(bitPattern: row.integer(0)) >= last
            return reading.isFull ? .stop : .next
        }
    }

    func entry(
        _ row: borrowing Row, _ sql: String, arrival: Int64
    ) throws(StorageError) -> OperationRun.Entry {
        guard let grant = names.grant(row.integer(3)),
            let signature = Signature(untrusted: row.blob(7))
        else { throw StorageError(.corrupt, "an operation without grant or signature") }
        var keyID: KeyID?
        if let number = row.optionalInteger(4) { keyID = try names.key(number) }
        let payload = row.blob(6)
        let absent = Self.isBlank(payload) ? try absentPayload(arrival)?.payload : nil
        return OperationRun.Entry(
            kind: UInt64(bitPattern: row.integer(1)),
            timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(2))), grant: grant,
            keyID: keyID, dependencies: try references(row.optionalBlob(5), sql),
            payload: absent == nil ? payload : [], absent: absent, signature: signature)
    }

    private func references(
        _ blob: [UInt8]?, _ sql: String
    ) throws(StorageError) -> [OperationReference] {
        guard let blob else { return [] }
        do throws(Malformed) {
            return try decodedReferences(blob)
        } catch {
            throw StorageError(.corrupt, "dependencies: \(error)", statement: sql)
        }
    }
}
