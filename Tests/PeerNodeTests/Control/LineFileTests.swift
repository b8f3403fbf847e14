import Testing
import WorkspaceModel

@testable import PeerNode

/// Files after lines on the control socket. The test plays the node: it checks which byte belongs
/// to which line or file.
struct `A file behind a line` {
    private func line(
        _ id: String?, _ method: String, _ params: String = "{}"
    ) -> [UInt8] {
        let id = id.map { #""id":\#($0),"# } ?? ""
        return Array(#"{"jsonrpc":"2.0",\#(id)"method":"\#(method)","params":\#(params)}"#.utf8)
            + [0x0A]
    }

    private func written(_ connection: inout ControlConnection) -> String {
        let bytes = Array(connection.unsent)
        connection.didSend(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func next(_ connection: inout ControlConnection) -> ControlRequest? {
        connection.nextRequest()
    }

    private func give(_ connection: inout ControlConnection, _ bytes: [UInt8]) -> Bool {
        connection.give(bytes)
    }

    private func taken(_ connection: inout ControlConnection) -> Int {
        connection.takeFile().count
    }

    private func put(_ count: Int, _ body: String, id: String? = "1") -> [UInt8] {
        line(id, "blob.put", #"{"bytes":\#(count)}"#) + Array(body.utf8)
    }

    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `is taken however the bytes are cut, and lines go on behind it`(part: Int) throws {
        let all = put(11, "one\n{two}\n\0") + line("2", "node.version")
        var connection = ControlConnection(id: 1)
        var methods: [String] = []
        var body: [UInt8] = []
        for start in stride(from: 0, to: all.count, by: part) {
            connection.receive(Array(all[start..<min(start + part, all.count)]))
            while let request = connection.nextRequest() {
                methods.append(request.method)
                if let file = request.file {
                    body += file
                    connection.answer(request.call, .success(["id": "b_a"]))
                }
                if request.method == "node.version" {
                    connection.answer(request.call, .success(["version": "1"]))
                }
            }
            body += connection.takeFile()
            if body.count == 11, methods.count == 1 {
                connection.answer(CallID(connection: 1, number: 1), .success(["id": "b_a"]))
            }
        }
        while let request = connection.nextRequest() {
            methods.append(request.method)
            connection.answer(request.call, .success(["version": "1"]))
        }
        #expect(String(decoding: body, as: UTF8.self) == "one\n{two}\n\0")
        #expect(methods == ["blob.put", "node.version"])
        #expect(
            written(&connection)
                == #"{"jsonrpc":"2.0","id":1,"result":{"id":"b_a"}}"# + "\n"
                + #"{"jsonrpc":"2.0","id":2,"result":{"version":"1"}}"# + "\n")
        #expect(connection.wantsInput && !connection.hasFile)
    }

    @Test(arguments: [0, 1, Limits.inlineFileBytesMax])
    func `comes with its request where it is small and here already`(count: Int) throws {
        var connection = ControlConnection(id: 1)
        let body = [UInt8](repeating: 0x0A, count: count)
        connection.receive(
            put(count, "") + body + put(count, "", id: "2") + body + line("3", "node.version"))
        for number in 1...2 as ClosedRange<UInt64> {
            let request = try #require(next(&connection))
            #expect(request.file == body && request.call.number == number)
        }
        #expect(next(&connection)?.method == "node.version", "nobody has to wait for it")
        #expect(taken(&connection) == 0 && !connection.hasFile)
    }

    @Test(arguments: [1, Limits.inlineFileBytesMax, Limits.inlineFileBytesMax + 1])
    func `is awaited where it is larger, or a part of it is not here`(count: Int) throws {
        var connection = ControlConnection(id: 1)
        let isLarge = count > Limits.inlineFileBytesMax
        let here = [UInt8](repeating: 0x0A, count: isLarge ? count : count - 1)
        connection.receive(put(count, "") + here)
        let request = try #require(next(&connection))
        #expect(request.file == nil && connection.hasFile)
        #expect(taken(&connection) == here.count)
    }

    @Test func `keeps other answers until all of it was sent`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(
            line("1", "node.version") + line("2", "blob.get", #"{"blob":"b_a"}"#)
                + line("3", "node.version"))
        let first = try #require(next(&connection))
        let second = try #require(next(&connection))
        #expect(second.method == "blob.get")
        #expect(next(&connection)?.method == nil, "what comes behind it waits")
        #expect(!connection.wantsInput)
        connection.answer(second.call, .success(["id": "b_a", "bytes": 6]))
        #expect(connection.isSendingFile)
        let answer = #"{"jsonrpc":"2.0","id":2,"result":{"id":"b_a","bytes":6}}"# + "\n"
        #expect(written(&connection) == answer)
        #expect(give(&connection, Array("abc".utf8)) == true)
        connection.answer(first.call, .success(["version": "1"]))
        #expect(written(&connection) == "abc")
        #expect(give(&connection, Array("defg".utf8)) == false, "that is more than was announced")
        #expect(give(&connection, Array("def".utf8)) == true)
        #expect(!connection.isSendingFile)
        #expect(
            written(&connection)
                == "def" + #"{"jsonrpc":"2.0","id":1,"result":{"version":"1"}}"# + "\n")
        #expect(next(&connection)?.method == "node.version")
    }

    @Test func `of no bytes has none, and nothing is sent behind a failure`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(line("1", "blob.read", #"{"blob":"b_a"}"#) + put(0, "", id: "2"))
        let read = try #require(next(&connection))
        connection.answer(read.call, .failure(NodeError(.notFound, "no such file")))
        #expect(!connection.isSendingFile)
        let empty = try #require(next(&connection))
        #expect(empty.method == "blob.put")
        #expect(taken(&connection) == 0)
        connection.answer(empty.call, .success(["id": "b_b"]))
        connection.receive(line("3", "blob.read", #"{"blob":"b_a"}"#))
        let third = try #require(next(&connection))
        connection.answer(third.call, .success(["id": "b_a", "bytes": 0]))
        #expect(!connection.isSendingFile && !connection.hasFile)
        #expect(written(&connection).split(separator: "\n").count == 3)
    }

    @Test func `that is refused is thrown away, and lines go on behind it`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(put(10, "12\n4"))
        let call = try #require(next(&connection)).call
        connection.answer(call, .failure(NodeError(.storageFull, "no space")))
        #expect(next(&connection)?.method == nil)
        #expect(taken(&connection) == 0)
        #expect(connection.wantsInput)
        connection.receive(Array("567890".utf8) + line("2", "node.version"))
        #expect(next(&connection)?.method == "node.version")
        #expect(written(&connection).contains(#""kind":"storage_full""#))
    }

    @Test func `that is refused and very large ends the connection`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(put(Int(Limits.fileUnwantedBytesMax) + 10, "12345"))
        let call = try #require(next(&connection)).call
        connection.answer(call, .failure(NodeError(.tooLarge, "too large")))
        #expect(!connection.wantsInput)
        #expect(written(&connection).contains(#""kind":"too_large""#))
        #expect(connection.isFinished)
    }

    @Test(arguments: ["{}", #"{"bytes":-1}"#, #"{"bytes":"9"}"#, #"{"bytes":9007199254740992}"#])
    func `of no known length is refused by name, and nothing behind it is read`(params: String) {
        var connection = ControlConnection(id: 1)
        connection.receive(line("1", "blob.put", params) + line("2", "node.stop"))
        #expect(next(&connection)?.method == nil)
        let answer = written(&connection)
        #expect(answer.contains(#""reason":"file.bad_length""#) && answer.contains(#""id":1"#))
        #expect(connection.isFinished && !connection.wantsInput)
    }

    @Test func `that ends early is refused by name`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(put(10, "12345"))
        let call = try #require(next(&connection)).call
        #expect(taken(&connection) == 5)
        connection.endOfInput()
        #expect(written(&connection).contains(#""reason":"file.too_short""#))
        // The worker learns of it later, and nobody waits for that.
        connection.answer(call, .failure(NodeError(.conflict, "cut")))
        #expect(written(&connection) == "")
        #expect(connection.isFinished)
    }

    @Test func `that can no longer be read ends the connection short`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(line("1", "blob.read", #"{"blob":"b_a"}"#))
        let call = try #require(next(&connection)).call
        connection.answer(call, .success(["bytes": 100]))
        #expect(give(&connection, [1, 2, 3]) == true)
        connection.cutFile()
        #expect(connection.unsent.isEmpty && connection.isFinished)
        #expect(give(&connection, [4]) == false)
    }

    @Test func `takes no more memory than is allowed, while nobody takes it`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(put(50_000_000, ""))
        _ = try #require(next(&connection))
        var given = 0
        while connection.wantsInput {
            connection.receive([UInt8](repeating: 1, count: 65_536))
            given += 65_536
            try #require(given <= 2 * Limits.fileUntakenBytesMax)
        }
        #expect(taken(&connection) == given)
        #expect(connection.wantsInput)
    }

    @Test func `that nobody waits for is not sent`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(
            line(nil, "blob.read", #"{"blob":"b_a"}"#) + line("2", "blob.get", #"{"blob":"b_a"}"#))
        let request = try #require(next(&connection))
        #expect(request.call.number == 1 && request.method == "blob.get")
        // With a folder it is saved, and no bytes go over the connection.
        var other = ControlConnection(id: 2)
        other.receive(
            line("1", "blob.get", #"{"blob":"b_a","folder":"/home"}"#) + line("2", "node.version"))
        #expect(next(&other)?.method == "blob.get")
        #expect(next(&other)?.method == "node.version")
    }

    @Test func `is not sent on once the connection is closed`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(line("1", "blob.read", #"{"blob":"b_a"}"#))
        let call = try #require(next(&connection)).call
        connection.answer(call, .success(["bytes": 3]))
        connection.close(because: .stopping)
        #expect(give(&connection, [1, 2, 3]) == false)
        #expect(!connection.isSendingFile)
    }
}
