/// A cache of recent look-ups. When it exceeds its maximum, the older half is dropped.
struct RecentlyUsed<Key: Hashable, Value> {
    private let max: Int
    private var recent: [Key: Value] = [:]
    private var former: [Key: Value] = [:]

    /// - Parameter max: the maximum number of entries, two or more.
    init(max: Int) {
        precondition(max > 1, "a memory of nothing")
        self.max = max
    }

    var count: Int { recent.count + former.count }

    subscript(key: Key) -> Value? {
        mutating get {
            if let value = recent[key] { return value }
            guard let value = former.removeValue(forKey: key) else { return nil }
            self[key] = value
            return value
        }
        set {
            former[key] = nil
            if recent[key] == nil, newValue != nil, recent.count >= max / 2 {
                former = recent
                recent = [:]
            }
            recent[key] = newValue
        }
    }
}
