import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `Notices and bots` {
        @Test func `a command is run for each message of others, and evaluates none of them`()
            throws
        {
            let (mina, joon) = try TemporaryNode.pair()
            let log = joon.home + "/shown"
            let set = joon.run(
                "notify", "command", "printf '%s|%s\\n' \"$WSX_AUTHOR\" \"$WSX_TEXT\" >> \(log)")
            #expect(set.status == 0, "\(set.errors)")
            func shown() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
            let trap = "$(touch \(joon.home)/never); `exit 1`"
            mina.run("send", "general", trap)
            joon.run("send", "general", "my own")
            mina.run("send", "general", "second")
            #expect(eventually { shown() == "Mina|\(trap)\nMina|second\n" }, "\(shown())")
            #expect(!FileManager.default.fileExists(atPath: joon.home + "/never"))
            // Another level, and another device's: mentions alone.
            #expect(joon.run("notify", "set", "mentions").status == 0)
            #expect(joon.run("notify", "show", "--json").object["level"] == "mentions")
            mina.run("send", "general", "not for Joon")
            mina.run("send", "general", "for @Joon")
            #expect(eventually { shown().hasSuffix("Mina|for @Joon\n") })
            #expect(!shown().contains("not for Joon"))
            #expect(joon.run("notify", "command", "").status == 0)
            mina.run("send", "general", "@Joon silent")
            #expect(eventually { joon.texts().last == "@Joon silent" })
            // It counts as shown when its shell has ended, which is after it wrote.
            let count = "wsx_notices_total{result=\"shown\"} 3\n"
            #expect(eventually { joon.run("metrics").output.contains(count) })
            let page = joon.run("metrics").output
            #expect(page.contains("wsx_rpc_seconds_count{group=\"notify\"}"))
        }

        @Test func `a node that stops ends its command, and leaves no process behind`()
            throws
        {
            let (mina, joon) = try TemporaryNode.pair()
            let file = joon.home + "/pid"
            joon.run(
                "notify", "command", "echo $$ > \(file).new; mv \(file).new \(file); sleep 1000")
            mina.run("send", "general", "hello")
            #expect(eventually { FileManager.default.fileExists(atPath: file) })
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let pid = try #require(Int32(text.filter(\.isNumber)))
            #expect(kill(pid, 0) == 0)
            #expect(joon.run("down").status == 0)
            #expect(eventually { kill(pid, 0) != 0 })
        }

        @Test func `two bots that answer everything do not answer each other`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let command = "wsx-node send general \"re: $WSX_TEXT\""
            let bots = try [mina, joon].map { node in
                try node.start(
                    "events", "--as", "echo", "--type", "message.created", "--exec", command,
                    environment: node.scriptEnvironment
                ).process
            }
            defer {
                for bot in bots {
                    kill(bot.processIdentifier, SIGKILL)
                    bot.waitUntilExit()
                }
            }
            for node in [mina, joon] {
                try #require(
                    eventually { node.run("rpc", "events.names").output.contains("echo") })
            }
            for (number, text) in ["one", "two"].enumerated() {
                mina.run("send", "general", text)
                // One answer from each bot, including this node's.
                for node in [mina, joon] {
                    #expect(eventually { node.texts().count >= 3 * (number + 1) })
                }
            }
            let texts = joon.texts()
            #expect(texts.sorted() == ["one", "re: one", "re: one", "re: two", "re: two", "two"])
            let bot = joon.run("log", "general", "--json").objects.filter { $0["bot"] == true }
            #expect(bot.count == 4)
            let human = mina.run("log", "general", "--json").objects.filter { $0["bot"] == false }
            #expect(human.map { $0["text"] } == ["one", "two"])
        }

        @Test func `a hook is a program, and a bot that gives up is reported`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let socket = try #require(ControlSocket(mina.socket))
            socket.send(
                Array(
                    "POST /hooks/general?bot=false HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
                        .utf8))
            #expect(socket.text()?.hasSuffix("\r\n\r\nok") == true)
            #expect(eventually { joon.texts() == ["hi"] })
            let message = joon.run("log", "general", "--json").object
            #expect(message["bot"] == true && message["self"] == false)
            #expect(joon.run("log", "general", "--since", "0s", "--exit-code").status == 9)
            #expect(joon.run("search", "nothing-like-it", "--exit-code").status == 9)
            #expect(joon.run("search", "hi", "--exit-code").status == 0)
            let cursor = joon.run("rpc", "events.wait").object["next"]?.stringValue ?? ""
            let acked = joon.run(
                "rpc", "events.ack", "name=b", "cursor=\(cursor)", "warning=gave up")
            #expect(acked.status == 0, "\(acked.errors)")
            let told = joon.run(
                "events", "--since", "1h", "--type", "node.warning", "--count", "1", "--json",
                "--timeout", "240s")
            #expect(told.object["data"]?["message"] == "gave up", "\(told.output)")
            #expect(
                joon.run(
                    "events", "--since", "latest", "--type", "device.*", "--timeout", "1s",
                    "--exit-code"
                ).status == 9)
        }
    }
}
