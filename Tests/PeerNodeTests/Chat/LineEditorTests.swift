import Testing
import WorkspaceModel

@testable import wsx_node

struct `A line that is being written` {
    private func pressed(_ keys: [Key]) -> LineEditor {
        var editor = LineEditor()
        for key in keys { _ = editor.press(key) }
        return editor
    }

    /// The line with a bar where the cursor is.
    private func shown(_ editor: LineEditor) -> String {
        String(editor.characters[..<editor.cursor]) + "|"
            + String(editor.characters[editor.cursor...])
    }

    @Test(arguments: [
        (keys: [Key.text("hello"), .left, .left, .text("p")], line: "help|lo" as String),
        ([.text("hello"), .home, .text("o"), .end, .text("!")], "ohello!|"),
        ([.text("hello"), .control("a"), .right, .delete], "h|llo"),
        ([.text("hello"), .control("e"), .left, .control("k")], "hell|"),
        ([.text("hello you"), .left, .control("u")], "|u"),
        ([.text("hello you  "), .control("w")], "hello |"),
        ([.text("hello you"), .wordLeft, .text("to "), .wordRight], "hello to you|"),
        ([.text("ab"), .control("u"), .text("x"), .control("y")], "xab|"),
        ([.text("ab"), .left, .control("d")], "a|"),
        ([.text("a\nb"), .control("c")], "|"),
        ([.paste("two\nlines")], "two\nlines|"),
        // Characters as people see them.
        ([.text("e"), .text("\u{301}"), .backspace], "|"),
        ([.text("a👩‍👩‍👧"), .backspace], "a|"),
        ([.text("한글"), .left, .backspace], "|글"),
        ([.text("🇩"), .text("🇪"), .backspace], "|"),
    ])
    func `is changed by keys`(_ row: (keys: [Key], line: String)) {
        #expect(shown(pressed(row.keys)) == row.line)
    }

    @Test func `asks for what it cannot do itself`() {
        var editor = LineEditor()
        #expect(editor.press(.control("d")) == .leave)
        #expect(editor.press(.control("z")) == .suspend)
        #expect(editor.press(.control("l")) == .clearScreen)
        #expect(editor.press(.tab) == .complete)
        #expect(editor.press(.backspace) == .ring)
        #expect(editor.press(.up) == .ring)
        #expect(editor.press(.text("x")) == nil)
        #expect(editor.press(.control("c")) == nil)
        _ = editor.press(.text("hi"))
        #expect(editor.press(.enter) == .submit("hi"))
        #expect(editor.text.isEmpty)
    }

    @Test func `has a history of this sitting, and keeps what is new beside it`() {
        var editor = pressed([.text("one"), .enter, .text("two"), .enter, .text("two"), .enter])
        _ = editor.press(.text("dra"))
        var seen: [String] = []
        for _ in 0..<3 {
            _ = editor.press(.up)
            seen.append(editor.text)
        }
        #expect(seen == ["two", "one", "one"])
        #expect(editor.press(.down) == nil)
        #expect(editor.press(.down) == nil)
        #expect(editor.text == "dra")
        #expect(editor.press(.down) == .ring)
        // A line of the history that is changed and sent is a new one.
        _ = editor.press(.up)
        _ = editor.press(.text("!"))
        #expect(editor.press(.enter) == .submit("two!"))
        _ = editor.press(.up)
        #expect(editor.text == "two!")
    }

    @Test func `is ended by ctrl-C only where that is hit twice and nothing is written`() {
        var editor = pressed([.text("hi"), .control("c")])
        #expect(editor.text.isEmpty)
        #expect(editor.press(.control("c")) == .warnOfEnd)
        #expect(editor.press(.text("x")) == nil)
        #expect(editor.press(.control("c")) == nil)
        #expect(editor.press(.control("c")) == .warnOfEnd)
        #expect(editor.press(.left) == nil)
        #expect(editor.press(.control("c")) == .warnOfEnd)
        #expect(editor.press(.control("c")) == .interrupt)
    }

    @Test func `takes no more than a message holds, and of a paste all or nothing`() {
        let most = Limits.messageTextBytesMax
        var editor = pressed([.text("a"), .paste(String(repeating: "x", count: most - 1))])
        #expect(editor.text.utf8.count == most)
        editor = pressed([.text("ab"), .left])
        #expect(editor.press(.paste(String(repeating: "x", count: most - 1))) == .refusePaste)
        #expect(editor.press(.longPaste) == .refusePaste)
        #expect(shown(editor) == "a|b")
        #expect(editor.press(.paste("c")) == nil)
        #expect(editor.press(.enter) == .submit("acb"))
    }

    /// A terminal that does not mark what is pasted gives it in pieces of any size.
    @Test func `is not sent without its middle or its end`() {
        let piece = String(repeating: "x", count: 4_000)
        var editor = pressed([.text("said"), .enter] + [Key](repeating: .text(piece), count: 4))
        #expect(editor.press(.text(piece)) == .warnOfFullLine)
        let kept = editor.text
        // The rest of it would fit, and stays out.
        for key in [Key.text("end"), .tab, .paste("y"), .longPaste] {
            #expect(editor.press(key) == .ring)
        }
        #expect(editor.press(.enter) == .refuseLine)
        #expect(editor.press(.left) == nil)
        #expect(editor.press(.enter) == .refuseLine)
        #expect(editor.text == kept)
        // Nor after a look at what was said before.
        for key in [Key.up, .down, .left] { _ = editor.press(key) }
        #expect(editor.text == kept)
        #expect(editor.press(.enter) == .refuseLine)
        // Who takes something away has seen what is there.
        #expect(editor.press(.control("w")) == nil)
        #expect(editor.press(.text("new")) == nil)
        #expect(editor.press(.enter) == .submit("newx"))
        // A cleared one is a new one.
        for _ in 0..<5 { _ = editor.press(.text(piece)) }
        #expect(editor.press(.control("c")) == nil)
        #expect(editor.press(.text("short")) == nil)
        #expect(editor.press(.enter) == .submit("short"))
    }

    @Test(arguments: [
        (columns: 30, line: "#general> hello there, everyb" as String, cursor: 10),
        (30, "#general> hello there, everyb", 20),
    ])
    func `shows its beginning while the cursor is there`(
        _ row: (columns: Int, line: String, cursor: Int)
    ) {
        var editor = pressed([.text("hello there, everybody"), .home])
        for _ in 10..<row.cursor { _ = editor.press(.right) }
        var view = LineView()
        let shown = view.row(prompt: "#general> ", editor, columns: row.columns)
        #expect(shown.text == row.line)
        #expect(shown.cursorColumn == row.cursor)
    }

    @Test func `scrolls sideways, by whole characters of any width`() {
        var view = LineView()
        var editor = pressed([.text("안녕하세요 반갑습니다")])
        let shown = view.row(prompt: "> ", editor, columns: 12)
        #expect(shown.text == "> 반갑습니다" || shown.text.hasSuffix("갑습니다"))
        #expect(shown.width <= 11)
        #expect(shown.cursorColumn == shown.width)
        _ = editor.press(.home)
        let begin = view.row(prompt: "> ", editor, columns: 12)
        #expect(begin.text == "> 안녕하세")
        #expect(begin.cursorColumn == 2)
        // A prompt takes half of the row at most.
        let narrow = view.row(
            prompt: "#a-very-long-channel-name> ", pressed([.text("x")]), columns: 20)
        #expect(narrow.text.hasSuffix("x"))
        #expect(narrow.width <= 19)
    }

    @Test func `shows what would move the cursor as a sign`() {
        var view = LineView()
        let editor = pressed([.paste("a\nb\tc\u{9B}\u{202E}")])
        let row = view.row(prompt: "> ", editor, columns: 80)
        #expect(row.text == "> a⏎b c\\u{9b}\\u{202e}")
    }
}

struct `The bottom of a screen` {
    private let row = LineView.Row(text: "> hi", width: 4, cursorColumn: 3)

    @Test func `is drawn, taken away and drawn again under what is printed`() {
        var screen = LiveScreen(columns: 20, rows: 6)
        #expect(screen.draw(row) == "> hi\r\u{1B}[3C")
        #expect(screen.print("news\n") == "\r\u{1B}[Jnews\n")
        #expect(screen.print("more\n") == "more\n")
        #expect(screen.draw(row) == "> hi\r\u{1B}[3C")
    }

    @Test func `holds lines that may change until something is printed`() {
        var screen = LiveScreen(columns: 20, rows: 6)
        #expect(screen.printOpen("mine local\nsecond\n") == "")
        #expect(screen.draw(row) == "mine local\nsecond\n> hi\r\u{1B}[3C")
        #expect(screen.replaceOpen("mine ✓2/2\nsecond\n") == "\r\u{1B}[2A\u{1B}[J")
        #expect(screen.draw(row) == "mine ✓2/2\nsecond\n> hi\r\u{1B}[3C")
        #expect(screen.print("news\n") == "\r\u{1B}[2A\u{1B}[Jmine ✓2/2\nsecond\nnews\n")
        #expect(screen.replaceOpen("late\n") == "")
    }

    @Test func `keeps open only what fits`() {
        var screen = LiveScreen(columns: 20, rows: 4)
        #expect(screen.printOpen("1\n2\n3\n") == "1\n2\n3\n")
        #expect(screen.open.isEmpty)
        let wide = String(repeating: "x", count: 21) + "\n"
        #expect(screen.printOpen(wide) == wide)
        #expect(screen.printOpen("\u{1B}[1mbold\u{1B}[0m\n") == "")
        #expect(screen.open.count == 1)
    }

    @Test func `counts the rows of a terminal that has become narrower`() {
        var screen = LiveScreen(columns: 20, rows: 10)
        _ = screen.printOpen("fifteen columns\n")
        _ = screen.draw(LineView.Row(text: "> 0123456789", width: 12, cursorColumn: 12))
        screen.columns = 8
        // Two rows for the line, and the cursor in the second of its own.
        #expect(screen.erase() == "\r\u{1B}[3A\u{1B}[J")
    }
}
