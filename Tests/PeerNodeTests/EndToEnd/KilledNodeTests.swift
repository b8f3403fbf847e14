import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `A node that is killed` {
        /// D01 and K13: several clients send without waiting, each message under a key.
        @Test func `has every answered message once, and knows its keys`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("down")
            _ = try node.startForeground()
            let clients = try (0..<4).map { _ in try #require(ControlSocket(node.socket)) }
            let perClient = 150
            for number in 1...perClient {
                for (client, socket) in clients.enumerated() {
                    let word = "c\(client)-\(number)"
                    socket.post(
                        "message.send",
                        ["channel": "general", "text": .string(word), "key": .string(word)])
                }
            }
            // Some answers have come, most have not: now.
            var answered: [String: String] = [:]
            for socket in clients {
                for _ in 0..<20 { note(socket.next(), in: &answered) }
            }
            node.kill()
            for socket in clients {
                while let line = socket.next() { note(line, in: &answered) }
            }
            #expect(answered.count >= 80)

            #expect(node.up().status == 0)
            let socket = try #require(ControlSocket(node.socket))
            let after = history(socket)
            #expect(Set(after).count == after.count, "a message came twice")
            #expect(Set(answered.values).isSubset(of: after), "an answered message is gone")

            // The same requests again: what was made is given again, the rest is made now.
            for client in 0..<4 {
                for number in 1...perClient {
                    let word = "c\(client)-\(number)"
                    let answer = socket.call(
                        "message.send",
                        ["channel": "general", "text": .string(word), "key": .string(word)])
                    let result = try #require(answer?["result"])
                    if let id = answered[word] {
                        #expect(result["id"] == .string(id))
                        #expect(result["replayed"] == true)
                    }
                }
            }
            let all = history(socket)
            #expect(all.count == 4 * perClient)
            #expect(Set(all).count == all.count)
            let reused = socket.call(
                "message.send", ["channel": "general", "text": "another", "key": "c0-1"])
            #expect(reused?.kind == "key_reused")
            let command = node.run("send", "general", "another", "--key", "c0-1", "--json")
            #expect(command.status == 6)
            #expect(node.run("doctor").status == 0)
        }

        /// Its socket still takes a connection for a moment, and ends it.
        @Test func `is started again at once`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            for _ in 0..<12 {
                let lock = try String(contentsOfFile: node.home + "/lock", encoding: .utf8)
                let daemon = try #require(Int32(lock.prefix { $0.isNumber }))
                #expect(Glibc.kill(daemon, SIGKILL) == 0)
                let again = node.up()
                #expect(again.status == 0, "\(again)")
            }
        }

        /// What SQLite reads of a log ends before a frame with a wrong bit.
        @Test func `has what stands in its log behind a flipped bit`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("down")
            _ = try node.startForeground()
            for text in ["one", "two", "three"] { node.run("send", "general", text) }
            node.kill()
            let log = URL(fileURLWithPath: node.home + "/node.db-wal")
            var bytes = [UInt8](try Data(contentsOf: log))
            let frames = (bytes.count - 32) / 8_216
            #expect(frames > 8)
            bytes[32 + 8_216 * (frames / 3) + 24 + 4_000] ^= 1
            try Data(bytes).write(to: log)
            #expect(node.up().status == 0)
            let socket = try #require(ControlSocket(node.socket))
            #expect(history(socket).count == 3)
            let check = try #require(socket.call("node.check")?["result"])
            #expect(check["ok"] == true, "\(check)")
            // Nothing says that it is older than it was.
            #expect(node.run("status", "--check").status == 0)
        }

        private func note(_ line: JSONValue?, in answered: inout [String: String]) {
            guard let result = line?["result"], let id = result["id"]?.stringValue,
                let text = result["text"]?.stringValue
            else { return }
            answered[text] = id
        }

        /// The ids of all messages of the channel, page by page.
        private func history(_ socket: ControlSocket) -> [String] {
            var ids: [String] = []
            var given: JSONObject = ["channel": "general", "limit": 100]
            while let page = socket.call("message.history", given)?["result"] {
                ids += page.rows.compactMap { $0["id"]?.stringValue }
                guard let older = page["older"], !older.isNull else { break }
                given["before"] = older
            }
            return ids
        }

        @Test func `starts again when its socket was left behind`() {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "kept")
            node.kill()
            #expect(FileManager.default.fileExists(atPath: node.socket))
            #expect(node.run("status").status == 3)
            #expect(node.up().status == 0)
            #expect(node.texts() == ["kept"])
        }

        /// D08 and K11: a second daemon on the same home.
        @Test func `is the only one of its home`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let second = node.run(["daemon", "run", "--json"] + TemporaryNode.loopback)
            #expect(second.status == 6)
            #expect(second.error.kind == "in_use")
            #expect(second.error.reason == "store.locked")
            #expect(second.error["data"]?["pid"]?.integerValue == node.pid.map(Int64.init))
            #expect(node.run("status", "--check").status == 0)
            // Another socket does not make it another home.
            let elsewhere = node.run(
                ["daemon", "run", "--socket", node.home + "/other.sock"] + TemporaryNode.loopback)
            #expect(elsewhere.status == 6)
        }

        /// P01: signals while it writes.
        @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
        func `ends in order when it is asked to`(_ signal: Int32) throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("down")
            let daemon = try node.startForeground()
            let socket = try #require(ControlSocket(node.socket))
            for number in 1...50 {
                socket.post("message.send", ["channel": "general", "text": .string("m\(number)")])
            }
            var answered: Set<String> = []
            func note(_ line: JSONValue?) {
                if let text = line?["result"]?["text"]?.stringValue { answered.insert(text) }
            }
            while answered.count < 10, let line = socket.next() { note(line) }
            Glibc.kill(daemon.processIdentifier, signal)
            if signal == SIGINT { Glibc.kill(daemon.processIdentifier, signal) }
            while answered.count < 50, let line = socket.next() { note(line) }
            if signal == SIGHUP {
                // That one only opens the log anew: all is answered, and the next call is served.
                #expect(answered.count == 50)
                #expect(node.run("status").status == 0)
                daemon.terminate()
            }
            #expect(eventually { !daemon.isRunning })
            daemon.waitUntilExit()
            #expect(daemon.terminationReason == .exit && daemon.terminationStatus == 0)
            #expect(!FileManager.default.fileExists(atPath: node.socket))
            node.up()
            #expect(answered.isSubset(of: node.texts()))
        }
    }
}
