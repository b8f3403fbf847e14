import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `A conversation on a terminal` {
        /// Two people in one workspace, whose nodes know each other.
        static func twoPeople(_ other: String = "Joon") throws -> (TemporaryNode, TemporaryNode) {
            let mina = TemporaryNode()
            let joon = TemporaryNode()
            try #require(mina.up(name: "Mina", workspace: "acme").status == 0)
            try #require(joon.join(mina.invite(), name: other).status == 0)
            return (mina, joon)
        }

        static func terminal(
            _ node: TemporaryNode, _ words: String..., columns: Int = 80, rows: Int = 24,
            environment: [String: String] = [:]
        ) throws -> PseudoTerminal {
            try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", node.home] + words,
                    environment: node.scriptEnvironment.merging(environment) { $1 },
                    columns: columns, rows: rows))
        }

        @Test func `shows the page, what is new, what is said, and who holds it`() throws {
            let (mina, joon) = try Self.twoPeople()
            mina.run("send", "general", "welcome")
            let root = mina.run("send", "general", "a question", "--json").object["id"]
            let first = root?.stringValue ?? ""
            mina.run("read", "mark", "general")
            let both = { joon.texts().count == 2 }
            #expect(eventually(both))
            joon.run("send", "general", "an answer", "--thread", first)
            #expect(eventually { mina.texts().count == 3 })
            let chat = try Self.terminal(mina, "chat")
            #expect(chat.shows("#general>"), "\(chat.screen.text)")
            #expect(chat.screen.text.contains("── 1 new ──"))
            #expect(chat.screen.text.contains("↳ an answer"))
            #expect(chat.screen.text.contains("↳ 1 reply"))
            // What was shown is read.
            #expect(eventually { mina.run("unread", "--json").objects.isEmpty })
            // It comes above the line that is being written.
            chat.type("hello @Jo\tand")
            #expect(chat.shows("#general> hello @Joon and"))
            joon.run("send", "general", "안녕하세요")
            #expect(chat.shows("안녕하세요"))
            #expect(chat.wait { $0.screen.lines.last == "#general> hello @Joon and" })
            chat.type(" me\r")
            #expect(chat.shows("hello @Joon and me  ✓1/1"), "\(chat.screen.text)")
            #expect(chat.wait { $0.screen.lines.last == "#general>" })
            #expect(
                joon.texts().contains("hello @Joon and me")
                    || eventually { joon.texts().count == 5 })
            chat.type("\u{4}")
            #expect(chat.end() == 0)
            #expect(chat.isCooked)
            #expect(chat.screen.strange.isEmpty)
        }

        @Test func `shows beside the line who is typing, until it is sent`() throws {
            let (mina, joon) = try Self.twoPeople()
            let (wide, narrow) = (
                try Self.terminal(mina, "chat", "general"),
                try Self.terminal(joon, "chat", "general", columns: 40)
            )
            for chat in [wide, narrow] { #expect(chat.shows("#general>")) }
            narrow.type("one mo")
            #expect(wide.shows("Joon is typing"), "\(wide.screen.text)")
            #expect(wide.screen.lines.last?.hasPrefix("#general> ") == true)
            narrow.type("ment\r")
            #expect(wide.shows("Joon  one moment"), "\(wide.screen.text)")
            #expect(wide.wait { $0.screen.lines.last == "#general>" }, "\(wide.screen.text)")
            for chat in [wide, narrow] {
                chat.type("\u{4}")
                #expect(chat.end() == 0)
                #expect(chat.screen.strange.isEmpty)
            }
        }

        @Test func `edits, deletes, reacts, answers, and goes elsewhere`() throws {
            let (mina, joon) = try Self.twoPeople()
            let chat = try Self.terminal(mina, "chat", "general")
            #expect(chat.shows("#general>"))
            chat.type("frist\r")
            #expect(chat.shows("frist"))
            chat.type("/edit first\r")
            #expect(chat.shows("✎ Mina edited: first"))
            #expect(eventually { joon.texts() == ["first"] })
            joon.run("message", "react", "last", "👍", "--in", "general")
            #expect(chat.shows("👍 Joon on Mina: first"))
            joon.run("send", "general", "nice")
            #expect(chat.shows("nice"))
            chat.type("/react @Joon 🎉\r")
            #expect(chat.shows("🎉 Mina on Joon: nice"))
            chat.type("/thread last indeed\r")
            #expect(chat.shows("↳ indeed"))
            chat.type("//no command\r")
            #expect(chat.shows("  /no command"))
            chat.type("/delete\r")
            #expect(chat.shows("! this deletes '/no command'"), "\(chat.screen.text)")
            chat.type("/delete\r")
            #expect(chat.shows("✗ Mina deleted their message from"))
            chat.type("/joim x\r")
            #expect(chat.shows("did you mean /join?"))
            mina.run("channel", "create", "random", "--topic", "what else")
            chat.type("/join #ran\t\r")
            #expect(chat.shows("── #random: what else ──"))
            #expect(chat.shows("#random>"))
            chat.type("/who\r")
            #expect(chat.shows("NAME"))
            joon.run("send", "@Mina", "psst")
            #expect(chat.shows("· Joon in @Joon: psst"))
            chat.type("/dm @Joon\r")
            #expect(chat.shows("@Joon>"))
            chat.type("/quit\r")
            #expect(chat.end() == 0)
            #expect(chat.screen.strange.isEmpty)
        }

        @Test func `comes back after the daemon did, with the line that was being written`() throws
        {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat")
            #expect(chat.shows("#general>"))
            chat.type("half a sen")
            #expect(chat.shows("half a sen"))
            #expect(node.run("down").status == 0)
            #expect(chat.shows("the daemon does not answer"))
            #expect(chat.shows("#general (waiting)> half a sen"))
            chat.type("tence\rand another")
            #expect(chat.shows("(waits) half a sentence"))
            #expect(node.up().status == 0)
            #expect(chat.shows("the daemon is back"))
            #expect(chat.wait { $0.screen.lines.last == "#general> and another" })
            #expect(eventually { node.texts() == ["half a sentence"] })
            chat.type("\u{3}\u{4}")
            #expect(chat.end() == 0)
        }

        @Test(arguments: ["\u{4}", "/quit\r", "\u{3}\u{3}"])
        func `tells at its end what was never sent`(_ end: String) throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat")
            #expect(chat.shows("#general>"))
            #expect(node.run("down").status == 0)
            #expect(chat.shows("the daemon does not answer"))
            chat.type("not lost\r")
            #expect(chat.shows("(waits) not lost"))
            chat.type(end)
            #expect(chat.end() != 0)
            #expect(chat.screen.text.contains("! 1 line was not sent"), "\(chat.screen.text)")
            #expect(chat.screen.lines.contains("  not lost"))
        }

        @Test func `leaves what you typed last on the screen`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat")
            #expect(chat.shows("#general>"))
            chat.type("the last\r")
            #expect(chat.wait { $0.screen.lines.last == "#general>" })
            chat.type("\u{4}")
            #expect(chat.end() == 0)
            #expect(chat.screen.text.contains("Mina  the last"), "\(chat.screen.text)")
            #expect(!chat.screen.text.contains("#general>"))
        }

        @Test func `goes on with several people, and comes into channels`() throws {
            let (mina, joon) = try Self.twoPeople()
            let sora = TemporaryNode()
            try #require(sora.join(mina.invite(), name: "Sora").status == 0)
            #expect(eventually { joon.run("member", "list", "--json").objects.count == 3 })
            try #require(joon.run("channel", "create", "plans").status == 0)
            #expect(
                eventually { mina.run("channel", "list", "--all", "--json").objects.count == 2 })
            let chat = try Self.terminal(mina, "chat", "@Joon,@Sora")
            #expect(chat.shows("@Joon, Sora>"), "\(chat.screen.text)")
            chat.type("hello you\r")
            #expect(eventually { sora.run("log", "@Joon,@Mina").output.contains("hello you") })
            chat.type("/join general\r")
            #expect(chat.shows("#general>"))
            chat.type("/join @Joon, Sora\r")
            #expect(chat.wait { $0.screen.lines.last == "@Joon, Sora>" }, "\(chat.screen.text)")
            #expect(mina.run("channel", "list", "--json").objects.count == 1)
            chat.type("/join #plans\r")
            #expect(chat.shows("you are now in #plans"), "\(chat.screen.text)")
            #expect(mina.run("channel", "list", "--json").objects.count == 2)
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `answers the message that a number meant when its line was begun`() throws {
            let (mina, joon) = try Self.twoPeople()
            joon.run("send", "general", "first question")
            #expect(eventually { mina.texts().count == 1 })
            let chat = try Self.terminal(mina, "chat")
            #expect(chat.shows("first question"))
            chat.type("/thread 1 ye")
            #expect(chat.shows("#general> /thread 1 ye"))
            joon.run("send", "general", "second question")
            #expect(chat.shows("second question"))
            chat.type("s\r")
            #expect(chat.shows("↳ in reply to Joon: first question"), "\(chat.screen.text)")
            let answer = eventually {
                mina.run("log", "general", "--json").objects.last?["text"] == "yes"
            }
            #expect(answer)
            let said = mina.run("log", "general", "--json").objects
            #expect(said.last?["thread"] == said.first?["id"])
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `pastes lines without sending them, and keeps the line on every size`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat", columns: 60)
            #expect(chat.shows("#general>"))
            chat.type("\u{1B}[200~one\ntwo\u{1B}[201~")
            #expect(chat.shows("#general> one⏎two"))
            chat.resize(columns: 40, rows: 10)
            #expect(chat.wait { $0.screen.lines.last == "#general> one⏎two" })
            chat.type("\r")
            #expect(eventually { node.texts() == ["one\ntwo"] })
            chat.type("\u{1B}[A")
            #expect(chat.shows("#general> one⏎two"))
            chat.type("\u{15}" + String(repeating: "가나다 ", count: 20) + "끝")
            // All of it, or rows for the former width would still come.
            #expect(chat.wait { $0.screen.lines.last?.hasSuffix("끝") == true })
            chat.resize(columns: 30, rows: 10)
            #expect(
                chat.wait {
                    let last = $0.screen.lines.last ?? ""
                    return last.hasSuffix("끝") && TerminalText.displayWidth(last) < 30
                })
            chat.type("\u{C}")
            // What may still change is drawn again, such as a message whose mark is not settled.
            #expect(chat.wait { !$0.screen.text.contains("no messages here yet") })
            #expect(chat.wait { $0.screen.lines.last?.hasSuffix("끝") == true })
            kill(chat.pid, SIGTERM)
            #expect(chat.end() == 128 + SIGTERM)
            #expect(chat.isCooked)
        }

        @Test func `goes to the background with the terminal as it was`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let script = """
                set -m
                "$0" --home "$1" chat
                echo stopped
                read -r line
                fg >/dev/null
                echo ended with $?
                """
            let shell = try #require(
                PseudoTerminal(
                    ["/bin/bash", "-c", script, TemporaryNode.program, node.home],
                    environment: node.scriptEnvironment))
            #expect(shell.shows("#general>"))
            #expect(shell.wait { !$0.isCooked })
            shell.type("unfinished\u{1A}")
            #expect(shell.shows("stopped"), "\(shell.screen.text)")
            #expect(shell.isCooked)
            shell.type("\r")
            #expect(shell.wait { $0.screen.lines.last == "#general> unfinished" }, "\(shell.text)")
            #expect(!shell.isCooked)
            shell.type("\u{3}\u{4}")
            #expect(shell.shows("ended with 0"))
            #expect(shell.end() == 0)
        }

        @Test func `takes the terminal again after others stopped it`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat")
            #expect(chat.shows("#general>"))
            #expect(chat.wait { !$0.isCooked })
            chat.type("unfinished")
            #expect(chat.shows("#general> unfinished"))
            kill(chat.pid, SIGSTOP)
            // What a shell does when a program of its has stopped.
            chat.cook()
            #expect(chat.isCooked)
            kill(chat.pid, SIGCONT)
            #expect(chat.wait { !$0.isCooked })
            #expect(chat.wait { $0.text.components(separatedBy: "\u{1B}[?2004h").count == 3 })
            chat.type("\u{1}so \r")
            #expect(eventually { node.texts() == ["so unfinished"] })
            chat.type("\u{4}")
            #expect(chat.end() == 0)
            // As it was found, and not as it was between.
            #expect(chat.isCooked)
        }

        @Test func `says of what was not done that it was not`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let chat = try Self.terminal(node, "chat")
            #expect(chat.shows("#general>"))
            chat.type("hello\r")
            #expect(eventually { node.texts() == ["hello"] })
            #expect(node.run("down").status == 0)
            #expect(chat.shows("#general (waiting)>"))
            let lines = [
                "/edit bye", "/delete", "/react last x", "/join #plans", "/who", "/unread",
            ]
            for (number, line) in lines.enumerated() {
                chat.type(line + "\r")
                try #require(
                    chat.wait {
                        $0.text.components(separatedBy: "try again").count == number + 2
                    }, "\(line)")
            }
            // What needs no daemon is done, and what is said is kept.
            chat.type("/help\r")
            #expect(chat.shows("list these commands"))
            chat.type("/thread last well\r")
            #expect(chat.shows("(waits) well"))
            #expect(node.up().status == 0)
            #expect(eventually { node.texts() == ["hello", "well"] })
            chat.type("/quit\r")
            #expect(chat.end() == 0)
        }

        @Test func `is lines in and lines out between pipes`() throws {
            let (mina, joon) = try Self.twoPeople()
            let done = mina.run("chat", "general", input: "one\n\n/quit\nlast without end")
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output.isEmpty)
            #expect(mina.texts() == ["one", "/quit", "last without end"])
            #expect(eventually { joon.texts() == mina.texts() })
            #expect(mina.run("chat", "nowhere", input: "").status == 5)
            mina.run("down")
            #expect(mina.run("chat", input: "lost\n").status == 3)
        }
    }
}
