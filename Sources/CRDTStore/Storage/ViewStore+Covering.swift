import WorkspaceModel

/// Which annotations are overwritten: those that a valid one of their register has in its past.
extension ViewStore {
    struct RowState {
        let isHidden: Bool
        let isCovered: Bool
    }

    func state(
        of id: OperationID, in register: Annotation.Register
    ) throws(StorageError) -> RowState? {
        var found: RowState?
        try connection.statement(
            "SELECT hidden, covered FROM annotation \(Annotation.Register.match) AND id = ?"
        ).scan(register.values + [.blob(id.bytes)]) { row in
            found = RowState(isHidden: row.integer(0) == 1, isCovered: row.integer(1) == 1)
            return .stop
        }
        return found
    }

    /// Whether something that cites this counts, or is covered: it may have been opened before.
    func isCovered(
        _ id: OperationID, in register: Annotation.Register
    ) throws(StorageError) -> Bool {
        var isCovered = false
        try connection.statement(
            """
            SELECT 1 FROM annotation_past p INDEXED BY annotation_citing
                CROSS JOIN annotation a ON a.did = p.did
                AND a.key_hlc = p.key_hlc AND a.key_id = p.key_id AND a.kind = ?4
                AND a.member = ?5 AND a.tag = ?6 AND a.id = p.id
                WHERE p.did = ?1 AND p.key_hlc = ?2 AND p.key_id = ?3 AND p.cited = ?7
                AND (a.hidden = 0 OR a.covered = 1) LIMIT 1
            """
        ).scan(register.values + [.blob(id.bytes)]) { _ in
            isCovered = true
            return .stop
        }
        return isCovered
    }

    func cited(
        by id: OperationID, in register: Annotation.Register
    ) throws(StorageError) -> [OperationID] {
        var cited: [OperationID] = []
        try connection.statement(
            """
            SELECT cited FROM annotation_past
                WHERE did = ? AND key_hlc = ? AND key_id = ? AND id = ?
            """
        ).scan(register.place + [.blob(id.bytes)]) { (row) throws(StorageError) in
            cited.append(try row.identifier32(0))
            return .next
        }
        return cited
    }

    /// Covers what an operation has in its past. What is covered has a covered past, so over the
    /// years each row is looked at once.
    func cover(
        pastOf id: OperationID, in register: Annotation.Register
    ) throws(StorageError) {
        var open = try cited(by: id, in: register)
        while let next = open.popLast() {
            guard let known = try state(of: next, in: register), !known.isCovered else { continue }
            try connection.statement(
                "UPDATE annotation SET covered = 1 \(Annotation.Register.match) AND id = ?"
            ).run(register.values + [.blob(next.bytes)])
            open += try cited(by: next, in: register)
        }
    }

    /// Covers what has to be, and nothing else, after rows of a register that were not covered became
    /// valid, or lost that.
    func cover(
        after changed: [OperationID], areValid: Bool, in register: Annotation.Register
    ) throws(StorageError) {
        guard areValid, changed.count <= Self.walkedSinglyMax else {
            return try coverAnew(register)
        }
        for id in changed { try cover(pastOf: id, in: register) }
    }

    /// So many rows are followed one by one; of more the whole register is read at once.
    private static let walkedSinglyMax = 16

    /// Covers a register from nothing, in as many statements as rows change: what cites very much, and
    /// is taken back and given again, is read in one go.
    func coverAnew(_ register: Annotation.Register) throws(StorageError) {
        let graph = try CitingGraph(of: register, on: connection)
        let covered = graph.covered()
        for (index, row) in graph.rows.enumerated() where row.isCovered != covered[index] {
            try connection.statement(
                "UPDATE annotation SET covered = ? \(Annotation.Register.match) AND id = ?"
            ).run(
                [.integer(covered[index] ? 1 : 0)] + register.values + [.blob(row.id.bytes)])
        }
    }
}

/// The rows of one register, and which of them cites which, 8 bytes each.
private struct CitingGraph {
    struct Row {
        let id: OperationID
        let isValid: Bool
        let isCovered: Bool
    }

    /// Ascending by id.
    private(set) var rows: [Row] = []
    /// Places in `cited` where that of each row begins, and where the last one ends.
    private var starts: [Int32] = [0]
    /// Places in `rows`.
    private var cited: [Int32] = []

    init(
        of register: ViewStore.Annotation.Register, on connection: Connection
    ) throws(StorageError) {
        var places: [OperationID: Int32] = [:]
        try connection.statement(
            """
            SELECT id, hidden, covered FROM annotation \(ViewStore.Annotation.Register.match)
                ORDER BY id
            """
        ).scan(register.values) { (row) throws(StorageError) in
            let id: OperationID = try row.identifier32(0)
            places[id] = Int32(truncatingIfNeeded: rows.count)
            rows.append(
                Row(id: id, isValid: row.integer(1) == 0, isCovered: row.integer(2) == 1))
            return .next
        }
        var pairs: [(from: Int32, to: Int32)] = []
        try connection.statement(
            """
            SELECT p.id, p.cited FROM annotation a CROSS JOIN annotation_past p
                ON p.did = a.did AND p.key_hlc = a.key_hlc AND p.key_id = a.key_id AND p.id = a.id
                WHERE a.did = ? AND a.key_hlc = ? AND a.key_id = ? AND a.kind = ?
                AND a.member = ? AND a.tag = ? ORDER BY a.id
            """
        ).scan(register.values) { (row) throws(StorageError) in
            let (from, to): (OperationID, OperationID) = (
                try row.identifier32(0), try row.identifier32(1)
            )
            if let from = places[from], let to = places[to] { pairs.append((from, to)) }
            return .next
        }
        var next = pairs.startIndex
        for index in rows.indices {
            while next < pairs.endIndex, pairs[next].from == index {
                cited.append(pairs[next].to)
                next += 1
            }
            starts.append(Int32(truncatingIfNeeded: cited.count))
        }
    }

    /// Which rows a valid one has in its past.
    func covered() -> [Bool] {
        var covered = [Bool](repeating: false, count: rows.count)
        var open = rows.indices.filter { rows[$0].isValid }
        while let row = open.popLast() {
            for place in cited[Int(starts[row])..<Int(starts[row + 1])] where !covered[Int(place)] {
                covered[Int(place)] = true
                open.append(Int(place))
            }
        }
        return covered
    }
}
