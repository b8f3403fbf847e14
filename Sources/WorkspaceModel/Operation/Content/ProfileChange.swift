/// A change of a profile field other than the name: content of the profile document (PROTOCOL.md,
/// 3.2).
///
/// Each field of each member is a register, so that one can be erased, payload included, without
/// the others.
public struct ProfileChange: Hashable, Sendable {
    /// The field. The numbers are signed.
    public enum Field: UInt64, CaseIterable, Sendable {
        case description = 1
        case country = 2
        case phone = 3
        case email = 4
        /// `preset:` and a number.
        case image = 5
    }

    /// The field.
    public let field: Field
    /// 1 to `Limits.profileFieldBytesMax` bytes without NUL; `nil` clears the field.
    public let value: String?

    /// Sets `field` to `value`.
    public init(_ field: Field, _ value: String?) {
        self.field = field
        self.value = value
    }
}

extension ProfileChange {
    /// The type of content.
    static let type: UInt64 = 12

    var encoded: [UInt8] {
        var fields = FieldWriter(type: Self.type)
        fields.field(1) { $0.uint(field.rawValue) }
        fields.optional(2, value) { $0.text($1) }
        return fields.bytes
    }

    init(_ fields: inout FieldReader) throws(Malformed) {
        let start = fields.decoder.position
        let number = try fields.required(1) { (d) throws(Malformed) in try d.uint() }
        guard let field = Field(rawValue: number) else { throw Malformed(.outOfRange, at: start) }
        let value = try fields.optional(2) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.profileFieldBytesMax)
        }
        // An empty text has one encoding: absent.
        guard value?.isEmpty != true, value?.hasNUL != true else {
            throw Malformed(.badText, at: start)
        }
        self.init(field, value)
    }
}
