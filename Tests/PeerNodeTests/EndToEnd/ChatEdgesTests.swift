import Glibc
import Testing
import WorkspaceTestKit

extension EndToEnd {
    /// What a conversation does where it could lose something, or end by accident.
    @Suite struct `A conversation at its edges` {
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
                ("archive", "archived"), ("unarchive", "unarchived"), ("delete", "deleted"),
            ] {
                let outcome = node.run("channel", command, "random", "--yes")
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(chat.shows("── #random was \(word) ──"), "\(chat.screen.text)")
            }
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
            #expect(chat.shows("! too long: at most 16 KiB; the last of it was not taken"))
            chat.type("\r")
            #expect(chat.shows("! nothing was sent: a part is missing"))
            chat.type("\u{3}short\r")
            #expect(eventually { node.texts() == ["short"] })
            chat.type("whole\u{1B}[200~\(long)\u{1B}[201~")
            #expect(chat.shows("! too long: at most 16 KiB; nothing was taken"))
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
            #expect(chat.shows("ctrl-D leaves; ctrl-C once more ends"))
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
            #expect(chat.shows("ctrl-D leaves"))
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
