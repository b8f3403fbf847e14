import Foundation
import Testing
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `A shell` {
        /// What bash completes at the end of `line`.
        private func completed(_ line: String, _ part: String, _ node: TemporaryNode) -> [String] {
            let script = """
                source <(wsx-node completion bash) || exit 1
                complete -p wsx-node >/dev/null || exit 2
                COMP_LINE=$1 COMP_POINT=${#1}
                _wsx_node wsx-node "$2" ""
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = ["--norc", "-c", script, "bash", line, part]
            process.environment = node.scriptEnvironment
            let outcome = TemporaryNode.finish(process)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").map(String.init)
        }

        @Test func `bash completes commands, flags and what the daemon knows`() throws {
            guard Tool.path("bash", to: "complete a line") != nil else { return }
            let node = TemporaryNode()
            #expect(completed("wsx-node chan", "chan", node) == ["channel"])
            #expect(completed("wsx-node send general x --thr", "--thr", node) == ["--thread"])
            #expect(completed("wsx-node log ", "", node).isEmpty, "no daemon, no names")
            node.up(name: "Mina Kim", workspace: "acme")
            node.run("channel", "create", "plans")
            node.run("channel", "create", "x; reboot")
            // Names come within 50 ms or not at all, and this machine may be slower than that.
            #expect(
                eventually { completed("wsx-node log ", "", node).contains("plans") })
            #expect(eventually { completed("wsx-node log pl", "pl", node) == ["plans"] })
            #expect(eventually { completed("wsx-node log @Mi", "@Mi", node) == ["@Mina\\ Kim"] })
            #expect(eventually { completed("wsx-node log @Mi", "Mi", node) == ["Mina\\ Kim"] })
            #expect(eventually { completed("wsx-node -w a", "a", node) == ["acme"] })
            node.run("down")
        }

        @Test(arguments: ["zsh", "fish"])
        func `zsh and fish understand their stubs`(_ shell: String) throws {
            guard let path = Tool.path(shell, to: "read its completion") else { return }
            let node = TemporaryNode()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments = ["-n"]
            let stub = node.run("completion", shell).output
            let outcome = TemporaryNode.finish(process, input: stub)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        }

        /// What fish completes at the end of `line`.
        private func fish(_ line: String, _ node: TemporaryNode) -> [String] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "fish", "--no-config", "-c",
                "wsx-node completion fish | source; complete -C $argv[1]", line,
            ]
            process.environment = node.scriptEnvironment
            let outcome = TemporaryNode.finish(process)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            return outcome.output.split(separator: "\n").map(String.init)
        }

        @Test func `fish completes names with blanks and quotes, and files only where they stand`()
            throws
        {
            guard Tool.path("fish", to: "complete a line") != nil else { return }
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            for name in ["two words", "Joon's", "old", "other"] {
                node.run("channel", "create", name)
            }
            node.run("channel", "archive", "old")
            #expect(eventually { fish("wsx-node send two\\ w", node) == ["two words"] })
            #expect(eventually { fish("wsx-node send 'two w", node) == ["two words"] })
            #expect(eventually { fish("wsx-node send Joo", node) == ["Joon's"] })
            #expect(eventually { fish("wsx-node log o", node) == ["old", "other"] })
            #expect(eventually { fish("wsx-node send o", node) == ["other"] })
            #expect(fish("wsx-node message react ", node).isEmpty)
            #expect(!fish("wsx-node backup verify /e", node).isEmpty)
            node.run("down")
        }

        /// Reads a line, hits the tab key at its end, notes what stands there then, and leaves.
        private static let zshSettings = #"""
            autoload -U compinit
            compinit -u -D
            source <(wsx-node completion zsh)
            zle-line-init() {
                BUFFER=$TYPED CURSOR=$#TYPED
                zle expand-or-complete
                print -r -- "$BUFFER" >$ZDOTDIR/completed
                BUFFER=exit
                zle accept-line
            }
            zle -N zle-line-init
            """#

        /// What zsh makes of `line`. No key is hit, for one that is hit too early is lost.
        private func zsh(_ path: String, _ line: String, _ node: TemporaryNode) throws -> String {
            let folder = URL(fileURLWithPath: node.folder + "/zsh")
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true)
            try Self.zshSettings.write(
                to: folder.appendingPathComponent(".zshrc"), atomically: true, encoding: .utf8)
            let completed = folder.appendingPathComponent("completed")
            try? FileManager.default.removeItem(at: completed)
            let terminal = try #require(
                PseudoTerminal(
                    [path, "-d", "-i"],
                    environment: node.scriptEnvironment.merging(
                        ["ZDOTDIR": folder.path, "TYPED": line]) { $1 }))
            #expect(terminal.end() == 0, "\(terminal.text)")
            return try String(contentsOf: completed, encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }

        @Test func `zsh completes names with blanks and quotes`() throws {
            guard let path = Tool.path("zsh", to: "complete a line") else { return }
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            for name in ["two words", "Joon's", "R&D", "plain"] {
                node.run("channel", "create", name)
            }
            for (typed, whole) in [
                ("send two\\ w", "send two\\ words"), ("send 'two w", "send 'two words'"),
                ("send Joo", "send Joon\\'s"), ("send R", "send R\\&D"), ("chan", "channel"),
            ] {
                var last = ""
                let isWhole = eventually {
                    last = (try? zsh(path, "wsx-node " + typed, node)) ?? "nothing"
                    return last == "wsx-node " + whole
                }
                #expect(isWhole, "\(typed): \(last)")
            }
            node.run("down")
        }

        @Test func `man shows the page`() throws {
            guard Tool.path("man", to: "show the page") != nil else { return }
            let node = TemporaryNode()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/bash")
            process.arguments = [
                "-c", "wsx-node man > \"$HOME/wsx-node.1\" && man -l \"$HOME/wsx-node.1\" | cat",
            ]
            process.environment = node.scriptEnvironment.merging(
                ["MANWIDTH": "80", "LC_ALL": "C.UTF-8", "WSX_NODE_HOME": ""]
            ) { $1 }
            let outcome = TemporaryNode.finish(process)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            if outcome.output.isEmpty {
                print("SKIPPED: man shows nothing here, as in a minimised system")
            } else {
                #expect(outcome.output.contains("EXIT STATUS"))
            }
        }
    }
}
