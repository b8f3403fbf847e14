/// Reads one item of the CBOR profile, piece by piece, and refuses everything outside it.
///
/// The caller says what must come next. Containers close by themselves after their last item, so
/// nesting needs no bookkeeping outside, and `finish()` fails unless all was read:
///
///     var decoder = CBORDecoder(bytes)
///     try decoder.arrayCount(exactly: 2)
///     let number = try decoder.uint()
///     let name = try decoder.text(maxBytes: Limits.nameBytesMax)
///     try decoder.finish()
///
/// Bytes and values correspond one to one: heads are the shortest, lengths definite, map keys
/// ascending numbers, text UTF-8. A count is accepted only if the remaining bytes can hold it, so a
/// false count reserves no memory. After an error the decoder must not be used.
///
/// - Source: RFC 8949, section 4.2.1; PROTOCOL.md, 1.
public struct CBORDecoder: Sendable {
    /// The array that offsets and ranges refer to, whole.
    public let bytes: [UInt8]
    /// The index of the next byte to read.
    public internal(set) var position: Int
    /// The index after the last byte that may be read.
    let end: Int

    /// How many containers are open.
    private(set) var depth = 0
    private var current = Frame(slots: 1, keyFloor: 0, isMap: false)
    private var parents = InlineArray<8, Frame>(
        repeating: Frame(slots: 0, keyFloor: 0, isMap: false))

    /// The stack has eight places; the test of the limits compares the two numbers.
    static let depthMax = min(Limits.cborDepthMax, 8)

    /// A container that is being read.
    private struct Frame {
        /// Items still to come; a pair of a map counts twice.
        var slots: Int
        /// The smallest key that may come next.
        var keyFloor: UInt64
        var isMap: Bool
    }

    /// Reads the one item that `bytes` are.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Reads the one item that lies in `range` of `bytes`.
    ///
    /// - Precondition: `range` lies within `bytes`. Ranges that a decoder returned do.
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a foreign range")
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    /// Fails unless the item was read to its end and nothing follows it.
    public func finish() throws(Malformed) {
        guard depth == 0, current.slots == 0 else { throw Malformed(.itemsLeft, at: position) }
        guard position == end else { throw Malformed(.trailingBytes, at: position) }
    }

    /// Begins an array and returns how many items follow, at most `max`.
    public mutating func arrayCount(max: Int = .max) throws(Malformed) -> Int {
        let start = position
        let count = try count(of: CBORMajor.array, bytesPerItem: 1, max: max)
        try open(Frame(slots: count, keyFloor: 0, isMap: false), at: start)
        return count
    }

    /// Begins an array that must have `count` items.
    public mutating func arrayCount(exactly count: Int) throws(Malformed) {
        let start = position
        guard try arrayCount() == count else { throw Malformed(.countExceeded, at: start) }
    }

    /// Begins a map and returns how many pairs follow, at most `max`: each `key()` and a value.
    public mutating func mapCount(max: Int = .max) throws(Malformed) -> Int {
        let start = position
        let count = try count(of: CBORMajor.map, bytesPerItem: 2, max: max)
        // The bytes that are left hold twice the count, so doubling it cannot overflow.
        try open(Frame(slots: count &* 2, keyFloor: 0, isMap: true), at: start)
        return count
    }

    /// The key of the map's next pair, which must be larger than the one before.
    public mutating func key() throws(Malformed) -> UInt64 {
        guard current.isMap, current.slots > 0, current.slots & 1 == 0 else {
            throw Malformed(.wrongType, at: position)
        }
        let start = position
        let key = try argument(of: CBORMajor.uint)
        guard key >= current.keyFloor else {
            let isRepeated = key == current.keyFloor &- 1
            throw Malformed(isRepeated ? .duplicateKey : .keysOutOfOrder, at: start)
        }
        current.slots &-= 1
        guard key < .max else {
            // This is the largest key, so it must be the last.
            guard current.slots == 1 else { throw Malformed(.keysOutOfOrder, at: position) }
            return key
        }
        current.keyFloor = key &+ 1
        return key
    }

    /// Fails where no value is allowed: after the end, or where a map expects a key.
    func expectValue() throws(Malformed) {
        guard current.slots > 0 else { throw Malformed(.truncated, at: position) }
        guard !current.isMap || current.slots & 1 == 1 else {
            throw Malformed(.wrongType, at: position)
        }
    }

    /// Counts one item as read, and closes the containers that it completes.
    mutating func valueWasRead() {
        current.slots &-= 1
        while current.slots == 0, depth > 0 {
            depth &-= 1
            current = parents[depth]
        }
    }

    /// Whether the next item is a key, for skipping items that nobody interprets.
    var expectsKey: Bool { current.isMap && current.slots & 1 == 0 }

    private mutating func open(_ frame: Frame, at start: Int) throws(Malformed) {
        guard depth < Self.depthMax else { throw Malformed(.depthExceeded, at: start) }
        guard frame.slots > 0 else { return valueWasRead() }
        // Not `valueWasRead`: the parent stays open until its last item is closed.
        current.slots &-= 1
        parents[depth] = current
        depth &+= 1
        current = frame
    }

    private mutating func count(
        of major: UInt8, bytesPerItem: UInt64, max: Int
    ) throws(Malformed) -> Int {
        try expectValue()
        let start = position
        let count = try argument(of: major)
        guard count <= UInt64(end &- position) / bytesPerItem else {
            throw Malformed(.truncated, at: start)
        }
        guard let count = Int(exactly: count), count <= max else {
            throw Malformed(.countExceeded, at: start)
        }
        return count
    }
}
