/// Events of a virtual clock, ordered by time and, for equal times, by creation.
struct EventQueue {
    private struct Entry {
        let due: UInt64
        let order: UInt64
        let action: () -> Void

        func comes(before other: Entry) -> Bool { (due, order) < (other.due, other.order) }
    }

    /// A binary heap, the next entry first.
    private var heap: [Entry] = []
    private var lastOrder: UInt64 = 0

    /// When the next event is, `nil` without any.
    var nextDue: UInt64? { heap.first?.due }

    /// Adds an event at `due`, in milliseconds of the virtual clock.
    mutating func add(at due: UInt64, _ action: @escaping () -> Void) {
        lastOrder += 1
        heap.append(Entry(due: due, order: lastOrder, action: action))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].comes(before: heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes the next event out.
    mutating func popNext() -> (due: UInt64, action: () -> Void)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.due, first.action)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].comes(before: heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}
