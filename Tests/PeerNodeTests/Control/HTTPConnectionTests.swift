import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A control connection that speaks HTTP` {
    /// Feeds `text`, runs what it asks for on `node`, and gives what was written.
    private func exchange(
        _ text: String, on node: TableNode = TableNode(), size: Int = 7
    ) throws -> Answer {
        var connection = ControlConnection(id: 1)
        let bytes = Array(text.utf8)
        var calls = 0
        for start in stride(from: 0, to: bytes.count, by: size) {
            connection.receive(Array(bytes[start..<min(start + size, bytes.count)]))
            while let request = connection.nextRequest() {
                calls += 1
                do throws(NodeError) {
                    guard case .reply(let value) = try request.run(on: node) else { continue }
                    connection.answer(request.call, .success(value))
                } catch { connection.answer(request.call, .failure(error)) }
            }
        }
        #expect(calls <= 1)
        return try Answer(&connection, hasBody: !text.hasPrefix("HEAD "))
    }

    /// An answer, taken apart.
    struct Answer {
        let status: Int
        let head: String
        let body: String
        let isFinished: Bool

        init(_ connection: inout ControlConnection, hasBody: Bool = true) throws {
            let bytes = Array(connection.unsent)
            connection.didSend(bytes.count)
            isFinished = connection.isFinished
            let text = String(decoding: bytes, as: UTF8.self)
            let end = try #require(text.range(of: "\r\n\r\n"), "\(text)")
            head = String(text[..<end.lowerBound])
            body = String(text[end.upperBound...])
            #expect(head.hasPrefix("HTTP/1.1 "))
            #expect(head.contains("\r\nConnection: close"))
            status = Int(head.dropFirst(9).prefix(3)) ?? 0
            if hasBody, let length = head.firstMatch(of: /Content-Length: (\d+)/) {
                #expect(length.1 == "\(body.utf8.count)")
            }
        }

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    }

    private func post(_ path: String, _ body: String, _ head: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: x\r\n\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private func get(_ path: String, _ head: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\n\(head)\r\n"
    }

    // MARK: Recognising

    @Test(arguments: [1, 2, 3, 5, 1_000])
    func `is known by its first bytes, however they come`(size: Int) throws {
        let answer = try exchange(get("/healthz"), size: size)
        #expect(answer.status == 200)
        #expect(answer.isFinished)
    }

    @Test func `is none if it begins like one and goes on otherwise`() throws {
        for line in ["GETX", "G", "POSTER", "get / HTTP/1.1", "{\"GET \":1}", "PATCHES "] {
            var connection = ControlConnection(id: 1)
            for byte in line.utf8 { connection.receive([byte]) }
            connection.endOfInput()
            let request = connection.nextRequest()
            #expect(request == nil)
            let answer = String(decoding: connection.unsent, as: UTF8.self)
            #expect(answer.hasPrefix(#"{"jsonrpc":"2.0","id":null,"error":"#), "\(line)")
        }
    }

    // MARK: Paths and methods

    @Test(arguments: [
        ("GET", "/", 404), ("GET", "/rpc", 405), ("GET", "/rpc/x", 404), ("POST", "/events", 405),
        ("GET", "/hooks/general", 405), ("POST", "/hooks", 404), ("POST", "/hooks/a/b", 404),
        ("POST", "/metrics", 405), ("POST", "/healthz", 405), ("GET", "/api/chat.postMessage", 405),
        ("POST", "/api/chat.delete", 404), ("PUT", "/rpc", 405), ("DELETE", "/hooks/general", 405),
        ("OPTIONS", "/x", 404), ("PATCH", "/rpc", 405),
    ])
    func `has few ways, each for one method`(method: String, path: String, status: Int) throws {
        let node = TableNode()
        let answer = try exchange("\(method) \(path) HTTP/1.1\r\n\r\n", on: node)
        #expect(answer.status == status)
        #expect(answer.head.contains("\r\nAllow: ") == (status == 405))
        #expect(answer.json["error"]?["data"]?["reason"]?.stringValue?.hasPrefix("http.") == true)
        #expect(node.asked.isEmpty)
        #expect(answer.isFinished)
    }

    @Test func `gives no body to who asks for none`() throws {
        for path in ["/healthz", "/metrics", "/healthz?t=1"] {
            let answer = try exchange("HEAD \(path) HTTP/1.1\r\n\r\n")
            let whole = try exchange("GET \(path) HTTP/1.1\r\n\r\n")
            #expect(answer.head == whole.head && answer.status == 200)
            #expect(answer.body.isEmpty && !whole.body.isEmpty)
        }
        let events = try exchange("HEAD /events HTTP/1.1\r\n\r\n")
        #expect(events.status == 405 && events.body.isEmpty)
    }

    // MARK: JSON-RPC

    @Test func `answers a call as on a line, with the status of its kind`() throws {
        let good = try exchange(
            post("/rpc", #"{"jsonrpc":"2.0","id":7,"method":"node.version"}"# + "\n"))
        #expect(good.status == 200)
        #expect(good.json["id"] == 7)
        #expect(good.json["result"]?["version"]?.stringValue == Release.version)
        for kind in NodeError.Kind.allCases {
            let node = TableNode()
            node.failure = NodeError(kind, "no")
            let answer = try exchange(
                post("/rpc", #"{"jsonrpc":"2.0","id":"a","method":"node.status"}"#), on: node)
            #expect(answer.status == kind.httpStatus)
            #expect(answer.json["id"] == "a")
            #expect(answer.json["error"]?["data"]?["kind"]?.stringValue == kind.rawValue)
        }
    }

    @Test(arguments: [
        ("", 400, "parse_error"), ("{", 400, "parse_error"), ("[]", 400, "invalid_request"),
        (#"{"jsonrpc":"2.0","id":1,"method":"no.such"}"#, 404, "unknown_op"),
        (#"{"jsonrpc":"2.0","id":1,"method":"message.send"}"#, 400, "bad_request"),
        (#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}"#, 501, "unsupported"),
    ])
    func `tells why a body is no call`(body: String, status: Int, kind: String) throws {
        let answer = try exchange(post("/rpc", body))
        #expect(answer.status == status)
        #expect(answer.json["error"]?["data"]?["kind"]?.stringValue == kind)
        #expect(answer.json["jsonrpc"] == "2.0")
    }

    @Test func `answers a call without an id by nothing, unless it fails`() throws {
        let good = try exchange(post("/rpc", #"{"jsonrpc":"2.0","method":"node.version"}"#))
        #expect(good.status == 204)
        #expect(good.body.isEmpty)
        let bad = try exchange(post("/rpc", #"{"jsonrpc":"2.0","method":"no.such"}"#))
        #expect(bad.status == 404)
    }

    @Test func `takes the key of a call from its header, where the method has one`() throws {
        let node = TableNode()
        let send = #"{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"channel":"a","#
        for (params, words) in [("\"text\":\"b\"", "k1"), ("\"text\":\"b\",\"key\":\"k2\"", "k2")] {
            let answer = try exchange(
                post("/rpc", send + params + "}}", "Idempotency-Key: k1\r\n"), on: node)
            #expect(answer.status == 200)
            #expect(node.keys.last?.word == words)
        }
        let other = try exchange(
            post(
                "/rpc", #"{"jsonrpc":"2.0","id":1,"method":"node.status"}"#,
                "Idempotency-Key: k\r\n"), on: node)
        #expect(other.status == 200)
    }

    @Test func `cuts no answer that is too long, but says so`() throws {
        let node = TableNode()
        node.text = String(repeating: "x", count: Limits.controlLineBytesMax)
        let call =
            #"{"jsonrpc":"2.0","id":1,"method":"message.get","params":{"ids":["m_01hx9t4c"]}}"#
        let answer = try exchange(post("/rpc", call), on: node)
        #expect(answer.status == 413)
        #expect(answer.json["error"]?["data"]?["reason"] == "control.too_long")
    }

    // MARK: Hooks

    @Test func `posts what a hook brings`() throws {
        let node = TableNode()
        let answer = try exchange(
            post(
                "/hooks/general?workspace=acme", #"{"text":"*up*"}"#,
                "Content-Type: application/json\r\nIdempotency-Key: build-42\r\n"), on: node)
        #expect(answer.status == 200)
        #expect(answer.body == "ok")
        #expect(answer.head.contains("Content-Type: text/plain"))
        #expect(node.asked.count == 1)
        #expect(node.asked.first?.contains("**up**") == true)
        #expect(node.keys.first?.word == "build-42")
    }

    struct Failure: Sendable {
        let error: NodeError
        let status: Int
        let hook: String
        let post: String
    }

    static let failures = [
        Failure(
            error: .notFound("channel", "x", field: "channel"), status: 404,
            hook: "channel_not_found", post: "channel_not_found"),
        Failure(
            error: NodeError(.unknownUser, "no"), status: 404, hook: "channel_not_found",
            post: "channel_not_found"),
        Failure(
            error: .notFound("message", "m", field: "thread"), status: 404,
            hook: "thread_not_found", post: "thread_not_found"),
        Failure(
            error: .noWorkspace, status: 404, hook: "team_not_found", post: "team_not_found"),
        Failure(
            error: NodeError(.archived, "no"), status: 410, hook: "channel_is_archived",
            post: "is_archived"),
        Failure(
            error: NodeError(.forbidden, "no"), status: 403, hook: "action_prohibited",
            post: "restricted_action"),
        Failure(
            error: NodeError(.keyReused, "no"), status: 409, hook: "key_reused",
            post: "key_reused"),
        Failure(
            error: NodeError(.locked, "no"), status: 401, hook: "locked", post: "locked"),
        Failure(
            error: .textTooLarge("text", bytes: 2, bytesMax: 1), status: 413,
            hook: "msg_too_long", post: "msg_too_long"),
        Failure(
            error: NodeError(
                .badRequest, "no", fields: [.init(name: "thread", reason: "form")]),
            status: 404, hook: "thread_not_found", post: "thread_not_found"),
        Failure(
            error: NodeError(
                .badRequest, "no", fields: [.init(name: "text", reason: "empty")]),
            status: 400, hook: "no_text", post: "no_text"),
        Failure(
            error: NodeError(
                .badRequest, "no", fields: [.init(name: "text", reason: "form")]),
            status: 400, hook: "invalid_payload", post: "invalid_payload"),
    ]

    @Test(arguments: failures)
    func `tells a hook's failure in Slack's word`(row: Failure) throws {
        let node = TableNode()
        node.failure = row.error
        let hook = try exchange(post("/hooks/general", "x"), on: node)
        #expect(hook.status == row.status)
        #expect(hook.body == row.hook)
        let posted = try exchange(post("/api/chat.postMessage", "channel=a&text=b"), on: node)
        #expect(posted.status == 200)
        #expect(posted.json == ["ok": false, "error": .string(row.post)])
    }

    @Test func `tells a client that was too fast when to try again`() throws {
        let node = TableNode()
        node.failure = NodeError(.rateLimited, "no", details: ["retry_ms": 2_001])
        let hook = try exchange(post("/hooks/general", "x"), on: node)
        #expect(hook.status == 429)
        #expect(hook.head.contains("\r\nRetry-After: 3"))
        let posted = try exchange(post("/api/chat.postMessage", "channel=a&text=b"), on: node)
        #expect(posted.status == 429)
        #expect(posted.json["error"] == "ratelimited")
    }

    @Test func `refuses a hook's body that holds no message, and names that no channel can have`()
        throws
    {
        let node = TableNode()
        let bad = try exchange(
            post("/hooks/general", "{", "Content-Type: application/json\r\n"), on: node)
        #expect(bad.status == 400 && bad.body == "invalid_payload")
        let empty = try exchange(post("/hooks/general", ""), on: node)
        #expect(empty.status == 400 && empty.body == "no_text")
        let long = try exchange(
            post("/hooks/general", String(repeating: "x", count: 16 * 1_024 + 1)), on: node)
        #expect(long.status == 413 && long.body == "msg_too_long")
        let odd = try exchange(post("/hooks/" + String(repeating: "x", count: 400), "a"), on: node)
        #expect(odd.status == 404 && odd.body == "channel_not_found")
        let key = String(repeating: "k", count: 200)
        let keyed = try exchange(
            post("/hooks/general", "a", "Idempotency-Key: \(key)\r\n"), on: node)
        #expect(keyed.status == 400 && keyed.body == "bad_request")
        let extra = try exchange(post("/hooks/general?colour=red", "a"), on: node)
        #expect(extra.status == 400 && extra.body == "bad_request")
        #expect(node.asked.isEmpty)
    }

    @Test(arguments: [
        ("general", "#General", true), ("%23general", "general", true), ("@Mina", "@mina", true),
        ("c_00000000000000000000000001", "c_00000000000000000000000001", true),
        ("general", "ops", false), ("general", "@general", false), ("@Mina", "Mina", false),
        ("general", "c_00000000000000000000000001", false),
    ])
    func `posts nothing to one channel that is meant for another`(
        _ path: String, _ channel: String, isPosted: Bool
    ) throws {
        let node = TableNode()
        let answer = try exchange(
            post(
                "/hooks/\(path)", #"{"text":"up","channel":"\#(channel)"}"#,
                "Content-Type: application/json\r\n"), on: node)
        #expect(answer.status == (isPosted ? 200 : 403))
        #expect(answer.body == (isPosted ? "ok" : "action_prohibited"))
        #expect(node.asked.isEmpty != isPosted)
    }

    @Test func `posts a message as Slack's method does`() throws {
        let node = TableNode()
        let answer = try exchange(
            post(
                "/api/chat.postMessage", #"{"channel":"general","text":"*hi*"}"#,
                "Content-Type: application/json\r\nAuthorization: Bearer xoxb-1\r\n"), on: node)
        #expect(answer.status == 200)
        #expect(answer.json["ok"] == true)
        #expect(answer.json["channel"] == "c_general0")
        #expect(answer.json["ts"] == "m_01hx9t4c")
        #expect(answer.json["message"]?["text"] == "**hi**")
        for body in ["text=a", "channel=&text=a"] {
            let nowhere = try exchange(post("/api/chat.postMessage", body), on: node)
            #expect(nowhere.json == ["ok": false, "error": "channel_not_found"])
        }
        #expect(node.asked.count == 1)
    }

    // MARK: Pages

    @Test func `shows metrics and health`() throws {
        let metrics = try exchange(get("/metrics"))
        #expect(metrics.status == 200)
        #expect(metrics.head.contains("Content-Type: text/plain; version=0.0.4"))
        #expect(metrics.body.contains("# TYPE wsx_event_seq gauge\nwsx_event_seq 7\n"))
        let health = try exchange(get("/healthz"))
        #expect(health.status == 200 && health.body == "ok\n")
        let node = TableNode()
        node.failure = .stopping
        let ill = try exchange(get("/healthz"), on: node)
        #expect(ill.status == 503 && ill.body == "stopping\n")
        let worried = HTTPReply.health.response(
            to: .success(["warnings": [["kind": "disk.low"], ["kind": "fork.found"]]]))
        #expect(worried == .text(503, "disk.low\n"))
        // What other people do makes nobody's supervisor stop the node.
        let told = ["fork.found", "channel.twin", "removed", "join.pending"].map {
            ["kind": .string($0)] as JSONValue
        }
        #expect(
            HTTPReply.health.response(to: .success(["warnings": .array(told)]))
                == .text(200, "ok\n"))
        // What gets past caches is no parameter.
        for path in ["/metrics?x=1", "/healthz?t=1", "/healthz?t=1&t=2"] {
            #expect(try exchange(get(path)).status == 200)
        }
        #expect(try exchange(get("/healthz?%zz")).status == 400)
    }

    @Test func `escapes what stands in a label, and leaves empty families out`() {
        let page = MetricsObject([
            .init("a", "A.", isCounter: true, samples: [.init(3, ("l", "x\"\\\ny"), ("m", ""))]),
            .init("b", "B.", samples: []),
        ])
        #expect(page.text == "# HELP a A.\n# TYPE a counter\na{l=\"x\\\"\\\\\\ny\",m=\"\"} 3\n")
    }

    // MARK: Long bodies

    @Test func `tells a client that waits to go on, or not to`() throws {
        var connection = ControlConnection(id: 1)
        let head = "POST /hooks/general HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: "
        connection.receive(Array((head + "2\r\n\r\n").utf8))
        let early = connection.nextRequest()
        #expect(early == nil)
        #expect(
            String(decoding: connection.unsent, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
        #expect(!connection.isFinished)
        connection.receive(Array("hi".utf8))
        let request = connection.nextRequest()
        #expect(request?.parameters["text"] == "hi")
        #expect(!connection.wantsInput)
        var refused = ControlConnection(id: 2)
        refused.receive(Array((head + "2000000\r\n\r\n").utf8))
        let none = refused.nextRequest()
        #expect(none == nil)
        let answer = try Answer(&refused)
        #expect(answer.status == 413)
        #expect(refused.isFinished)
    }

    @Test func `reads on after it refused a body, until the other side had the chance to read why`()
        throws
    {
        var connection = ControlConnection(id: 1)
        connection.receive(
            Array("POST /rpc HTTP/1.1\r\nContent-Length: 1048586\r\n\r\n".utf8))
        let request = connection.nextRequest()
        #expect(request == nil)
        let answer = try Answer(&connection)
        #expect(answer.status == 413)
        #expect(!answer.isFinished)
        #expect(connection.wantsInput)
        connection.receive([UInt8](repeating: 0x20, count: 1_048_586))
        #expect(connection.isFinished)
        #expect(!connection.wantsInput)
    }

    @Test func `answers a request that ends early`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(Array("POST /rpc HTTP/1.1\r\nContent-Length: 5\r\n\r\n{".utf8))
        let request = connection.nextRequest()
        #expect(request == nil)
        connection.endOfInput()
        let late = connection.nextRequest()
        #expect(late == nil)
        let answer = try Answer(&connection)
        #expect(answer.status == 400)
        #expect(answer.isFinished)
    }

    @Test func `is told why when the node stops`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(Array(post("/rpc", #"{"jsonrpc":"2.0","id":1,"method":"a.b"}"#).utf8))
        let request = connection.nextRequest()
        #expect(request != nil)
        #expect(connection.isWaiting)
        connection.close(because: .stopping)
        let answer = try Answer(&connection)
        #expect(answer.status == 503)
        #expect(answer.head.contains("Retry-After: 1"))
        #expect(answer.json["error"]?["data"]?["kind"] == "stopping")
        #expect(answer.isFinished)
    }
}
