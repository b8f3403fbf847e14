import WorkspaceModel

/// The heads of one register: the assertions that are in the past of no other, with the first at
/// hand.
///
/// Anyone can write any number of concurrent assertions, so nothing here scans all of them: a
/// removed one stays in the heap until it reaches the top.
struct ProfileHeads {
    private struct Rank: Comparable {
        let timestamp: UInt64
        let id: OperationID

        static func < (one: Rank, other: Rank) -> Bool {
            (one.timestamp, one.id) < (other.timestamp, other.id)
        }
    }

    private(set) var ids: Set<OperationID> = []
    /// No element is smaller than its children, those of `i` being `2 i + 1` and `2 i + 2`.
    private var heap: [Rank] = []
    /// Places of the heap that were looked at.
    private(set) var visitCount = 0
    /// Places of the heap, those included of what was taken out and has not come to its top.
    var placeCount: Int { heap.count }

    /// The one with the largest (hlc, id).
    var first: OperationID? { heap.first?.id }

    mutating func insert(_ id: OperationID, at timestamp: HybridTimestamp) {
        guard ids.insert(id).inserted else { return }
        heap.append(Rank(timestamp: timestamp.rawValue, id: id))
        rise()
        // A restored one leaves its former place in the heap.
        guard heap.count > 2 * ids.count + 16 else { return }
        visitCount += heap.count
        var seen: Set<OperationID> = []
        // Descending, so it is in the order of a heap.
        heap = heap.filter { ids.contains($0.id) && seen.insert($0.id).inserted }.sorted(by: >)
    }

    mutating func remove(_ id: OperationID) {
        guard ids.remove(id) != nil else { return }
        while let top = heap.first, !ids.contains(top.id) { dropFirst() }
    }

    /// Moves the last element up to its place.
    private mutating func rise() {
        var place = heap.count - 1
        while place > 0 {
            visitCount += 1
            let parent = (place - 1) / 2
            guard heap[parent] < heap[place] else { return }
            heap.swapAt(parent, place)
            place = parent
        }
    }

    private mutating func dropFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while 2 * place + 1 < heap.count {
            visitCount += 1
            let left = 2 * place + 1
            let right = left + 1
            let child = right < heap.count && heap[left] < heap[right] ? right : left
            guard heap[place] < heap[child] else { return }
            heap.swapAt(place, child)
            place = child
        }
    }
}
