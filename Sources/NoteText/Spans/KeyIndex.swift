import WorkspaceModel

/// A hash table from keys to the indexes of operations: a quarter of the memory of a dictionary.
struct KeyIndex {
    private static let none: UInt32 = .max
    /// Random in each process, so that nobody can choose colliding keys.
    private static let salt: (UInt64, UInt64) = {
        func word(_ number: Int) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(number)
            return UInt64(bitPattern: Int64(hasher.finalize()))
        }
        return (word(1), word(2))
    }()

    /// A power of two in size, at most half full.
    private var slots: [UInt32] = Array(repeating: none, count: 16)
    private var count = 0
    private let salt = Self.salt

    /// The index of the operation with that key in `entries`.
    func index(of key: MessageKey, in entries: [OperationTable.Entry]) -> Int? {
        var slot = start(of: key)
        while slots[slot] != Self.none {
            let index = Int(slots[slot])
            if entries[index].key == key { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Adds the operation `index`, whose key is in `entries` and not here yet.
    mutating func insert(_ index: Int, of entries: [OperationTable.Entry]) {
        if 2 * (count + 1) > slots.count { grow(entries) }
        place(UInt32(truncatingIfNeeded: index), entries[index].key)
        count += 1
    }

    /// Reserves capacity for this many more operations.
    mutating func reserve(_ more: Int) {
        guard count == 0 else { return }
        while slots.count < 2 * (more + 1) { slots += slots }
    }

    private mutating func grow(_ entries: [OperationTable.Entry]) {
        let old = slots
        slots = Array(repeating: Self.none, count: 2 * old.count)
        for index in old where index != Self.none { place(index, entries[Int(index)].key) }
    }

    private mutating func place(_ index: UInt32, _ key: MessageKey) {
        var slot = start(of: key)
        while slots[slot] != Self.none { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = index
    }

    private func start(of key: MessageKey) -> Int {
        let product = (key.idPrefix ^ salt.0).multipliedFullWidth(
            by: key.timestamp.rawValue ^ salt.1)
        return Int(truncatingIfNeeded: product.high ^ product.low) & (slots.count - 1)
    }
}
