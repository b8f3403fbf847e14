import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `A guest in three homes` {
        /// Every byte that a stopped home has on its disk.
        private func bytes(of node: TemporaryNode) -> Data {
            var bytes = Data()
            let files = FileManager.default.enumerator(atPath: node.home)
            while let name = files?.nextObject() as? String {
                bytes +=
                    (try? Data(contentsOf: URL(fileURLWithPath: node.home + "/" + name))) ?? Data()
            }
            return bytes
        }

        private func within(_ condition: () -> Bool) -> Bool {
            eventually(condition)
        }

        @Test func `reads and writes the private channel, also while its owner is away`() throws {
            let (mina, joon) = (TemporaryNode(), TemporaryNode())
            let gita = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            try #require(joon.join(mina.invite(), name: "Joon").status == 0)
            #expect(mina.run("send", "general", "xylographgeneral").status == 0)
            #expect(mina.run("channel", "create", "xylographopen").status == 0)
            #expect(
                mina.run("channel", "create", "board", "--private", "--history", "all").status == 0)
            #expect(mina.run("channel", "add", "board", "@Joon").status == 0)
            #expect(mina.run("send", "board", "welcome").status == 0)
            #expect(within { joon.texts("board") == ["welcome"] })

            let open = mina.run(
                "invite", "create", "--role", "guest", "--channel", "general", "--json")
            #expect(open.status == 2)
            #expect(open.error.reason == "channel.public")
            let joined = gita.join(
                mina.invite("--role", "guest", "--channel", "board"), name: "Gita")
            try #require(joined.status == 0, "\(joined.errors)")
            #expect(joined.object["role"] == "guest")
            #expect(gita.texts("board") == ["welcome"], "\(joined.output)")
            #expect(gita.run("send", "board", "thank you").status == 0)
            #expect(within { joon.texts("board") == ["welcome", "thank you"] })

            // Mina is away: what Joon and Gita write goes between the two of them.
            mina.run("down")
            #expect(joon.run("send", "board", "just us").status == 0)
            #expect(within { gita.texts("board").last == "just us" })
            #expect(gita.run("send", "board", "and me").status == 0)
            #expect(gita.run("send", "@Joon", "psst").status == 0)
            #expect(within { joon.texts("board").last == "and me" })
            #expect(within { joon.texts("@Gita") == ["psst"] })

            let channels = gita.run("channel", "list", "--all", "--json").objects
            #expect(channels.compactMap { $0["name"]?.stringValue } == ["board"])
            let general = gita.run("log", "general", "--json")
            #expect(general.status == 5)
            #expect(general.error.kind == "not_found")
            let people = gita.run("member", "list", "--json").objects
            #expect(
                Set(people.compactMap { $0["name"]?.stringValue }) == ["Mina", "Joon", "Gita"])
            #expect(gita.run("workspace", "show", "--json").object["digest"] == .null)
            #expect(gita.run("workspace", "show").status == 0)
            #expect(gita.run("status").status == 0)
            #expect(gita.run("doctor").status == 0)
            #expect(gita.run("invite", "create", "--json").error.kind == "forbidden")
            let check = gita.run("rpc", "node.check", "--json")
            #expect(check.output.contains(#""ok":true"#), "\(check.output)")

            mina.up()
            #expect(
                within { mina.texts("board") == ["welcome", "thank you", "just us", "and me"] })
            let digest = joon.run("workspace", "show", "--json").object["digest"]
            #expect(
                within { mina.run("workspace", "show", "--json").object["digest"] == digest })
            let events = gita.run("rpc", "events.wait", #"{"since":"all","limit":1000}"#)
            for word in ["xylographgeneral", "xylographopen"] {
                #expect(!events.output.contains(word))
            }
            gita.run("down")
            let stored = bytes(of: gita)
            #expect(stored.count > 10_000)
            for word in ["xylographgeneral", "xylographopen"] {
                #expect(stored.range(of: Data(word.utf8)) == nil)
            }
        }
    }
}
