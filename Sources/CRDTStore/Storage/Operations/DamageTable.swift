/// The places with damaged rows, which no longer give their operations' ids: table `damaged`,
/// cached in memory and written with the next COMMIT, whenever there is one.
struct DamageTable {
    private let connection: Connection
    /// By branch.
    private var places: [Int64: Set<UInt64>] = [:]
    private var isUnwritten = false

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        try connection.statement("SELECT lid, seq FROM damaged").forEachRow { row in
            places[row.integer(0), default: []].insert(UInt64(bitPattern: row.integer(1)))
        }
    }

    var isEmpty: Bool { places.isEmpty }

    /// The number of damaged places.
    var count: Int { places.values.reduce(0) { $0 + $1.count } }

    /// The branches with damaged places, by number.
    var branches: [Int64] { places.keys.sorted() }

    /// Those among a branch's own, ascending.
    func places(in branch: Int64) -> [UInt64] { (places[branch] ?? []).sorted() }

    func contains(_ sequence: UInt64, in branch: Int64) -> Bool {
        places[branch]?.contains(sequence) == true
    }

    /// The first damaged place of a branch up to `last`.
    func first(in branch: Int64, through last: UInt64) -> UInt64? {
        (places[branch] ?? []).filter { $0 <= last }.min()
    }

    /// - Returns: whether it is new.
    mutating func note(_ sequence: UInt64, of branch: Int64) -> Bool {
        guard places[branch, default: []].insert(sequence).inserted else { return false }
        isUnwritten = true
        return true
    }

    /// Removes a place that was rewritten.
    mutating func forget(_ sequence: UInt64, of branch: Int64) {
        places[branch]?.remove(sequence)
        if places[branch]?.isEmpty == true { places[branch] = nil }
        isUnwritten = true
    }

    /// Removes a branch's places after `place`, or all for `nil`.
    mutating func forget(in branch: Int64, behind place: UInt64?) {
        guard let known = places[branch] else { return }
        let left = known.filter { $0 <= place ?? 0 && place != nil }
        places[branch] = left.isEmpty ? nil : left
        isUnwritten = true
    }

    /// Rewrites all rows, if anything has changed.
    mutating func flush() throws(StorageError) {
        guard isUnwritten else { return }
        isUnwritten = false
        try connection.execute("DELETE FROM damaged")
        let insert = try connection.statement("INSERT INTO damaged VALUES(?, ?)")
        for branch in branches {
            for sequence in places(in: branch) {
                try insert.run(.integer(branch), .integer(Int64(bitPattern: sequence)))
            }
        }
    }
}
