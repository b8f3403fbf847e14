import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `A hostile script` {
        private func node() -> TemporaryNode {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            return node
        }

        private static let version = ControlSocket.request("node.version", [:], id: 77).text

        /// The line is refused with this kind, and the next line is served.
        private func expect(
            _ line: [UInt8], _ kind: String, on socket: ControlSocket, _ what: String
        ) {
            socket.send(line + [0x0A])
            #expect(socket.next()?.kind == kind, "\(what)")
            socket.send(line: Self.version)
            #expect(socket.next()?["id"] == 77, "\(what)")
        }

        struct Suite: Decodable {
            struct Case: Decodable {
                var name: String
                var base64: String?
                var `repeat`: String?
                var count: Int?
            }
            var cases: [Case]
        }

        /// K01: every refused input of the parsing suite that is one line.
        @Test(.vectors("json/jsontestsuite-parsing.json"))
        func `gets an answer to every kind of broken JSON`() throws {
            let node = node()
            let socket = try #require(ControlSocket(node.socket))
            let suite = try Vectors.json("json/jsontestsuite-parsing.json", as: Suite.self)
            var count = 0
            for vector in suite.cases {
                let text = vector.repeat.map { String(repeating: $0, count: vector.count ?? 1) }
                let data = vector.base64.flatMap { Data(base64Encoded: $0) }.map { [UInt8]($0) }
                let bytes = data ?? text.map { Array($0.utf8) } ?? []
                let isBlank = bytes.allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
                if bytes.contains(0x0A) || isBlank { continue }
                socket.send(bytes + [0x0A])
                let answer = try #require(socket.next(), "\(vector.name)")
                if vector.name.hasPrefix("n_") {
                    #expect(answer["id"] == .null)
                    #expect(answer.kind == "parse_error", "\(vector.name)")
                    #expect(answer.reason == "control.bad_json", "\(vector.name)")
                } else {
                    #expect(["parse_error", "invalid_request"].contains(answer.kind))
                }
                count += 1
            }
            #expect(count > 280)
            #expect(socket.call("node.version")?["result"] != nil)
        }

        /// K03, K04, K06.
        @Test func `gets strictness where parsers differ`() throws {
            let node = node()
            let socket = try #require(ControlSocket(node.socket))
            let call = #""jsonrpc":"2.0","id":1,"method":"node.version""#
            func nested(_ depth: Int) -> [UInt8] {
                Array(
                    (String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
                        .utf8)
            }
            let rows: [(String, [UInt8])] = [
                ("33 levels", nested(33)), ("100,000 levels", nested(100_000)),
                ("a doubled key", Array("{\(call),\"id\":2}".utf8)),
                ("a trailing comma", Array("{\(call),}".utf8)),
                ("a byte order mark", [0xEF, 0xBB, 0xBF] + Array("{\(call)}".utf8)),
                ("UTF-16", Array("{\(call)}".utf8).flatMap { [0, $0] }),
                ("bad UTF-8", Array("{\(call),\"x\":\"".utf8) + [0xFF] + Array("\"}".utf8)),
            ]
            for (what, line) in rows { expect(line, "parse_error", on: socket, what) }
            expect(Array("[{\(call)}]".utf8), "invalid_request", on: socket, "a batch")
            expect(Array("7".utf8), "invalid_request", on: socket, "a number")
        }

        /// K05: an integer is exact or it is refused with the field.
        @Test(arguments: ["1.0", "1e2", "9007199254740993", "18446744073709551616", "1e400", "-0"])
        func `cannot pass an inexact integer`(_ number: String) throws {
            let node = node()
            let socket = try #require(ControlSocket(node.socket))
            socket.send(
                line: #"{"jsonrpc":"2.0","id":1,"method":"message.history","#
                    + #""params":{"channel":"general","limit":\#(number)}}"#)
            let answer = socket.next()
            #expect(answer?.kind == "bad_request")
            #expect(answer?["error"]?["data"]?["field"] == "limit")
        }

        /// K02.
        @Test func `is cut off after a line without end`() throws {
            let node = node()
            let socket = try #require(ControlSocket(node.socket))
            socket.send([UInt8](repeating: 0x20, count: Limits.controlLineBytesMax + 1))
            #expect(socket.next()?.reason == "control.too_long")
            #expect(socket.next() == nil)
            #expect(node.run("status", "--check").status == 0)
        }

        /// Texts count from the moment in which they are announced.
        @Test func `cannot have more long texts come than there is room for`() throws {
            func create(_ count: Int) -> String {
                ControlSocket.request(
                    "note.create", ["channel": "general", "bytes": .integer(Int64(count))], id: 1
                ).text + "\n"
            }
            let node = node()
            let most = Limits.noteTextPerCallBytesMax
            var sockets: [ControlSocket] = []
            for _ in 0..<Limits.noteTextsComingBytesMax / most {
                let socket = try #require(ControlSocket(node.socket))
                // Once the first line is answered, the second one has been read.
                socket.send(Array((Self.version + "\n" + create(most)).utf8))
                #expect(socket.next()?["id"] == 77)
                sockets.append(socket)
            }
            let more = try #require(ControlSocket(node.socket))
            more.send(Array(create(5).utf8))
            #expect(more.next()?.reason == "control.busy")
            #expect(more.next() == nil)
            #expect(node.run("status", "--check").status == 0)
            sockets.removeLast()
            #expect(
                eventually {
                    guard let other = ControlSocket(node.socket) else { return false }
                    other.send(Array((create(5) + "milk\n").utf8))
                    return other.next()?["result"]?["id"] != nil
                })
        }

        /// K07: a connection more than there may be.
        @Test func `cannot hold every connection permanently`() throws {
            let node = node()
            var sockets = (0..<Limits.controlClientsMax).compactMap { _ in
                ControlSocket(node.socket)
            }
            #expect(sockets.count == Limits.controlClientsMax)
            for socket in sockets { #expect(socket.call("node.version")?["result"] != nil) }
            // Who listens gives way to nobody, however slow this machine is.
            for socket in sockets { #expect(socket.call("events.subscribe")?["result"] != nil) }
            let more = try #require(ControlSocket(node.socket))
            let answer = more.next()
            #expect(answer?.kind == "busy")
            #expect(answer?.reason == "control.busy")
            #expect(more.next() == nil)
            // Who speaks HTTP is told so in HTTP.
            let web = try #require(ControlSocket(node.socket))
            web.send(Array("GET /healthz HTTP/1.1\r\n\r\n".utf8))
            #expect(web.text()?.hasPrefix("HTTP/1.1 503 ") == true)
            // One program that takes all keeps nobody else out.
            #expect(node.run("status", "--json").status == 0)
            #expect(node.run("send", "general", "still here").status == 0)
            sockets.removeAll()
            #expect(eventually { node.run("status").status == 0 })
        }

        /// K08: callers that leave before they are answered.
        @Test func `leaves nothing behind when it leaves early`() throws {
            let node = node()
            node.run("status")
            let before = node.descriptorCount
            for _ in 0..<2_000 {
                let socket = ControlSocket(node.socket)
                socket?.post("rpc.methods")
            }
            #expect(eventually { node.run("status", "--check").status == 0 })
            #expect(eventually { node.descriptorCount <= before + 1 })
            #expect(node.residentBytes < 256 * 1024 * 1024)
        }

        /// K09: ten thousand questions and nobody reads.
        @Test func `is held back when it does not read`() throws {
            let node = node()
            let socket = try #require(ControlSocket(node.socket))
            let total: Int64 = 10_000
            var bytes: [UInt8] = []
            for id in 1...total {
                bytes += Array((ControlSocket.request("rpc.methods", [:], id: id).text + "\n").utf8)
            }
            var rest = bytes[...]
            // Until nothing more is taken: then the node reads no further.
            while true {
                let count = socket.sendNow(rest)
                rest = rest.dropFirst(count)
                if rest.isEmpty { break }
                if count == 0,
                    !eventually(
                        within: 0.5,
                        {
                            let more = socket.sendNow(rest)
                            rest = rest.dropFirst(more)
                            return more > 0
                        })
                {
                    break
                }
            }
            #expect(!rest.isEmpty, "everything was taken")
            #expect(node.residentBytes < 256 * 1024 * 1024)
            #expect(node.run("send", "general", "others are served").status == 0)
            let asked = Int64(
                bytes.prefix(bytes.count - rest.count).reduce(0) { $0 + ($1 == 0x0A ? 1 : 0) })
            for id in 1...asked { #expect(socket.next()?["id"] == .integer(id)) }
        }

        /// K10: nobody else gets near the socket.
        @Test func `under another account gets nowhere`() throws {
            let node = TemporaryNode()
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c",
                "umask 000; exec '\(TemporaryNode.program)' --home '\(node.home)' up --name Mina "
                    + "--workspace acme --listen 127.0.0.1:0 --announce off",
            ]
            shell.standardOutput = FileHandle.nullDevice
            try shell.run()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            func mode(_ path: String) -> Int {
                let all = try? FileManager.default.attributesOfItem(atPath: path)
                return (all?[.posixPermissions] as? Int) ?? -1
            }
            #expect(mode(node.home) == 0o700)
            #expect(mode(node.socket) == 0o600)
            for name in try FileManager.default.contentsOfDirectory(atPath: node.home) {
                #expect(mode(node.home + "/" + name) & 0o077 == 0, "\(name)")
            }
            node.run("down")
            chmod(node.home, 0o755)
            let refused = node.up()
            #expect(refused.status == 78)
            #expect(refused.errors.contains("chmod 700"))
            chmod(node.home, 0o700)
            #expect(node.up().status == 0)
        }

        /// K11: what may lie where the socket should be.
        @Test func `cannot lay a trap where the socket is made`() throws {
            let node = node()
            node.run("down")
            try "precious".write(toFile: node.socket, atomically: true, encoding: .utf8)
            let file = node.up()
            #expect(file.status != 0)
            #expect(try String(contentsOfFile: node.socket, encoding: .utf8) == "precious")
            try FileManager.default.removeItem(atPath: node.socket)
            let target = node.home + "/target"
            try "precious".write(toFile: target, atomically: true, encoding: .utf8)
            symlink(target, node.socket)
            #expect(node.up().status != 0)
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
            try FileManager.default.removeItem(atPath: node.socket)
            let long = node.run(["socket", "--socket", "/" + String(repeating: "x", count: 120)])
            #expect(long.status == 78)
            #expect(node.up().status == 0)
        }
    }
}
