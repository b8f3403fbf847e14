import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// What a conversation does where it could lose something, or end by accident.
    struct `A conversation at its edges` {
        private func started() throws -> TemporaryNode {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            return node
        }

        private func terminal(
            _ node: TemporaryNode, _ words: String..., environment: [String: String] = [:]
        ) throws -> PseudoTerminal {
            try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", node.home, "chat"] + words,
                    environment: node.scriptEnvironment.merging(environment) { $1 }))
        }

        @Test func `says in words what became of its channel elsewhere`() throws {
            let node = try started()
            node.run("channel", "create", "random")
            let chat = try terminal(node, "random")
            #expect(chat.shows("#random>"))
            for (command, word) in [
                ("archive", "was archived: nobody can write in it"),
                ("unarchive", "is no longer archived"),
                ("delete", "was deleted; /join another channel ──"),
            ] {
                let outcome = node.run("channel", command, "random", "--yes")
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(chat.shows("── #random \(word)"), "\(chat.screen.text)")
            }
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `looks back page by page, and into threads, under what is being said`() throws {
            let node = try started()
            var ids: [String] = []
            for number in 1...50 {
                ids.append(
                    node.run("send", "general", "old \(number).", "--json").object["id"]?
                        .stringValue ?? "")
            }
            node.run("send", "general", "an answer", "--thread", ids[2])
            let chat = try terminal(node)
            #expect(chat.shows("#general>"))
            // What is answered there stands above it, though it is older than the page.
            #expect(chat.screen.text.contains("in reply to Mina: old 3."))
            #expect(!chat.screen.text.contains("old 31."))
            chat.type("/older\r")
            #expect(chat.shows("/older shows more"), "\(chat.screen.text)")
            #expect(chat.screen.text.contains("old 31."))
            #expect(!chat.screen.text.contains("old 11."))
            chat.type("\u{C}/older\r")
            #expect(chat.shows("end of older messages; there are no more"), "\(chat.screen.text)")
            #expect(chat.screen.text.contains("old 1."))
            chat.type("\u{C}/older\r")
            #expect(chat.shows("there is nothing older here"))
            // What was read again has no number: the newest message is still 1.
            chat.type("/thread 1\r")
            #expect(chat.shows("end of thread"), "\(chat.screen.text)")
            #expect(chat.screen.text.contains("↳ an answer"))
            #expect(chat.screen.text.contains("old 3."))
            chat.type("\u{C}/thread \(ids[4].prefix(12)) late\r")
            #expect(chat.shows("in reply to Mina: old 5."), "\(chat.screen.text)")
            chat.type("/thread \(ids[5].prefix(12))\r")
            #expect(chat.shows("no replies yet"))
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `shows who comes, who goes, and what it is called and about`() throws {
            let (mina, joon) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            mina.run("channel", "create", "plans")
            #expect(eventually { joon.run("channel", "join", "plans").status == 0 })
            let chat = try terminal(joon, "plans")
            #expect(chat.shows("#plans>"))
            mina.run("channel", "edit", "plans", "--topic", "lunch")
            #expect(chat.shows("── topic: lunch"), "\(chat.screen.text)")
            mina.run("channel", "edit", "plans", "--name", "ideas")
            #expect(chat.shows("#ideas>"), "\(chat.screen.text)")
            #expect(chat.screen.text.contains("#plans is now #ideas"))
            mina.run("channel", "remove", "ideas", "@Joon")
            #expect(chat.shows("── you are no longer in #ideas"), "\(chat.screen.text)")
            mina.run("member", "remove", "@Joon", "--yes")
            #expect(chat.shows("── you are no longer in this workspace"), "\(chat.screen.text)")
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `deletes only when asked twice, and says the way back`() throws {
            let (mina, joon) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            let chat = try terminal(mina)
            #expect(chat.shows("#general>"))
            joon.run("send", "general", "not mine to delete")
            #expect(chat.shows("not mine to delete"))
            chat.type("/delete 1\r")
            #expect(chat.shows("! this deletes"), "\(chat.screen.text)")
            #expect(mina.texts() == ["not mine to delete"])
            // Twice means one after the other.
            chat.type("/quitt\r\u{C}/delete 1\r")
            #expect(chat.shows("! this deletes"), "\(chat.screen.text)")
            #expect(mina.texts() == ["not mine to delete"])
            chat.type("/delete 1\r")
            #expect(chat.shows("--undo"), "\(chat.screen.text)")
            #expect(eventually { mina.texts().isEmpty })
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `tells that everybody has the newest line, and nothing of older ones`() throws {
            let (mina, joon) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            let chat = try terminal(mina)
            #expect(chat.shows("#general>"))
            joon.run("down")
            chat.type("first words\rsecond words\r")
            #expect(chat.shows("second words  saved"), "\(chat.screen.text)")
            joon.run("up")
            #expect(chat.shows("second words  ✓1/1"), "\(chat.screen.text)")
            #expect(!chat.screen.text.contains("✓1/1  first words"), "\(chat.screen.text)")
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `sends no part of what was pasted`() throws {
            let node = try started()
            let chat = try terminal(node)
            #expect(chat.shows("#general>"))
            let long = String(repeating: "word ", count: 3_480)
            // As a terminal pastes that marks nothing, and as one that does.
            chat.type(long)
            #expect(chat.shows("! too long: at most 16 KiB; the end was cut off"))
            chat.type("\r")
            #expect(chat.shows("! not sent: part of the line is missing"))
            chat.type("\u{3}short\r")
            #expect(eventually { node.texts() == ["short"] })
            chat.type("whole\u{1B}[200~\(long)\u{1B}[201~")
            #expect(chat.shows("! too long: at most 16 KiB; nothing was pasted"))
            #expect(chat.wait { $0.screen.lines.last == "#general> whole" })
            chat.type("\r")
            #expect(eventually { node.texts() == ["short", "whole"] })
            chat.type("\u{4}")
            #expect(chat.end() == 0)
        }

        @Test func `is interrupted by ctrl-C only when that is hit once more`() throws {
            let node = try started()
            let chat = try terminal(node)
            #expect(chat.shows("#general>"))
            chat.type("draft\u{3}\u{3}")
            #expect(chat.shows("press ctrl-C again or ctrl-D to quit"))
            chat.type("\u{3}")
            #expect(chat.end() == 128 + SIGINT)
            #expect(chat.isCooked)
        }

        @Test func `is lines with commands on a terminal that cannot draw`() throws {
            let node = try started()
            node.run("send", "general", "welcome")
            let chat = try terminal(node, environment: ["TERM": "dumb"])
            #expect(chat.shows("── #general ──"))
            #expect(chat.shows("welcome"))
            chat.type("hello\r")
            #expect(eventually { node.texts() == ["welcome", "hello"] })
            chat.type("/edit hello you\r")
            #expect(eventually { node.texts() == ["welcome", "hello you"] })
            chat.type("/react 2 🎉\r")
            #expect(chat.shows("🎉 Mina on Mina: welcome"), "\(chat.text)")
            chat.type("/help\r")
            #expect(chat.shows("show unread messages elsewhere"))
            chat.type("/joim x\r")
            #expect(chat.shows("did you mean /join?"))
            // The kernel cuts such a line, and says nothing of it.
            chat.type(String(repeating: "x", count: 5_000) + "\r")
            #expect(chat.shows("nothing was sent"))
            chat.type("\u{4}")
            #expect(chat.end() == 0)
            #expect(!chat.text.contains("\u{1B}"))
            #expect(node.texts() == ["welcome", "hello you"])
        }
    }
}
