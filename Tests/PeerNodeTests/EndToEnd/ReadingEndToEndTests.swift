import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `What one has read` {
        @Test func `is the same on the phone, also when both are never there at once`() throws {
            let mina = TemporaryNode()
            let (joon, phone) = (TemporaryNode(), TemporaryNode())
            mina.up(name: "Mina", workspace: "acme")
            let joined = joon.join(mina.invite(), name: "Joon")
            try #require(joined.status == 0, "\(joined.errors)")
            let link = joon.run("device", "link", "--json").object["link"]?.stringValue ?? ""
            let linked = phone.run(
                ["device", "link", link, "--name", "Joon"] + TemporaryNode.loopback)
            try #require(linked.status == 0, "\(linked.errors)")
            #expect(eventually { mina.run("member", "list", "--json").objects.count == 2 })
            #expect(mina.run("send", "general", "one").status == 0)
            #expect(mina.run("send", "general", "two").status == 0)
            #expect(
                eventually {
                    phone.run("unread", "--json").objects.first?["unread"]?.integerValue == 2
                })
            phone.run("down")

            #expect(eventually { joon.texts("general") == ["one", "two"] })
            #expect(joon.run("unread").output.contains("two"))
            let read = joon.run("read", "mark", "general", "--json")
            #expect(read.status == 0, "\(read.errors)")
            #expect(read.object["unread"]?.integerValue == 0)
            #expect(joon.run("unread", "--json").objects.isEmpty)
            #expect(joon.run("channel", "mute", "general", "8h").status == 0)
            #expect(joon.run("ui", "pref", "set", "theme", "dark").status == 0)
            #expect(mina.run("send", "general", "three").status == 0)
            #expect(eventually { joon.texts("general").count == 3 })
            // Within the minute: kept in memory, and written when the node ends.
            #expect(joon.run("read", "mark", "general").status == 0)
            let digest = joon.run("workspace", "show", "--json").object["digest"]
            #expect(
                eventually { mina.run("workspace", "show", "--json").object["digest"] == digest })
            joon.run("down")

            phone.up()
            #expect(
                eventually {
                    phone.run("ui", "pref", "get", "theme", "--json").object["value"] == "dark"
                })
            #expect(
                eventually {
                    phone.run("channel", "show", "general", "--json").object["muted"] == true
                })
            #expect(
                phone.run("unread", "--json").objects.first?["unread"]?.integerValue ?? 0 <= 1)
            #expect(mina.run("ui", "pref", "get", "theme", "--json").object["value"] == .null)
            phone.run("down")
            joon.up()
            #expect(joon.run("unread", "--json").objects.isEmpty)
            for node in [mina, joon] { node.run("down") }
        }
    }
}
