import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import wsx_node

/// A keyboard with an event at each wait, and ctrl-D at the end.
final class TypingKeyboard: LiveInput {
    let size = (columns: 80, rows: 24)
    /// What was written since it was waited for the last time.
    private(set) var drawn = ""
    /// What was typed then, one after the other. They are given what is drawn.
    var steps: [(String) -> String] = []

    func write(_ text: String) -> Bool {
        drawn += text
        return true
    }
    func wait(for transport: (any ControlTransport)?, within milliseconds: Int64?) -> [LiveWake] {
        guard !steps.isEmpty else { return [.endAsked(15)] }
        let keys = steps.removeFirst()(drawn)
        drawn = ""
        return [.answered, .typed(Array(keys.utf8))]
    }
    func enter() {}
    func leave() {}
    func suspend() {}
}

struct `Somebody who types` {
    private func world() -> (MemoryIO, TypingKeyboard) {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.isSilent) = (true, true, true)
        let keyboard = TypingKeyboard()
        io.live = keyboard
        return (io, keyboard)
    }

    private func chat(_ io: MemoryIO, _ keyboard: TypingKeyboard) {
        #expect(io.run("chat", "general", environment: ["TERM": "xterm"]) == 128 + 15)
        #expect(keyboard.steps.isEmpty)
    }

    private func told(_ io: MemoryIO) -> Int {
        io.node?.asked.count { $0.hasPrefix("typing ") } ?? 0
    }

    private func typing(_ name: String, in channel: String = "c_general0") -> EventObject {
        let id = "u_" + name.lowercased()
        return EventObject(
            sequence: 0, cursor: "e1.0", at: 1, type: "typing",
            data: [
                "channel": .string(channel),
                "member": PersonObject(id: id, name: name).json,
            ])
    }

    @Test func `is reported every 10 s, and not once the message was sent`() {
        let (io, keyboard) = world()
        var counts: [Int] = []
        let pieces: [(wait: Int64, keys: String)] = [
            (0, "hel"), (5_000, "lo"), (5_100, ","), (20_000, " you\r"), (0, "and"), (20_000, ""),
            (20_000, "\u{1B}[D"), (20_000, "x"), (0, ""),
        ]
        keyboard.steps = pieces.map { piece in
            { _ in
                counts.append(self.told(io))
                io.now += piece.wait
                return piece.keys
            }
        }
        chat(io, keyboard)
        #expect(counts == [0, 1, 1, 2, 2, 3, 3, 3, 4])
        #expect(io.node?.asked.contains { $0.contains("hello, you") } == true)
    }

    @Test(arguments: [
        ("/who", 0), ("  ", 0), ("//no command", 1), ("\u{1B}[200~a\n\u{1B}[201~", 1),
    ])
    func `is reported for a message and not for a command`(_ row: (keys: String, count: Int)) {
        let (io, keyboard) = world()
        keyboard.steps = [{ _ in row.keys }]
        chat(io, keyboard)
        #expect(told(io) == row.count)
    }

    @Test func `is no longer reported once that is refused, and shows no error`() {
        let (io, keyboard) = world()
        keyboard.steps = [
            { _ in
                io.node?.failure = .forbidden("no", reason: "no", hint: "no")
                return "a"
            },
            { drawn in
                io.node?.failure = nil
                #expect(!drawn.contains("!"), "\(drawn)")
                return "b"
            },
        ]
        chat(io, keyboard)
        #expect(told(io) == 0)
    }

    /// Settings that cannot be read may say so.
    @Test(arguments: [
        ("[chat]\ntyping = false\n", 0), ("[chat]\ntyping = true\n", 1), ("name = \"Mina\"\n", 1),
        ("[chat]\ntyping = no\n", 0),
    ])
    func `is reported unless the settings say no, and sees others type`(
        _ row: (settings: String, count: Int)
    ) {
        let (io, keyboard) = world()
        io.files["/home/mina/.config/wsx-node/config.toml"] = Array(row.settings.utf8)
        io.events = [typing("Joon")]
        keyboard.steps = [
            { drawn in
                #expect(drawn.contains("Joon is typing"), "\(drawn)")
                return "hello"
            }
        ]
        chat(io, keyboard)
        #expect(told(io) == row.count)
    }

    @Test func `stands beside the line for 10 s`() {
        let (io, keyboard) = world()
        io.events = [typing("Joon"), typing("Cleo", in: "c_other000")]
        keyboard.steps = [
            { drawn in
                let row = drawn.split(separator: "\n").last ?? ""
                #expect(row.contains("#general> ") && row.contains("Joon is typing"), "\(drawn)")
                io.now += 9_999
                return ""
            },
            { drawn in
                #expect(drawn.contains("Joon is typing"), "\(drawn)")
                io.now += 1
                return ""
            },
            { drawn in
                #expect(!drawn.contains("typing"), "\(drawn)")
                return ""
            },
        ]
        chat(io, keyboard)
    }

    @Test(arguments: [("Joon", false), ("Cleo", true)])
    func `is over with a message of that person`(_ row: (author: String, isShown: Bool)) throws {
        let (io, keyboard) = world()
        var message = try #require(io.node?.message)
        message.id = "m_other000"
        message.author = PersonObject(id: "u_" + row.author.lowercased(), name: row.author)
        let said = EventObject(
            sequence: 9, cursor: "e1.9", at: 1, type: "message.created", data: message.json)
        io.events = [typing("Joon"), said]
        keyboard.steps = [
            { drawn in
                #expect(drawn.contains("Joon is typing") == row.isShown, "\(drawn)")
                return ""
            }
        ]
        chat(io, keyboard)
    }

    @Test func `is not reported in a pipe`() {
        let io = MemoryIO()
        io.isSilent = true
        let keyboard = TypingKeyboard()
        io.live = keyboard
        keyboard.steps = [{ _ in "half a line" }]
        chat(io, keyboard)
        #expect(io.node?.asked.contains { $0.contains("\"typing\"") } == false)
        #expect(told(io) == 0)
    }

    @Test func `is named, as are two, and no more of them`() {
        var people = TypingPeople()
        #expect(people.text(columns: 40) == "" && people.due == nil)
        people.hear("u_joon", "Joon", at: 1_000)
        #expect(people.text(columns: 40) == "Joon is typing")
        people.hear("u_mina", "Mina", at: 2_000)
        people.hear("u_joon", "Joon", at: 3_000)
        #expect(people.text(columns: 40) == "Joon and Mina are typing" && people.due == 12_000)
        people.hear("u_cleo", "Cleo", at: 4_000)
        #expect(people.text(columns: 40) == "several people are typing")
        people.expire(at: 12_000)
        people.end("u_cleo")
        people.end(nil)
        #expect(people.text(columns: 40) == "Joon is typing" && people.due == 13_000)
        // The clock was set back.
        people.expire(at: 2_999)
        #expect(people.text(columns: 40) == "")
        for number in 0...(2 * TypingPeople.countMax) { people.hear("u_\(number)", "x", at: 0) }
        #expect(people.text(columns: 40) == "several people are typing")
    }

    @Test func `has a name that is cut, and a sentence that is not`() {
        var people = TypingPeople()
        people.hear("u_1", String(repeating: "가", count: 40), at: 0)
        #expect(people.text(columns: 60).hasSuffix("… is typing"))
        #expect(columnWidth(people.text(columns: 60)) <= 26)
        #expect(people.text(columns: 20).hasSuffix("… is typing"))
        people.hear("u_2", "Maximiliane", at: 0)
        for columns in 1...60 {
            #expect(columnWidth(people.text(columns: columns)) <= columns)
        }
        #expect(people.text(columns: 30).hasSuffix("Maximi… are typing"))
    }

    @Test func `takes what the line leaves of the row, and a third at most of a full one`() {
        var people = TypingPeople()
        people.hear("u_joon", "Joon", at: 0)
        for count in 0...100 {
            var editor = LineEditor()
            if count > 0 { _ = editor.press(.text(String(repeating: "가", count: count))) }
            for columns in 1...90 {
                var view = LineView()
                let row = view.row(prompt: "#general> ", editor, columns: columns) {
                    people.text(columns: $0)
                }
                let width = row.width + columnWidth(row.aside)
                #expect(width <= max(columns - 1, 4), "\(count) in \(columns)")
                #expect(row.cursorColumn == row.width, "\(count) in \(columns)")
                if columns >= 50 {
                    #expect(row.aside.hasSuffix(" Joon is typing"), "\(count) in \(columns)")
                    #expect(width == columns - 1)
                }
            }
        }
    }
}
