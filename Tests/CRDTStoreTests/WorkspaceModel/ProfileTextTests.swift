import Testing
import WorkspaceModel

/// The fields of a profile as somebody types them.
struct `A field of a profile` {
    struct Row: Sendable, CustomTestStringConvertible {
        let field: ProfileChange.Field
        let typed: String
        let kept: String?
        var testDescription: String { "\(field) \(typed)" }

        init(_ field: ProfileChange.Field, _ typed: String, _ kept: String?) {
            self.field = field
            self.typed = typed
            self.kept = kept
        }
    }

    static let taken = [
        Row(.phone, "010-1234-5678", "01012345678"), Row(.phone, " 010 1234 5678 ", "01012345678"),
        Row(.phone, "(011) 123.4567", "0111234567"),
        Row(.phone, "+82 10-1234-5678", "+821012345678"),
        Row(.phone, "+49 30 901820", "+4930901820"), Row(.phone, "", nil), Row(.phone, "  ", nil),
        Row(.email, "Mina.Kim+x@Example.ORG", "mina.kim+x@example.org"),
        Row(.email, "a_%-@b.co", "a_%-@b.co"), Row(.email, "a@b-c.d.museum", "a@b-c.d.museum"),
        Row(.country, " Korea ", "Korea"), Row(.country, "대한민국", "대한민국"),
        Row(.description, "Paints\nat night", "Paints\nat night"),
        Row(.description, "\u{3000}x\t", "x"), Row(.image, "preset:1", "preset:1"),
        Row(.image, "preset:999", "preset:999"), Row(.image, "", nil),
        Row(
            .description, String(repeating: "x", count: 1_024), String(repeating: "x", count: 1_024)
        ),
    ]

    @Test(arguments: taken)
    func `is kept in one form`(_ row: Row) throws {
        #expect(try ProfileText.checked(row.typed, for: row.field) == row.kept)
    }

    static let refused: [(ProfileChange.Field, String, ProfileText.InvalidForm)] = [
        (.phone, "123", .form), (.phone, "02-123-45678", .form), (.phone, "010-1234-56789", .form),
        (.phone, "010 1234 56a8", .form), (.phone, "+0123456789", .form),
        (.phone, "+1234567", .form),
        (.phone, "+1234567890123456", .form), (.phone, "010１２３４5678", .form),
        (.phone, "0-1+012345678", .form), (.email, "mina", .form), (.email, "mina@", .form),
        (.email, "@example.org", .form), (.email, "a@b", .form), (.email, "a@b.c", .form),
        (.email, "a@b.c1", .form), (.email, "a b@c.org", .form), (.email, "a@b@c.org", .form),
        (.email, "a@-b.org", .form), (.email, "a@b..org", .form), (.email, "민아@example.org", .form),
        (.email, String(repeating: "a", count: 250) + "@b.org", .tooLong),
        (.country, String(repeating: "x", count: 31), .form), (.country, "a\u{202e}b", .form),
        (.country, "a\nb", .form), (.description, "a\u{0}b", .form),
        (.description, "a\u{1b}[2J", .form),
        (.description, String(repeating: "x", count: 1_025), .tooLong),
        (.image, "preset:0", .form), (.image, "preset:1000", .form), (.image, "preset:01", .form),
        (.image, "preset:+1", .form), (.image, "7", .form), (.image, "b_7k3qm2xa", .form),
    ]

    @Test(arguments: refused)
    func `is refused in every other`(
        _ row: (field: ProfileChange.Field, typed: String, invalidForm: ProfileText.InvalidForm)
    ) {
        #expect(throws: row.invalidForm) { try ProfileText.checked(row.typed, for: row.field) }
    }

    @Test(arguments: [
        ("01012345678", "010-1234-5678"), ("0111234567", "011-123-4567"),
        ("+821012345678", "+821012345678"), ("", ""), ("0101234567890", "0101234567890"),
        ("0212345678", "0212345678"), ("\u{1b}[2J", "\u{1b}[2J"),
    ])
    func `shows a phone number in groups`(_ row: (kept: String, shown: String)) {
        #expect(ProfileText.shown(phone: row.kept) == row.shown)
    }
}
