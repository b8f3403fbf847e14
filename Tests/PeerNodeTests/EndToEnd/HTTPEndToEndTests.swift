import Foundation
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `HTTP on the control socket` {
        private let node: TemporaryNode

        init() {
            node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
        }

        /// Sends `text` and gives all that comes until the node hangs up.
        private func exchange(_ text: String) throws -> String {
            let socket = try #require(ControlSocket(node.socket))
            socket.send(Array(text.utf8))
            return try #require(socket.text())
        }

        private func post(_ path: String, _ body: String, _ head: String = "") throws -> String {
            try exchange(
                "POST \(path) HTTP/1.1\r\nHost: x\r\n\(head)"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }

        private func get(_ path: String) throws -> String {
            try exchange("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        }

        @Test func `posts by hooks, each key once`() throws {
            #expect(try post("/hooks/general", "build 42 passed").hasSuffix("\r\n\r\nok"))
            for _ in 0..<2 {
                let answer = try post(
                    "/hooks/%23general", #"{"text":"*up* again"}"#,
                    "Content-Type: application/json\r\nIdempotency-Key: a\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("\r\n\r\nok"))
            }
            #expect(node.texts() == ["build 42 passed", "**up** again"])
            let other = try post("/hooks/general", "else", "Idempotency-Key: a\r\n")
            #expect(other.hasPrefix("HTTP/1.1 409 ") && other.hasSuffix("\r\n\r\nkey_reused"))
            let nowhere = try post("/hooks/nowhere", "x")
            #expect(nowhere.hasPrefix("HTTP/1.1 404 "))
            #expect(nowhere.hasSuffix("\r\n\r\nchannel_not_found"))
            node.run("channel", "create", "old")
            #expect(node.run("channel", "archive", "old").status == 0)
            let archived = try post("/hooks/old", "x")
            #expect(archived.hasPrefix("HTTP/1.1 410 "))
            #expect(archived.hasSuffix("\r\n\r\nchannel_is_archived"))
            #expect(try post("/hooks/general", "a\0b").hasSuffix("\r\n\r\ninvalid_payload"))
            #expect(node.texts().count == 2)
        }

        @Test func `posts as Slack's method, into threads by our ids`() throws {
            func posted(_ body: JSONObject) throws -> JSONValue {
                let answer = try post(
                    "/api/chat.postMessage", JSONValue.object(body).text,
                    "Content-Type: application/json\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 "))
                let body = try #require(answer.components(separatedBy: "\r\n\r\n").last)
                return try JSONValue(parsing: body)
            }
            let first = try posted(["channel": "#general", "text": "root"])
            #expect(first["ok"] == true)
            let id = try #require(first["ts"])
            let second = try posted(["channel": "general", "text": "leaf", "thread_ts": id])
            let leaf = try #require(second["ts"]?.stringValue)
            #expect(node.run("message", "show", leaf, "--json").object["thread"] == id)
            for foreign: JSONValue in ["m_nosuchthing", "1234.5678", "nope", 1234, .decimal("1.5")]
            {
                #expect(
                    try posted(["channel": "general", "text": "x", "thread_ts": foreign])
                        == ["ok": false, "error": "thread_not_found"], "\(foreign.text)")
            }
            #expect(node.texts() == ["root", "leaf"])
            #expect(
                try posted([
                    "channel": "general", "text": .string(String(repeating: "x", count: 20_000)),
                ])
                    == ["ok": false, "error": "msg_too_long"])
            #expect(
                try posted(["channel": "general", "text": "\u{200b}"])
                    == ["ok": false, "error": "no_text"])
            #expect(
                try posted(["channel": "nowhere", "text": "x"])
                    == ["ok": false, "error": "channel_not_found"])
        }

        @Test func `answers calls, health and metrics`() throws {
            let call = try post(
                "/rpc", #"{"jsonrpc":"2.0","id":1,"method":"channel.list","params":{}}"#)
            #expect(call.hasPrefix("HTTP/1.1 200 ") && call.contains(#""name":"general""#))
            let missing = try post(
                "/rpc",
                #"{"jsonrpc":"2.0","id":1,"method":"channel.get","params":{"channel":"x"}}"#)
            #expect(missing.hasPrefix("HTTP/1.1 404 "))
            let isHealthy = node.run("status", "--check").status == 0
            #expect(try get("/healthz").hasPrefix(isHealthy ? "HTTP/1.1 200 " : "HTTP/1.1 503 "))
            let page = try get("/metrics")
            #expect(page.contains("\nwsx_build_info{version=\"\(Release.version)\"} 1\n"))
            #expect(
                page.contains(
                    "\nwsx_rpc_requests_total{method=\"channel.get\",kind=\"not_found\"} 1"))
            let printed = node.run("metrics")
            #expect(printed.status == 0)
            #expect(printed.output.contains("\nwsx_peers{state=\"connected\"} 0\n"))
            #expect(printed.output.hasSuffix("\n"))
            for name in ["Mina", "acme", "general"] {
                #expect(!printed.output.contains(name), "no names in a page that others read")
            }
        }

        @Test func `streams events, and goes on where a reader left`() throws {
            let reader = try #require(ControlSocket(node.socket))
            reader.send(
                Array("GET /events?types=message.created&channels=general HTTP/1.1\r\n\r\n".utf8))
            let head = try #require(reader.text(until: "\n\n"))
            #expect(head.contains("\r\nContent-Type: text/event-stream\r\n"))
            for text in ["one", "two"] { #expect(try post("/hooks/general", text).hasSuffix("ok")) }
            var events = ""
            while !events.contains("\"two\"") {
                events += try #require(reader.text(until: "\n\n"))
            }
            // Of comments, which keep the line open, there are as many as it takes.
            let blocks = events.components(separatedBy: "\n\n")
                .filter { !$0.isEmpty && !$0.hasPrefix(":") }
            #expect(blocks.count == 2)
            let lines = blocks[0].components(separatedBy: "\n")
            #expect(lines.count == 3 && lines[1] == "event: message.created")
            let data = try JSONValue(parsing: String(lines[2].dropFirst("data: ".count)))
            #expect(data["data"]?["text"] == "one")
            #expect(lines[0] == "id: " + (data["cursor"]?.stringValue ?? ""))

            let again = try #require(ControlSocket(node.socket))
            again.send(
                Array(
                    ("GET /events?types=message.created HTTP/1.1\r\nLast-Event-ID: "
                        + lines[0].dropFirst(4) + "\r\n\r\n").utf8))
            var rest = ""
            while !rest.contains("data: ") { rest += try #require(again.text(until: "\n\n")) }
            #expect(rest.contains("\"two\"") && !rest.contains("\"one\""))
            #expect(try get("/events?since=e9.9").hasPrefix("HTTP/1.1 410 "))
            #expect(try get("/events?channels=nowhere").hasPrefix("HTTP/1.1 404 "))
            #expect(try get("/events?color=red").hasPrefix("HTTP/1.1 400 "))
        }

        @Test func `says that the home is locked`() throws {
            let secret = node.home + "/../secret"
            try Data("a long passphrase of many words\n".utf8).write(to: URL(filePath: secret))
            #expect(node.run("passphrase", "change", "--new-file", secret).status == 0)
            #expect(node.run("session", "lock").status == 0)
            #expect(try post("/hooks/general", "x").hasSuffix("\r\n\r\nlocked"))
            let health = try get("/healthz")
            #expect(health.hasPrefix("HTTP/1.1 503 ") && health.contains("session.locked"))
            #expect(try get("/metrics").contains("\nwsx_locked 1\n"))
        }

        // MARK: curl

        private func curl(_ arguments: String..., input: String? = nil) throws
            -> TemporaryNode.Outcome
        {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try #require(Curl.path))
            process.arguments = ["-sS", "--unix-socket", node.socket] + arguments
            process.environment = ["PATH": "/usr/bin:/bin"]
            return TemporaryNode.finish(process, input: input)
        }

        @Test(.enabled(if: Curl.path != nil, "curl is not installed: nothing was tried with it"))
        func `serves curl, as the documentation shows it`() throws {
            let path = node.run("socket").output.trimmingCharacters(in: .newlines)
            #expect(path == node.socket)
            #expect(try curl("-d", "build 42 passed", "http://x/hooks/general").output == "ok")
            #expect(
                try curl("-d", #"payload={"text":"a *b*"}"#, "http://x/hooks/general").output
                    == "ok")
            let report = String(repeating: "line\n", count: 20)
            #expect(
                try curl(
                    "-H", "Transfer-Encoding: chunked", "--data-binary", "@-",
                    "http://x/hooks/general", input: report
                ).output == "ok")
            #expect(
                node.texts() == ["build 42 passed", "a **b**", String(report.dropLast())])
            let failed = try curl("-f", "-d", "x", "http://x/hooks/nowhere")
            #expect(failed.status == 22)
            let head = try curl("-I", "http://x/metrics").output
            #expect(head.hasPrefix("HTTP/1.1 200") && head.hasSuffix("\r\n\r\n"))
            #expect(try curl("http://x/metrics").output.contains("\nwsx_event_seq "))
            let health = try curl("-o", "/dev/null", "-w", "%{http_code}", "http://x/healthz")
            #expect(["200", "503"].contains(health.output))
        }

        /// Above a megabyte curl asks before it sends.
        @Test(.enabled(if: Curl.path != nil, "curl is not installed: nothing was tried with it"))
        func `lets curl ask before it sends a long body, and answers it`() throws {
            let fits = String(repeating: " ", count: 1_000_000)
            let call = #"{"jsonrpc":"2.0","id":1,"method":"node.version"}"#
            for body in [fits + call, String(repeating: " ", count: 1_048_576 - 48) + call] {
                let answer = try curl(
                    "-H", "Expect: 100-continue", "--data-binary", "@-", "http://x/rpc", input: body
                )
                #expect(answer.output.contains(Release.version), "\(answer.errors)")
            }
            for flags in [["-H", "Expect: 100-continue"], ["-H", "Expect:"]] {
                let long = try curl(
                    flags[0], flags[1], "-w", "%{http_code}", "-o", "/dev/null",
                    "--data-binary", "@-", "http://x/rpc",
                    input: String(repeating: " ", count: 4_000_000))
                #expect(long.output == "413", "\(long.errors)")
            }
        }
    }
}

/// The program of this name, where the machine has it.
private enum Curl {
    static let path = ["/usr/bin/curl", "/bin/curl"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
