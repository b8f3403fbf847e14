import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A name that is written here` {
    static let taken: [(String, String)] = [
        ("Ada", "Ada"), ("  Ada Lovelace\u{3000}", "Ada Lovelace"), ("李小龙", "李小龙"),
        ("a", "a"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"), ("e\u{301}", "e\u{301}"),
        ("❤️\u{200d}🔥", "❤️\u{200d}🔥"), ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴\u{e0067}\u{e0062}\u{e007f}"),
        ("می\u{200c}خواهم", "می\u{200c}خواهم"), ("क\u{94d}\u{200d}ष", "क\u{94d}\u{200d}ष"),
        ("葛\u{e0100}", "葛\u{e0100}"),
        ("Zoë\u{301}\u{302}\u{303}", "Zoë\u{301}\u{302}\u{303}"),
        (String(repeating: "x", count: 30), String(repeating: "x", count: 30)),
        (String(repeating: "e\u{301}", count: 30), String(repeating: "e\u{301}", count: 30)),
    ]

    @Test(arguments: taken)
    func `is trimmed and kept as it is`(typed: String, kept: String) throws {
        let name = try CheckedName(authored: typed)
        #expect(Array(name.text.utf8) == Array(kept.utf8))
        #expect(throws: Never.self) { try CheckedName.checkWire(name.text) }
    }

    static let refused: [(String, TextProblem)] = [
        ("", .blank), (" \t\n ", .blank), ("\u{200b}\u{200d}", .blank), ("\u{301}", .blank),
        ("\u{2800}", .blank), ("\u{3164}", .blank), ("\u{202e}", .blank),
        ("a\u{0}b", .forbiddenCharacter), ("a\nb", .forbiddenCharacter),
        ("a\u{1b}[2J", .forbiddenCharacter), ("a\u{9b}2J", .forbiddenCharacter),
        ("a\u{7f}", .forbiddenCharacter), ("a\u{202e}b", .forbiddenCharacter),
        ("a\u{200b}", .hiddenCharacter), ("a\u{200b}b", .hiddenCharacter),
        ("\u{feff}a", .hiddenCharacter), ("a\u{ad}b", .hiddenCharacter),
        ("a\u{2060}b", .hiddenCharacter), ("a\u{200d}b", .hiddenCharacter),
        ("me\u{200c}", .hiddenCharacter), ("م\u{200c}", .hiddenCharacter),
        ("m\u{200c}م", .hiddenCharacter), ("a\u{fe0f}", .hiddenCharacter),
        ("a1\u{fe0f}", .hiddenCharacter), ("a\u{3164}b", .hiddenCharacter),
        ("한\u{115f}", .hiddenCharacter), ("a\u{e0061}", .hiddenCharacter),
        ("❤\u{fe0f}\u{fe0f}", .hiddenCharacter), ("👩\u{200d}\u{200d}👩", .hiddenCharacter),
        ("a\u{2066}b", .forbiddenCharacter), ("a\u{2028}b", .forbiddenCharacter),
        (String(decoding: [0x61, 0xef, 0xbf, 0xbe], as: UTF8.self), .forbiddenCharacter),
        (String(decoding: [0x61, 0xef, 0xb7, 0x90], as: UTF8.self), .forbiddenCharacter),
        (String(repeating: "x", count: 31), .tooManyCharacters),
        (String(repeating: "x", count: 129), .tooManyCharacters),
        (String(repeating: "e\u{301}\u{302}\u{303}\u{304}", count: 28), .tooManyScalars),
        (String(repeating: "x", count: 257), .tooManyBytes),
        ("a\u{301}\u{302}\u{303}\u{304}\u{305}", .tooManyMarks),
    ]

    @Test(arguments: refused)
    func `is refused with its reason`(typed: String, problem: TextProblem) {
        #expect(throws: problem) { try CheckedName(authored: typed) }
    }

    @Test func `may be families, as many as there are bytes for`() throws {
        let families = String(repeating: "👨\u{200d}👩\u{200d}👧\u{200d}👦", count: 10)
        #expect(try CheckedName(authored: families).text == families)
    }

    @Test func `is refused by its length before its characters are looked at`() {
        // Hashing or comparing this text would take seconds.
        let hostile = String(repeating: "\u{301}\u{323}", count: 50_000)
        #expect(throws: TextProblem.tooManyBytes) { try CheckedName(authored: hostile) }
        #expect(throws: TextProblem.tooManyBytes) { try CheckedName.checkWire(hostile) }
        #expect(throws: TextProblem.tooManyBytes) { try CheckedName.checkWire(hostile.utf8) }
        #expect(NameFolding.key(of: hostile) == nil)
        #expect(throws: TextProblem.tooManyBytes) { try MessageText.check(hostile) }
    }

    @Test func `has a sentence for each reason it is refused for`() {
        let sentences = Set(TextProblem.allCases.map(\.description))
        #expect(sentences.count == TextProblem.allCases.count)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
    }
}

struct `A name in an operation` {
    @Test(arguments: [
        "", " ", "a\u{202e}b", String(repeating: "\u{301}", count: 128),
        String(repeating: "x", count: 256),
    ])
    func `may be what nobody should write`(name: String) throws {
        #expect(throws: Never.self) { try CheckedName.checkWire(name) }
        #expect(Array(try CheckedName.checkWire(name.utf8).utf8) == Array(name.utf8))
    }

    static let refused: [([UInt8], TextProblem)] = [
        ([UInt8](repeating: 0x61, count: 257), .tooManyBytes),
        ([0x61, 0x00], .forbiddenCharacter), ([0x0a], .forbiddenCharacter),
        ([0x7f], .forbiddenCharacter), ([0xc2, 0x9b], .forbiddenCharacter),
        ([0xef, 0xbf, 0xbe], .forbiddenCharacter),  // U+FFFE
        ([0xc0, 0x80], .notUTF8), ([0xed, 0xa0, 0x80], .notUTF8), ([0xff], .notUTF8),
    ]

    @Test(arguments: refused)
    func `must be short text without controls`(bytes: [UInt8], problem: TextProblem) {
        #expect(throws: problem) { try CheckedName.checkWire(bytes) }
    }
}

struct `Name folding` {
    @Test(arguments: [
        ("Ada", "aDA"), ("Zo\u{eb}", "ZOE\u{308}"), ("STRASSE", "straße"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("\u{212a}elvin", "kelvin"), ("ＡＢ", "ａｂ"), ("", ""),
    ])
    func `finds names that differ in case and encoding only`(left: String, right: String) {
        #expect(NameFolding.matches(left, right))
        #expect(NameFolding.key(of: left) == NameFolding.key(of: right))
    }

    @Test(arguments: [("Ada", "Adа"), ("Ada", "Ad\u{200b}a"), ("a", "á"), ("Ada", "Ada ")])
    func `does not take look-alikes for equal`(left: String, right: String) {
        #expect(!NameFolding.matches(left, right))
    }

    @Test func `compares no text that is longer than a name`() {
        let long = String(repeating: "x", count: Limits.nameBytesMax + 1)
        #expect(!NameFolding.matches(long, long))
        #expect(NameFolding.matches(String(long.dropLast()), String(long.dropLast())))
    }
}

struct `The text of a message` {
    @Test(arguments: [
        "", "a\nb\tc\r\n", "\u{1b}[31m", "e\u{301}", String(repeating: "x", count: 16_384),
    ])
    func `may be nearly anything`(text: String) throws {
        #expect(throws: Never.self) { try MessageText.check(text) }
        #expect(Array(try MessageText.check(text.utf8).utf8) == Array(text.utf8))
    }

    static let refused: [([UInt8], TextProblem)] = [
        ([0x61, 0x00], .forbiddenCharacter), ([0xef, 0xbf, 0xbf], .forbiddenCharacter),
        ([0xef, 0xb7, 0xaf], .forbiddenCharacter), ([0xf4, 0x8f, 0xbf, 0xbe], .forbiddenCharacter),
        ([0xc1, 0xbf], .notUTF8), ([0xed, 0xbf, 0xbf], .notUTF8), ([0xe2, 0x82], .notUTF8),
        ([UInt8](repeating: 0x61, count: 16_385), .tooManyBytes),
    ]

    @Test(arguments: refused)
    func `is UTF-8 without NUL and within its limit`(bytes: [UInt8], problem: TextProblem) {
        #expect(throws: problem) { try MessageText.check(bytes) }
    }
}
