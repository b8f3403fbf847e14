/// Why bytes are not exactly one JSON value, and where.
public struct JSONError: Error, Equatable, Sendable {
    /// What is wrong.
    public enum Reason: String, Sendable, CaseIterable {
        /// The bytes end inside a value.
        case endsEarly = "ends early"
        /// A byte that no value may have here: also a byte order mark, or a trailing comma.
        case unexpectedByte = "unexpected byte"
        /// Something follows the value.
        case trailingBytes = "something follows the value"
        /// Nested deeper than `Limits.jsonDepthMax`.
        case tooDeep = "nested too deep"
        /// Text that is not UTF-8.
        case invalidUTF8 = "not UTF-8"
        /// An escape that names no character: a lone surrogate, or an unknown letter.
        case invalidEscape = "an escape that is not a character"
        /// A control character inside text that is not escaped.
        case controlCharacter = "a bare control character"
        /// One object names a member twice.
        case duplicateKey = "a name occurs twice"
    }

    /// What is wrong.
    public let reason: Reason
    /// Bytes before the place where the error was detected.
    public let offset: Int

    /// A refusal.
    public init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONValue {
    /// The one value that `bytes` hold, with nothing but white space around it.
    ///
    /// Strict where RFC 8259 leaves a choice: UTF-8 without a byte order mark, no name twice in an
    /// object, no lone surrogate, at most `Limits.jsonDepthMax` levels.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }

    /// The one value that `text` holds; see `init(parsing:)` of bytes.
    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }
}

/// Reads one value from front to back, without backtracking.
struct JSONParser {
    let bytes: [UInt8]
    var index = 0

    /// Members of an object from which names are looked up in a set instead of one by one. More than
    /// a message has: most of its names differ in length already, while a set takes an allocation
    /// for each of them.
    private static let manyMembers = 32

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSONValue {
        skipWhiteSpace()
        let value = try value(depth: 0)
        skipWhiteSpace()
        if index != bytes.count { throw failure(.trailingBytes) }
        return value
    }

    func failure(_ reason: JSONError.Reason) -> JSONError {
        JSONError(reason: reason, offset: index)
    }

    /// The next byte, not consumed, or 0 at the end: 0 is allowed nowhere.
    var next: UInt8 { index < bytes.count ? bytes[index] : 0 }

    /// The error when `next` is not what must come.
    func unexpected() -> JSONError { failure(index < bytes.count ? .unexpectedByte : .endsEarly) }

    private mutating func skipWhiteSpace() {
        while index < bytes.count, isWhiteSpace(bytes[index]) { index += 1 }
    }

    /// Recurses at most `Limits.jsonDepthMax` times.
    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw unexpected()
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError)
        -> JSONValue
    {
        for offset in 0..<word.utf8CodeUnitCount {
            guard next == word.utf8Start[offset] else { throw unexpected() }
            index += 1
        }
        return value
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        if depth > Limits.jsonDepthMax { throw failure(.tooDeep) }
        index += 1
        var list: [JSONValue] = []
        skipWhiteSpace()
        if take(UInt8(ascii: "]")) { return list }
        while true {
            skipWhiteSpace()
            list.append(try value(depth: depth))
            skipWhiteSpace()
            if take(UInt8(ascii: "]")) { return list }
            guard take(UInt8(ascii: ",")) else { throw unexpected() }
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        if depth > Limits.jsonDepthMax { throw failure(.tooDeep) }
        index += 1
        var members: [JSONObject.Member] = []
        var names: Set<[UInt8]> = []
        skipWhiteSpace()
        if take(UInt8(ascii: "}")) { return JSONObject() }
        while true {
            skipWhiteSpace()
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let key = try string()
            try refuseTwice(key, members, &names)
            skipWhiteSpace()
            guard take(UInt8(ascii: ":")) else { throw unexpected() }
            skipWhiteSpace()
            members.append(JSONObject.Member(key: key, value: try value(depth: depth)))
            skipWhiteSpace()
            if take(UInt8(ascii: "}")) { return JSONObject(uniqueMembers: members) }
            guard take(UInt8(ascii: ",")) else { throw unexpected() }
        }
    }

    /// Hashes bytes, not `String`: hashing text with many combining marks is quadratic.
    private func refuseTwice(
        _ key: String, _ members: [JSONObject.Member], _ names: inout Set<[UInt8]>
    ) throws(JSONError) {
        if members.count < Self.manyMembers {
            for member in members where haveSameBytes(member.key, key) {
                throw failure(.duplicateKey)
            }
            return
        }
        if names.isEmpty { names = Set(members.map { Array($0.key.utf8) }) }
        if !names.insert(Array(key.utf8)).inserted { throw failure(.duplicateKey) }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte, index < bytes.count else { return false }
        index += 1
        return true
    }
}

private func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}
