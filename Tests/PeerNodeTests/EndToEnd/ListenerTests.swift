import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `A listener` {
        @Test func `resumes at its cursor, also after a restart`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(node.socket))
            let start = try #require(socket.call("events.wait", ["since": "latest"])?["result"])
            #expect(start.rows.isEmpty)
            let cursor = try #require(start["next"])
            for text in ["a", "b", "c"] { node.run("send", "general", text) }
            let wanted: JSONObject = ["since": cursor, "types": ["message.*"], "limit": 2]
            let page = try #require(socket.call("events.wait", wanted)?["result"])
            #expect(page.rows.map { $0["data"]?["text"] } == ["a", "b"])
            #expect(page.rows.allSatisfy { $0["backfill"] == false })
            #expect(page.rows.allSatisfy { $0["data"]?["self"] == true })
            let next = try #require(page["next"])
            node.kill()
            node.up()
            let again = try #require(ControlSocket(node.socket))
            var rest = wanted
            rest["since"] = next
            let after = try #require(again.call("events.wait", rest)?["result"])
            #expect(after.rows.map { $0["data"]?["text"] } == ["c"])
            // A call that waits is answered by what comes.
            again.post(
                "events.wait",
                [
                    "since": after["next"] ?? .null,
                    "timeout_ms": .integer(Int64(LongestWait.milliseconds)),
                    "types": ["message.created"],
                ])
            node.run("send", "general", "late")
            #expect(again.next()?.rows.first?["data"]?["text"] == "late")
        }

        @Test func `has a name, and goes on where it acknowledged`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(node.socket))
            #expect(socket.call("events.wait", ["name": "bot"])?.rows.isEmpty == true)
            for text in ["a", "b", "c", "d"] { node.run("send", "general", text) }
            func listen(_ count: String) -> [JSONValue?] {
                node.run(
                    "events", "--as", "bot", "--type", "message.created", "--count", count, "--json"
                )
                .objects.map { $0["data"]?["text"] }
            }
            #expect(listen("2") == ["a", "b"])
            node.run("down")
            node.up()
            #expect(listen("1") == ["c"])
            // One that died before it acknowledged is given the same again.
            let (process, lines) = try node.start(
                "events", "--since", "all", "--type", "message.created", "--in", "general", "--json"
            )
            #expect(lines.next()?.contains("\"a\"") == true)
            kill(process.processIdentifier, SIGKILL)
            #expect(listen("1") == ["d"])
            let again = try #require(ControlSocket(node.socket))
            let names = again.call("events.names")?.rows
            #expect(names?.first?["name"] == "bot")
        }

        @Test func `is told what is old and who it is from`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("send", "general", "old")
            let joon = TemporaryNode()
            try #require(joon.join(mina.invite(), name: "Joon").status == 0)
            let socket = try #require(ControlSocket(joon.socket))
            let opened = socket.call(
                "events.subscribe", ["since": "all", "types": ["message.created"]])
            #expect(opened?["result"]?["subscription"] == 1)
            let old = try #require(socket.next()?["params"])
            #expect(old["data"]?["text"] == "old")
            #expect(old["backfill"] == true)
            #expect(old["data"]?["self"] == false)
            mina.run("send", "general", "new")
            let new = try #require(socket.next()?["params"])
            #expect(new["data"]?["text"] == "new")
            #expect(new["backfill"] == false)
            #expect(new["subscription"] == 1)
            joon.run("send", "general", "mine")
            #expect(socket.next()?["params"]?["data"]?["self"] == true)
        }

        @Test func `finds every method described`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let document = node.run("rpc", "rpc.discover").object
            #expect(document["openrpc"] == "1.2.6")
            let methods = document["methods"]?.arrayValue ?? []
            let names = methods.compactMap { $0["name"]?.stringValue }
            let listed = node.run("rpc", "--list").output.split(separator: "\n")
                .compactMap { $0.split(separator: "\t").first.map(String.init) }
            #expect(names == listed)
            #expect(names.contains("message.send"))
            let socket = try #require(ControlSocket(node.socket))
            for name in names where name != "node.stop" {
                // Whatever is missing, it is there and answers with a word that we know.
                // Of a file of no known length nothing can be told from lines, so the connection ends.
                let own = name == "blob.put" ? try #require(ControlSocket(node.socket)) : socket
                let answer = try #require(own.call(name, ["no_such": 1]))
                #expect(answer.kind == "bad_request", "\(name)")
            }
        }
    }
}
