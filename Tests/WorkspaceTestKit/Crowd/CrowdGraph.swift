/// The links of a crowd.
enum CrowdGraph {
    /// Everybody with everybody for 0 links; else so many random rings through all nodes that each
    /// has about as many, of which nobody is cut off.
    static func pairs(
        of nodes: Int, links: Int, _ random: inout SeededGenerator
    ) -> [(Int, Int)] {
        var pairs: [(Int, Int)] = []
        guard links > 0 else {
            for left in 0..<nodes {
                for right in left + 1..<nodes { pairs.append((left, right)) }
            }
            return pairs
        }
        precondition(links > 1, "a crowd falls apart where each has one link")
        var known: Set<Int> = []
        for ring in 0..<(links + 1) / 2 {
            var order = [Int](0..<nodes)
            order.shuffle(using: &random)
            // Of an odd number the last ring gives each node one link.
            let step = 2 * ring + 1 == links ? 2 : 1
            for place in stride(from: 0, to: nodes, by: step) {
                let (left, right) = (order[place], order[(place + 1) % nodes])
                guard left != right,
                    known.insert(min(left, right) * nodes + max(left, right)).inserted
                else { continue }
                pairs.append((left, right))
            }
        }
        return pairs
    }
}

/// When sessions must be woken: a heap, the earliest first. Nothing is removed when a session
/// changes its deadline; outdated entries are skipped.
struct CrowdDeadlines {
    private var entries: [(due: UInt64, order: Int, end: Int)] = []
    private var lastOrder = 0

    var first: (due: UInt64, end: Int)? { entries.first.map { ($0.due, $0.end) } }

    mutating func insert(_ due: UInt64, of end: Int) {
        lastOrder += 1
        entries.append((due, lastOrder, end))
        var child = entries.count - 1
        while child > 0, comes(child, before: (child - 1) / 2) {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && comes(child, before: least) {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    private func comes(_ left: Int, before right: Int) -> Bool {
        (entries[left].due, entries[left].order) < (entries[right].due, entries[right].order)
    }
}
