/// Deadlines with names, the next one first.
///
/// A name has at most one deadline: setting it again moves it. Time is passed in, in milliseconds;
/// the queue itself has no clock.
public struct TimerQueue<Name: Hashable> {
    private struct Entry {
        let deadline: UInt64
        /// Which `set` made it. It breaks ties, and tells an entry that was moved or cancelled.
        let sequence: UInt64
        let name: Name

        func isBefore(_ other: Entry) -> Bool {
            (deadline, sequence) < (other.deadline, other.sequence)
        }
    }

    /// A binary heap. Outdated entries stay until they reach the top, or until they outnumber the
    /// others.
    private var heap: [Entry] = []
    private var current: [Name: UInt64] = [:]
    private var nextSequence: UInt64 = 0

    /// An empty queue.
    public init() {}

    /// How many names have a deadline.
    public var count: Int { current.count }

    /// The earliest deadline in milliseconds.
    public var nextDeadline: UInt64? {
        mutating get {
            dropStale()
            return heap.first?.deadline
        }
    }

    /// Gives `name` this deadline instead of the one it may have.
    public mutating func set(_ name: Name, deadline: UInt64) {
        nextSequence &+= 1
        current[name] = nextSequence
        heap.append(Entry(deadline: deadline, sequence: nextSequence, name: name))
        siftUp(from: heap.count - 1)
        if heap.count > 64 && heap.count > 2 * current.count { rebuild() }
    }

    /// Takes the deadline of `name` away, if it has one.
    public mutating func cancel(_ name: Name) { current[name] = nil }

    /// The names whose deadline is at or before `now`, the earliest first and of equal deadlines
    /// the one that was set first. They have none afterwards.
    public mutating func takeDue(now: UInt64) -> [Name] {
        var due: [Name] = []
        while let deadline = nextDeadline, deadline <= now {
            let entry = removeFirst()
            current[entry.name] = nil
            due.append(entry.name)
        }
        return due
    }

    private mutating func dropStale() {
        while let first = heap.first, current[first.name] != first.sequence { _ = removeFirst() }
    }

    private mutating func rebuild() {
        let live = heap.filter { current[$0.name] == $0.sequence }
        heap = live.sorted { $0.isBefore($1) }
    }

    private mutating func removeFirst() -> Entry {
        heap.swapAt(0, heap.count - 1)
        let first = heap.removeLast()
        siftDown()
        return first
    }

    private mutating func siftUp(from start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].isBefore(heap[parent]) else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown() {
        var index = 0
        while true {
            let left = 2 * index + 1
            guard left < heap.count else { return }
            let right = left + 1
            let isRightFirst = right < heap.count && heap[right].isBefore(heap[left])
            let child = isRightFirst ? right : left
            guard heap[child].isBefore(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
