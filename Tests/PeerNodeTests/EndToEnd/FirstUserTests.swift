import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// What people try first, and where they slip.
    struct `Somebody who is new to it` {
        typealias Sealed = EndToEnd.`A home with a passphrase`

        @Test func `reads a conversation with somebody who is out, and is told in words`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let dan = TemporaryNode()
            try #require(dan.join(mina.invite(), name: "Dan").status == 0)
            #expect(eventually { mina.run("send", "@Dan", "hello").status == 0 })
            #expect(eventually { dan.texts("@Mina") == ["hello"] })
            #expect(mina.run("member", "remove", "@Dan").status == 0)
            #expect(mina.texts("@Dan") == ["hello"])
            #expect(mina.run("dm", "list").output.contains("Dan"))
            let sent = mina.run("send", "@Dan", "there?", "--json")
            #expect(sent.status == 4)
            #expect(sent.error.reason == "channel.deserted")
            let why = mina.run("why", "general")
            #expect(why.status == 0, "\(why.errors)")
            #expect(why.output.contains("may read and send"))
            #expect(
                mina.run("channel", "create", "plans", "--private", "--history", "all").status == 0)
            let left = mina.run("channel", "remove", "plans", "@Mina", "--json")
            #expect(left.status == 6)
            let absent = mina.run("channel", "remove", "general", "@Dan", "--json")
            #expect(absent.status == 5 || absent.status == 6)
            let show = mina.run("channel", "show", "plans").output
            #expect(show.contains("kind     private\n") && !show.contains("created_at"))
            #expect(!mina.run("member", "show", "@Mina").output.contains("joined_at"))
            #expect(mina.run("session", "status").output.hasPrefix("node        open\n"))
            // Nothing is said of nothing where nobody looks.
            #expect(mina.run("unread").output.isEmpty)
        }

        @Test func `waits no longer than was said`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "before")
            let tail = node.run("tail", "--timeout", "1s")
            #expect(tail.status == 0, "\(tail.errors)")
            let log = node.run("log", "general", "--follow", "--timeout", "1s")
            #expect(log.status == 0, "\(log.errors)")
            #expect(log.output.contains("before"))
            // A command interrupted by the daemon's end says so.
            let (process, lines) = try node.start("tail", "--timeout", "10m")
            #expect(
                eventually {
                    node.run("send", "general", "now")
                    return lines.next(within: 1) != nil
                })
            node.run("down")
            process.waitUntilExit()
            #expect(process.terminationStatus == 3)
        }

        @Test func `continues where it was once the daemon is back, for a reader`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "before")
            for words in [["tail"], ["log", "general", "-f"]] {
                let screen = try #require(
                    PseudoTerminal(
                        [TemporaryNode.program, "--home", node.home] + words,
                        environment: node.scriptEnvironment, columns: 80, rows: 24))
                #expect(
                    eventually {
                        node.run("send", "general", "here")
                        return screen.shows("here", within: 1)
                    })
                node.run("down")
                #expect(screen.shows("── the daemon does not answer"), "\(screen.screen.text)")
                node.run("up")
                node.run("send", "general", "and \(words[0]) again")
                #expect(screen.shows("and \(words[0]) again"), "\(screen.screen.text)")
                let lines = screen.screen.lines.filter { $0.contains("and \(words[0]) again") }
                #expect(lines.count == 1)
                screen.type("\u{3}")
                #expect(screen.end() == 128 + SIGINT)
            }
        }

        @Test func `says that a name is kept which a home has`() {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let again = node.run("up", "--name", "Mini")
            #expect(again.status == 0)
            #expect(again.output.contains("warn name"), "\(again.output)")
            #expect(again.output.contains("profile set --name Mini"))
            #expect(!node.run("up", "--name", "mina").output.contains("warn name"))
            let elsewhere = node.run("up", "--listen", "127.0.0.1:1")
            #expect(elsewhere.output.contains("'--listen' takes effect at the next start"))
            let listens =
                node.run("net", "status", "--json").object["listen"]?[0]?.stringValue ?? ""
            let same = node.run("up", "--listen", listens, "--announce", "off")
            #expect(!same.output.contains("takes effect at the next start"), "\(same.output)")
            node.run("net", "suspend")
            #expect(node.run("status").output.contains("the network is suspended"))
            #expect(node.run("status", "--check").status == 0)
        }

        @Test func `mistypes the name of an event`() {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let wrong = node.run("events", "--type", "message.creatd", "--timeout", "5s")
            #expect(wrong.status == 2)
            #expect(wrong.errors.contains("did you mean 'message.created'?"))
            let right = node.run("events", "--type", "message.*", "--timeout", "100ms")
            #expect(right.status == 0, "\(right.errors)")
        }

        @Test func `starts a home with the wrong passphrase, and nothing is left of it`() throws {
            let (node, file) = try Sealed.sealed()
            let wrong = try Sealed.secretFile("wrong", "not the passphrase", beside: node)
            node.run("down")
            let up = node.run(["up", "--passphrase-file", wrong] + TemporaryNode.loopback)
            #expect(up.status == 4, "\(up.errors)")
            #expect(up.errors.contains("not the passphrase"))
            #expect(node.run("status").status == 3)
            let missing = node.run(
                ["up", "--passphrase-file", wrong + "-none"] + TemporaryNode.loopback)
            #expect(missing.status == 5)
            #expect(node.run("status").status == 3)
            // One that ran before is left as it was.
            #expect(node.up().status == 0)
            #expect(node.run("up", "--passphrase-file", wrong).status != 0)
            #expect(node.run("session", "status", "--json").object["locked"] == true)
            let opened = eventually {
                node.run("up", "--passphrase-file", file).status == 0
            }
            #expect(opened)
            let help = node.run("help", "session", "unlock").output
            #expect(help.contains("passcode"))
        }

        @Test func `begins second homes with a passphrase and a name`() throws {
            let laptop = TemporaryNode()
            laptop.up(name: "Mina", workspace: "acme")
            let phone = TemporaryNode()
            let file = try Sealed.secretFile("secret", Sealed.passphrase, beside: phone)
            let link = laptop.run("device", "link", "--json").object["link"]?.stringValue ?? ""
            let linked = phone.run(
                ["device", "link", link, "--name", "Pocket", "--passphrase-file", file]
                    + TemporaryNode.loopback)
            try #require(linked.status == 0, "\(linked.errors)")
            #expect(linked.output.contains("protects the keys"))
            #expect(!linked.output.contains("link a second device"))
            #expect(
                eventually {
                    laptop.run("device", "list").output.contains("Pocket")
                })
            phone.run("down")
            phone.up()
            #expect(phone.run("session", "status", "--json").object["locked"] == true)
            let phrase = laptop.run("identity", "show", "--phrase", "--json")
                .object["phrase"]?.stringValue
            let fresh = TemporaryNode()
            let other = try Sealed.secretFile("secret", Sealed.passphrase, beside: fresh)
            let words = try Sealed.secretFile("words", try #require(phrase), beside: fresh)
            let back = fresh.run(
                [
                    "identity", "recover", laptop.invite(), "--phrase", "-", "--name", "Mina",
                    "--passphrase-command", "cat '\(other)'",
                ] + TemporaryNode.loopback,
                input: try String(contentsOfFile: words, encoding: .utf8))
            try #require(back.status == 0, "\(back.errors)")
            #expect(back.errors.contains("your other devices there: "), "\(back.errors)")
            #expect(back.errors.contains("Pocket"), "\(back.errors)")
            #expect(
                fresh.run("session", "status", "--json").object["passphrase"] == true)
        }

        @Test func `wipes a home, and nothing of it is left but what is not its own`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let elsewhere = (node.home as NSString).deletingLastPathComponent + "/kept.wsx"
            for path in [node.home + "/inside.wsx", elsewhere] {
                let made = node.run("backup", "create", "-o", path)
                try #require(made.status == 0, "\(made.errors)")
            }
            node.run("down")
            #expect(node.run("backup", "restore", elsewhere, "--force").status == 0)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: node.home + "/notes.txt"))
            node.up()
            let files = FileManager.default
            #expect(
                try files.contentsOfDirectory(atPath: node.home)
                    .contains { $0.hasPrefix("before-restore-") })
            let wiped = node.run("session", "logout", "--wipe", "all", "--force", "--yes")
            #expect(wiped.status == 0, "\(wiped.errors)")
            #expect(wiped.output.contains("backups that you saved elsewhere still exist"))
            #expect(
                try files.contentsOfDirectory(atPath: node.home).sorted()
                    == ["lock", "notes.txt"])
            #expect(files.fileExists(atPath: elsewhere))
        }
    }
}
