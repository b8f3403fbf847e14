import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A text in Slack's way of writing` {
    static let rows: [(String, String)] = [
        ("", ""), ("plain", "plain"), ("a &amp; b &lt;c&gt;", "a & b <c>"), ("&amp;lt;", "&lt;"),
        ("&quot; & &am", "&quot; & &am"),
        // Links.
        ("<https://x.org|the site>", "[the site](https://x.org)"),
        ("<https://x.org>", "https://x.org"), ("<https://x.org|https://x.org>", "https://x.org"),
        ("<https://x.org/?a=1&amp;b=2|q>", "[q](https://x.org/?a=1&b=2)"),
        ("<https://x.org/_a_*b*|_n_>", "[_n_](https://x.org/_a_*b*)"),
        ("<mailto:a@x.org|a@x.org>", "a@x.org"), ("<mailto:a@x.org|Ann>", "[Ann](mailto:a@x.org)"),
        ("<https://x.org|>", "https://x.org"), ("x <y> z", "x <y> z"), ("<", "<"), ("<a", "<a"),
        ("<https://x", "<https://x"), ("<a b:c>", "<a b:c>"), ("<<https://x>>", "<https://x>"),
        ("<https://x\n>", "<https://x\n>"),
        // Names.
        ("<@U012AB|mina> hi", "@mina hi"), ("<@U012AB>", "@U012AB"), ("<@>", "<@>"),
        ("<#C012|general>", "#general"), ("<#C012>", "#C012"), ("<#C012|#general>", "#general"),
        ("<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"),
        ("<!subteam^S1|@ops>", "@ops"), ("<!subteam^S1>", "@S1"),
        ("<!date^1392734382^{date}|18 February>", "18 February"),
        ("<!date^1^{date}^https://x|then>", "then"), ("<!other>", "other"),
        // Emphasis.
        ("*b* _i_ ~s~", "**b** _i_ ~~s~~"), ("*two words*.", "**two words**."),
        ("(*b*)", "(**b**)"), ("*_both_*", "**_both_**"), ("_*both*_", "_**both**_"),
        ("2 * 3 * 4", "2 * 3 * 4"), ("a*b*c", "a*b*c"), ("*open", "*open"), ("*a\nb*", "*a\nb*"),
        ("snake_case_name", "snake_case_name"), ("* item\n* item", "* item\n* item"),
        ("**b**", "**b**"), ("~ x ~", "~ x ~"), ("*a* and *b*", "**a** and **b**"),
        ("~1~~2~", "~~1~~2~~"), ("<https://x|*a*>", "[*a*](https://x)"),
        // Code.
        ("`*a* &lt;` *b*", "`*a* <` **b**"), ("```*a*\n_b_```*c*", "```*a*\n_b_```**c**"),
        ("```a``` *c*", "```a``` **c**"), ("```open *b*", "```open **b**"),
        ("`open *b*", "`open **b**"), ("`a\n*b*`", "`a\n**b**`"),
        // Emoji.
        (":fire: down", "🔥 down"), (":no_such:", ":no_such:"), (":+1::tada:", "👍🎉"),
        ("12:30:45", "12:30:45"), ("a:x:b", "a❌b"), (":", ":"), ("::", "::"), (":fire", ":fire"),
        ("<https://h:x:/|a>", "[a](https://h:x:/)"), ("한국 *굵게* :tada:", "한국 **굵게** 🎉"),
    ]

    @Test(arguments: rows)
    func `is written our way`(theirs: String, ours: String) {
        #expect(SlackText.converted(theirs) == ours)
    }

    @Test(arguments: [
        ("*b* _i_", "*b* _i_"), ("`a` &amp; <https://x|y>", "`a` & [y](https://x)"),
        (":fire:", "🔥"),
    ])
    func `without formats keeps its signs, but not its links and escapes`(
        theirs: String, ours: String
    ) {
        #expect(SlackText.converted(theirs, formats: false) == ours)
    }

    @Test(arguments: Seeds.explore(60))
    func `of any bytes is text again, in time that grows with its length`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "*", "_", "~", "`", "```", "<", ">", "|", "&amp;", "&", ":", "x", " ", "\n",
            "https://x", "@U", "!", "#", "^", "é", "👍", ":fire:", "!date", "한",
        ]
        for _ in 0..<50 {
            let text = (0..<random.below(60)).map { _ in parts[random.below(parts.count)] }.joined()
            let converted = SlackText.converted(text)
            #expect(converted.utf8.count <= text.utf8.count * 3 + 8, "\(text)")
            // Without a sign of theirs nothing changes.
            let plain = text.filter { !"*_~`<>&:".contains($0) }
            #expect(SlackText.converted(plain) == plain)
        }
    }

    /// Each of these was quadratic in a scanner that looks for the end again and again.
    @Test(arguments: [
        "*", "`", "```a", "<", "<a|", ":a", "_a", "&", "~a ", "*a\n", "`a` ", "``", "` ",
    ])
    func `of a megabyte of one sign is read`(sign: String) {
        let text = String(repeating: sign, count: 1_000_000 / sign.utf8.count)
        #expect(!SlackText.converted(text).isEmpty)
    }
}
