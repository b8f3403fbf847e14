import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// `invite create` where somebody sits before it.
    struct `A person who invites on a terminal` {
        private func started() -> TemporaryNode {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            return node
        }

        private func terminal(_ node: TemporaryNode, _ flags: String...) throws -> PseudoTerminal {
            let terminal = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", node.home, "invite", "create"] + flags,
                    environment: node.scriptEnvironment, columns: 220, rows: 24))
            #expect(terminal.shows("waiting for them to join"), "\(terminal.screen.text)")
            return terminal
        }

        private func link(on terminal: PseudoTerminal) -> String {
            let words = terminal.screen.text.split { $0 == " " || $0 == "\n" }
            return words.first { $0.hasPrefix("wsx://") }.map(String.init) ?? ""
        }

        @Test func `sees who joins, until nobody else can`() throws {
            let mina = started()
            let inviting = try terminal(mina, "--uses", "2")
            // What others come in by is no business of this one.
            let other = TemporaryNode()
            #expect(other.join(mina.invite(), name: "Zoe").status == 0)
            let joon = TemporaryNode()
            #expect(joon.join(link(on: inviting), name: "Joon").status == 0)
            #expect(inviting.shows("Joon joined as member"), "\(inviting.screen.text)")
            let sora = TemporaryNode()
            #expect(sora.join(link(on: inviting), name: "Sora").status == 0)
            #expect(inviting.shows("Sora joined as member"), "\(inviting.screen.text)")
            #expect(inviting.end() == 0)
            #expect(!inviting.screen.text.contains("Zoe"))
        }

        @Test func `sees who asks, and that it was taken back`() throws {
            let mina = started()
            let inviting = try terminal(mina, "--approve")
            let joon = TemporaryNode()
            #expect(joon.join(link(on: inviting), name: "Joon", timeout: "10s").status == 7)
            #expect(inviting.shows("Joon is asking to join"), "\(inviting.screen.text)")
            #expect(inviting.screen.text.contains("request approve @Joon"))
            let home = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", mina.home],
                    environment: mina.scriptEnvironment, columns: 80, rows: 24))
            #expect(home.shows("1 person is asking to join"), "\(home.screen.text)")
            #expect(home.shows("request list"))
            let waiting = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", joon.home],
                    environment: joon.scriptEnvironment, columns: 80, rows: 24))
            #expect(waiting.shows("wait until someone lets you in"), "\(waiting.screen.text)")
            let id = mina.run("invite", "list", "--json").objects.first?["id"]?.stringValue ?? ""
            #expect(mina.run("invite", "revoke", id).status == 0)
            #expect(inviting.shows("the invite was revoked"), "\(inviting.screen.text)")
            #expect(inviting.end() == 0)
        }

        @Test func `waits no longer than was said, and not at all without a keyboard`() throws {
            let mina = started()
            let brief = try terminal(mina, "--timeout", "1s")
            #expect(brief.end() == 0)
            let expiring = try terminal(mina, "--expires", "2s")
            #expect(expiring.shows("the invite has expired"), "\(expiring.screen.text)")
            #expect(expiring.end() == 0)
            let silent = try #require(
                PseudoTerminal(
                    [TemporaryNode.program, "--home", mina.home, "invite", "create", "--no-input"],
                    environment: mina.scriptEnvironment, columns: 220, rows: 24))
            #expect(silent.end() == 0)
            #expect(!silent.screen.text.contains("waiting"))
            #expect(mina.run("invite", "create").output.contains("link"))
        }
    }
}
