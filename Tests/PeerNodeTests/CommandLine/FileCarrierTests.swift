import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `Files on the command line` {
    /// A daemon that says what the test wrote down, and takes so many portions before it hangs up.
    private final class Script: ControlTransport {
        private(set) var sent: [UInt8] = []
        private var answers: [[UInt8]]
        private var portions: Int

        init(_ answer: String, pieces size: Int = 7, takes portions: Int = .max) {
            let bytes = Array(answer.utf8)
            answers = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            self.portions = portions
        }

        func send(_ bytes: [UInt8]) throws(NodeError) {
            guard portions > 0 else {
                throw NodeError(.stopping, "gone", reason: "control.ended")
            }
            portions -= 1
            sent += bytes
        }

        func receive(within milliseconds: Int64?) throws(NodeError) -> [UInt8] {
            answers.isEmpty ? [] : answers.removeFirst()
        }

        var text: String { String(decoding: sent, as: UTF8.self) }
    }

    /// A source that ends before its length.
    private final class Short: UploadSource {
        let byteCount: Int64 = 5
        private var isOver = false

        func read(_ byteCountMax: Int) throws(NodeError) -> [UInt8] {
            defer { isOver = true }
            return isOver ? [] : [1, 2]
        }
    }

    private func get(_ script: Script) throws(NodeError) -> String {
        var carrier = FileCarrier(script, timeoutMilliseconds: nil)
        var bytes: [UInt8] = []
        try carrier.get("b_a") { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func put(
        _ script: Script, _ source: any UploadSource = InputBytes([1, 2, 3])
    ) throws(NodeError) -> JSONValue {
        var carrier = FileCarrier(script, timeoutMilliseconds: nil)
        return try carrier.put(source, name: "a b/é")
    }

    @Test(arguments: [1, 7, 1_000])
    func `are read to their end, however they come`(size: Int) throws {
        let script = Script(
            "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 12\r\n\r\nhello\r\n\r\nyou",
            pieces: size)
        #expect(try get(script) == "hello\r\n\r\nyou")
        #expect(script.text == "GET /files/b_a HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    @Test func `that end early are told apart from whole ones`() {
        let error = #expect(throws: NodeError.self) {
            try get(Script("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"))
        }
        #expect(error?.reason == "file.cut" && error?.kind == .blobMissing)
    }

    private static func refusal(_ status: Int, _ error: NodeError) -> String {
        let body = JSONValue.object(["error": error.json]).text
        return "HTTP/1.1 \(status) No\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func `that are refused say why, also before they were uploaded whole`() {
        let unknown = NodeError(.notFound, "no such file", reason: "file.not_found")
        let read = #expect(throws: NodeError.self) { try get(Script(Self.refusal(404, unknown))) }
        #expect(read?.kind == .notFound && read?.reason == "file.not_found")
        let full = NodeError(.storageFull, "no space left", reason: "file.no_space")
        for portions in 0...2 {
            let script = Script(Self.refusal(507, full), takes: portions)
            let error = #expect(throws: NodeError.self) { try put(script) }
            #expect(error?.kind == .storageFull, "\(portions)")
        }
        let gone = #expect(throws: NodeError.self) { try put(Script("", takes: 0)) }
        #expect(gone?.reason == "control.ended")
    }

    @Test func `are uploaded under their names`() throws {
        let script = Script("HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n{\"id\":\"b_a\"}")
        #expect(try put(script)["id"] == "b_a")
        #expect(
            script.text
                == "PUT /files?name=a%20b%2F%C3%A9 HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Length: 3\r\n\r\n\u{1}\u{2}\u{3}")
        let error = #expect(throws: NodeError.self) { try put(Script(""), Short()) }
        #expect(error?.reason == "file.changed")
    }

    @Test func `are put, and their ids are printed`() {
        let world = MemoryIO()
        #expect(world.run("file", "put", "/home/mina/plan.pdf") == 0)
        #expect(world.output == "b_01hx9t4c\n")
        #expect(world.node?.asked.last?.hasPrefix("addFile /home/mina/plan.pdf") == true)
        world.input = Array("abc".utf8)
        world.output = ""
        #expect(world.run("file", "put", "-", "--name", "a.txt") == 0)
        #expect(world.output == "b_01hx9t4c\n")
        #expect(world.node?.asked.last == "putFile a.txt 3")
    }

    @Test func `are missed by name where a message has none at that place`() throws {
        let world = MemoryIO()
        let place = ["attachment", "save", "m_01hx9t4c", "-", "--in", "general"]
        #expect(Program.run(arguments: place, environment: [:], io: world) == 5)
        #expect(world.errors.contains("the message has no files"), "\(world.errors)")
        #expect(world.errors.contains("message show m_01hx9t4c"), "\(world.errors)")
        world.node?.changesMessage = {
            $0.attachments = [.init(blob: "b_01hx9t4c", name: "a", type: "text/plain", size: 3)]
        }
        world.errors = ""
        let second = place + ["--index", "2"]
        #expect(Program.run(arguments: second, environment: [:], io: world) == 5)
        #expect(world.errors.contains("the message has only one file"), "\(world.errors)")
        #expect(world.output.isEmpty)
    }

    @Test func `have one standard input, and a name for what comes from it`() {
        let world = MemoryIO()
        #expect(world.run("send", "general", "-", "--file", "-") == 2)
        #expect(world.run("send", "general", "x", "--file", "-", "--file", "-") == 2)
        #expect(world.run("send", "general", "x", "--name", "a") == 2)
        #expect(world.run("file", "put", "a.txt", "--name", "a") == 2)
        #expect(world.node?.asked.isEmpty == true)
    }
}
