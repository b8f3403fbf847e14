import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Text of others on a terminal` {
    /// What must never reach a terminal raw, written down a second time and apart from the code.
    static func isDangerous(_ scalar: Unicode.Scalar, in place: TerminalText.Place) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: place != .body
        case 0x00...0x1f, 0x7f...0x9f: true
        case 0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        case 0xe0000...0xe007f: true
        case 0x200b...0x200d, 0x2060, 0xfeff: place == .name
        default: false
        }
    }

    static func expectSafe(_ text: String, _ comment: Comment? = nil) {
        for place in TerminalText.Place.allCases {
            let shown = TerminalText.escaped(text, for: place)
            #expect(!shown.unicodeScalars.contains { isDangerous($0, in: place) }, comment)
            let again = TerminalText.escaped(shown, for: place)
            #expect(Array(again.utf8) == Array(shown.utf8), comment)
        }
        for maxBytes in [0, 2, 3, 16, 256] {
            let line = TerminalText.forLog(text, maxBytes: maxBytes)
            #expect(line.utf8.count <= maxBytes, comment)
            #expect(!line.unicodeScalars.contains { isDangerous($0, in: .name) }, comment)
            let again = TerminalText.forLog(line, maxBytes: maxBytes)
            #expect(Array(again.utf8) == Array(line.utf8), comment)
        }
        for columns in [0, 1, 2, 10, 80] {
            let cut = TerminalText.truncated(text, toColumns: columns)
            #expect(TerminalText.displayWidth(cut) <= columns, comment)
            #expect(cut.utf8.count <= columns * 32, comment)
        }
    }

    static let naughty = "text/blns.base64.json"

    @Test(.vectors(naughty))
    func `is safe for the whole list of naughty strings, or refused by rule`() throws {
        let list = try Vectors.json(Self.naughty, as: [String].self)
        #expect(list.count > 500)
        var notText = 0
        for (index, item) in list.enumerated() {
            let data = try #require(Data(base64Encoded: item), "\(index)")
            let repaired = String(decoding: data, as: UTF8.self)
            Self.expectSafe(repaired, "\(index)")
            do {
                let text = try MessageText.check(data)
                #expect(Array(text.utf8) == Array(data), "\(index)")
            } catch .notUTF8 {
                notText += 1
                #expect(String(bytes: data, encoding: .utf8) == nil, "\(index)")
            } catch {
                #expect(Array(data) == [0xef, 0xbf, 0xbe], "\(index): only U+FFFE breaks a rule")
            }
            if let name = try? CheckedName(authored: repaired) {
                #expect(throws: Never.self, "\(index)") { try CheckedName.checkWire(name.text) }
            }
        }
        print("naughty strings: \(list.count), of which \(notText) are not UTF-8")
    }

    @Test(arguments: Seeds.explore(100))
    func `is safe whatever it is made of`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            Self.expectSafe(random.text(scalars: random.below(60)), "WSX_SEED=\(seed)")
        }
    }

    @Test func `has every single scalar judged`() {
        for value in UInt32(0)...0x10_ffff {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for place in TerminalText.Place.allCases where Self.isDangerous(scalar, in: place) {
                let shown = TerminalText.escaped(String(scalar), for: place)
                #expect(shown == "\\u{\(String(value, radix: 16))}")
            }
        }
    }

    static let shown: [(String, TerminalText.Place, String)] = [
        ("a\u{1b}]52;c;aGk=\u{7}b", .body, "a\\u{1b}]52;c;aGk=\\u{7}b"),
        ("\u{9b}2J\u{8}\r\n", .body, "\\u{9b}2J\\u{8}\\u{d}\n"),
        ("one\ttwo\n", .body, "one\ttwo\n"), ("one\ttwo\n", .line, "one\\u{9}two\\u{a}"),
        ("a\u{202e}b\u{2066}", .line, "a\\u{202e}b\\u{2066}"),
        ("\u{1f469}\u{200d}\u{1f680}", .line, "\u{1f469}\u{200d}\u{1f680}"),
        ("\u{1f469}\u{200d}\u{1f680}", .name, "\u{1f469}\\u{200d}\u{1f680}"),
        ("❤\u{fe0f}", .name, "❤\u{fe0f}"), ("e\u{301} 李 ß", .name, "e\u{301} 李 ß"),
        ("x\u{e0041}", .body, "x\\u{e0041}"), ("x\u{2028}y", .body, "x\\u{2028}y"),
    ]

    @Test(arguments: shown)
    func `is shown as what it is`(text: String, place: TerminalText.Place, expected: String) {
        #expect(Array(TerminalText.escaped(text, for: place).utf8) == Array(expected.utf8))
    }

    @Test func `is one line in a log, however it tries`() {
        let text = "Ada\n2026-01-01 error: all is lost\u{85}\u{2028}"
        #expect(
            TerminalText.forLog(text) == "Ada\\u{a}2026-01-01 error: all is lost\\u{85}\\u{2028}")
        #expect(TerminalText.forLog(String(repeating: "\n", count: 1_000_000)).utf8.count <= 256)
        #expect(TerminalText.forLog("abcdef", maxBytes: 6) == "abcdef")
        #expect(TerminalText.forLog("abcdefg", maxBytes: 6) == "abc…")
        #expect(TerminalText.forLog("ab\ncdefg", maxBytes: 7) == "ab…")
        #expect(TerminalText.forLog("ab\ncdefg", maxBytes: 10) == "ab\\u{a}…")
        #expect(TerminalText.forLog("abc", maxBytes: 2) == "")
        #expect(TerminalText.forLog("abc", maxBytes: -1) == "")
    }
}

struct `Columns of a terminal` {
    static let widths: [(String, Int)] = [
        ("", 0), ("abc", 3), ("李小龙", 6), ("한국", 4), ("\u{1112}\u{1161}\u{11ab}", 2), ("ｶﾅ", 2),
        ("カナ", 4), ("e\u{301}", 1), ("\u{1f600}", 2), ("👩‍👩‍👧‍👦", 2), ("👍🏽", 2), ("🇩🇪", 2), ("🇩🇪🇫🇷", 4),
        ("❤", 1), ("❤\u{fe0f}", 2), ("é", 1), ("a\u{200b}b", 2), ("…", 1), ("。", 2), ("Я", 1),
        ("🏳️‍🌈", 2), ("⌚", 2), ("1\u{fe0f}\u{20e3}", 2), ("اَ", 1),
    ]

    @Test(arguments: widths)
    func `are counted by what is drawn`(text: String, columns: Int) {
        #expect(TerminalText.displayWidth(text) == columns)
    }

    static let cuts: [(String, Int, String)] = [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("李小龙", 5, "李小…"), ("李小龙", 4, "李…"),
        ("李", 1, "…"), ("abc", 0, ""), ("abc", -1, ""),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("👩‍👩‍👧‍👦👍🏽x", 4, "👩‍👩‍👧‍👦…"), ("🇩🇪🇫🇷", 3, "🇩🇪…"), ("ab❤\u{fe0f}", 3, "ab…"),
    ]

    @Test(arguments: cuts)
    func `bound a text without cutting a character`(text: String, columns: Int, cut: String) {
        #expect(Array(TerminalText.truncated(text, toColumns: columns).utf8) == Array(cut.utf8))
    }

    @Test func `bound even a character of 64 KiB`() {
        let giant = "a" + String(repeating: "\u{301}", count: 32_768)
        for columns in [1, 2, 40] {
            let cut = TerminalText.truncated(giant, toColumns: columns)
            #expect(cut.utf8.count <= columns * 32)
            #expect(TerminalText.displayWidth(cut) <= columns)
            #expect(cut.utf8.count > 2)
        }
        let inside = TerminalText.truncated("xyz" + giant, toColumns: 4)
        #expect(inside == "xyz…")
        #expect(TerminalText.truncated("abc", toColumns: .max) == "abc")
    }
}
