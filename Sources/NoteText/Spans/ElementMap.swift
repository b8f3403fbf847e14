/// Maps a scalar to the leaf that contains its run.
///
/// One number for 16 scalars as long as they are in one leaf, as after a paste; else a block of 16
/// numbers. So a look-up takes one or two steps, and splitting, joining or extending a run in place
/// changes nothing here.
struct ElementMap {
    private static let shift: UInt32 = 4
    private static let capacity = 1 << Int(shift)
    private static let mask = UInt32(truncatingIfNeeded: capacity - 1)
    /// No scalar of a bucket has a leaf yet.
    private static let unset: Int32 = .max

    /// The leaf of each 16 scalars, or the bitwise complement of their block's number.
    private var buckets: [Int32] = []
    private var blocks: [Int32] = []

    /// The map of an empty tree.
    init() {}

    /// A map with capacity for scalars below `end`.
    init(reserving end: Element) {
        let count = Int(end >> Self.shift) + 1
        buckets.reserveCapacity(count + count / 8)
        buckets += repeatElement(Self.unset, count: count)
    }

    /// The leaf with the run that contains `element`.
    ///
    /// - Precondition: one was set.
    func leaf(of element: Element) -> Int {
        let bucket = buckets[Int(element >> Self.shift)]
        if bucket >= 0 { return Int(bucket) }
        return Int(blocks[Int(~bucket) * Self.capacity + Int(element & Self.mask)])
    }

    /// Sets the leaf of the scalars from `first` to `first + count`.
    mutating func set(_ first: Element, _ count: UInt32, leaf: Int) {
        let leaf = Int32(truncatingIfNeeded: leaf)
        let end = first + count
        var element = first
        while element < end {
            let stop = min(end, (element | Self.mask) &+ 1)
            set(element, until: stop, leaf: leaf)
            element = stop
        }
    }

    /// The same for scalars of one bucket.
    private mutating func set(_ first: Element, until end: Element, leaf: Int32) {
        let index = Int(first >> Self.shift)
        while buckets.count <= index { buckets.append(Self.unset) }
        let bucket = buckets[index]
        if bucket == leaf { return }
        if bucket == Self.unset || bucket >= 0 && Int(end - first) == Self.capacity {
            buckets[index] = leaf
            return
        }
        let base: Int
        if bucket < 0 {
            base = Int(~bucket) * Self.capacity
        } else {
            base = blocks.count
            buckets[index] = ~Int32(truncatingIfNeeded: base / Self.capacity)
            blocks.append(contentsOf: repeatElement(bucket, count: Self.capacity))
        }
        let from = base + Int(first & Self.mask)
        for place in from..<from + Int(end - first) { blocks[place] = leaf }
    }
}

extension Array where Element: BitwiseCopyable {
    /// Shifts the elements from `index` to `end` by one, in one move.
    ///
    /// - Precondition: there is an element at `end`.
    mutating func openPlace(at index: Int, before end: Int) {
        precondition(index >= 0 && end < count, "a place outside")
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, index < end else { return }
            (base + index + 1).update(from: base + index, count: end - index)
        }
    }

    /// Shifts the elements behind `index`, up to `end`, onto it.
    ///
    /// - Precondition: `index` is before `end`, and `end` is not behind the last place.
    mutating func closePlace(at index: Int, before end: Int) {
        precondition(index >= 0 && index < end && end <= count, "a place outside")
        withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            (base + index).update(from: base + index + 1, count: end - index - 1)
        }
    }
}
