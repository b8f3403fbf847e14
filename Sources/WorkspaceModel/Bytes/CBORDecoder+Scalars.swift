extension CBORDecoder {
    /// A number, at most `max`.
    public mutating func uint(max: UInt64 = .max) throws(Malformed) -> UInt64 {
        try expectValue()
        let start = position
        let value = try argument(of: CBORMajor.uint)
        guard value <= max else { throw Malformed(.outOfRange, at: start) }
        valueWasRead()
        return value
    }

    /// A number as an `Int`, at most `max`; never negative.
    public mutating func int(max: Int = .max) throws(Malformed) -> Int {
        let start = position
        guard let value = Int(exactly: try uint()), value <= max else {
            throw Malformed(.outOfRange, at: start)
        }
        return value
    }

    /// A number as a narrower unsigned integer, such as a `UInt32` incarnation.
    public mutating func uint<Number: FixedWidthInteger & UnsignedInteger>(
        as type: Number.Type
    ) throws(Malformed) -> Number {
        let start = position
        guard let value = Number(exactly: try uint()) else {
            throw Malformed(.outOfRange, at: start)
        }
        return value
    }

    /// Where a byte string's contents lie in `bytes`, at most `maxCount` long; nothing is copied.
    public mutating func byteStringRange(maxCount: Int = .max) throws(Malformed) -> Range<Int> {
        try expectValue()
        let range = try contents(of: CBORMajor.byteString, maxCount: maxCount)
        valueWasRead()
        return range
    }

    /// A byte string's contents, at most `maxCount` long, copied.
    public mutating func byteString(maxCount: Int = .max) throws(Malformed) -> [UInt8] {
        [UInt8](bytes[try byteStringRange(maxCount: maxCount)])
    }

    /// A byte string that must be `count` long, copied.
    public mutating func byteString(exactly count: Int) throws(Malformed) -> [UInt8] {
        let start = position
        let range = try byteStringRange()
        guard range.count == count else { throw Malformed(.countExceeded, at: start) }
        return [UInt8](bytes[range])
    }

    /// A byte string that must be 32 long, as a name.
    public mutating func identifier32<Named>(
        _ named: Named.Type = Named.self
    ) throws(Malformed) -> Identifier32<Named> {
        let start = position
        let range = try byteStringRange()
        guard range.count == 32, let name = Identifier32<Named>(untrusted: bytes, in: range) else {
            throw Malformed(.countExceeded, at: start)
        }
        return name
    }

    /// A byte string that must be 16 long, as a name.
    public mutating func identifier16<Named>(
        _ named: Named.Type = Named.self
    ) throws(Malformed) -> Identifier16<Named> {
        let start = position
        let range = try byteStringRange()
        guard range.count == 16, let name = Identifier16<Named>(untrusted: bytes, in: range) else {
            throw Malformed(.countExceeded, at: start)
        }
        return name
    }

    /// Text of at most `maxBytes` bytes of UTF-8. The length is judged before the text.
    public mutating func text(maxBytes: Int) throws(Malformed) -> String {
        try expectValue()
        let start = position
        let range = try contents(of: CBORMajor.text, maxCount: maxBytes)
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw Malformed(.badText, at: start)
        }
        valueWasRead()
        return text
    }

    /// Consumes text of any length and checks that it is UTF-8, without making a string.
    mutating func skipText() throws(Malformed) {
        try expectValue()
        let start = position
        let range = try contents(of: CBORMajor.text, maxCount: .max)
        do {
            _ = try UTF8Span(validating: bytes.span.extracting(range))
        } catch {
            throw Malformed(.badText, at: start)
        }
        valueWasRead()
    }

    /// `true` or `false`.
    public mutating func bool() throws(Malformed) -> Bool {
        try expectValue()
        guard position < end else { throw Malformed(.truncated, at: position) }
        let byte = bytes[position]
        guard byte == CBORMajor.trueByte || byte == CBORMajor.falseByte else { throw unexpected() }
        position &+= 1
        valueWasRead()
        return byte == CBORMajor.trueByte
    }

    /// The absent value, where nothing else is allowed.
    public mutating func null() throws(Malformed) {
        try expectValue()
        guard position < end else { throw Malformed(.truncated, at: position) }
        guard isNull else { throw unexpected() }
        position &+= 1
        valueWasRead()
    }

    /// `nil` for null, otherwise what `read` makes of the item:
    /// `try decoder.nullOr { (d) throws(Malformed) in try d.uint() }`.
    public mutating func nullOr<Value>(
        _ read: (inout CBORDecoder) throws(Malformed) -> Value
    ) throws(Malformed) -> Value? {
        guard isNull else { return try read(&self) }
        try null()
        return nil
    }

    /// The range of a string's contents; the length is compared with what is left before use.
    private mutating func contents(
        of major: UInt8, maxCount: Int
    ) throws(Malformed) -> Range<Int> {
        let start = position
        let count = try argument(of: major)
        guard count <= UInt64(end &- position) else { throw Malformed(.truncated, at: start) }
        guard let count = Int(exactly: count), count <= maxCount else {
            throw Malformed(.countExceeded, at: start)
        }
        let range = position..<position &+ count
        position = range.upperBound
        return range
    }
}
