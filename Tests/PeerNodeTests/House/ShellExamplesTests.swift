import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import wsx_node

/// T08: hostile text in every shell example of the documents.
struct `The examples for the shell` {
    private static let hostile = [
        "\u{1B}]0;owned\u{7}", "\u{1B}[2J", "\u{1B}]52;c;eA==\u{7}", #"\033[2J"#,
        #"\e]52;c;eA==\a"#,
        #"\x1b[2J"#, #"\u001b[2J\c"#, #"\0033[31m%b%s%n"#, "-n", "-e \\033[2J", "--", "--help",
        "-", "$(printf 'eval%suated' '')", "`printf 'eval%suated' ''`",
        "'; printf 'eval%suated' ''; '", "\"; printf 'eval%suated' ''; \"", "one\ntwo",
        "\n\u{1B}[A\r", "\u{9B}2J", "\u{9D}0;x\u{9C}",
        "\u{85}", "\u{7F}", "\u{8}\u{8}", "\u{202E}abc", "!uptime", "",
    ]

    /// What the commands of bots and of notices find in their environment.
    private static func variables(_ text: String) -> [[String: String]] {
        let io = MemoryIO()
        var event = EventObject(
            sequence: 1, cursor: "e1.1", at: 1, type: "message.created",
            data: ["id": "m_1", "channel": "c_general0", "text": .string(text)])
        event.workspace = "w_acme0000"
        io.events = [event]
        var bot: [String: String] = [:]
        io.handler = { _, _, environment in
            bot = environment
            return 0
        }
        _ = io.run("events", "--as", "bot", "--exec", "x", "--count", "1")
        var notice: [String: String] = ["WSX_MESSAGE": "m_1", "WSX_CHANNEL": "c_general0"]
        for name in ["WSX_TEXT", "WSX_AUTHOR", "WSX_CHANNEL_NAME", "WSX_WORKSPACE_NAME"] {
            notice[name] = PeerNode.Events.variable(text)
        }
        return [bot, notice]
    }

    private static var shells: [String] {
        ["sh", "bash"].compactMap { Tool.path($0, to: "run the examples under") }
    }

    @Test func `are found in help, in the manual and on the pages`() throws {
        let examples = try ShellExamples.all.get()
        #expect(examples.count >= 5)
        for part in ["uptime -p", "notify-send --", "printf '%s\\n' \"$WSX_TEXT\""] {
            #expect(examples.contains { $0.script.contains(part) }, "\(part)")
        }
        for place in ["help bots", "help events.subscribe", "help notify.command"] {
            #expect(examples.contains { $0.place == place }, "\(place)")
        }
    }

    @Test func `bring nothing to a terminal that it would obey (T08)`() throws {
        let shell = try ShellExamples()
        defer { shell.remove() }
        for text in Self.hostile {
            for variables in Self.variables(text) {
                #expect(variables["WSX_TEXT"] != nil)
                for example in try ShellExamples.all.get() {
                    for path in Self.shells {
                        let outcome = shell.run(example.script, under: path, variables)
                        let note = Comment(
                            rawValue: "\(path) \(example) with \(text.debugDescription)")
                        #expect(ShellExamples.dangers(in: outcome) == [], note)
                        #expect(!outcome.output.contains("evaluated"), note)
                        #expect(outcome.status == 0, note)
                    }
                }
            }
        }
    }

    /// That the trial would notice: a shell's own echo, a variable as it came, an option.
    @Test func `would be told from those that are not safe (T08)`() throws {
        let shell = try ShellExamples()
        defer { shell.remove() }
        let dash = Tool.path("dash", to: "see echo make controls of backslashes")
        if let dash {
            let outcome = shell.run(
                "echo \"$WSX_TEXT\"", under: dash, ["WSX_TEXT": #"\033[2J"#])
            #expect(ShellExamples.dangers(in: outcome) == ["U+1b"])
        }
        let raw = shell.run(
            "printf '%s\\n' \"$WSX_TEXT\"", under: "/bin/sh", ["WSX_TEXT": "\u{9B}2J\t"])
        #expect(ShellExamples.dangers(in: raw) == ["U+9b", "U+9"])
        let option = shell.run(
            "notify-send \"$WSX_TEXT\"", under: "/bin/sh", ["WSX_TEXT": "--help"])
        #expect(option.status == 64)
        let found = ShellExamples.scripts(
            in: "a --exec 'one\n  $WSX_TEXT' b\n  echo \"$WSX_AUTHOR\"\nnotify command 'three'\n")
        #expect(found == ["one\n  $WSX_TEXT", "three", "echo \"$WSX_AUTHOR\""])
    }
}
