/// A set of operations of one document, each represented by its index in order of arrival.
public struct PlainSet: Hashable, Sequence, Sendable {
    private var words: [UInt64] = []

    /// Nothing.
    public init() {}

    /// The places below `count`.
    public init(below count: Int) {
        for place in 0..<Swift.max(count, 0) { insert(place) }
    }

    /// Whether the place is in it.
    public func contains(_ place: Int) -> Bool {
        let word = place >> 6
        return word < words.count && words[word] & (1 << UInt64(place & 63)) != 0
    }

    /// Puts a place in.
    public mutating func insert(_ place: Int) {
        let word = place >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(place & 63)
    }

    /// Takes a place out.
    public mutating func remove(_ place: Int) {
        guard contains(place) else { return }
        words[place >> 6] &= ~(1 << UInt64(place & 63))
        while words.last == 0 { words.removeLast() }
    }

    /// Puts all of `other` in.
    public mutating func formUnion(_ other: PlainSet) {
        while words.count < other.words.count { words.append(0) }
        for (word, bits) in other.words.enumerated() { words[word] |= bits }
    }

    /// Ascending.
    public func makeIterator() -> Iterator { Iterator(words) }

    /// Of its own type, because the rules are asked millions of times whom a past has.
    public struct Iterator: IteratorProtocol {
        private let words: [UInt64]
        private var word = 0
        private var rest: UInt64

        fileprivate init(_ words: [UInt64]) {
            self.words = words
            rest = words.first ?? 0
        }

        /// The next larger place.
        public mutating func next() -> Int? {
            while rest == 0 {
                word += 1
                guard word < words.count else { return nil }
                rest = words[word]
            }
            let bit = rest.trailingZeroBitCount
            rest &= rest - 1
            return word << 6 + bit
        }
    }
}
