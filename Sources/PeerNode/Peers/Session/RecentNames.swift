import WorkspaceModel

/// The newest of many 16-byte names, to recognize what was seen before.
struct RecentNames {
    typealias Name = Identifier16<RecentNames>

    private let max: Int
    private var names: Set<Name> = []
    /// The same in the order in which they came, a ring when it is full.
    private var order: [Name] = []
    private var oldest = 0

    /// - Parameter max: how many are remembered, not 0.
    init(max: Int) {
        precondition(max > 0, "a memory of nothing")
        self.max = max
    }

    func contains(_ name: Name) -> Bool { names.contains(name) }

    /// Remembers a name, in the place of the oldest where there are too many.
    ///
    /// - Returns: whether it was not remembered yet.
    mutating func insert(_ name: Name) -> Bool {
        guard names.insert(name).inserted else { return false }
        guard order.count >= max else {
            order.append(name)
            return true
        }
        names.remove(order[oldest])
        order[oldest] = name
        oldest = (oldest + 1) % order.count
        return true
    }
}
