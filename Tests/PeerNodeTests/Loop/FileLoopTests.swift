import BlobStore
import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import PeerNode

struct `A node's loop and files over HTTP` {
    /// Plays a core that takes one file and gives it back.
    private final class Core {
        private let key = BlobKey(using: SeededRandom(seed: 1))
        private var calls: [TaskID: CallID] = [:]
        private(set) var put: PutContents?
        private(set) var failure: BlobError?
        private(set) var ended = 0

        func take(_ input: NodeInput, size: Int) -> [NodeEffect] {
            switch input {
            case .call(let call, "blob.put", let given, _):
                let count = UInt64(given["bytes"]?.integerValue ?? 0)
                return [
                    .blob(.begin(held: [:])),
                    .blob(.receive(id(of: call), byteCount: count, key: key, for: call.connection)),
                ]
            case .call(let call, "blob.read", _, _):
                guard case .blob(let blob)? = put?.place else { return [] }
                return [
                    .blob(
                        .stream(
                            id(of: call), .blob(blob, key), 0..<UInt64(size), for: call.connection))
                ]
            case .call(let call, _, _, _):
                // Somebody locks the node.
                let files = calls.keys.sorted().map { NodeEffect.blob(.abandon($0)) }
                return files + [.answer(call, .success([:]))]
            case .blobbed(.put(let id, let result)):
                guard let call = calls[id] else { return [] }
                switch result {
                case .success(let contents): put = contents
                case .failure(let error): failure = error
                }
                return [.answer(call, .success(["id": "b_a"]))]
            case .blobbed(.opened(let id, .success)):
                guard let call = calls[id] else { return [] }
                let count = JSONValue.integer(Int64(size))
                return [
                    .answer(
                        call,
                        .success(["id": "b_a", "size": count, "offset": 0, "bytes": count]))
                ]
            case .blobbed(.streamed): ended += 1
            default: break
            }
            return []
        }

        private func id(of call: CallID) -> TaskID {
            let id = TaskID(number: call.connection)
            calls[id] = call
            return id
        }
    }

    /// Letters, so that they can be compared as text.
    private static func letters(_ count: Int) -> String {
        let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let size = 3_000_000

    /// A loop whose core has taken a file.
    private func withFile(_ body: (TestLoop, Core, String) throws -> Void) throws {
        try withLoop { test in
            let core = Core()
            test.host.onInput = { core.take($0, size: Self.size) }
            let text = Self.letters(Self.size)
            let web = try test.client()
            web.send("PUT /files?name=a HTTP/1.1\r\nContent-Length: \(Self.size)\r\n\r\n" + text)
            try test.run {
                web.receive()
                return web.end == .finished
            }
            #expect(web.text().hasPrefix("HTTP/1.1 201 Created\r\n"))
            try body(test, core, text)
        }
    }

    @Test func `takes a body as it is sealed, and sends it as it is read`() throws {
        try withFile { test, core, text in
            let reader = try test.client()
            reader.send("GET /files/b_a HTTP/1.1\r\n\r\n")
            var most = 0
            for _ in 0..<40 {
                _ = try test.loop.step()
                most = max(most, test.loop.unsentControlBytes)
            }
            #expect(most > 0 && most <= Limits.fileUnsentBytesMax + BlobLimits.pieceBytesMax)
            #expect(core.ended == 0, "most of it is not opened yet")
            try test.run {
                reader.receive()
                most = max(most, test.loop.unsentControlBytes)
                return reader.end == .finished
            }
            #expect(most <= Limits.fileUnsentBytesMax + BlobLimits.pieceBytesMax)
            let answer = reader.text()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n" + text))
            try test.run { core.ended == 1 }
        }
    }

    @Test func `sends nothing more of a file once the node is locked`() throws {
        try withFile { test, core, text in
            let reader = try test.client()
            reader.send("GET /files/b_a HTTP/1.1\r\n\r\n")
            try test.run {
                _ = try test.loop.step()
                return test.loop.unsentControlBytes > 0
            }
            let owner = try test.client()
            owner.call("lock.now")
            try test.run { owner.lines().count == 1 }
            try test.run {
                reader.receive()
                return reader.end == .finished
            }
            #expect(reader.receivedCount < text.utf8.count)
        }
    }

    @Test func `takes no more of a file than there is`() throws {
        try withLoop { test in
            let core = Core()
            test.host.onInput = { core.take($0, size: 10) }
            let short = try test.client()
            short.send("PUT /files HTTP/1.1\r\nContent-Length: 500000\r\n\r\nabc")
            short.link.finishWriting(now: 0)
            try test.run {
                short.receive()
                return short.end == .finished
            }
            #expect(short.text().contains("\"reason\":\"file.too_short\""))
            let long = try test.client()
            long.send("PUT /files HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd")
            try test.run {
                long.receive()
                return long.end == .finished
            }
            #expect(long.text().contains("\"reason\":\"file.too_long\""))
            #expect(core.put == nil && core.failure == nil)
        }
    }

    @Test func `takes a file behind a line, and sends it behind another`() throws {
        try withLoop { test in
            let core = Core()
            test.host.onInput = { core.take($0, size: Self.size) }
            let text = Self.letters(Self.size)
            let script = try test.client()
            script.send(
                #"{"jsonrpc":"2.0","id":1,"method":"blob.put","params":{"bytes":3000000}}"# + "\n"
                    + text
                    + #"{"jsonrpc":"2.0","id":2,"method":"blob.read","params":{"blob":"b_a"}}"#
                    + "\n")
            let first = #"{"jsonrpc":"2.0","id":1,"result":{"id":"b_a"}}"# + "\n"
            let second =
                #"{"jsonrpc":"2.0","id":2,"result":{"id":"b_a","size":3000000,"offset":0,"#
                + #""bytes":3000000}}"# + "\n"
            let whole = first + second + text
            var most = 0
            try test.run {
                script.receive()
                most = max(most, test.loop.unsentControlBytes)
                return script.receivedCount >= whole.utf8.count
            }
            #expect(script.text() == whole)
            #expect(most <= Limits.fileUnsentBytesMax + BlobLimits.pieceBytesMax)
            #expect(script.end == nil, "the connection goes on")
            script.send(
                #"{"jsonrpc":"2.0","id":3,"method":"blob.put","params":{"bytes":9}}"# + "\nabc")
            script.link.finishWriting(now: 0)
            try test.run {
                script.receive()
                return script.end == .finished
            }
            #expect(script.text().contains(#""reason":"file.too_short""#))
        }
    }
}
