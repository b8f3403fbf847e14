import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Private conversations` {
        @Test func `pass through a third home, and all three are never there at once`() throws {
            let mina = TemporaryNode()
            let (joon, wim) = (TemporaryNode(), TemporaryNode())
            mina.up(name: "Mina", workspace: "acme")
            for (node, name) in [(joon, "Joon"), (wim, "Wim")] {
                let joined = node.join(mina.invite(), name: name)
                try #require(joined.status == 0, "\(joined.errors)")
            }
            #expect(eventually { joon.run("member", "list", "--json").objects.count == 3 })
            wim.run("down")

            // Wim is away. Mina only passes on what Joon writes, and cannot read it.
            let made = joon.run(
                "channel", "create", "board", "--private", "--history", "all", "--json")
            #expect(made.status == 0, "\(made.errors)")
            #expect(made.object["private"] == true)
            #expect(joon.run("channel", "add", "board", "@Wim").status == 0)
            #expect(joon.run("send", "board", "the budget").status == 0)
            #expect(joon.run("send", "@Wim", "are you there?").status == 0)
            let digest = joon.run("workspace", "show", "--json").object["digest"]
            #expect(
                eventually { mina.run("workspace", "show", "--json").object["digest"] == digest })
            joon.run("down")
            let foreign = mina.run("log", "board", "--json")
            #expect(foreign.status == 5)
            #expect(foreign.error.kind == "not_found")
            #expect(mina.run("dm", "list", "--json").objects.isEmpty)
            #expect(mina.run("channel", "list", "--all", "--json").objects.count == 1)

            wim.up()
            #expect(eventually { wim.texts("@Joon") == ["are you there?"] })
            #expect(eventually { wim.texts("board") == ["the budget"] })
            #expect(wim.run("channel", "list").output.contains("yes"))
            #expect(wim.run("dm", "list").output.contains("Joon"))
            #expect(wim.run("send", "@Joon", "now I am").status == 0)
            let answer = wim.run("workspace", "show", "--json").object["digest"]
            #expect(
                eventually { mina.run("workspace", "show", "--json").object["digest"] == answer })
            wim.run("down")

            joon.up()
            #expect(eventually { joon.texts("@Wim") == ["are you there?", "now I am"] })
            // Out, and the next word is for Joon alone.
            #expect(joon.run("channel", "remove", "board", "@Wim").status == 0)
            #expect(joon.run("send", "board", "alone").status == 0)
            let last = joon.run("workspace", "show", "--json").object["digest"]
            #expect(
                eventually { mina.run("workspace", "show", "--json").object["digest"] == last })
            joon.run("down")
            wim.up()
            #expect(
                eventually { wim.run("workspace", "show", "--json").object["digest"] == last })
            #expect(wim.texts("board") == ["the budget"])
            #expect(wim.run("send", "board", "hello?", "--json").error.reason == "channel.not_in")
            for node in [mina, wim] {
                let check = node.run("rpc", "node.check", "--json")
                #expect(check.output.contains(#""ok":true"#), "\(check.output)")
            }
        }
    }
}
