import Testing
import WorkspaceModel

@testable import PeerNode

struct `A node's loop and its clients over HTTP` {
    @Test func `answers one request, in pieces beside lines of others, and hangs up`() throws {
        try withLoop { test in
            let web = try test.client()
            let body = #"{"jsonrpc":"2.0","id":1,"method":"a.b"}"#
            web.send("POST /rpc HTTP/1.1\r\nContent-Le")
            let line = try test.client()
            line.call("c.d")
            try test.run { line.lines().count == 1 }
            #expect(web.text().isEmpty)
            web.send("ngth: \(body.utf8.count)\r\n\r\n" + body)
            try test.run {
                _ = web.text()
                return web.end == .finished
            }
            #expect(web.text().hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(
                web.text().hasSuffix(#"{"jsonrpc":"2.0","id":1,"result":{"method":"a.b"}}"# + "\n"))
            try test.run { test.loop.clientCount == 1 }
        }
    }

    @Test func `carries out what a client posted that left before the answer`() throws {
        try withLoop { test in
            for _ in 0..<20 {
                try test.client().send(
                    "POST /hooks/general HTTP/1.1\r\nContent-Length: 1\r\n\r\nx")
                _ = try test.loop.step()
            }
            try test.run { test.loop.clientCount == 0 && test.host.inputs.count >= 40 }
            let calls = test.host.inputs.count { input in
                if case .call(_, "message.send", let arguments, _) = input {
                    return arguments["text"] == "x"
                }
                return false
            }
            #expect(calls == 20)
        }
    }

    @Test func `streams events only as fast as they are read, until the reader leaves`() throws {
        try withLoop { test in
            test.host.onInput = { input in
                switch input {
                case .call(let call, _, _, _):
                    test.host.subscribers = [call.connection]
                    return [.answer(call, .success(["subscription": 1, "cursor": "e1.0"]))]
                case .controlClosed: test.host.subscribers = []
                default: break
                }
                return []
            }
            let text = JSONValue.string(String(repeating: "y", count: 10_000))
            test.host.pendingEvents = (1...500).map {
                EventObject(sequence: $0, cursor: "e1.\($0)", at: 0, type: "t", data: text)
            }
            let reader = try test.client()
            reader.send("GET /events HTTP/1.1\r\n\r\n")
            try test.run { !test.host.subscribers.isEmpty }
            for _ in 0..<50 { _ = try test.loop.step() }
            #expect(test.host.pendingEvents.count > 300)
            try test.run {
                reader.receive()
                return reader.receivedCount > 500 * 10_000
            }
            try test.run { reader.text().hasSuffix("\n\n") }
            #expect(reader.lines().count { $0.hasPrefix("data: ") } == 500)
            #expect(reader.end == nil)
            reader.link.finishWriting(now: 0)
            for _ in 0..<5 { _ = try test.loop.step() }
            #expect(test.loop.clientCount == 1, "a half-closed reader still reads")
            test.host.subscribers = []
            try test.run {
                reader.receive()
                return reader.end == .finished
            }
        }
    }

    @Test func `lets go of a stream whose reader hung up`() throws {
        try withLoop { test in
            test.host.onInput = { input in
                switch input {
                case .call(let call, _, _, _):
                    test.host.subscribers = [call.connection]
                    return [.answer(call, .success(["subscription": 1, "cursor": "e1.0"]))]
                case .controlClosed: test.host.subscribers = []
                default: break
                }
                return []
            }
            do {
                let reader = try test.client()
                reader.send("GET /events HTTP/1.1\r\n\r\n")
                try test.run { reader.text().hasSuffix("id: e1.0\n\n") }
            }
            try test.run { test.loop.clientCount == 0 && test.host.subscribers.isEmpty }
        }
    }

    @Test func `refuses a body that is too long, and lets its sender read that`() throws {
        try withLoop { test in
            let client = try test.client()
            client.send(
                "POST /rpc HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n"
                    + String(repeating: " ", count: 3_000_000))
            try test.run {
                _ = client.text()
                return client.end == .finished
            }
            #expect(client.text().hasPrefix("HTTP/1.1 413 "))
            #expect(test.host.inputs.allSatisfy { if case .call = $0 { false } else { true } })
        }
    }

    @Test func `tells who waits that it stops`() throws {
        try withLoop { test in
            test.host.onInput = { input in
                guard case .call(let call, let method, _, _) = input else { return [] }
                return method == "node.stop" ? [.answer(call, .success([:])), .stop] : []
            }
            let waiting = try test.client()
            waiting.send(
                "POST /hooks/general HTTP/1.1\r\nContent-Length: 1\r\n\r\nx")
            let stopper = try test.client()
            stopper.call("node.stop")
            try test.loop.run()
            #expect(waiting.text().hasPrefix("HTTP/1.1 503 "))
            #expect(waiting.text().hasSuffix("\r\n\r\nstopping"))
        }
    }
}
