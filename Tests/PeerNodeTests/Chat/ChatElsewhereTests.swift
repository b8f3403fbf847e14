import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// Events about conversations and workspaces other than the one on the screen.
struct `A conversation, and what is elsewhere` {
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

    /// The other one may be muted while this one is on the screen, or not be muted any more.
    @Test func `tells of direct messages as they are muted now`() throws {
        let (io, keyboard) = world()
        io.node?.notice.kind = "dm"
        let message = try #require(io.node?.message)
        var drawn: [String] = []
        func hear(_ text: String, isMuted: Bool) -> (String) -> String {
            { shown in
                drawn.append(shown)
                var direct = message
                (direct.id, direct.channel, direct.text) = ("m_" + text, "c_other000", text)
                direct.author = PersonObject(id: "u_joon0000", name: "Joon")
                io.node?.notice.isMuted = isMuted
                io.eventsBefore["typing.send"] = EventObject(
                    sequence: 9, cursor: "e1.9", at: 1, type: "message.created", data: direct.json)
                io.now += 20_000
                return "x"
            }
        }
        keyboard.steps = [
            hear("first", isMuted: false), hear("second", isMuted: true),
            hear("third", isMuted: false),
            { shown in
                drawn.append(shown)
                return ""
            },
        ]
        chat(io, keyboard)
        try #require(drawn.count == 4)
        #expect(drawn[1].contains("Joon in @general: first"), "\(drawn[1])")
        #expect(!drawn[2].contains("second"), "\(drawn[2])")
        #expect(drawn[3].contains("third"), "\(drawn[3])")
    }

    /// Your own too: it is erased at once. `--yes` is the yes, and `--no-input` is none.
    @Test(
        arguments: [
            (true, [], [0, 0, 1]), (false, [], [0, 0, 1]), (true, ["--yes"], [0, 1, 2]),
            (true, ["--no-input"], [0, 0, 0]),
        ] as [(isSelf: Bool, flags: [String], counts: [Int])])
    func `deletes a message when that is said twice`(
        _ row: (isSelf: Bool, flags: [String], counts: [Int])
    ) throws {
        let (io, keyboard) = world()
        let node = try #require(io.node)
        node.changesMessage = { $0.isSelf = row.isSelf }
        var counts: [Int] = []
        func note(_ line: String) -> (String) -> String {
            { drawn in
                counts.append(node.asked.count { $0.hasPrefix("deleteMessage ") })
                if counts.count == 2, row.flags.isEmpty {
                    #expect(drawn.contains("! this deletes"), "\(drawn)")
                }
                return line
            }
        }
        keyboard.steps = [note("/delete 1\r"), note("/delete 1\r"), note("")]
        let arguments = ["chat", "general"] + row.flags
        let status = Program.run(arguments: arguments, environment: ["TERM": "xterm"], io: io)
        #expect(status == 128 + 15 && keyboard.steps.isEmpty)
        #expect(counts == row.counts)
    }

    /// Someone who takes this window for a shell does not mean to tell everybody.
    @Test func `takes a line for the shell for a slip, once`() throws {
        let (io, keyboard) = world()
        let node = try #require(io.node)
        var sent: [Int] = []
        func note(_ line: String) -> (String) -> String {
            { _ in
                sent.append(node.asked.count { $0.hasPrefix("send ") })
                return line
            }
        }
        keyboard.steps = [
            note("wsx-node status\r"), note("hello\r"), note("wsx-node status\r"),
            note("wsx-node status\r"), note("wsx-node\r"), note(""),
        ]
        chat(io, keyboard)
        #expect(sent == [0, 0, 1, 1, 2, 3])
        #expect(node.asked.contains { $0.contains(" wsx-node status ") })
    }

    @Test func `names the conversation of each message that is found`() {
        let (io, keyboard) = world()
        var drawn = ""
        keyboard.steps = [
            { _ in "/search hello\r" },
            { shown in
                drawn = shown
                return ""
            },
        ]
        chat(io, keyboard)
        #expect(drawn.contains("#general"), "\(drawn)")
        #expect(!drawn.contains("c_general0"), "\(drawn)")
    }

    /// Another workspace may be selected while somebody talks in this one.
    @Test(arguments: ["/msg @Mi hello\r", "/dm @Mi\r"])
    func `looks for people in its own workspace`(_ line: String) throws {
        let (io, keyboard) = world()
        keyboard.steps = [{ _ in line }]
        chat(io, keyboard)
        let node = try #require(io.node)
        let places = zip(node.asked, node.workspacesAsked).filter { $0.0.hasPrefix("members ") }
        #expect(!places.isEmpty)
        for (_, place) in places { #expect(place == WorkspaceReference("w_acme0000")) }
    }
}
