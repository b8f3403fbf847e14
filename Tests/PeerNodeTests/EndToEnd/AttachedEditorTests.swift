import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// The client that docs/EDITORS.md shows, with real nodes.
    struct `An editor that is attached to a note` {
        /// The Python between the fences.
        private static func client() throws -> String {
            let page = try SourceTree.text("docs/EDITORS.md")
            let parts = page.components(separatedBy: "```python\n")
            try #require(parts.count == 2)
            return parts[1].components(separatedBy: "```")[0]
        }

        @Test func `needs a client of sixty lines at most`() throws {
            #expect(try Self.client().split(separator: "\n").count <= 60)
        }

        @Test func `shows what others write and keeps what is typed, also while the node is away`()
            throws
        {
            guard let python = Tool.path("python3", to: "attach an editor to a note") else {
                return
            }
            let (mina, joon) = try TemporaryNode.pair()
            #expect(mina.run("note", "create", "general", "List").status == 0)

            let script = mina.folder + "/client.py"
            try Self.client().write(toFile: script, atomically: true, encoding: .utf8)
            let shown = mina.folder + "/shown"
            _ = FileManager.default.createFile(atPath: shown, contents: nil)
            let keyboard = Pipe()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: python)
            process.arguments = ["-B", script, "List"]
            process.environment = mina.scriptEnvironment
            process.standardInput = keyboard
            process.standardOutput = FileHandle(forWritingAtPath: shown)
            process.standardError = FileHandle.nullDevice
            try process.run()
            defer { if process.isRunning { process.terminate() } }
            func type(_ text: String) throws {
                try keyboard.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            }
            func screen() -> String {
                let all = (try? String(contentsOfFile: shown, encoding: .utf8)) ?? ""
                return all.components(separatedBy: "---\n").last ?? ""
            }
            func note(_ node: TemporaryNode) -> String { node.run("note", "show", "List").output }
            func text(_ node: TemporaryNode) -> String? {
                ControlSocket(node.socket)?.call("note.get", ["note": "List"])?["result"]?["text"]?
                    .stringValue
            }

            try type("milk\n")
            #expect(eventually { note(joon) == "milk\n" }, "\(note(mina))")
            // One line break at the end of a text that is handed in belongs to its last line.
            let edited = joon.run("note", "edit", "List", "--from", "-", input: "eggs\nmilk\n\n")
            #expect(edited.status == 0, "\(edited.errors)")
            #expect(eventually { text(mina) == "eggs\nmilk\n" }, "\(text(mina) ?? "nothing")")
            // The client prints a line break after the text.
            #expect(eventually { screen() == "eggs\nmilk\n\n" }, "\(screen())")

            // Where the text does not end in a line break, the client begins a new line.
            let joined = joon.run("note", "edit", "List", "--from", "-", input: "eggs\nmilk\n")
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(eventually { screen() == "eggs\nmilk\n" }, "\(screen())")

            mina.kill()
            try type("bread\n")
            #expect(mina.up().status == 0)
            #expect(eventually { note(joon).contains("bread") }, "\(note(mina))")
            try keyboard.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(eventually { note(mina) == note(joon) })
            let words = note(mina).split(separator: "\n").map(String.init).sorted()
            #expect(words == ["bread", "eggs", "milk"], "\(note(mina))")
        }

        @Test func `is told at once what others type, and later that they wrote it`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let socket = try #require(ControlSocket(mina.socket))
            let made = socket.call("note.create", ["channel": "general", "title": "List"])
            let note = try #require(made?["result"]?["id"])
            #expect(eventually { joon.run("note", "show", "List").status == 0 })
            let shown = joon.folder + "/shown"
            _ = FileManager.default.createFile(atPath: shown, contents: nil)
            let keyboard = Pipe()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: TemporaryNode.program)
            process.arguments = ["--home", joon.home, "note", "attach", "List"]
            process.environment = joon.scriptEnvironment
            process.standardInput = keyboard
            process.standardOutput = FileHandle(forWritingAtPath: shown)
            process.standardError = FileHandle.nullDevice
            try process.run()
            defer { if process.isRunning { process.terminate() } }
            func lines(_ parts: String...) -> [String] {
                let all = (try? String(contentsOfFile: shown, encoding: .utf8)) ?? ""
                return all.components(separatedBy: "\n").filter { line in
                    parts.allSatisfy { line.contains($0) }
                }
            }
            #expect(eventually { !lines("\"version\":[0,0]").isEmpty })
            let watched = socket.call("note.watch", ["note": note])
            #expect(watched?["result"] != nil)
            #expect(eventually { !lines("\"cursors\"", "Mina").isEmpty })
            let typed = socket.call(
                "note.edit",
                ["note": note, "brief": true, "ops": [["insert": ["at": 0, "text": "hi"]]]])
            #expect(typed?["result"] != nil, "\(typed ?? .null)")
            // Laid over first, then written.
            let words = #"[[0,0,"hi"]]"#
            #expect(eventually { !lines("\"cursors\"", words).isEmpty })
            #expect(eventually { !lines("\"patch\":" + words + ",\"by\":{").isEmpty })
            try keyboard.fileHandleForWriting.close()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }
}
