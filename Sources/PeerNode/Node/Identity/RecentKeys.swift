import WorkspaceCrypto

/// A bounded cache of recently used keys, by name.
///
/// It evicts by the clock algorithm, an approximation of least recently used: a hand goes round and
/// evicts the first key that was not used since its last pass. A lookup costs a hash and a mark,
/// and a scan over very many keys evicts the others only once.
struct RecentKeys<Name: Hashable> {
    /// How many are kept at most.
    let capacity: Int
    private var places: [Name: Int] = [:]
    private var entries: [Entry] = []
    private var hand = 0

    private struct Entry {
        let name: Name
        let key: SymmetricKey
        var isWanted: Bool
    }

    /// - Precondition: there is room for one.
    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// How many are kept.
    var count: Int { entries.count }

    /// The key, if it is kept.
    mutating func key(_ name: Name) -> SymmetricKey? {
        guard let place = places[name] else { return nil }
        entries[place].isWanted = true
        return entries[place].key
    }

    /// Keeps a key, replacing another one where there is no room.
    mutating func keep(_ key: SymmetricKey, as name: Name) {
        let entry = Entry(name: name, key: key, isWanted: false)
        if let place = places[name] {
            entries[place] = entry
        } else if entries.count < capacity {
            places[name] = entries.count
            entries.append(entry)
        } else {
            let place = nextUnwanted()
            places[entries[place].name] = nil
            places[name] = place
            entries[place] = entry
        }
    }

    private mutating func nextUnwanted() -> Int {
        // By the second round every mark is cleared, so this ends.
        while true {
            let place = hand
            hand = (hand + 1) % entries.count
            guard entries[place].isWanted else { return place }
            entries[place].isWanted = false
        }
    }

    /// Forgets those whose names fit.
    mutating func forget(where fits: (Name) -> Bool) {
        entries.removeAll { fits($0.name) }
        places = [:]
        for (place, entry) in entries.enumerated() { places[entry.name] = place }
        hand = 0
    }
}
