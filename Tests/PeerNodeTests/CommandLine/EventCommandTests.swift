import Glibc
import PeerNode
import Testing

@testable import wsx_node

/// The real process of a bot's command.
struct `A command for an event` {
    /// As the program does at its start: a command need not read what it is given.
    init() { signal(SIGPIPE, SIG_IGN) }

    private func run(_ command: String, _ input: String = "{}\n", _ given: [String: String] = [:])
        -> Int32?
    {
        ShellProcess.run(command, input: Array(input.utf8), environment: given)
    }

    @Test func `ends with the status of the shell, or the signal that killed it`() {
        #expect(run("exit 0") == 0)
        #expect(run("exit 75") == 75)
        #expect(run("kill -9 $$") == 137)
        #expect(run("no-such-command-here 2>/dev/null") == 127)
    }

    @Test func `reads the event and its variables`() {
        #expect(run("read -r line; [ \"$line\" = '{\"a\":1}' ]", "{\"a\":1}\n") == 0)
        #expect(run("[ \"$WSX_TEXT\" = 'a b' ]", "", ["WSX_TEXT": "a b"]) == 0)
        #expect(run("[ \"$WSX_TEXT\" = 'ab' ]", "", ["WSX_TEXT": "a\0b"]) == 0)
        #expect(run("[ \"$HOME\" = /other ] && [ -n \"$PATH\" ]", "", ["HOME": "/other"]) == 0)
    }

    @Test func `need not read, however much there is`() {
        let large = String(repeating: "x", count: 900_000)
        #expect(run("exit 0", large) == 0)
        #expect(run("[ \"$(wc -c)\" -eq 900000 ]", large) == 0)
    }

    @Test func `is not run through text that somebody wrote`() {
        let text = "$(touch /tmp/wsx-never); `exit 9`; \"; exit 9"
        #expect(run("[ -n \"$WSX_TEXT\" ]", text, ["WSX_TEXT": text]) == 0)
    }
}

struct `Help on bots` {
    @Test func `names every variable, every status and every flag`() {
        let io = MemoryIO()
        io.node = nil
        #expect(io.run("help", "bots") == 0)
        for word in [
            "WSX_EVENT_TYPE", "WSX_CURSOR", "WSX_CHANNEL", "WSX_MESSAGE", "WSX_TEXT", "--as",
            "--exec", "--since", "--backfill", "--bots", "--key", "WSX_BOT", "\(EventBot.again)",
            "\(EventBot.delays.first / 1_000) s", "\(EventBot.delays.last / 1_000) s",
        ] {
            #expect(io.output.contains(word), "\(word)")
        }
    }
}
