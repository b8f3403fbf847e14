public import WorkspaceModel

/// Which values a parameter takes. Validation, schema and text parsing all switch over it.
public indirect enum ParameterShape: Sendable {
    /// Text of a length in bytes of UTF-8.
    case text(bytes: ClosedRange<Int>)
    /// An exact id.
    case identifier(prefix: String)
    /// A channel by name, id or person.
    case channel
    /// A person by name or id.
    case member
    /// A workspace by name or id.
    case workspace
    /// A note by id or title.
    case note
    /// An exact integer.
    case integer(ClosedRange<Int64>)
    /// Milliseconds.
    case duration(ClosedRange<Int64>)
    /// Bytes, which the command line writes as `20GB` or `512MiB`.
    case byteCount(ClosedRange<Int64>)
    /// Milliseconds since 1970.
    case time
    /// `true` or `false`.
    case flag
    /// One of these words.
    case choice([String])
    /// A list with a bounded number of values.
    case list(ParameterShape, count: ClosedRange<Int>)
    /// A place on the earth: degrees as text, or an object.
    case location
    /// Anything.
    case json
}

/// Why a value does not fit. The raw value is the stable word in `data.fields`.
public enum ParameterMismatch: String, Sendable {
    /// The parameter is not there.
    case missing
    /// No parameter has this name.
    case unknown
    /// A value of another JSON type, or a number that is not an integer.
    case type
    /// Nothing, where something must be.
    case empty
    /// More bytes or elements than allowed.
    case tooLong = "too_long"
    /// A number outside its bounds.
    case range
    /// Text that is not written as it must be.
    case form
}

extension ParameterShape {
    /// Longest reference: a sign and a name.
    static let referenceBytes = 1...(Limits.nameBytesMax + 1)
    /// Times up to here stay exact in programs that know only doubles: 2^53 - 1.
    static let timeRange: ClosedRange<Int64> = 0...9_007_199_254_740_991

    /// What is wrong with `value`, or `nil`. Never recurses deeper than a list in the table.
    func mismatch(_ value: JSONValue) -> ParameterMismatch? {
        switch self {
        case .text(let bytes): textMismatch(value, bytes) { _ in true }
        case .identifier(let prefix):
            textMismatch(value, 1...80) { isIdentifier($0, prefix: prefix) }
        case .channel: textMismatch(value, Self.referenceBytes) { ChannelReference($0) != nil }
        case .member: textMismatch(value, Self.referenceBytes) { MemberReference($0) != nil }
        case .workspace: textMismatch(value, Self.referenceBytes) { WorkspaceReference($0) != nil }
        case .note: textMismatch(value, 1...Limits.noteTitleBytesMax) { _ in true }
        case .integer(let range), .duration(let range), .byteCount(let range):
            integerMismatch(value, range)
        case .time: integerMismatch(value, Self.timeRange)
        case .flag: value.boolValue == nil ? .type : nil
        case .choice(let words):
            textMismatch(value, 0...64) { given in
                words.contains { $0.utf8.elementsEqual(given.utf8) }
            }
        case .list(let element, let count): listMismatch(value, element, count)
        case .location: MessageLocation(value) == nil ? .form : nil
        case .json: nil
        }
    }

    /// The JSON schema for `rpc.discover`.
    public var schema: JSONValue {
        switch self {
        case .text(let bytes):
            [
                "type": "string", "minLength": .integer(Int64(bytes.lowerBound)),
                "maxLength": .integer(Int64(bytes.upperBound)),
            ]
        case .identifier(let prefix): ["type": "string", "pattern": .string("^" + prefix)]
        case .channel, .member, .workspace:
            [
                "type": "string", "minLength": 1,
                "maxLength": .integer(Int64(Limits.nameBytesMax + 1)),
            ]
        case .integer(let range), .duration(let range), .byteCount(let range):
            Self.integerSchema(range)
        case .time: Self.integerSchema(Self.timeRange)
        case .flag: ["type": "boolean"]
        case .note:
            [
                "type": "string", "minLength": 1,
                "maxLength": .integer(Int64(Limits.noteTitleBytesMax)),
            ]
        case .choice(let words): ["type": "string", "enum": JSONValue(texts: words)]
        case .list(let element, let count):
            [
                "type": "array", "items": element.schema,
                "minItems": .integer(Int64(count.lowerBound)),
                "maxItems": .integer(Int64(count.upperBound)),
            ]
        case .location: MessageLocation.schema
        case .json: [:]
        }
    }

    /// The placeholder of a value in a usage line, such as `CHANNEL`.
    public var placeholder: String {
        switch self {
        case .text: "TEXT"
        case .identifier: "ID"
        case .channel: "CHANNEL"
        case .member: "@U"
        case .workspace: "WORKSPACE"
        case .note: "NOTE"
        case .integer: "N"
        case .duration: "DUR"
        case .byteCount: "SIZE"
        case .time: "T"
        case .flag: ""
        case .choice(let words): words.joined(separator: "|")
        case .list(let element, _): element.placeholder
        case .location: "LAT,LON"
        case .json: "JSON"
        }
    }

    /// What it takes, in words for the manual.
    public var words: String {
        switch self {
        case .text(let bytes): "text, \(bytes.lowerBound) to \(bytes.upperBound) bytes"
        case .identifier(let prefix): "an id, `\(prefix)…`"
        case .channel: "a channel: `general`, `#general`, `c_…`, or `@Mina`"
        case .member: "a person: `Mina`, `@Mina`, or `u_…`"
        case .workspace: "a workspace: its name or `w_…`"
        case .note: "a note: its title or `n_…`"
        case .integer(let range): "an integer, \(range.lowerBound) to \(range.upperBound)"
        case .duration(let range):
            "milliseconds, \(range.lowerBound) to \(range.upperBound)"
        case .byteCount(let range): "bytes, \(range.lowerBound) to \(range.upperBound)"
        case .time: "milliseconds since 1970"
        case .flag: "true or false"
        case .choice(let words): "one of `\(words.joined(separator: "`, `"))`"
        case .list(let element, let count): "a list of up to \(count.upperBound): \(element.words)"
        case .location:
            "a place: `52.52,13.405`, or `{lat, lon, accuracy?, label?}` with at most 7 decimals"
        case .json: "any JSON"
        }
    }

    private static func integerSchema(_ range: ClosedRange<Int64>) -> JSONValue {
        [
            "type": "integer", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ]
    }
}

private func textMismatch(
    _ value: JSONValue, _ bytes: ClosedRange<Int>, isWellFormed: (String) -> Bool
) -> ParameterMismatch? {
    guard let text = value.stringValue else { return .type }
    if text.utf8.count > bytes.upperBound { return .tooLong }
    if text.utf8.count < bytes.lowerBound { return .empty }
    return isWellFormed(text) ? nil : .form
}

private func integerMismatch(_ value: JSONValue, _ range: ClosedRange<Int64>) -> ParameterMismatch?
{
    guard let number = value.integerValue else { return .type }
    return range.contains(number) ? nil : .range
}

private func listMismatch(
    _ value: JSONValue, _ element: ParameterShape, _ count: ClosedRange<Int>
) -> ParameterMismatch? {
    guard let list = value.arrayValue else { return .type }
    if list.count > count.upperBound { return .tooLong }
    if list.count < count.lowerBound { return .empty }
    for value in list {
        if let mismatch = element.mismatch(value) { return mismatch }
    }
    return nil
}

extension NodeError {
    /// Neither a text nor a place is given, and a message needs one of them.
    public static var missingText: NodeError {
        NodeError(
            .badRequest, "'text' is missing",
            hint: "see 'wsx-node rpc --describe message.send'", reason: "control.bad_param",
            fields: [.init(name: "text", reason: ParameterMismatch.missing.rawValue)])
    }
}
