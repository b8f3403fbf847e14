import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// What cannot be undone needs a yes, and a terminal is where somebody can give it.
    struct `A command that cannot be undone` {
        private func isThere(_ channel: String, at node: TemporaryNode) -> Bool {
            node.run("channel", "show", channel).status == 0
        }

        @Test func `is done after a yes, and not where nobody may be asked`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            for name in ["first", "second", "third"] {
                try #require(node.run("channel", "create", name).status == 0)
            }
            func terminal(_ words: String...) throws -> PseudoTerminal {
                try #require(
                    PseudoTerminal(
                        [TemporaryNode.program, "--home", node.home, "channel", "delete"] + words,
                        environment: node.scriptEnvironment))
            }
            let silent = try terminal("first", "--no-input")
            #expect(silent.shows("add --yes"), "\(silent.text)")
            #expect(silent.end() == 2)
            #expect(isThere("first", at: node))
            let asked = try terminal("first")
            #expect(asked.shows("Delete #first"), "\(asked.text)")
            asked.type("y\n")
            #expect(asked.end() == 0)
            #expect(!isThere("first", at: node))
            #expect(try terminal("second", "--no-input", "--yes").end() == 0)
            #expect(!isThere("second", at: node))
            // A script means what it says.
            #expect(node.run("channel", "delete", "third", "--no-input").status == 0)
            #expect(!isThere("third", at: node))
        }
    }
}
