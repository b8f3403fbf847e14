import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `Text of others on a terminal` {
        /// What a terminal would obey, and what turns a line around.
        static let poison = [
            "\u{1B}[2J", "\u{1B}]0;owned\u{7}", "\u{1B}]8;;http://x\u{1B}\\",
            "\u{1B}]52;c;eA==\u{7}",
            "\u{1B}P1$q\u{1B}\\", "\u{7}", "\r", "\u{8}", "\u{9B}31m", "\u{85}", "\u{7F}", "\u{B}",
            "\u{202E}", "\u{2066}", "\u{2067}", "\u{2028}", "\u{200F}", "\n12:00  Mina  I quit",
        ]

        /// Sequences that the program itself sends: colours, and those of the line.
        private static let own = "\u{1B}\\[(?:[0-9;]*m|[0-9]*[AC]|J|\\?2004[hl])"

        /// Everything in a capture that a terminal would obey and that is not the program's own.
        private static func foreign(_ text: String) -> [String] {
            let rest = text.replacingOccurrences(of: own, with: "", options: .regularExpression)
                .replacingOccurrences(of: "\r\n", with: "\n")
            return rest.unicodeScalars.filter { scalar in
                switch scalar.value {
                case 0x0A: false
                case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
                default: false
                }
            }.map { "U+" + String($0.value, radix: 16) }
        }

        static let commands: [[String]] = [
            ["log", "general", "--no-pager"], ["channel", "list"], ["channel", "show", "general"],
            ["member", "list"], ["member", "show", "@Mina"], ["workspace", "list"],
            ["workspace", "show"], ["device", "list"], ["peer", "list"], ["unread"],
            ["dm", "list"],
            ["search", "hello", "--no-pager"], ["status"], ["doctor"], ["identity", "show"],
            ["message", "show", "last", "--in", "general"],
            ["message", "who", "last", "--in", "general"],
            ["send", "general", "hello"], ["read", "status"], ["sync", "status"],
            ["net", "status"],
            ["why", "@Mina"], ["channel", "show", "nowhere"], ["tail", "--timeout", "1s"],
            ["log", "general", "--follow", "--timeout", "1s"], ["session", "status"], [],
            ["events", "--since", "all", "--timeout", "1s"],
            ["invite", "list"],
        ]

        /// T01, T02, T05: in names, topics, messages, reactions, errors, whatever the daemon says.
        @Test func `is shown as what it is, in every list, object and error`() throws {
            let (node, other) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            node.run("channel", "create", "random", "--topic", "words", "--description", "more")
            node.run("send", "general", "hello there")
            node.run("message", "react", "last", "👍", "--in", "general")
            #expect(eventually { other.texts().count == 1 })
            other.run("send", "general", "hello again")
            #expect(eventually { node.texts().count == 2 })
            let path = node.home + "/proxy.sock"
            let proxy = try #require(
                PoisoningProxy(path, to: node.socket, poison: Self.poison))
            defer { proxy.stop() }
            for words in Self.commands {
                let terminal = try #require(
                    PseudoTerminal(
                        [TemporaryNode.program, "--home", node.home, "--socket", path] + words,
                        environment: node.scriptEnvironment, columns: 100))
                #expect(terminal.end() != nil, "\(words)")
                #expect(Self.foreign(terminal.text) == [], "\(words): \(terminal.text)")
                #expect(terminal.screen.strange == [], "\(words)")
                #expect(terminal.screen.bells == 0, "\(words)")
                // No part of a text begins a line of its own.
                #expect(
                    !terminal.screen.lines.contains { $0.hasPrefix("12:00  Mina") }, "\(words)")
            }
        }

        /// T01, T02, T05 in a conversation, with what comes while it is open.
        @Test func `is shown as what it is in a conversation`() throws {
            let (node, other) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            node.run("send", "general", "hello there")
            #expect(eventually { other.texts().count == 1 })
            let path = node.home + "/proxy.sock"
            let proxy = try #require(
                PoisoningProxy(path, to: node.socket, poison: Self.poison))
            defer { proxy.stop() }
            let chat = try #require(
                PseudoTerminal(
                    [
                        TemporaryNode.program, "--home", node.home, "--socket", path, "chat",
                        "general",
                    ], environment: node.scriptEnvironment, columns: 100))
            #expect(chat.shows("hello there"), "\(chat.text)")
            other.run("send", "general", "live one")
            #expect(chat.shows("live one"))
            other.run("message", "react", "last", "👍", "--in", "general")
            #expect(chat.shows("👍"))
            other.run("message", "edit", "last", "changed one", "--in", "general")
            #expect(chat.shows("✎ Joon"))
            other.run("send", "@Mina", "psst")
            #expect(chat.shows("psst"))
            chat.type("mine\r/who\r/unread\r/join nowhere\r/dm @Jo\t")
            #expect(chat.shows("nowhere"))
            chat.type("\u{3}\u{4}")
            #expect(chat.end() == 0)
            #expect(
                Self.foreign(
                    chat.text.replacingOccurrences(of: "\r\u{1B}", with: "\u{1B}")
                        .replacingOccurrences(of: "\u{7}", with: "")) == [], "\(chat.text)")
            #expect(chat.screen.strange == [])
            #expect(!chat.text.contains("\u{1B}]"))
            #expect(!chat.screen.lines.contains { $0.hasPrefix("12:00  Mina") })
        }

        /// T01 and T05 through real peers: messages may hold any of it, and nothing is logged.
        @Test func `arrives from a peer as it was written, and leaves the log alone`() throws {
            let (node, other) = try TerminalEndToEnd.`A conversation on a terminal`.twoPeople()
            let text = Self.poison.joined(separator: "x") + "\n2026-01-01T00:00:00.000Z error fake"
            #expect(other.run("send", "general", "-", input: text).status == 0)
            #expect(eventually { node.texts() == [text] })
            let terminal = try TerminalEndToEnd.`A conversation on a terminal`.terminal(
                node, "log", "general", "--no-pager")
            #expect(terminal.end() == 0)
            #expect(Self.foreign(terminal.text) == [])
            #expect(terminal.text.contains("\\u{9b}31m"))
            for home in [node.home, other.home] {
                let log = try String(contentsOfFile: home + "/daemon.log", encoding: .utf8)
                #expect(!log.contains("fake"))
                #expect(log.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
            }
        }

        /// T06: a flood of lines, and a letter as large as a message.
        @Test func `is cut where it would fill the screen`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let lines = String(repeating: "\n", count: 16_000) + "end"
            let tower = "a" + String(repeating: "\u{301}", count: 8_000)
            for text in [lines, tower] {
                #expect(node.run("send", "general", "-", input: text).status == 0)
            }
            let wide =
                "{\"id\":1,\"method\":\"message.send\",\"jsonrpc\":\"2.0\",\"params\":"
                + "{\"channel\":\"general\",\"text\":\""
                + String(repeating: "\\n", count: 1_000_000)
            let socket = try #require(ControlSocket(node.socket))
            socket.send(line: wide + "\"}}")
            #expect(socket.next()?.kind == "too_large")
            let terminal = try TerminalEndToEnd.`A conversation on a terminal`.terminal(
                node, "log", "general", "--no-pager")
            #expect(terminal.end() == 0)
            #expect(terminal.screen.lines.count < 220)
            #expect(terminal.screen.text.contains("more lines"))
            #expect(terminal.captured.count < 16_000)
            #expect(node.texts() == [lines, tower])
        }

        /// T04: marks without end, as a value and as a name of a parameter.
        @Test func `is measured before anything else`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(node.socket))
            let marks = String(repeating: "\u{301}\u{316}", count: 50_000)
            for (method, parameters, kind) in [
                ("channel.create", ["name": .string(marks)], "bad_request"),
                ("channel.get", ["channel": .string(marks)], "bad_request"),
                ("member.get", ["member": .string("@" + marks)], "bad_request"),
                ("message.send", ["channel": "general", "text": .string(marks)], "too_large"),
                ("message.send", ["channel": "general", "text": "x", marks: "y"], "bad_request"),
                ("channel.create", ["name": "x", "key": .string(marks)], "bad_request"),
            ] as [(String, JSONObject, String)] {
                socket.send(line: ControlSocket.request(method, parameters, id: 1).text)
                #expect(socket.next()?.kind == kind, "\(method)")
            }
            socket.send(line: ControlSocket.request(marks, [:], id: 2).text)
            #expect(socket.next()?.kind == "unknown_op")
        }

        /// T07: strings that trouble programs, as messages and as names.
        static let naughty: [String] = [
            "undefined", "null", "NULL", "(null)", "nil", "true", "None", "NaN", "Infinity", "-1",
            "0", "0x0", "1e999", "1/0", "-9223372036854775808", "999999999999999999999", "#", "@",
            "#general", "@Mina", "@@", "##", "c_", "u_00000000000000000000000000", "last", "--help",
            "-", "--", "../../etc/passwd", "/dev/null", "C:\\con.txt", "~root", "a/b", ".", "..",
            "'; DROP TABLE message;--", "\" OR 1=1 --", "%s%n%x", "%00", "${HOME}", "$(id)", "`id`",
            "{{7*7}}", "<script>alert(1)</script>", "&amp;", "\\u0000", "\\", "\"", "'", "a,b\tc",
            " lead and trail ", "\u{A0}", "\u{200B}", "\u{FEFF}", "\u{AD}", "\u{2060}", "\u{3000}",
            "Ω≈ç√∫˜µ≤≥÷", "田中さんにあげて下さい", "사회과학원 어학연구소", "𐐜 𐐔𐐇𐐝", "ﷺ", "בְּרֵאשִׁית", "الكل",
            "\u{202E}test",
            "👩🏽‍💻🏳️‍🌈🇩🇪", "Z̸̡̢a̶l̷g̵o̸", "İstanbul ß ﬃ", "e\u{301}", "\u{E9}", "\u{1F468}\u{200D}", "\u{301}",
            "\u{FFFD}", "\u{FFFE}", "\u{10FFFF}", "\u{E000}", "\u{0}", "a\u{0}b", "\u{1}\u{7F}",
            "Scunthorpe", "CON", "NUL.txt", "constructor", "__proto__", "events", "http://a/b?c#d",
        ]

        @Test func `comes back as it was, or is refused, whatever it is`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(node.socket))
            func call(_ method: String, _ given: JSONObject) throws -> JSONValue {
                socket.send(line: ControlSocket.request(method, given, id: 1).text)
                return try #require(socket.next())
            }
            var taken = 0
            for text in Self.naughty {
                let sent = try call("message.send", ["channel": "general", "text": .string(text)])
                if sent["error"] == nil {
                    taken += 1
                    let id = sent["result"]?["id"] ?? .null
                    let read = try call("message.get", ["ids": [id]])
                    let back = read.rows.first?["text"]?.stringValue
                    #expect(
                        back.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)")
                } else {
                    #expect(sent.kind == "bad_request", "\(text.debugDescription)")
                }
                let made = try call("channel.create", ["name": .string(text)])
                if made["error"] == nil {
                    let name = made["result"]?["name"]?.stringValue ?? ""
                    let id = made["result"]?["id"] ?? .null
                    let read = try call("channel.get", ["channel": id])
                    #expect(read["result"]?["name"] == .string(name), "\(text.debugDescription)")
                    #expect(text.contains(name) || name == text, "\(text.debugDescription)")
                } else {
                    #expect(
                        ["bad_request", "duplicate"].contains(made.kind ?? ""),
                        "\(text.debugDescription) \(made.text)")
                }
            }
            #expect(taken > Self.naughty.count - 12)
            let names = node.run("channel", "list", "--plain")
            #expect(names.status == 0)
            #expect(node.run("check").status == 0)
        }
    }
}
