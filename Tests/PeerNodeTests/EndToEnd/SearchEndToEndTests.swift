import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Searching from the command line` {
        @Test func `finds the last of a burst that was written just before`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(mina.socket))
            for round in 1...3 {
                for number in 1...600 {
                    socket.post(
                        "message.send",
                        ["channel": "general", "text": .string("word\(round)x\(number)z")])
                }
                let found = socket.call("search", ["query": .string("word\(round)x600z")])
                #expect(found?.rows.count == 1, "\(round): \(found?.text ?? "nothing")")
                #expect(found?["result"]?["complete"] == true)
            }
        }

        @Test func `finds what was said, in three scripts, also after a restart`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            for text in ["오늘 회의록 공유합니다", "明天的会议记录", "会議の議事録です", "the release plan"] {
                #expect(mina.run("send", "general", text).status == 0)
            }
            #expect(mina.run("channel", "create", "ops").status == 0)
            #expect(mina.run("send", "ops", "plan: see https://example.org").status == 0)
            func found(_ arguments: String...) -> [String] {
                mina.run(["search"] + arguments + ["--json"]).objects
                    .compactMap { $0["message"]?["text"]?.stringValue }
            }
            #expect(found("회의") == ["오늘 회의록 공유합니다"])
            #expect(found("会议") == ["明天的会议记录"])
            #expect(found("議事") == ["会議の議事録です"])
            #expect(found("plan") == ["plan: see https://example.org", "the release plan"])
            #expect(found("plan", "--in", "general") == ["the release plan"])
            #expect(found("plan", "--has", "link", "--from", "@Mina", "-n", "5").count == 1)
            #expect(found("plan", "--after", "1h").count == 2)
            #expect(found("plan", "--kind", "channel").isEmpty)
            #expect(
                mina.run("search", "ops", "--kind", "channel", "--json").object["kind"] == "channel"
            )
            #expect(mina.run("member", "find", "mi", "--json").objects.isEmpty)

            let shown = mina.run("search", "plan", "--color", "always").output
            #expect(shown.contains("#ops"))
            #expect(shown.contains("the release \u{1b}[1mplan\u{1b}[0m"))
            let plain = mina.run("search", "release", "--plain").output
            #expect(plain.hasPrefix("message\tm_"))
            #expect(plain.hasSuffix("\tMina\tthe release plan\n"))
            #expect(mina.run("search", "!!").status == 2)

            #expect(FileManager.default.fileExists(atPath: mina.home + "/search.db"))
            let status = try FileManager.default.attributesOfItem(atPath: mina.home + "/search.db")
            #expect((status[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            mina.run("down")
            mina.up()
            #expect(eventually { found("회의") == ["오늘 회의록 공유합니다"] })
            // A file that is no index is replaced without a word.
            mina.run("down")
            try Data("rubbish".utf8).write(to: URL(fileURLWithPath: mina.home + "/search.db"))
            mina.up()
            #expect(eventually { found("release") == ["the release plan"] })
            mina.run("down")
        }

        @Test func `leaves no word of a home with a passphrase on the disk`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            #expect(mina.run("send", "general", "xylographcanary").status == 0)
            #expect(mina.run("search", "xylographcanary", "--json").objects.count == 1)
            let secret = mina.home + "/../secret"
            try Data("correct horse battery\n".utf8).write(to: URL(fileURLWithPath: secret))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
            let changed = mina.run("passphrase", "change", "--new-file", secret)
            try #require(changed.status == 0, "\(changed.errors)")
            #expect(
                eventually { !FileManager.default.fileExists(atPath: mina.home + "/search.db") })
            #expect(mina.run("send", "general", "xylographcanary again").status == 0)
            #expect(
                eventually { mina.run("search", "xylographcanary", "--json").objects.count == 2 })
            let files = FileManager.default.enumerator(atPath: mina.home)?.allObjects ?? []
            for case let name as String in files {
                guard
                    let bytes = FileManager.default.contents(atPath: mina.home + "/" + name)
                else { continue }
                #expect(bytes.range(of: Data("xylographcanary".utf8)) == nil, "in \(name)")
                #expect(!name.hasPrefix("search.db"))
            }
            mina.run("down")
        }
    }
}
