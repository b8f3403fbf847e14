import Testing
import WorkspaceModel

@testable import PeerNode

/// Long texts of notes, which follow the line of the call that writes them.
struct `A text behind a line` {
    private func line(_ id: String, _ method: String, _ params: String = "{}") -> [UInt8] {
        Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#.utf8)
            + [0x0A]
    }

    private func create(_ count: Int, id: String = "1") -> [UInt8] {
        line(id, "note.create", #"{"channel":"general","bytes":\#(count)}"#)
    }

    /// The method of the next request.
    private func next(_ connection: inout ControlConnection) -> String? {
        connection.nextRequest()?.method
    }

    private func written(_ connection: inout ControlConnection) -> String {
        let bytes = Array(connection.unsent)
        connection.didSend(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 7, 1_000])
    func `comes with its call once all of it is here`(part: Int) {
        let all = create(11) + Array("one\n{two}\n\0".utf8) + line("2", "node.version")
        var connection = ControlConnection(id: 1)
        var requests: [ControlRequest] = []
        for start in stride(from: 0, to: all.count, by: part) {
            connection.receive(Array(all[start..<min(start + part, all.count)]))
            while let request = connection.nextRequest() {
                requests.append(request)
                connection.answer(request.call, .success([:]))
            }
        }
        #expect(requests.map(\.method) == ["note.create", "node.version"])
        #expect(
            requests.map { $0.file.map { String(decoding: $0, as: UTF8.self) } } == [
                "one\n{two}\n\0", nil,
            ])
        #expect(connection.textByteCount == 0 && connection.wantsInput)
    }

    @Test func `may be as long as a note, and keeps the next request waiting`() throws {
        var connection = ControlConnection(id: 1)
        let count = Limits.noteTextPerCallBytesMax
        connection.receive(create(count))
        #expect(next(&connection) == nil)
        #expect(connection.awaitsRest)
        let part = [UInt8](repeating: 0x0A, count: count / 4)
        for _ in 0..<4 {
            #expect(connection.wantsInput && connection.textByteCount == count)
            connection.receive(part)
            #expect(next(&connection) == nil)
        }
        connection.receive([0x0A] + create(1, id: "2") + [0x0A])
        let request = connection.nextRequest()
        let first = try #require(request)
        #expect(first.file?.count == count)
        #expect(next(&connection) == nil)
        #expect(connection.textByteCount == count)
        connection.answer(first.call, .success([:]))
        let second = connection.nextRequest()
        #expect(second?.file == [0x0A])
    }

    /// All connections may have sent one, and then say nothing more.
    @Test func `leaves no room behind once it was taken`() {
        let count = Limits.noteTextPerCallBytesMax
        var splitter = LineSplitter()
        splitter.append([UInt8](repeating: 0x0A, count: count))
        splitter.append(Array("{}\n{".utf8))
        let text = splitter.raw(count)
        #expect(text.count == count)
        #expect(splitter.bytes.capacity <= Limits.controlKeptRoomBytesMax)
        let (line, end) = (splitter.next(), splitter.next())
        #expect(line == .line(Array("{}".utf8)) && end == .none)
        #expect(splitter.bytes == [UInt8(ascii: "{")] && splitter.storedCount == 1)
    }

    @Test func `that nobody can take ends the connection, and says why`() {
        let most = Limits.noteTextPerCallBytesMax
        let rows: [(params: String, room: Int, kind: String)] = [
            (#"{"bytes":\#(most + 1)}"#, most + 1, "too_large"),
            (#"{"bytes":2}"#, 1, "busy"), (#"{"bytes":-1}"#, most, "bad_request"),
            (#"{"bytes":"2"}"#, most, "bad_request"),
        ]
        for row in rows {
            var connection = ControlConnection(id: 1)
            connection.textRoom = row.room
            connection.receive(line("1", "note.edit", row.params))
            #expect(next(&connection) == nil)
            #expect(!connection.wantsInput)
            let answer = written(&connection)
            #expect(answer.contains(#""kind":"\#(row.kind)""#), "\(answer)")
            #expect(connection.isFinished && connection.textByteCount == 0)
        }
    }

    @Test func `that is cut short writes nothing, and its writer hears so`() {
        for isKnown in [false, true] {
            var connection = ControlConnection(id: 1)
            connection.receive(create(5) + Array("milk".utf8))
            if isKnown { #expect(next(&connection) == nil) }
            connection.endOfInput()
            #expect(!connection.isFinished)
            #expect(next(&connection) == nil)
            let answer = written(&connection)
            #expect(answer.contains("shorter than announced") && answer.contains(#""id":1"#))
            #expect(connection.isFinished)
        }
    }

    // MARK: The call

    private func call(
        _ given: JSONObject, _ file: [UInt8]?, on node: TableNode
    ) throws(NodeError) -> CommandOutcome {
        let id = CallID(connection: 1, number: 1)
        return try Command.method("note.create").call(
            CommandContext(node: node, call: id, file: file), given)
    }

    @Test func `is the text of the note`() throws {
        let node = TableNode()
        let milk = Array("milk".utf8)
        let given: JSONObject = ["channel": "general", "title": "List", "bytes": 4]
        _ = try call(given, milk, on: node)
        #expect(node.asked == [#"note create name("general") List milk false"#])
        var both = given
        both["text"] = "bread"
        let refused: [(JSONObject, [UInt8]?, NodeError.Kind)] = [
            (both, milk, .badRequest), (given, [0xFF, 0xFE, 0x00, 0x80], .badRequest),
            (given, nil, .unsupported),
        ]
        for (given, file, kind) in refused {
            let error = #expect(throws: NodeError.self) { _ = try call(given, file, on: node) }
            #expect(error?.kind == kind)
        }
        #expect(node.asked.count == 1)
    }

    @Test func `is part of what a key stands for`() throws {
        let node = TableNode()
        let given: JSONObject = ["channel": "general", "bytes": 4, "key": "k"]
        for text in ["milk", "milk", "eggs"] { _ = try call(given, Array(text.utf8), on: node) }
        #expect(node.keys.count == 3 && node.keys[0] == node.keys[1])
        #expect(node.keys[1] != node.keys[2])
    }
}
