import WorkspaceModel

/// A run-length encoded column of a run.
struct RunLengths<Value: Equatable> {
    private(set) var groups: [(count: Int, value: Value)] = []

    /// Appends a value to the column.
    @inline(__always)
    mutating func append(_ value: Value) {
        if let last = groups.indices.last, groups[last].value == value {
            groups[last].count += 1
        } else {
            groups.append((1, value))
        }
    }

    func encode(
        to encoder: inout CBOREncoder, _ write: (inout CBOREncoder, Value) -> Void
    ) {
        encoder.array(count: groups.count)
        for group in groups {
            encoder.array(count: 2)
            encoder.int(group.count)
            write(&encoder, group.value)
        }
    }

    init() {}

    /// Reads a column of at most `limit` values in all; groups are not empty and neighbours differ.
    init(
        from decoder: inout CBORDecoder, limit: Int,
        _ read: (inout CBORDecoder) throws(Malformed) -> Value
    ) throws(Malformed) {
        var left = limit
        for _ in 0..<(try decoder.arrayCount(max: limit)) {
            try decoder.arrayCount(exactly: 2)
            let start = decoder.position
            let count = try decoder.int(max: left)
            let value = try read(&decoder)
            guard count > 0, groups.last?.value != value else {
                throw Malformed(.inconsistent, at: start)
            }
            left -= count
            groups.append((count, value))
        }
    }

    /// How many values the column has.
    var count: Int { groups.reduce(into: 0) { $0 += $1.count } }

    /// Iterates over the column from its first value.
    func makeCursor() -> Cursor { Cursor(groups: groups) }

    /// A place in a column.
    struct Cursor {
        let groups: [(count: Int, value: Value)]
        private var group = 0
        private var used = 0

        init(groups: [(count: Int, value: Value)]) { self.groups = groups }

        /// The next value.
        ///
        /// - Precondition: the column has one: its count was compared before.
        @inline(__always)
        mutating func next() -> Value {
            if used == groups[group].count {
                group += 1
                used = 0
            }
            used += 1
            return groups[group].value
        }
    }
}
