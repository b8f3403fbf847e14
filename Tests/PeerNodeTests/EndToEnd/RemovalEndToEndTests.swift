import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Removing somebody` {
        @Test func `keeps what was known, on the command line of three homes`() throws {
            let mina = TemporaryNode()
            let (joon, wim) = (TemporaryNode(), TemporaryNode())
            mina.up(name: "Mina", workspace: "acme")
            for (node, name) in [(joon, "Joon"), (wim, "Wim")] {
                let joined = node.join(mina.invite(), name: name)
                try #require(joined.status == 0, "\(joined.errors)")
            }
            joon.run("send", "general", "known")
            #expect(eventually { mina.texts() == ["known"] && wim.texts() == ["known"] })
            #expect(eventually { wim.run("member", "list", "--json").objects.count == 3 })

            let refused = wim.run("member", "remove", "@Joon", "--json")
            #expect(refused.status == 4)
            #expect(refused.error.reason == "role")
            // Joon is away from the network while he is removed, and writes on.
            joon.run("net", "suspend")
            #expect(joon.run("send", "general", "late").status == 0)
            let removed = mina.run("member", "remove", "@Joon")
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(removed.output.hasPrefix("Joon was removed. "))
            #expect(
                eventually {
                    mina.run("member", "status", "@Joon", "--json").objects
                        .filter { $0["complete"] == true }.count == 2
                })
            let status = mina.run("member", "status", "@Joon")
            #expect(status.output.hasPrefix("DEVICE"))
            #expect(status.output.contains("Wim") && status.output.contains("yes"))
            let shown = wim.run("member", "show", "@Joon", "--json").object
            #expect(shown["removed"] == true)
            #expect(shown["removed_at"]?.integerValue ?? 0 > 0)
            #expect(wim.run("member", "list", "--json").objects.count == 2)
            #expect(wim.run("member", "list", "--removed", "--json").objects.count == 1)

            joon.run("net", "resume")
            #expect(
                eventually { joon.run("workspace", "show", "--json").object["role"] == .null })
            #expect(eventually { joon.run("log", "general").output.contains("late (refused)") })
            let events = joon.run("rpc", "events.wait", "since=all", "limit=1000", "--json")
            #expect(events.output.contains(#""type":"message.refused""#), "\(events.output)")
            #expect(events.output.contains(#""reason":"removed""#))
            let silent = joon.run("send", "general", "more", "--json")
            #expect(silent.status == 4)
            #expect(silent.error.reason == "removed")
            wim.run("send", "general", "among us")
            #expect(eventually { mina.texts() == ["known", "among us"] })
            #expect(wim.texts() == ["known", "among us"])
            func digest(_ node: TemporaryNode) -> JSONValue? {
                node.run("workspace", "show", "--json").object["digest"]
            }
            #expect(eventually { digest(mina) == digest(wim) })

            #expect(mina.run("member", "remove", "@Joon").status == 6)
            #expect(mina.run("member", "role", "@Wim", "admin").output == "Wim is now an admin\n")
            #expect(mina.run("workspace", "leave").status == 6)
            #expect(mina.run("member", "role", "@Wim", "owner").status == 2)
            #expect(mina.run("workspace", "transfer", "@Wim", "--yes").status == 0)
            let left = mina.run("workspace", "leave")
            #expect(mina.run("up").output.contains("join LINK, with an invite"))
            #expect(left.output == "left acme; you can still read it here\n")
            #expect(mina.texts() == ["known", "among us"])
            #expect(
                eventually { wim.run("member", "list", "--json").objects.count == 1 })

            // No invite lets him in again by itself: an owner decides.
            let back = joon.join(wim.invite(), name: nil)
            #expect(back.status == 7, "\(back.errors)")
            #expect(joon.run("send", "general", "back").status != 0)
            let requests = wim.run("request", "list").output
            #expect(requests.contains("Joon, removed today by Mina, asks to come back"))
            #expect(wim.run("request", "approve", "@Joon").status == 0)
            #expect(eventually { joon.run("send", "general", "back").status == 0 })
            #expect(eventually { wim.texts() == ["known", "among us", "back"] })
        }
    }
}
