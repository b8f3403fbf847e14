import Testing
import WorkspaceModel

@testable import PeerNode

struct `Files over HTTP` {
    /// A connection on which something was asked for, of a node that knows one file of 3 bytes.
    private final class Exchange {
        var connection = ControlConnection(id: 1)
        let node: TableNode
        var call: CallID?

        init(_ text: String, on node: TableNode = TableNode(), isAnswered: Bool = true) {
            self.node = node
            connection.receive(Array(text.utf8))
            guard let request = connection.nextRequest() else { return }
            call = request.call
            if isAnswered { answer(request) }
        }

        private func answer(_ request: ControlRequest) {
            do throws(NodeError) {
                guard case .reply(let value) = try request.run(on: node) else { return }
                connection.answer(request.call, .success(value))
            } catch { connection.answer(request.call, .failure(error)) }
        }

        /// All that was written so far.
        func text() -> String {
            let bytes = Array(connection.unsent)
            connection.didSend(bytes.count)
            return String(decoding: bytes, as: UTF8.self)
        }

        func give(_ bytes: [UInt8]) -> Bool { connection.give(bytes) }
        func takeFile() -> [UInt8] { connection.takeFile() }
    }

    private func get(
        _ head: String = "", method: String = "GET", query: String = ""
    ) -> String {
        "\(method) /files/b_01hx9t4c\(query) HTTP/1.1\r\nHost: x\r\n\(head)\r\n"
    }

    // MARK: Reading

    @Test func `are sent as attachments, and end where they end`() {
        let exchange = Exchange(get())
        let head = exchange.text()
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"))
        for field in [
            "Content-Length: 3", "ETag: \"b_01hx9t4c\"", "Accept-Ranges: bytes",
            "X-Content-Type-Options: nosniff", "Content-Disposition: attachment; ",
        ] { #expect(head.contains("\r\n" + field), "\(field)") }
        #expect(head.hasSuffix("\r\n\r\n"))
        #expect(exchange.connection.isSendingFile && !exchange.connection.isFinished)
        #expect(exchange.give([0x61, 0x62]))
        #expect(exchange.connection.isSendingFile)
        #expect(exchange.give([0x63]))
        #expect(exchange.text() == "abc")
        #expect(!exchange.connection.isSendingFile && exchange.connection.isFinished)
        let isTaken = exchange.give([0x64])
        #expect(!isTaken)
    }

    @Test func `take no more bytes than were announced`() {
        let exchange = Exchange(get())
        let isTaken = exchange.give([1, 2, 3, 4])
        #expect(!isTaken)
    }

    @Test func `are sent in part where a range asks for it`() {
        let node = TableNode()
        let exchange = Exchange(get("Range: bytes=1-7\r\n"), on: node)
        let head = exchange.text()
        #expect(head.hasPrefix("HTTP/1.1 206 Partial Content\r\n"))
        #expect(head.contains("\r\nContent-Range: bytes 1-2/3\r\n"))
        #expect(head.contains("\r\nContent-Length: 2\r\n"))
        #expect(node.asked.first?.contains("readFile b_01hx9t4c 1 7") == true)
        #expect(exchange.give([1, 2]) && exchange.connection.isSendingFile == false)
    }

    @Test func `are waited for as long as the query says`() {
        let queries: [(String, UInt64?)] = [("?timeout_ms=0", 0), ("?v=3", nil), ("", nil)]
        for (query, patience) in queries {
            let node = TableNode()
            let exchange = Exchange(get(query: query), on: node)
            #expect(exchange.text().hasPrefix("HTTP/1.1 200 "), "\(query)")
            #expect(node.filePatience == patience, "\(query)")
        }
        let answer = Exchange(get(query: "?timeout_ms=soon")).text()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
    }

    @Test func `have no range behind their end`() {
        for range in ["bytes=3-", "bytes=-0", "bytes=9-10"] {
            let exchange = Exchange(get("Range: \(range)\r\n"))
            let answer = exchange.text()
            #expect(answer.hasPrefix("HTTP/1.1 416 Range Not Satisfiable\r\n"), "\(range)")
            #expect(answer.contains("\r\nContent-Range: bytes */3\r\n"))
            #expect(answer.contains("\"reason\":\"file.bad_range\""))
            #expect(exchange.connection.isFinished)
        }
    }

    @Test(arguments: ["bytes=2-1", "bytes=0-0,2-2", "lines=1-2"])
    func `are sent whole where a range makes no sense`(range: String) {
        let exchange = Exchange(get("Range: \(range)\r\n"))
        #expect(exchange.text().hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `are sent in part only to who has the rest of the same file`() {
        for (tag, status) in [("\"b_01hx9t4c\"", "206"), ("\"b_other\"", "200"), ("x", "200")] {
            let exchange = Exchange(get("Range: bytes=1-\r\nIf-Range: \(tag)\r\n"))
            #expect(exchange.text().hasPrefix("HTTP/1.1 \(status) "), "\(tag)")
        }
    }

    @Test func `are not sent to who has them, or wants the head alone`() {
        let known = Exchange(get("If-None-Match: \"b_01hx9t4c\"\r\n"))
        let unchanged = known.text()
        #expect(unchanged.hasPrefix("HTTP/1.1 304 Not Modified\r\n"))
        #expect(unchanged.contains("\r\nETag: \"b_01hx9t4c\"\r\n"))
        #expect(!unchanged.contains("Content-Length"))
        #expect(known.connection.isFinished)
        let node = TableNode()
        let head = Exchange(get("Range: bytes=1-1\r\n", method: "HEAD"), on: node)
        let text = head.text()
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("\r\nContent-Length: 3\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
        #expect(node.asked == ["file b_01hx9t4c"])
        #expect(head.connection.isFinished && !head.connection.isSendingFile)
    }

    @Test func `that cannot be had are refused with the error`() {
        let node = TableNode()
        node.failure = NodeError(.blobMissing, "not here yet", reason: "file.missing")
        let exchange = Exchange(get(), on: node)
        let answer = exchange.text()
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\r\nRetry-After: "))
        #expect(answer.contains("\"kind\":\"blob_missing\""))
        #expect(exchange.connection.isFinished)
    }

    @Test func `that cannot be read to their end are cut`() {
        let exchange = Exchange(get())
        #expect(exchange.give([1]))
        exchange.connection.cutFile()
        #expect(exchange.connection.unsentCount == 0 && exchange.connection.isFinished)
    }

    // MARK: Handing in

    private func put(_ length: String, _ body: String, _ head: String = "") -> String {
        "PUT /files?name=a%20b.txt HTTP/1.1\r\n\(head)Content-Length: \(length)\r\n\r\n\(body)"
    }

    @Test func `are uploaded part by part, and not gathered`() {
        let node = TableNode()
        let exchange = Exchange(put("6", "abc"), on: node, isAnswered: false)
        let call = exchange.call
        #expect(call != nil)
        #expect(exchange.takeFile() == Array("abc".utf8))
        #expect(exchange.takeFile() == [])
        #expect(exchange.connection.wantsInput && exchange.connection.awaitsRest)
        exchange.connection.receive(Array("def".utf8))
        #expect(!exchange.connection.wantsInput)
        #expect(exchange.takeFile() == Array("def".utf8))
        #expect(exchange.text().isEmpty && !exchange.connection.isFinished)
        if let call { exchange.connection.answer(call, .success(["id": "b_a"])) }
        let answer = exchange.text()
        #expect(answer.hasPrefix("HTTP/1.1 201 Created\r\n"))
        #expect(answer.contains("\r\nLocation: /files/b_a\r\n"))
        #expect(answer.hasSuffix("{\"id\":\"b_a\"}\n"))
        #expect(exchange.connection.isFinished)
    }

    @Test func `are asked for by their name and length`() {
        let node = TableNode()
        _ = Exchange(put("3", ""), on: node)
        #expect(node.asked.first?.contains("putFile a b.txt 3") == true)
        let huge = TableNode()
        _ = Exchange(put("999999999999999999", ""), on: huge)
        #expect(huge.asked.first?.contains("putFile a b.txt \(Limits.filePositionMax)") == true)
    }

    @Test func `are not read faster than they are taken`() {
        let exchange = Exchange(put("10000000", ""), isAnswered: false)
        let part = [UInt8](repeating: 7, count: 100_000)
        var count = 0
        while exchange.connection.wantsInput, count < 100 {
            exchange.connection.receive(part)
            count += 1
        }
        #expect(count * part.count >= Limits.fileUntakenBytesMax)
        #expect(count * part.count < Limits.fileUntakenBytesMax + part.count)
        #expect(!exchange.connection.awaitsRest, "it is not its turn")
        #expect(exchange.takeFile().count == count * part.count)
        #expect(exchange.connection.wantsInput)
    }

    @Test func `of unknown length are refused`() {
        for head in ["", "Transfer-Encoding: chunked\r\n"] {
            let exchange = Exchange("PUT /files?name=a HTTP/1.1\r\n\(head)\r\n")
            #expect(exchange.text().hasPrefix("HTTP/1.1 411 Length Required\r\n"))
            #expect(exchange.call == nil)
        }
    }

    @Test func `are waited for with a word where their sender wants one`() {
        let exchange = Exchange(put("3", "", "Expect: 100-continue\r\n"), isAnswered: false)
        #expect(exchange.text().isEmpty, "nobody has said that it may come")
        #expect(exchange.takeFile() == [])
        #expect(exchange.text() == "HTTP/1.1 100 Continue\r\n\r\n")
        exchange.connection.receive(Array("abc".utf8))
        #expect(exchange.takeFile() == Array("abc".utf8))
        #expect(exchange.text().isEmpty)
    }

    @Test func `shorter or longer than announced are no files`() {
        let short = Exchange(put("6", "abc"), isAnswered: false)
        short.connection.endOfInput()
        #expect(short.text().contains("\"reason\":\"file.too_short\""))
        #expect(short.takeFile() == [] && short.connection.isFinished)
        // All of it came before it was looked at.
        var connection = ControlConnection(id: 1)
        connection.receive(Array(put("6", "abc").utf8))
        connection.endOfInput()
        let request = connection.nextRequest()
        #expect(request == nil && connection.unsent.starts(with: "HTTP/1.1 400 ".utf8))
        let long = Exchange(put("3", "abcd"), isAnswered: false)
        #expect(long.takeFile() == [])
        #expect(long.text().contains("\"reason\":\"file.too_long\""))
        #expect(long.connection.isFinished)
    }

    @Test func `that are refused on their way are read on, as far as that is decent`() {
        let exchange = Exchange(put("1000", "abc"), isAnswered: false)
        let full = NodeError(.storageFull, "no space left", reason: "file.no_space")
        if let call = exchange.call { exchange.connection.answer(call, .failure(full)) }
        #expect(exchange.text().hasPrefix("HTTP/1.1 507 "))
        #expect(exchange.connection.wantsInput && !exchange.connection.isFinished)
        exchange.connection.receive([UInt8](repeating: 1, count: 997))
        #expect(exchange.connection.isFinished)
        let large = Exchange(put("1000000000", "abc"), isAnswered: false)
        if let call = large.call { large.connection.answer(call, .failure(full)) }
        _ = large.text()
        #expect(large.connection.isFinished)
    }

    // MARK: Elsewhere

    @Test func `have no place in a call of one answer`() {
        for method in ["blob.read", "blob.put", "blob.get"] {
            let body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\",\"params\":{}}"
            let node = TableNode()
            let post = Exchange(
                "POST /rpc HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", on: node)
            #expect(post.text().contains("\"reason\":\"control.carries_file\""))
            #expect(node.asked.isEmpty && post.call == nil)
        }
    }

    @Test(arguments: [
        ("POST", "/files", "PUT"), ("GET", "/files", "PUT"), ("PUT", "/files/b_a", "GET, HEAD"),
        ("DELETE", "/files/b_a", "GET, HEAD"),
    ])
    func `have few ways`(method: String, path: String, allowed: String) {
        let exchange = Exchange("\(method) \(path) HTTP/1.1\r\n\r\n")
        let answer = exchange.text()
        #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.contains("\r\nAllow: \(allowed)\r\n"))
    }
}
