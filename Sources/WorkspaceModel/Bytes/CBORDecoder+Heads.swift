/// The kinds of items that the profile has.
public enum CBORKind: Hashable, Sendable {
    case uint, byteString, text, array, map, bool, null
}

extension CBORDecoder {
    /// The kind of the next item, which is not consumed.
    ///
    /// - Throws: `truncated` at the end, `unsupported` for what the profile does not have.
    public func peek() throws(Malformed) -> CBORKind {
        guard position < end else { throw Malformed(.truncated, at: position) }
        let initial = bytes[position]
        switch (initial >> 5, initial & 31) {
        case (CBORMajor.uint, ...27): return .uint
        case (CBORMajor.byteString, ...27): return .byteString
        case (CBORMajor.text, ...27): return .text
        case (CBORMajor.array, ...27): return .array
        case (CBORMajor.map, ...27): return .map
        case (CBORMajor.simple, 20), (CBORMajor.simple, 21): return .bool
        case (CBORMajor.simple, 22): return .null
        default: throw Malformed(.unsupported, at: position)
        }
    }

    /// Whether the next item is null. It is not consumed.
    public var isNull: Bool { position < end && bytes[position] == CBORMajor.nullByte }

    /// Consumes a head of type `major` and returns its argument.
    mutating func argument(of major: UInt8) throws(Malformed) -> UInt64 {
        guard position < end else { throw Malformed(.truncated, at: position) }
        let initial = bytes[position]
        let information = initial & 31
        guard initial >> 5 == major, information < 28 else { throw unexpected() }
        position &+= 1
        if information < 24 { return UInt64(information) }
        return try argument(byteCount: 1 << Int(information &- 24))
    }

    /// The big-endian number of 1, 2, 4 or 8 bytes that follows a head's first byte.
    private mutating func argument(byteCount: Int) throws(Malformed) -> UInt64 {
        let start = position &- 1
        guard byteCount <= end &- position else { throw Malformed(.truncated, at: start) }
        var value: UInt64 = 0
        for index in position..<position &+ byteCount { value = value << 8 | UInt64(bytes[index]) }
        position &+= byteCount
        // The smallest number that no shorter head can carry.
        let floor: UInt64 = byteCount == 1 ? 24 : 1 << UInt64(byteCount &* 4)
        guard value >= floor else { throw Malformed(.notCanonical, at: start) }
        return value
    }

    /// The error for an item of the wrong kind.
    func unexpected() -> Malformed {
        do {
            _ = try peek()
            return Malformed(.wrongType, at: position)
        } catch {
            return error
        }
    }

    /// Consumes one item of any kind with everything inside it, as strictly as reading it would.
    ///
    /// A loop, so that hostile nesting costs no stack.
    public mutating func skipItem() throws(Malformed) {
        let outside = depth
        repeat {
            if expectsKey {
                _ = try key()
            } else {
                try skipHead()
            }
        } while depth > outside
    }

    /// Consumes the next item like `skipItem` and returns its range, head included.
    public mutating func itemRange() throws(Malformed) -> Range<Int> {
        let start = position
        try skipItem()
        return start..<position
    }

    /// Consumes a scalar, or the head of a container.
    private mutating func skipHead() throws(Malformed) {
        switch try peek() {
        case .uint: _ = try uint()
        case .byteString: _ = try byteStringRange()
        case .text: try skipText()
        case .array: _ = try arrayCount()
        case .map: _ = try mapCount()
        case .bool: _ = try bool()
        case .null: try null()
        }
    }
}
