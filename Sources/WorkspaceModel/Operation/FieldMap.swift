/// Writes a payload: `Enc` array [type, map], the map's keys given in ascending order.
struct FieldWriter {
    private let type: UInt64
    private var count = 0
    private var body = CBOREncoder(reservingBytes: 256)

    init(type: UInt64) { self.type = type }

    mutating func field(_ key: UInt64, _ write: (inout CBOREncoder) -> Void) {
        count += 1
        body.key(key)
        write(&body)
    }

    mutating func optional<Value>(
        _ key: UInt64, _ value: Value?, _ write: (inout CBOREncoder, Value) -> Void
    ) {
        guard let value else { return }
        field(key) { write(&$0, value) }
    }

    var bytes: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: body.bytes.count + 16)
        encoder.array(count: 2)
        encoder.uint(type)
        encoder.map(count: count)
        encoder.item(raw: body.bytes[...])
        return encoder.bytes
    }
}

/// Reads the map of a payload, field by field, and refuses keys that are missing or unknown.
struct FieldReader {
    private(set) var decoder: CBORDecoder
    private var remaining: Int
    private var pending: UInt64?

    /// Starts behind the type of the array [type, map].
    init(_ decoder: CBORDecoder) throws(Malformed) {
        self.decoder = decoder
        remaining = try self.decoder.mapCount(max: 64)
    }

    /// The value under `key`, which must be there.
    mutating func required<Value>(
        _ key: UInt64, _ read: (inout CBORDecoder) throws(Malformed) -> Value
    ) throws(Malformed) -> Value {
        guard try isNext(key) else { throw Malformed(.wrongKeys, at: decoder.position) }
        return try read(&decoder)
    }

    /// The value under `key`, or `nil` when the key is absent.
    mutating func optional<Value>(
        _ key: UInt64, _ read: (inout CBORDecoder) throws(Malformed) -> Value
    ) throws(Malformed) -> Value? {
        guard try isNext(key) else { return nil }
        return try read(&decoder)
    }

    /// Keys from here on belong to later versions: readers that do not know them skip them.
    static let firstLaterKey: UInt64 = 32

    /// Ends a map of content, skipping keys of later versions.
    ///
    /// - Throws: as `finish`, for every other key.
    mutating func finishContent() throws(Malformed) {
        while remaining > 0 || pending != nil {
            if pending == nil { pending = try nextKey() }
            guard let key = pending, key >= Self.firstLaterKey else {
                throw Malformed(.wrongKeys, at: decoder.position)
            }
            pending = nil
            try decoder.skipItem()
        }
        try decoder.finish()
    }

    /// - Throws: `Malformed` when there is an unknown key or anything behind the map.
    func finish() throws(Malformed) {
        guard remaining == 0, pending == nil else {
            throw Malformed(.wrongKeys, at: decoder.position)
        }
        try decoder.finish()
    }

    private mutating func isNext(_ key: UInt64) throws(Malformed) -> Bool {
        if pending == nil, remaining > 0 { pending = try nextKey() }
        guard pending == key else { return false }
        pending = nil
        return true
    }

    private mutating func nextKey() throws(Malformed) -> UInt64 {
        remaining -= 1
        return try decoder.key()
    }
}

extension CBOREncoder {
    /// An array, each item written by `write`.
    mutating func list<Item>(_ items: [Item], _ write: (inout CBOREncoder, Item) -> Void) {
        array(count: items.count)
        for item in items { write(&self, item) }
    }
}

extension CBORDecoder {
    /// An array of at most `max` items, each read by `read`.
    mutating func list<Item>(
        max: Int, _ read: (inout CBORDecoder) throws(Malformed) -> Item
    ) throws(Malformed) -> [Item] {
        let count = try arrayCount(max: max)
        var items: [Item] = []
        items.reserveCapacity(Swift.min(count, 1_024))
        for _ in 0..<count { items.append(try read(&self)) }
        return items
    }
}
