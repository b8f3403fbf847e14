import Testing
import WorkspaceModel

@testable import PeerNode

struct `A control connection` {
    /// Feeds `bytes`, runs every request on `node`, and gives the lines that were written.
    private func lines(
        _ connection: inout ControlConnection, _ bytes: [UInt8], on node: TableNode = TableNode()
    ) throws -> [JSONValue] {
        connection.receive(bytes)
        serve(&connection, on: node)
        return try written(&connection)
    }

    private func serve(_ connection: inout ControlConnection, on node: TableNode) {
        while let request = connection.nextRequest() {
            do throws(NodeError) {
                guard case .reply(let value) = try request.run(on: node) else { continue }
                connection.answer(request.call, .success(value))
            } catch {
                connection.answer(request.call, .failure(error))
            }
        }
    }

    private func written(_ connection: inout ControlConnection) throws -> [JSONValue] {
        let bytes = Array(connection.unsent)
        connection.didSend(bytes.count)
        return try bytes.split(separator: 0x0A).map { try JSONValue(parsing: Array($0)) }
    }

    private func request(_ id: String, _ method: String, _ params: String = "{}") -> [UInt8] {
        Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#.utf8)
            + [0x0A]
    }

    @Test func `says nothing before it is asked`() {
        let connection = ControlConnection(id: 1)
        #expect(connection.unsent.isEmpty)
        #expect(connection.wantsInput)
        #expect(!connection.isFinished)
    }

    @Test func `answers with the id that it was asked with`() throws {
        for id in ["1", "\"a\"", "null", "1.5", "-7"] {
            var connection = ControlConnection(id: 1)
            let answers = try lines(&connection, request(id, "node.version"))
            #expect(answers.count == 1)
            #expect(answers.first?["id"]?.text == id)
            #expect(answers.first?["result"]?["version"]?.stringValue == Release.version)
        }
    }

    @Test func `gives the same answers however the bytes are cut`() throws {
        let bytes =
            request("1", "node.version") + Array("\r\n \n".utf8) + request("2", "no.such")
            + Array("{\n".utf8) + request("3", "message.send", #"{"channel":"a","text":"b"}"#)
        var whole = ControlConnection(id: 1)
        let expected = try lines(&whole, bytes)
        #expect(expected.count == 4)
        for size in [1, 2, 3, 7, 50] {
            var connection = ControlConnection(id: 1)
            var answers: [JSONValue] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                answers += try lines(
                    &connection, Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(answers == expected)
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let line: String
        let kind: String
        let id: String
        var testDescription: String { line.prefix(60) + " is \(kind)" }

        init(_ line: String, _ kind: String, _ id: String) {
            self.line = line
            self.kind = kind
            self.id = id
        }
    }

    static let refusals = [
        Refusal("[]", "invalid_request", "null"), Refusal("7", "invalid_request", "null"),
        Refusal(#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, "invalid_request", "null"),
        Refusal(#"{"jsonrpc":"1.0","id":4,"method":"x"}"#, "invalid_request", "4"),
        Refusal(#"{"jsonrpc":"2.0","id":4}"#, "invalid_request", "4"),
        Refusal(#"{"jsonrpc":"2.0","id":4,"method":"x","parms":{}}"#, "invalid_request", "4"),
        Refusal(#"{"jsonrpc":"2.0","id":4,"method":"x","params":[]}"#, "bad_request", "4"),
        Refusal(#"{"jsonrpc":"2.0","id":4,"id":5,"method":"x"}"#, "parse_error", "null"),
        Refusal(#"{"jsonrpc":"2.0","id":4,"method":"x",}"#, "parse_error", "null"),
        Refusal("\u{FEFF}{}", "parse_error", "null"),
        Refusal(String(repeating: "[", count: 33), "parse_error", "null"),
        Refusal(String(repeating: "[", count: 100_000), "parse_error", "null"),
        Refusal(#"{"jsonrpc":"2.0","id":4,"method":"nod.status"}"#, "unknown_op", "4"),
    ]

    @Test(arguments: refusals)
    func `refuses what is no request, and serves the next line`(
        _ row: Refusal
    ) throws {
        var connection = ControlConnection(id: 1)
        let bytes = Array(row.line.utf8) + [0x0A] + request("9", "node.version")
        let answers = try lines(&connection, bytes)
        #expect(answers.count == 2)
        #expect(answers.first?["error"]?["data"]?["kind"]?.stringValue == row.kind)
        #expect(answers.first?["id"]?.text == row.id)
        #expect(answers.last?["id"]?.integerValue == 9)
    }

    @Test func `ends at a line that is too long`() throws {
        var connection = ControlConnection(id: 1)
        let fits = [UInt8](repeating: 0x20, count: Limits.controlLineBytesMax)
        #expect(try lines(&connection, fits + [0x0A]).isEmpty)
        #expect(connection.wantsInput)
        let answers = try lines(&connection, fits + [0x20])
        #expect(answers.first?["error"]?["data"]?["reason"] == "control.too_long")
        #expect(!connection.wantsInput)
        #expect(connection.isFinished)
    }

    @Test func `runs a notification without answering it`() throws {
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        let line = #"{"jsonrpc":"2.0","method":"message.send","params":{"channel":"a","text":"b"}}"#
        #expect(try lines(&connection, Array((line + "\n").utf8), on: node).isEmpty)
        #expect(node.asked == ["send name(\"a\") b text"])
        connection.endOfInput()
        #expect(connection.isFinished)
    }

    @Test func `answers everything after the other side has stopped asking`() throws {
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        let wait = request("1", "events.wait")
        connection.receive(wait + request("2", "node.version").dropLast())
        connection.endOfInput()
        serve(&connection, on: node)
        #expect(try written(&connection).map { $0["id"]?.integerValue } == [2])
        #expect(!connection.isFinished)
        let call = try #require(node.promised.first)
        connection.answer(call, .success(["items": [], "next": "e1.1"]))
        connection.answer(call, .success("twice"))
        #expect(!connection.isFinished)
        #expect(try written(&connection).map { $0["id"]?.integerValue } == [1])
        #expect(connection.isFinished)
    }

    @Test func `streams on after the end of input while a subscription is open`() throws {
        var connection = ControlConnection(id: 1)
        _ = try lines(&connection, request("1", "events.subscribe"))
        connection.openSubscriptions = 1
        connection.endOfInput()
        #expect(!connection.isFinished)
        let event = EventObject(
            sequence: 2, cursor: "e1.2", at: 5, type: "message.created", data: ["id": "m_1"])
        connection.notify(subscription: 1, event)
        let line = try #require(try written(&connection).first)
        #expect(
            line.text == """
                {"jsonrpc":"2.0","method":"event","params":{"subscription":1,"seq":2,\
                "cursor":"e1.2","at":5,"type":"message.created","workspace":null,\
                "backfill":false,"data":{"id":"m_1"}}}
                """)
        connection.openSubscriptions = 0
        #expect(connection.isFinished)
    }

    @Test func `lets 256 requests wait and takes the next when one is answered`() {
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        for id in 0..<300 { connection.receive(request("\(id)", "events.wait")) }
        serve(&connection, on: node)
        #expect(node.promised.count == Limits.controlRequestsPendingMax)
        #expect(!connection.wantsInput)
        connection.answer(node.promised[0], .success(.null))
        #expect(connection.wantsInput)
        serve(&connection, on: node)
        #expect(node.promised.count == Limits.controlRequestsPendingMax + 1)
    }

    @Test func `stops reading while 4 MiB wait to be written`() throws {
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        node.text = String(repeating: "x", count: 500_000)
        for id in 0..<100 {
            connection.receive(request("\(id)", "message.get", #"{"ids":["m_000000"]}"#))
        }
        serve(&connection, on: node)
        #expect(!connection.wantsInput)
        #expect(connection.unsentCount < Limits.controlUnsentBytesMax + Limits.controlLineBytesMax)
        connection.didSend(connection.unsentCount)
        #expect(connection.wantsInput)
    }

    @Test func `never writes a line that is too long`() throws {
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        node.text = String(repeating: "x", count: Limits.controlLineBytesMax)
        let answers = try lines(
            &connection, request("1", "message.get", #"{"ids":["m_000000"]}"#), on: node)
        #expect(answers.first?["error"]?["data"]?["kind"] == "too_large")
        #expect(answers.first?["id"] == 1)
    }

    @Test func `keeps what was not yet written when the kernel takes little`() throws {
        var connection = ControlConnection(id: 1)
        connection.receive(request("1", "rpc.methods"))
        serve(&connection, on: TableNode())
        let expected = Array(connection.unsent)
        var taken: [UInt8] = []
        while connection.unsentCount > 0 {
            let count = min(7, connection.unsentCount)
            taken += connection.unsent.prefix(count)
            connection.didSend(count)
        }
        #expect(taken == expected)
    }

    @Test func `tells why it is closed`() throws {
        var connection = ControlConnection(id: 1)
        connection.close(because: NodeError(.slowReader, "too slow"))
        let line = try #require(try written(&connection).first)
        #expect(line["error"]?["data"]?["kind"] == "slow_reader")
        #expect(connection.isFinished)
    }

    @Test func `marks an answer that was given before`() throws {
        var connection = ControlConnection(id: 1)
        let answers = try lines(&connection, request("1", "invite.create", #"{"key":"k"}"#))
        #expect(answers.first?["result"]?["replayed"] == true)
    }
}

struct `What is written about the commands` {
    @Test func `lists the same methods everywhere`() {
        let names = Command.methods.map(\.name)
        let discovered = Manual.openRPC["methods"]?.arrayValue?.compactMap {
            $0["name"]?.stringValue
        }
        #expect(discovered == names)
        for command in Command.all {
            #expect(Manual.operations.contains("### `\(command.name)`\n"))
            guard let line = command.line else { continue }
            #expect(Manual.fullHelp.contains("  " + line.words.joined(separator: " ")))
            let help = Manual.help(for: command)
            for parameter in command.flags { #expect(help.contains("--" + parameter.flag)) }
            for example in line.examples { #expect(help.contains(example)) }
        }
    }

    @Test func `keeps the command line's own parameters off the socket`() throws {
        for method in try #require(Manual.openRPC["methods"]?.arrayValue) {
            let names = method["params"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
            let command = try Command.method(try #require(method["name"]?.stringValue))
            #expect(names == command.remoteParameters.map(\.name))
            for parameter in command.parameters where parameter.isLocal {
                #expect(!names.contains(parameter.name))
            }
        }
    }

    @Test func `fits a line`() {
        #expect(Manual.openRPC.bytes.count < Limits.controlLineBytesMax)
        for kind in NodeError.Kind.allCases {
            #expect(Manual.operations.contains("| `\(kind.rawValue)` |"))
        }
    }

    @Test func `shows every field of an object, absent ones as null`() {
        let message = MessageObject(
            id: "m_1", workspace: "w_1", channel: "c_1",
            author: PersonObject(id: "u_1", name: "Mina"), at: 1_795_150_800_123, text: "hello")
        #expect(
            message.json.text == """
                {"id":"m_1","workspace":"w_1","channel":"c_1","author":{"id":"u_1","name":"Mina"},\
                "at":1795150800123,"text":"hello","format":"text","thread":null,"replies":0,\
                "edited_at":null,"deleted":null,"reactions":[],"attachments":[],"location":null,\
                "mentions":[],"mentions_channel":false,"pinned":false,"self":false,"bot":false,\
                "state":"local","holders":1,"version":null}
                """)
        let invite = InviteObject(
            id: "i_1", link: "wsx://join/b4", role: "member", uses: 1, expiresAt: 9,
            createdBy: PersonObject(id: "u_1", name: "Mina"))
        #expect(
            invite.json.text == """
                {"id":"i_1","link":"wsx://join/b4","code":null,"qr_text":"WSX://JOIN/B4",\
                "role":"member","uses":1,"used":0,"expires_at":9,"channels":[],"approve":false,\
                "state":"open","created_by":{"id":"u_1","name":"Mina"}}
                """)
        let member = MemberObject(id: "u_1", name: "Joon", role: "admin", joinedAt: 5)
        #expect(
            member.json.text == """
                {"id":"u_1","name":"Joon","role":"admin","self":false,"devices":1,"joined_at":5,\
                "removed":false,"removed_at":null,"kept":null,"ended_invites":null,\
                "open_invites":null,"kept_invites":null,"presence":null,"description":null,\
                "country":null,"phone":null,"email":null,"image":null}
                """)
    }
}
