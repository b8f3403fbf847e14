/// One value of JSON (RFC 8259), as the control socket carries it.
///
/// Objects keep the order of their members, integers are exact, and every other number keeps the
/// text it was written with, because nothing in the interface is a fraction. Values are equal when
/// they are written with the same bytes; text is not normalised.
public enum JSONValue: Sendable {
    /// `null`: an optional thing that is absent.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number: a fraction, an exponent, `-0`, or one too large. The literal text.
    case decimal(String)
    /// Text: valid Unicode, never a lone surrogate.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object(JSONObject)
}

/// The members of a JSON object, in the order in which they were written.
public struct JSONObject: Sendable {
    /// A name and its value.
    public struct Member: Sendable {
        /// The name, compared byte by byte.
        public let key: String
        /// What it names.
        public var value: JSONValue

        /// A member as it will be written.
        public init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// All members. The parser lets no name occur twice.
    public private(set) var members: [Member]

    /// An object without members.
    public init() { members = [] }

    /// - Precondition: no two members have the same name; the parser made sure, or our own code.
    public init(uniqueMembers: [Member]) { members = uniqueMembers }

    /// The value named `key`. Setting `nil` removes the member, setting a new name appends.
    ///
    /// Looking up is a walk over all members: objects of the interface are small.
    public subscript(key: String) -> JSONValue? {
        get { index(of: key).map { members[$0].value } }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member whose name is known to be new.
    public mutating func append(_ key: String, _ value: JSONValue) {
        members.append(Member(key: key, value: value))
    }

    private func index(of key: String) -> Int? {
        members.firstIndex { haveSameBytes($0.key, key) }
    }
}

extension JSONValue: Equatable {
    /// Equal if the written bytes are equal, so that two encodings of one accent stay different.
    public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
}

extension JSONObject: Equatable {
    /// The same members in the same order.
    public static func == (left: Self, right: Self) -> Bool {
        JSONValue.object(left) == JSONValue.object(right)
    }
}

extension JSONValue {
    /// The text, if this is text.
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, if this is an exact integer.
    public var integerValue: Int64? { if case .integer(let number) = self { number } else { nil } }
    /// The answer, if this is `true` or `false`.
    public var boolValue: Bool? { if case .bool(let answer) = self { answer } else { nil } }
    /// The elements, if this is a list.
    public var arrayValue: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
    /// The members, if this is an object.
    public var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }
    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The member `key` of an object; `nil` for anything that has none.
    public subscript(key: String) -> JSONValue? { objectValue?[key] }

    /// Element `index` of a list; `nil` outside of it and for anything that is no list.
    public subscript(index: Int) -> JSONValue? {
        guard let list = arrayValue, list.indices.contains(index) else { return nil }
        return list[index]
    }

    /// Text, or `null` where there is none.
    public init(orNull text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// A number, or `null` where there is none.
    public init(orNull number: Int64?) { self = number.map(JSONValue.integer) ?? .null }

    /// An answer, or `null` where there is none.
    public init(orNull answer: Bool?) { self = answer.map(JSONValue.bool) ?? .null }

    /// A list of texts.
    public init(texts: [String]) { self = .array(texts.map(JSONValue.string)) }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// An object whose members keep the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(
            JSONObject(uniqueMembers: members.map { JSONObject.Member(key: $0.0, value: $0.1) }))
    }

    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Text.
    public init(stringLiteral text: String) { self = .string(text) }

    /// An integer.
    public init(integerLiteral number: Int64) { self = .integer(number) }

    /// An answer.
    public init(booleanLiteral answer: Bool) { self = .bool(answer) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// The members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init(uniqueMembers: members.map { Member(key: $0.0, value: $0.1) })
    }
}

/// Whether two texts are the same bytes. `==` of `String` would also join NFC and NFD.
func haveSameBytes(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    // Through `utf8` each byte would cost as much as comparing all of them at once.
    let isSame = left.utf8.withContiguousStorageIfAvailable { left in
        right.utf8.withContiguousStorageIfAvailable { right in left.elementsEqual(right) }
    }
    return (isSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
}
