/// In which leaf the run is that a scalar belongs to.
///
/// The first scalars of all runs, ascending, in chunks of 128: a look-up is two binary searches, a
/// new run moves half a chunk.
struct ElementMap {
    private static let capacity = 128

    /// The first start of each chunk, in order.
    private var firsts: [Element] = [0]
    /// Where each chunk lies, in order: at `capacity` times this number.
    private var places: [Int] = [0]
    /// Starts in each chunk, by place.
    private var counts: [Int] = [0]
    private var starts: [Element] = Array(repeating: 0, count: capacity)
    private var leaves: [Int32] = Array(repeating: 0, count: capacity)

    /// The map of an empty tree.
    init() {}

    /// The map of runs whose starts ascend.
    ///
    /// - Precondition: there is one, and the first start is 0.
    init(ascending runs: [(start: Element, leaf: Int)]) {
        precondition(runs.first?.start == 0, "a tree that does not begin with its sentinel")
        self.init()
        firsts = []
        places = []
        counts = []
        starts = []
        leaves = []
        // Room for some more in each.
        let filled = Self.capacity * 3 / 4
        for from in stride(from: 0, to: runs.count, by: filled) {
            let part = runs[from..<min(runs.count, from + filled)]
            firsts.append(runs[from].start)
            places.append(counts.count)
            counts.append(part.count)
            starts += part.map(\.start)
            leaves += part.map { Int32(truncatingIfNeeded: $0.leaf) }
            let room = Self.capacity - part.count
            starts += repeatElement(0, count: room)
            leaves += repeatElement(0, count: room)
        }
    }

    /// The run that holds `element`: its first scalar, and its leaf.
    ///
    /// - Precondition: the smallest start is not above `element`; the tree begins with number 0.
    func run(of element: Element) -> (start: Element, leaf: Int) {
        let chunk = chunk(of: element)
        let index = index(of: element, in: chunk)
        return (starts[index], Int(leaves[index]))
    }

    /// The order of the last chunk whose first start is not above `element`.
    private func chunk(of element: Element) -> Int {
        var low = 0
        var high = firsts.count
        if firsts[high - 1] <= element { return high - 1 }
        while low < high {
            let middle = (low + high) / 2
            if firsts[middle] <= element { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    /// The index of the last start of a chunk that is not above `element`; one less if none is.
    private func index(of element: Element, in chunk: Int) -> Int {
        let base = places[chunk] * Self.capacity
        var low = base
        var high = base + counts[places[chunk]]
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= element { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// Adds a run that begins with `start`.
    mutating func insert(_ start: Element, leaf: Int) {
        var chunk = chunk(of: start)
        if counts[places[chunk]] == Self.capacity {
            let last = index(of: start, in: chunk) % Self.capacity == Self.capacity - 1
            split(chunk, appending: last)
            if firsts[chunk + 1] <= start || counts[places[chunk]] == Self.capacity { chunk += 1 }
        }
        let place = places[chunk]
        let at = index(of: start, in: chunk) + 1
        let end = place * Self.capacity + counts[place]
        starts.openPlace(at: at, before: end)
        leaves.openPlace(at: at, before: end)
        starts[at] = start
        leaves[at] = Int32(truncatingIfNeeded: leaf)
        counts[place] += 1
        if at == place * Self.capacity { firsts[chunk] = start }
    }

    /// Halves a full chunk, or opens an empty one behind it where starts only ascend.
    private mutating func split(_ chunk: Int, appending: Bool) {
        let old = places[chunk]
        let new = counts.count
        let moved = appending && chunk == firsts.count - 1 ? 0 : Self.capacity / 2
        starts += repeatElement(0, count: Self.capacity)
        leaves += repeatElement(0, count: Self.capacity)
        let from = old * Self.capacity + Self.capacity - moved
        for index in 0..<moved {
            starts[new * Self.capacity + index] = starts[from + index]
            leaves[new * Self.capacity + index] = leaves[from + index]
        }
        counts[old] -= moved
        counts.append(moved)
        places.insert(new, at: chunk + 1)
        firsts.insert(moved > 0 ? starts[from] : .max, at: chunk + 1)
    }

    /// The run that begins with `start` lies in another leaf now.
    mutating func move(_ start: Element, to leaf: Int) {
        leaves[index(of: start, in: chunk(of: start))] = Int32(truncatingIfNeeded: leaf)
    }

    /// The run that begins with `start` is a part of the one before it now.
    mutating func remove(_ start: Element) {
        let chunk = chunk(of: start)
        let place = places[chunk]
        let at = index(of: start, in: chunk)
        let end = place * Self.capacity + counts[place] - 1
        for index in at..<max(at, end) {
            starts[index] = starts[index + 1]
            leaves[index] = leaves[index + 1]
        }
        counts[place] -= 1
        if counts[place] == 0 {
            // The chunk with number 0 is never empty: the first sentinel is never removed.
            firsts.remove(at: chunk)
            places.remove(at: chunk)
        } else if at == place * Self.capacity {
            firsts[chunk] = starts[at]
        }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Moves what lies from `index` to `end` by one place, in one move.
    ///
    /// - Precondition: there is a place at `end`.
    mutating func openPlace(at index: Int, before end: Int) {
        precondition(index >= 0 && end < count, "a place outside")
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, index < end else { return }
            (base + index + 1).update(from: base + index, count: end - index)
        }
    }
}
