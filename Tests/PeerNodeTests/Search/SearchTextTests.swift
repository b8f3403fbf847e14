import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `Text for searching` {
    private func letters(_ text: String) -> String {
        let folded = SearchText(text)
        return folded.runs.map { run in
            String(
                String.UnicodeScalarView(
                    folded.folded[run.places].compactMap(Unicode.Scalar.init)))
        }.joined(separator: " ")
    }

    @Test(arguments: [
        ("Hello, WORLD!", "hello world"),
        ("build-42_final", "build 42 final"),
        ("Café Zürich Ångström", "cafe zurich angstrom"),
        ("Cafe\u{301} Zu\u{308}rich A\u{30a}ngstro\u{308}m", "cafe zurich angstrom"),
        ("Tiếng Việt", "tieng viet"),
        ("Ελλάς ΕΛΛΆΣ", "ελλασ ελλασ"),
        ("Ёлка йогурт", "елка иогурт"),
        ("ＡＢＣ１２３", "abc123"),
        ("ﾊﾝｶﾞｸ", "ハンガク"),
        ("は\u{3099} ﾊﾟ ハ\u{309a}", "ば パ パ"),
        ("\u{1112}\u{116c}\u{110b}\u{1174}", "회의"),
        ("\u{1112}\u{1161}\u{11ab}", "한"),
        ("ﾡﾢ", "ㄱㄲ"),
        ("회의록 build会议", "회의록 build 会议"),
        ("soft\u{ad}hyphen zero\u{200d}joined", "softhyphen zerojoined"),
        ("नमस्ते", "नमस्ते"),
        ("👍 … — «»", ""),
        ("", ""),
    ])
    func `makes no difference of case, accents, width and composition`(
        _ text: String, _ expected: String
    ) {
        #expect(letters(text).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    @Test func `knows where each letter came from`() {
        let text = SearchText("e\u{301}a 회의")
        #expect(text.sources == [0..<2, 2..<3, 4..<5, 5..<6])
        #expect(text.runs.map(\.places) == [0..<2, 2..<4])
        let jamo = SearchText("\u{1112}\u{116c}!")
        #expect(jamo.sources == [0..<2])
    }

    @Test func `is cut in the same way where all of it is ASCII`() {
        let all = (0..<0x80 as Range<UInt8>).map { $0 }
        var texts = [String(decoding: all, as: UTF8.self), "", " ", "a", "-a"]
        for seed in Seeds.explore(20) {
            var random = SeededGenerator(seed: seed)
            let bytes = (0..<random.below(200)).map { _ in UInt8(random.below(0x80)) }
            texts.append(String(decoding: bytes, as: UTF8.self))
        }
        for text in texts {
            // The sign behind it is in no word, and has the whole text taken letter by letter.
            let (plain, other) = (SearchText(text), SearchText(text + "\u{2026}"))
            #expect(plain.folded == other.folded, "\(text.debugDescription)")
            #expect(plain.sources == other.sources, "\(text.debugDescription)")
            #expect(plain.runs.map(\.places) == other.runs.map(\.places))
            #expect(plain.runs.allSatisfy { $0.kind == .word })
            #expect(plain.words == other.words && plain.pairs.isEmpty)
        }
    }

    @Test(arguments: [
        ("회의록", "회의 의록 록"), ("회", "회"), ("a会议b", "会议 议"), ("", ""), ("abc", ""),
        ("会議 議事録", "会議 議 議事 事録 録"),
    ])
    func `is cut into pairs, with the last letter alone`(_ text: String, _ expected: String) {
        #expect(SearchText(text).pairs == expected)
    }

    @Test func `keeps words apart from pairs, and cuts what is longer than a word`() {
        let text = SearchText("Plan 회의 " + String(repeating: "x", count: 70))
        #expect(text.words == "plan " + String(repeating: "x", count: 64))
    }

    @Test func `has no letter that FTS5 would take for a sign`() {
        for value in 0..<0x3000 as Range<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let folded = SearchFolding.fold(scalar)
            guard folded < 0x80, folded > SearchFolding.attached else { continue }
            let isPlain =
                (0x30...0x39).contains(folded) || (0x61...0x7a).contains(folded)
            #expect(isPlain, "U+\(String(value, radix: 16)) gives \(folded)")
        }
    }

    @Test(arguments: [
        ("see https://example.org/x", true), ("HTTP://EXAMPLE.ORG", true), ("http:/x", false),
        ("ftp://x", false), ("a:b", false), ("xhttps://y", true), ("://", false), ("", false),
    ])
    func `tells whether there is a link`(_ text: String, _ expected: Bool) {
        #expect(SearchRow.hasLink(text) == expected)
    }
}
