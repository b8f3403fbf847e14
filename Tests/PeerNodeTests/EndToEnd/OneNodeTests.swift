import Foundation
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `One node` {
        @Test func `is made by one command, which may be repeated`() throws {
            let node = TemporaryNode()
            let first = node.up(name: "Mina", workspace: "acme")
            #expect(first.status == 0, "\(first.errors)")
            let lines = first.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 5)
            for (line, what) in zip(lines, ["identity", "workspace", "daemon", "network"]) {
                #expect(line.hasPrefix("ok   " + what), "\(line)")
            }
            #expect(lines.last == "next: wsx-node --home \(node.home) invite create")
            let status = node.run("status", "--json").object
            #expect(status["identity"]?["name"] == "Mina")
            #expect(status["workspaces"]?.arrayValue?.first?["name"] == "acme")
            #expect(node.run("channel", "list", "--json").objects.map { $0["name"] } == ["general"])

            let again = node.up(name: "Mina", workspace: "acme")
            #expect(again.status == 0)
            #expect(again.output.contains("already running"))
            #expect(node.run("workspace", "list", "--json").objects.count == 1)
            // Another workspace is made, and naming the first one selects it again.
            #expect(node.up(workspace: "beta").status == 0)
            #expect(node.up(workspace: "ACME").status == 0)
            let all = node.run("workspace", "list", "--json").objects
            #expect(all.count == 2)
            #expect(all.first { $0["selected"] == true }?["name"] == "acme")
            #expect(node.run("down").status == 0)
            #expect(node.run("down").status == 0)
            #expect(!FileManager.default.fileExists(atPath: node.socket))
            #expect(node.run("status").status == 3)
        }

        @Test func `leaves no log of a database behind when it stops`() throws {
            let node = TemporaryNode()
            #expect(node.up(name: "Mina", workspace: "acme").status == 0)
            #expect(node.run("send", "general", "hello").status == 0)
            #expect(node.run("search", "hello").output.contains("hello"))
            #expect(node.run("down").status == 0)
            let left = try FileManager.default.contentsOfDirectory(atPath: node.home)
            #expect(left.contains("search.db"))
            #expect(left.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") } == [])
        }

        @Test func `answers every command, also as JSON lines`() throws {
            let node = TemporaryNode()
            #expect(
                node.run(["up", "--json"] + TemporaryNode.loopback).object["identity"] == .null)
            #expect(node.up(workspace: "acme").status == 2)
            #expect(node.run("identity", "create", "--name", "Mina", "--json").status == 0)
            #expect(node.run("workspace", "create", "acme", "--json").object["name"] == "acme")
            #expect(node.run("workspace", "create", "beta").status == 0)
            #expect(node.run("workspace", "create", "Acme", "--json").error.kind == "duplicate")
            #expect(node.run("workspace", "use", "acme", "--json").object["selected"] == true)
            #expect(node.run("workspace", "show", "beta", "--json").object["selected"] == false)
            #expect(node.run("channel", "create", "plans", "--json").object["joined"] == true)
            #expect(node.run("channel", "show", "#plans", "--json").object["name"] == "plans")
            #expect(node.run("channel", "join", "plans", "--json").object["name"] == "plans")
            #expect(node.run("send", "plans", "one", "--json").object["text"] == "one")
            let id = node.run("send", "plans", "-", "--plain", input: "two\nlines\n").output
                .trimmingCharacters(in: .newlines)
            #expect(node.run("message", "show", id, "--json").object["text"] == "two\nlines")
            #expect(node.run("log", "plans").output.contains("Mina  two\n"))
            #expect(node.texts("plans") == ["one", "two\nlines"])
            #expect(node.run("identity", "show", "--json").object["name"] == "Mina")
            #expect(node.run("member", "list", "--json").object["self"] == true)
            #expect(node.run("identity", "show", "--phrase").status == 0)
            #expect(node.run("doctor", "--json").objects.allSatisfy { $0["state"] == "ok" })
            #expect(node.run("status", "--check").status == 0)
            #expect(node.run("net", "status", "--json").object["suspended"] == false)
            let socket = node.run("socket", "--json").object["socket"]
            #expect(socket == .string(node.socket))
            #expect(node.run("socket").output == node.socket + "\n")
            let raw = node.run("rpc", "message.send", "channel=general", "text=raw")
            #expect(raw.object["text"] == "raw")
            #expect(node.run("rpc", "events.wait", "since=all", "limit:=2").object.rows.count == 2)
            let version = node.run("version", "--json").object
            #expect(version["version"] == .string(Release.version))
            #expect(node.run("down", "--json").object == ["stopped": true])
            #expect(node.run("down", "--json").object == ["stopped": false])
        }

        @Test func `keeps settings without a daemon`() {
            let node = TemporaryNode()
            #expect(node.run("config", "path").output == node.home + "/config.toml\n")
            #expect(node.run("config", "set", "net.listen", "127.0.0.1:0").status == 0)
            #expect(node.run("config", "get", "net.listen").output == "127.0.0.1:0\n")
            #expect(
                node.run("config", "list", "--json").objects == [
                    ["setting": "net.listen", "value": "127.0.0.1:0"]
                ])
            #expect(node.run("config", "set", "net.lisen", "x", "--json").status == 2)
            #expect(node.run("config", "set", "name").status == 2)
            // What no daemon could start with is refused at once, and is not kept.
            #expect(node.run("config", "set", "net.listen", "here", "--json").status == 78)
            #expect(node.run("config", "set", "net.announce", "maybe", "--json").status == 78)
            #expect(node.run("config", "set", "log.level", "loud", "--json").status == 78)
            #expect(node.run("config", "set", "notify.level", "loud", "--json").status == 78)
            #expect(node.run("config", "get", "net.listen").output == "127.0.0.1:0\n")
            let unset = node.run("config", "get", "name")
            #expect(unset.status == 5)
            #expect(unset.errors.contains("'name' is not set"), "\(unset.errors)")
            let path = node.home + "/config.toml"
            try? "name = \"Mina\"\nnmae = 1\n".write(
                toFile: path, atomically: true, encoding: .utf8)
            let refused = node.run(["up"] + TemporaryNode.loopback)
            #expect(refused.status == 78)
            #expect(refused.errors.contains("line 2"), "\(refused.errors)")
        }

        @Test func `holds a note that is longer than a line of the socket`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let path = node.folder + "/long.txt"
            let text = String(repeating: "all work and no play\n", count: 150_000)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let made = node.run("note", "create", "general", "Long", "--from", path)
            try #require(made.status == 0, "\(made.errors)")
            #expect(node.run("note", "show", "Long").output == text)
            let longer = "first\n" + text
            try longer.write(toFile: path, atomically: true, encoding: .utf8)
            let edited = node.run("note", "edit", "Long", "--from", path)
            try #require(edited.status == 0, "\(edited.errors)")
            #expect(node.run("note", "show", "Long").output == longer)
            try String(repeating: "x", count: 16 * 1024 * 1024 + 2)
                .write(toFile: path, atomically: true, encoding: .utf8)
            let refused = node.run("note", "edit", "Long", "--from", path, "--json")
            #expect(refused.status == 1 && refused.error.reason == "note.size")
        }

        @Test func `explains itself at every level without a daemon`() throws {
            let node = TemporaryNode()
            #expect(node.run().output == Manual.shortHelp)
            let all = node.run("help").output
            for command in Command.all {
                guard let words = command.line?.words else { continue }
                #expect(all.contains(words.joined(separator: " ")), "\(words)")
            }
            #expect(
                node.run("help", "channel", "create").output
                    == node.run("channel", "create", "-h").output)
            #expect(node.run("channel").status == 2)
            #expect(node.run("chanel").errors.contains("did you mean"))
            #expect(!FileManager.default.fileExists(atPath: node.home))
        }

        @Test func `tells every failure by sentence, hint and status`() {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let rows: [(words: [String], status: Int32, kind: String)] = [
                (["send", "genral", "hi"], 5, "not_found"),
                (["send", "general", ""], 2, "bad_request"),
                (["send", "general"], 2, "bad_request"),
                (["log", "general", "--limt", "3"], 2, "bad_request"),
                (["rpc", "no.such"], 1, "unknown_op"),
                (["channel", "create", "general"], 6, "duplicate"),
                (["message", "show", "m_0000000000"], 5, "not_found"),
                (["message", "show", "last"], 2, "bad_request"),
                (["log", "general", "--before", "p_1", "--after", "p_2"], 2, "bad_request"),
                (["invite", "revoke", "i_0000000000"], 5, "not_found"),
                (["invite", "create", "--role", "guest"], 2, "bad_request"),
                (["peer", "remove", "d_0000000000"], 5, "not_found"),
                (["workspace", "use", "nowhere"], 5, "not_found"),
                (["join", "wsx://join/zzz"], 1, "invite_invalid"),
                (["rpc", "events.wait", "since=e9.9"], 1, "cursor_expired"),
                (["config", "get", "no.such"], 2, "bad_request"),
            ]
            for row in rows {
                let outcome = node.run(row.words + ["--json"])
                #expect(outcome.status == row.status, "\(row.words) \(outcome.errors)")
                #expect(outcome.error.kind == row.kind, "\(row.words) \(outcome.errors)")
                #expect(outcome.output.isEmpty)
                let human = node.run(row.words)
                #expect(human.errors.hasPrefix("wsx-node: "))
                #expect(human.status == row.status)
            }
            #expect(node.run("send", "genral", "hi").errors.contains("did you mean 'general'?"))
        }

        @Test func `takes beginnings of ids and the last message`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let first = node.run("send", "general", "first", "--json").object["id"]?.stringValue
            let id = try #require(first)
            node.run("send", "general", "second")
            let short = String(id.prefix(16))
            #expect(node.run("message", "show", short, "--json").object["text"] == "first")
            #expect(
                node.run("message", "show", "last", "--in", "general", "--json").object["text"]
                    == "second")
            let answer = node.run("send", "general", "third", "--thread", short, "--json").object
            #expect(answer["thread"] == .string(id))
            #expect(
                node.run("log", "general", "--thread", id, "--json").objects.map { $0["text"] }
                    == ["third"])
            #expect(
                node.run("log", "general", "--around", "last", "-n", "1", "--json").object["text"]
                    == "third")
            let channel = node.run("channel", "list", "--json").object["id"]?.stringValue ?? ""
            #expect(node.run("channel", "show", String(channel.prefix(9)), "--json").status == 0)
            let all = String(id.prefix(8))
            let ambiguous = node.run("message", "show", all, "--json")
            #expect([0, 5].contains(ambiguous.status))
            if ambiguous.status == 5 { #expect(ambiguous.error.kind == "ambiguous") }
        }

        @Test func `follows all workspaces, and names the one of each line`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("workspace", "create", "lab")
            node.run("workspace", "use", "acme")
            let (tail, lines) = try node.start("tail")
            let (narrow, narrowed) = try node.start("tail", "-w", "acme")
            defer {
                kill(tail.processIdentifier, SIGKILL)
                kill(narrow.processIdentifier, SIGKILL)
            }
            var seen: [String] = []
            #expect(
                eventually {
                    node.run("send", "-w", "lab", "general", "there")
                    while let line = lines.next(within: 1) { seen.append(line) }
                    return seen.contains { $0.contains("there") }
                })
            #expect(seen.contains { $0.contains("lab #general  ") && $0.contains("there") })
            seen = []
            #expect(
                eventually {
                    node.run("send", "general", "here")
                    while let line = narrowed.next(within: 1) { seen.append(line) }
                    return seen.contains { $0.contains("here") }
                })
            // Both follow by now, and what is said first comes first.
            node.run("send", "-w", "lab", "general", "there again")
            node.run("send", "general", "here again")
            while let line = narrowed.next() {
                seen.append(line)
                if line.contains("here again") { break }
            }
            #expect(seen.last?.contains("here again") == true, "\(seen)")
            #expect(!seen.contains { $0.contains("there") || $0.contains("lab #") }, "\(seen)")
            #expect(node.run("events", "-w", "nowhere", "--count", "1").status == 5)
        }

        @Test func `hears that the node stops`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let (events, lines) = try node.start("events", "--since", "all", "--json")
            defer { kill(events.processIdentifier, SIGKILL) }
            #expect(lines.next() != nil)
            node.run("down")
            var last: String?
            while let line = lines.next() { last = line }
            #expect(last?.contains(#""type":"node.stopping""#) == true, "\(last ?? "nothing")")
        }

        @Test func `follows without missing what is written meanwhile`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "before")
            let socket = try #require(ControlSocket(node.socket))
            let (log, lines) = try node.start("log", "general", "--follow", "--json")
            let (tail, tailed) = try node.start("tail", "general", "--json")
            defer {
                // Children inherit the blocked signals of a test's thread: only this one works.
                kill(log.processIdentifier, SIGKILL)
                kill(tail.processIdentifier, SIGKILL)
            }
            var sent = ["before"]
            for number in 1...60 {
                let text = "m\(number)"
                #expect(
                    socket.call("message.send", ["channel": "general", "text": .string(text)])
                        != nil)
                sent.append(text)
            }
            var seen: [String] = []
            while seen.last != "m60", let line = lines.next() {
                seen.append((try? JSONValue(parsing: line))?["text"]?.stringValue ?? "?")
            }
            // However far the past reached, it goes on without a gap and without a repetition.
            let start = try #require(sent.firstIndex(of: seen.first ?? ""))
            #expect(seen == Array(sent[start...].prefix(seen.count)))
            #expect(seen.last == "m60")
            // tail begins wherever it was ready, which may be after all of that.
            var first: String?
            #expect(
                eventually {
                    _ = socket.call("message.send", ["channel": "general", "text": "more"])
                    first = tailed.next(within: 1)
                    return first != nil
                })
            let text = try JSONValue(parsing: first ?? "")["text"]?.stringValue ?? ""
            #expect((sent + ["more"]).contains(text))
            node.run("down")
            log.waitUntilExit()
            #expect(log.terminationStatus == 3)
        }
    }
}
