import Foundation
import Glibc
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// The three bots that the interface promises, each as it is written there.
    struct `A bot` {
        private static let command = """

              [ "$WSX_TEXT" = "!uptime" ] || exit 0
              uptime -p | wsx-node send "$WSX_CHANNEL" --thread "$WSX_MESSAGE" \
            --key "uptime-$WSX_MESSAGE" -
            """

        private static let socketBot = #"""
            #!/usr/bin/env bash
            set -u
            coproc WSX { socat - "UNIX-CONNECT:$(wsx-node socket)"; }
            call() { jq -cn --arg m "$1" --argjson p "$2" '{jsonrpc:"2.0",id:$m,method:$m,params:$p}' >&"${WSX[1]}"; }
            call events.subscribe '{"name":"uptime-bot","types":["message.created"]}'
            while IFS= read -r line <&"${WSX[0]}"; do
              ev=$(jq -c 'select(.method=="event").params' <<<"$line"); [[ $ev ]] || continue
              if jq -e '(.backfill or .data.self|not) and .data.text=="!uptime"' >/dev/null <<<"$ev"; then
                call message.send "$(jq -c --arg up "$(uptime -p)" \
                  '{channel:.data.channel,thread:.data.id,text:$up,key:("uptime-"+.data.id)}' <<<"$ev")"
              fi
              call events.ack "$(jq -c '{name:"uptime-bot",cursor}' <<<"$ev")"
            done
            """#

        private static let cronLine = #"""
            printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"message.send","params":{"channel":"ops","text":"backup ok","key":"backup-2026-11-20"}}' | nc -N -U "$(wsx-node socket)" | jq -er '.result.id'
            """#

        private static func has(_ tools: String...) -> Bool {
            tools.filter { Tool.path($0, to: "try a bot with") == nil }.isEmpty
        }

        private func shell(_ script: String, on node: TemporaryNode) -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = ["-c", script]
            process.environment = node.scriptEnvironment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            return process
        }

        private func start(_ node: TemporaryNode) throws -> Process {
            try node.start(
                "events", "--as", "uptime-bot", "--type", "message.created", "--exec",
                Self.command, environment: node.scriptEnvironment
            ).process
        }

        /// Whether the node knows the bot, so that what comes from now on is for it.
        private func isKnown(_ node: TemporaryNode) -> Bool {
            eventually { node.run("rpc", "events.names").output.contains("uptime-bot") }
        }

        private func replies(_ node: TemporaryNode) -> [String] {
            node.run("log", "general", "-n", "100", "--json").objects
                .compactMap { $0["thread"]?.stringValue }
        }

        private func kill(_ process: Process, _ signal: Int32 = SIGKILL) {
            Glibc.kill(process.processIdentifier, signal)
            process.waitUntilExit()
        }

        @Test func `of one command answers once, whatever is killed or restarted`() throws {
            guard Self.has("uptime") else { return }
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            var bot = try start(node)
            defer { if bot.isRunning { kill(bot) } }
            try #require(isKnown(node))
            var asked: [String] = []
            func ask() {
                let sent = node.run("send", "general", "!uptime", "--json").object["id"]
                asked.append(sent?.stringValue ?? "")
            }
            ask()
            node.run("send", "general", "nothing for a bot")
            #expect(eventually { replies(node) == asked })
            // The bot is killed, and things go on without it.
            kill(bot)
            ask()
            ask()
            bot = try start(node)
            #expect(eventually { replies(node) == asked })
            // The node is restarted, and the bot finds it again.
            node.run("down")
            node.up()
            ask()
            #expect(eventually { replies(node) == asked })
            node.kill()
            node.up()
            ask()
            #expect(eventually { replies(node) == asked })
            #expect(bot.isRunning)
            kill(bot)
            #expect(replies(node) == asked, "none twice, none missed")
            node.run("down")
        }

        @Test(arguments: [true, false])
        func `to which nothing has happened yet outlives its node`(_ isKilled: Bool) throws {
            guard Self.has("uptime") else { return }
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let bot = try start(node)
            defer { if bot.isRunning { kill(bot) } }
            try #require(isKnown(node))
            if isKilled { node.kill() } else { node.run("down") }
            node.up()
            let asked = node.run("send", "general", "!uptime", "--json").object["id"]?.stringValue
            #expect(eventually { replies(node) == [asked ?? ""] })
            #expect(bot.isRunning)
            node.run("down")
        }

        /// The bot was killed after it had answered and before the node was told, and the answer
        /// reads otherwise the second time.
        @Test func `of the help goes on after an answer that was given before`() throws {
            guard Self.has("uptime") else { return }
            let text = try #require(Manual.topics.first { $0.word == "bots" }?.text)
            let command = try #require(text.firstMatch(of: /--exec '([^']*)'/)?.1)
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let asked = node.run("send", "general", "!uptime", "--json").object["id"]?.stringValue
            let id = asked ?? ""
            node.run(
                "send", "general", "up before", "--thread", id, "--key", "uptime-" + id)
            for number in 1...2 {
                let bot = node.run(
                    [
                        "events", "--as", "bot \(number)", "--since", "all", "--type",
                        "message.created", "--count", "1", "--exec", String(command),
                    ], environment: node.scriptEnvironment)
                #expect(bot.status == 0, "\(bot.errors)")
                // 'send' says it once a try, and the bot nothing of giving up.
                let said = bot.errors.components(separatedBy: "was already used for another call")
                #expect(said.count == 2 && !bot.errors.contains("skipped it"), "\(bot.errors)")
            }
            #expect(node.texts().filter { $0.hasPrefix("up ") } == ["up before"])
            node.run("down")
        }

        @Test func `on the raw socket answers others once`() throws {
            guard Self.has("jq", "socat", "uptime") else { return }
            let (mina, joon) = try TemporaryNode.pair()
            let bot = shell(Self.socketBot, on: mina)
            try bot.run()
            defer { if bot.isRunning { kill(bot) } }
            try #require(isKnown(mina))
            mina.run("send", "general", "!uptime")
            let asked = joon.run("send", "general", "!uptime", "--json").object["id"]?.stringValue
            #expect(eventually { replies(mina) == [asked ?? ""] })
            kill(bot)
            let again = shell(Self.socketBot, on: mina)
            try again.run()
            defer { if again.isRunning { kill(again) } }
            let second = joon.run("send", "general", "!uptime", "--json").object["id"]?.stringValue
            #expect(eventually { replies(mina) == [asked ?? "", second ?? ""] })
            kill(again)
            for node in [joon, mina] { node.run("down") }
        }

        @Test func `of one line posts once, however often it runs`() throws {
            guard Self.has("jq", "nc") else { return }
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("channel", "create", "ops")
            let outcomes = (0..<2).map { _ in
                TemporaryNode.finish(shell(Self.cronLine, on: node))
            }
            for outcome in outcomes { #expect(outcome.status == 0, "\(outcome.errors)") }
            #expect(outcomes[0].output.hasPrefix("m_"))
            #expect(outcomes[0].output == outcomes[1].output)
            #expect(node.texts("ops") == ["backup ok"])
            node.run("down")
        }

        @Test func `a command that fails has failed, even if its parent ignores children`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let process = shell(
                """
                trap '' CHLD
                exec wsx-node passphrase change --new-command 'echo a long secret; exit 3'
                """, on: node)
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let text = String(
                decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus != 0)
            #expect(text.contains("the command for the secret failed"), "\(text)")
            #expect(node.run("identity", "show", "--json").object["passphrase"] == false)
        }

        @Test func `that gives up goes on, and says what it gave up`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            node.run("send", "general", "before")
            let outcome = node.run(
                "events", "--as", "bot", "--since", "all", "--type", "message.created", "--exec",
                "exit 3", "--count", "1")
            #expect(outcome.status == 0)
            #expect(outcome.errors.contains("the command exited with 3 5 times"))
            let next = node.run(
                "events", "--as", "bot", "--exec", "echo never", "--timeout", "1s")
            #expect(next.status == 0)
            #expect(!next.output.contains("never"), "what was given up does not come again")
            node.run("down")
        }
    }
}
