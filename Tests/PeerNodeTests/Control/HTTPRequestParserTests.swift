import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `An HTTP request` {
    /// What the parser says after these bytes.
    private func parse(_ bytes: [UInt8]) -> HTTPRequestParser.Progress {
        parse(pieces: [bytes[...]])
    }

    /// The same, where they come in pieces.
    private func parse(pieces: [ArraySlice<UInt8>]) -> HTTPRequestParser.Progress {
        var parser = HTTPRequestParser()
        for piece in pieces {
            parser.append(Array(piece))
            let progress = parser.next()
            if progress != .needsMore { return progress }
        }
        return parser.next()
    }

    private func request(_ text: String) throws -> HTTPRequest {
        guard case .request(let request) = parse(Array(text.utf8)) else {
            throw HTTPResponse.malformed("\(parse(Array(text.utf8)))")
        }
        return request
    }

    private func status(_ text: String) -> Int? {
        guard case .refused(let response) = parse(Array(text.utf8)) else { return nil }
        return response.status
    }

    @Test func `is taken apart into path, query, fields and body`() throws {
        let request = try request(
            "POST /hooks/caf%C3%A9?workspace=big+team&key=a%26b&flag HTTP/1.1\r\nHost: x\r\n"
                + "Content-TYPE:  application/JSON; charset=utf-8 \r\nContent-Length: 4\r\n\r\nbody"
        )
        #expect(request.method == "POST")
        #expect(request.path == ["hooks", "café"])
        #expect(request.query.map(\.name) == ["workspace", "key", "flag"])
        #expect(request.query.map(\.value) == ["big team", "a&b", ""])
        #expect(request.field("host") == "x")
        #expect(request.mediaType == "application/json")
        #expect(request.body == Array("body".utf8))
    }

    @Test(arguments: [
        ("/hooks/general", ["hooks", "general"]), ("/hooks/general/", ["hooks", "general"]),
        ("//hooks//general", ["hooks", "general"]), ("/", []), ("/a%2Fb", ["a/b"]),
        ("/a+b", ["a+b"]), ("http://x/rpc", ["rpc"]), ("https://x:1/rpc?a", ["rpc"]),
        ("http://x", []), ("/일반", ["일반"]),
    ])
    func `has the path`(target: String, path: [String]) throws {
        #expect(try request("GET \(target) HTTP/1.1\r\n\r\n").path == path)
    }

    @Test func `may end its lines with a bare newline`() throws {
        let request = try request("POST /rpc HTTP/1.0\nContent-Length: 2\n\n{}")
        #expect(request.body == Array("{}".utf8))
    }

    @Test(arguments: [
        ("3\r\nabc\r\n0\r\n\r\n", "abc"), ("0\r\n\r\n", ""),
        ("1\r\na\r\n2;name=\"x\"\r\nbc\r\n0\r\n\r\n", "abc"),
        ("00000003 ; x\r\nabc\r\n0\r\nTrailer: 1\r\nOther: 2\r\n\r\n", "abc"),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n0\r\n\r\nmore that nobody reads", "0123456789"),
    ])
    func `is put together from chunks`(chunks: String, body: String) throws {
        let request = try request(
            "POST /rpc HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n" + chunks)
        #expect(String(decoding: request.body, as: UTF8.self) == body)
    }

    static let refusals: [(head: String, status: Int)] = [
        ("GET /", 0), ("GET", 0), ("GET / HTTP/1.1\r\nHost: x\r\n", 0),
        ("GET /\r\n", 400), ("GET  / HTTP/1.1\r\n", 400), ("get / HTTP/1.1\r\n", 400),
        ("GET / HTTP/2.0\r\n", 505), ("GET / HTTP/1.2\r\n", 505), ("GET / SPDY/1.1\r\n", 400),
        ("GET x HTTP/1.1\r\n", 400), ("GET * HTTP/1.1\r\n", 400),
        ("GET /%4 HTTP/1.1\r\n", 400), ("GET /%zz HTTP/1.1\r\n", 400),
        ("GET /%00 HTTP/1.1\r\n", 400), ("GET /%FF HTTP/1.1\r\n", 400),
        ("GET /?a=%0A HTTP/1.1\r\n", 400), ("GET /?%C3= HTTP/1.1\r\n", 400),
        ("\r\n", 400), ("GET / HTTP/1.1\r\nno colon\r\n", 400),
        ("GET / HTTP/1.1\r\n: empty\r\n", 400), ("GET / HTTP/1.1\r\nA b: c\r\n", 400),
        ("GET / HTTP/1.1\r\nA : c\r\n", 400), ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n", 400),
        ("GET / HTTP/1.1\r\nA: \u{1}\r\n", 400), ("GET / HTTP/1.1\r\nA: b\rc\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 999999999999999999\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", 413),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 415),
        ("POST / HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n000000001\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1 2\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n", 413),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", 413),
    ]

    @Test(arguments: refusals)
    func `that is none is refused as soon as that is clear`(head: String, expected: Int) {
        #expect(status(head) ?? 0 == expected)
    }

    @Test func `has a header and chunk lines of bounded length`() throws {
        let start = "GET / HTTP/1.1\r\nA: "
        let room = Limits.httpHeadBytesMax - start.utf8.count - 4
        let filling = String(repeating: "x", count: room)
        #expect(try request(start + filling + "\r\n\r\n").field("a")?.utf8.count == room)
        #expect(status(start + filling + "x\r\n\r\n") == 431)
        #expect(status(start + filling + "xxxxx") == 431)
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(status(chunked + "1;" + String(repeating: "x", count: 1_024)) == 431)
        #expect(status(chunked + "0\r\n" + filling + filling) == 431)
    }

    @Test func `has a body of at most one MiB`() throws {
        let body = [UInt8](repeating: 0x61, count: Limits.httpBodyBytesMax)
        let head = Array("POST / HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n".utf8)
        guard case .request(let request) = parse(head + body) else {
            Issue.record("no request")
            return
        }
        #expect(request.body.count == body.count)
    }

    @Test func `that waits for a word gets it once, unless the body is there`() {
        let head = "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"
        var waiting = HTTPRequestParser()
        waiting.append(Array(head.utf8))
        let early = waiting.next()
        #expect(early == .needsMore)
        let words = [waiting.takeContinue(), waiting.takeContinue()]
        #expect(words == [true, false])
        waiting.append(Array("{}".utf8))
        let late = waiting.next()
        #expect(late != .needsMore)
        var refused = HTTPRequestParser()
        refused.append(Array(head.replacing(": 2", with: ": 2000000").utf8))
        let refusal = refused.next()
        #expect(refusal == .refused(.bodyTooLarge))
        let isToldToGoOn = refused.takeContinue()
        #expect(!isToldToGoOn)
        #expect(refused.discardableCount == 0)
    }

    @Test func `that ends early is refused at its end`() {
        for text in ["G", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{"] {
            var parser = HTTPRequestParser()
            parser.append(Array(text.utf8))
            let early = parser.next()
            #expect(early == .needsMore)
            parser.end()
            guard case .refused(let response) = parser.next() else {
                Issue.record("\(text) was not refused")
                continue
            }
            #expect(response.status == 400)
            let again = parser.next()
            #expect(again == .needsMore, "only once")
        }
    }

    @Test func `that is refused has its body read to the end, so that its sender reads why`() {
        var parser = HTTPRequestParser()
        parser.append(Array("POST / HTTP/1.1\r\nContent-Length: 1048580\r\n\r\nabc".utf8))
        let progress = parser.next()
        #expect(progress == .refused(.bodyTooLarge))
        #expect(parser.discardableCount == 1_048_577)
        parser.append([UInt8](repeating: 0, count: 1_048_570))
        #expect(parser.discardableCount == 7)
        parser.append([UInt8](repeating: 0, count: 100))
        #expect(parser.discardableCount == 0)
        var endless = HTTPRequestParser()
        endless.append(Array("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nabc".utf8))
        let endlessly = endless.next()
        #expect(endlessly == .refused(.bodyTooLarge))
        #expect(endless.discardableCount == 0)
    }

    // MARK: Properties

    /// Requests of all forms, and refused ones.
    static let samples: [[UInt8]] =
        [
            "GET /events?since=all&types=a,b HTTP/1.1\r\nHost: x\r\nLast-Event-ID: e1.3\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nContent-Length: 11\r\n\r\n{\"a\":\"b\"}\r\nrest",
            "POST /hooks/a%20b HTTP/1.1\nTransfer-Encoding: chunked\n\n3\nabc\n4;x\ndefg\n0\nT: 1\n\n",
        ].map { Array($0.utf8) } + refusals.map { Array($0.head.utf8) }

    @Test(arguments: Seeds.explore(40))
    func `is the same however its bytes are cut`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for bytes in Self.samples {
            let whole = parse(bytes)
            #expect(parse(pieces: bytes.indices.map { bytes[$0...$0] }) == whole)
            let pieces = RandomCuts.parts(of: bytes, upTo: [bytes.count / 3 + 1], using: &random)
            #expect(parse(pieces: pieces) == whole, "\(pieces.map(\.count))")
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `of changed and random bytes is refused, read or waited for`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for sample in Self.samples {
            var bytes = sample
            for _ in 0...random.below(6) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: random.bytes(random.below(4)), at: place)
                default: bytes.insert(contentsOf: bytes[place...], at: place)
                }
            }
            let whole = parse(bytes)
            #expect(
                parse(pieces: RandomCuts.parts(of: bytes, upTo: [8], using: &random)) == whole)
            var connection = ControlConnection(id: 1)
            connection.receive(bytes)
            while connection.nextRequest() != nil {}
            connection.endOfInput()
            while connection.nextRequest() != nil {}
        }
    }
}
