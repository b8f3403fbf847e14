import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    /// Codes that travel by mail, by a script and by a real mail server.
    struct `Letters` {
        /// The first line of six digits.
        private func code(_ letter: String) throws -> String {
            let lines = letter.split(whereSeparator: \.isNewline).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            return try #require(
                lines.first { $0.utf8.count == 6 && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } })
        }

        private func prove(_ mina: TemporaryNode, _ joon: TemporaryNode, _ letter: () -> String?)
            throws
        {
            let asked = joon.run("identity", "email", "verify", "joon@example.org")
            #expect(asked.status == 0, "\(asked.errors)")
            #expect(asked.output.contains("Mina sent a code to joon@example.org"))
            var text: String?
            #expect(
                eventually {
                    text = letter()
                    return text != nil
                })
            let code = try code(text ?? "")
            let wrong = joon.run(
                "identity", "email", "confirm", code == "000000" ? "000001" : "000000", "--json")
            #expect(wrong.status == 1 && wrong.error.kind == "code_invalid")
            let done = joon.run("identity", "email", "confirm", "-", input: code + "\n")
            #expect(done.status == 0, "\(done.errors)")
            #expect(done.output == "joon@example.org is verified by Mina\n")
            #expect(
                eventually {
                    mina.run("profile", "show", "@Joon").output.contains(
                        "(verified by Mina, today)")
                })
            for node in [mina, joon] {
                let log = try String(contentsOfFile: node.home + "/daemon.log", encoding: .utf8)
                #expect(!log.contains(code))
            }
        }

        @Test func `prove an address by a script that is any sendmail`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let file = mina.home + "/letter"
            let set = mina.run("mail", "command", "cat > \(file).new && mv \(file).new \(file)")
            #expect(set.status == 0, "\(set.errors)")
            try prove(mina, joon) { try? String(contentsOfFile: file, encoding: .utf8) }
            let invite = mina.run("invite", "create", "--email", "dora@example.org")
            #expect(invite.output.contains("mailed to dora@example.org"), "\(invite.errors)")
            #expect(
                eventually {
                    (try? String(contentsOfFile: file, encoding: .utf8))?
                        .hasPrefix("To: dora@example.org\n") == true
                })
        }

        @Test func `have an address to go to from the start`() throws {
            let node = TemporaryNode()
            let flags = ["--workspace", "acme"] + TemporaryNode.loopback
            let up = node.run(
                ["up", "--name", "Mina", "--email", "Mina@example.org"] + flags)
            #expect(up.status == 0 && !up.output.contains("warn email"), "\(up.errors)")
            #expect(node.run("profile", "show").output.contains("mina@example.org"))
            let again = node.run(["up", "--email", "other@example.org"])
            #expect(again.output.contains("warn email"), "\(again.output)")
            #expect(again.output.contains("profile set --email other@example.org"))
            let wrong = TemporaryNode()
            let refused = wrong.run(
                ["up", "--name", "Mina", "--email", "nowhere"] + flags)
            #expect(refused.status == 2, "\(refused.errors)")
        }

        @Test func `that hang hold nobody up, and end with the node`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let file = mina.home + "/pid"
            mina.run("mail", "command", "echo $$ > \(file).new; mv \(file).new \(file); sleep 1000")
            let (asking, _) = try joon.start("identity", "email", "verify", "joon@example.org")
            #expect(eventually { FileManager.default.fileExists(atPath: file) })
            #expect(mina.run("send", "general", "meanwhile").status == 0)
            #expect(eventually { joon.texts() == ["meanwhile"] })
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let pid = try #require(Int32(text.filter(\.isNumber)))
            #expect(mina.run("down").status == 0)
            #expect(eventually { kill(pid, 0) != 0 })
            kill(asking.processIdentifier, SIGKILL)
            asking.waitUntilExit()
        }

        @Test func `pass a real mail server`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            guard let server = MailServer(in: mina.folder) else { return }
            defer { server.end() }
            #expect(mina.run("mail", "command", server.command).status == 0)
            try prove(mina, joon) { server.letters.first }
            let letter = try #require(server.letters.first)
            #expect(letter.contains("To: joon@example.org"))
        }
    }
}
