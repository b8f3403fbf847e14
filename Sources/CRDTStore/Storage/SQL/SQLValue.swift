/// A value that SQLite can hold, for statements that are not hot.
public enum SQLValue: Equatable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByNilLiteral
{
    /// No value.
    case null
    /// A signed integer of 64 bits.
    case integer(Int64)
    /// UTF-8 text. A zero byte inside is kept.
    case text(String)
    /// Bytes. An empty blob is not `null`.
    case blob([UInt8])

    /// `1` instead of `.integer(1)`.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// `"a"` instead of `.text("a")`.
    public init(stringLiteral value: String) { self = .text(value) }
    /// `nil` instead of `.null`.
    public init(nilLiteral: ()) { self = .null }

    /// The integer, or `null`.
    public static func optional(_ number: Int64?) -> SQLValue {
        number.map(SQLValue.integer) ?? nil
    }
    /// The blob, or `null`.
    public static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? nil }
    /// The text, or `null`.
    public static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? nil }
}
