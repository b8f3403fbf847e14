import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import wsx_node

struct `Keys of a terminal` {
    private static let escape = "\u{1B}"

    @Test(arguments: [
        (bytes: "hé한👍", keys: [Key.text("hé한👍")]),
        ("a\rb\n", [.text("a"), .enter, .text("b"), .enter]),
        ("\t\u{7F}\u{8}", [.tab, .backspace, .backspace]),
        ("\u{1}\u{3}\u{1A}", [.control("a"), .control("c"), .control("z")]),
        (escape + "[A" + escape + "OB", [.up, .down]),
        (escape + "[C" + escape + "[D", [.right, .left]),
        (escape + "[H" + escape + "[4~", [.home, .end]),
        (escape + "[1~" + escape + "OF", [.home, .end]),
        (escape + "[3~", [.delete]),
        (escape + "[1;5C" + escape + "[1;5D", [.wordRight, .wordLeft]),
        (escape + "b" + escape + "f", [.wordLeft, .wordRight]),
        // What is unknown is swallowed whole.
        (escape + "[24~x" + escape + "[?1;2cy", [.text("xy")]),
        (escape + "[1;2P" + escape + escape + "[A", [.up]),
        ("\u{0}\u{1C}\u{85}", []),
    ])
    func `are read from its bytes`(_ row: (bytes: String, keys: [Key])) {
        var decoder = KeyDecoder()
        #expect(decoder.take(Array(row.bytes.utf8)) == row.keys)
    }

    @Test func `come in any pieces`() {
        let bytes = Array("é👍\u{1B}[1;5C\u{1B}[200~a\r\nb\nc\rd\u{1B}[201~x".utf8)
        var decoder = KeyDecoder()
        var keys: [Key] = []
        for byte in bytes { keys += decoder.take([byte]) }
        #expect(
            keys == [
                .text("é"), .text("👍"), .wordRight, .paste("a\nb\nc\nd"), .text("x"),
            ])
    }

    @Test func `stand for the letters that bytes are not`() {
        var decoder = KeyDecoder()
        #expect(
            decoder.take([0xFF, 0x61, 0xC3, 0x62, 0xE0, 0x80]) == [.text("\u{FFFD}a\u{FFFD}b")])
        // Complete, and still no letter.
        #expect(decoder.take([0x80, 0x63]).count == 1)
    }

    @Test func `that are pasted have an end, however many, and are never a part`() {
        var decoder = KeyDecoder()
        let begin = Array("\u{1B}[200~".utf8)
        let end = Array("\u{1B}[201~".utf8)
        let flood = [UInt8](repeating: 0x61, count: 300_000)
        #expect(decoder.take(begin + flood) == [])
        #expect(decoder.take(end) == [.longPaste])
        #expect(decoder.take([0x78]) == [.text("x")])
        // One that just fits once its line ends are counted as one is whole.
        let lines = String(repeating: "\r\n", count: Limits.messageTextBytesMax)
        let text = String(repeating: "\n", count: Limits.messageTextBytesMax)
        #expect(decoder.take(begin + Array(lines.utf8) + end) == [.paste(text)])
    }

    @Test func `of any bytes are read without a trap`() {
        for seed in Seeds.explore(40) {
            var random = SeededGenerator(seed: seed)
            var decoder = KeyDecoder()
            var editor = LineEditor()
            var view = LineView()
            for _ in 0..<50 {
                let bytes = (0..<20).map { _ in
                    let common: [UInt8] = [0x1B, 0x5B, 0x7E, 0x7F, 0x01, 0x10, 0xCC, 0x81, 0x32]
                    return Bool.random(using: &random)
                        ? UInt8.random(in: 0...255, using: &random)
                        : common.randomElement(using: &random) ?? 0
                }
                for key in decoder.take(bytes) { _ = editor.press(key) }
                #expect((0...editor.characters.count).contains(editor.cursor), "seed \(seed)")
                #expect(Array(editor.text) == editor.characters, "seed \(seed)")
                let columns = Int.random(in: 1...90, using: &random)
                let row = view.row(prompt: "#general> ", editor, columns: columns)
                #expect(row.width <= max(columns - 1, 4), "seed \(seed)")
                #expect(row.cursorColumn <= row.width, "seed \(seed)")
                #expect(columnWidth(row.text) == row.width, "seed \(seed)")
            }
        }
    }
}
