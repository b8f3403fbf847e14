import Testing
import WorkspaceModel

struct `A sign that is left` {
    @Test(arguments: [
        ("👍", "👍"), ("❤", "❤\u{fe0f}"), ("❤\u{fe0f}", "❤\u{fe0f}"), ("❤\u{fe0e}", "❤\u{fe0f}"),
        ("👍\u{fe0f}", "👍"), ("✌🏽", "✌🏽"), ("✌\u{fe0f}🏽", "✌🏽"), ("🇩🇪", "🇩🇪"),
        ("1\u{20e3}", "1\u{fe0f}\u{20e3}"), ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("🏳\u{200d}🌈", "🏳\u{fe0f}\u{200d}🌈"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
        ("🕵🏽\u{200d}♂", "🕵🏽\u{200d}♂\u{fe0f}"), ("☺", "☺\u{fe0f}"), ("1", "1"), ("x", "x"),
        ("笑", "笑"), ("e\u{301}", "e\u{301}"), ("✓\u{fe0f}", "✓"), ("+", "+"),
    ])
    func `is written in one way`(_ row: (typed: String, kept: String)) {
        let kept = ReactionSign.checked(row.typed)
        #expect(kept.map { Array($0.utf8) } == Array(row.kept.utf8))
        #expect(kept.flatMap(ReactionSign.checked) == kept, "once written it stays")
    }

    @Test(arguments: [
        "", " ", "👍👎", "👍 ", "two words", "thumbsup", ":+1:", "\u{7}", "\u{2028}", "👍\n",
        "\u{200b}", "\u{fe0f}", "\u{200d}", "\u{301}", "\u{2800}", "\u{fffe}", "\u{202e}",
        "a\u{202e}", "a\u{301}\u{302}\u{303}\u{304}\u{305}",
        String(repeating: "👩\u{200d}", count: 20) + "👩",
    ])
    func `is one that can be seen`(_ typed: String) {
        #expect(ReactionSign.checked(typed) == nil)
    }

    @Test func `has a bare form without selectors`() {
        #expect(Array(ReactionSign.bare("❤\u{fe0f}").utf8) == Array("❤".utf8))
        #expect(ReactionSign.bare("👍") == "👍")
    }
}

struct `A text in which nothing can be seen` {
    @Test(arguments: [
        ("", true), (" ", true), (" \t\r\n", true), ("\u{200b}\u{feff}", true), ("\u{3000}", true),
        ("\u{ad}", true), ("\u{3164}", true), ("\u{2800}", true), ("\u{1}", true), ("x", false),
        (" . ", false), ("\u{301}", false), ("👍", false), ("\u{e000}", false),
    ])
    func `is found`(_ row: (text: String, isBlank: Bool)) {
        #expect(MessageText.isBlank(row.text) == row.isBlank)
    }
}
