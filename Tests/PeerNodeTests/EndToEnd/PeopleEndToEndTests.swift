import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `People` {
        @Test func `have profiles, and are there or not`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let set = joon.run(
                "profile", "set", "--name", "Joonho", "--description", "Paints at night", "--phone",
                "010-1234-5678")
            #expect(set.status == 0, "\(set.errors)")
            #expect(set.output.contains("010-1234-5678  (only you can see it)"))
            #expect(
                eventually {
                    mina.run("profile", "show", "@Joonho", "--json").object["description"]
                        == "Paints at night"
                })
            // The old name leads to him, and the command line says so; it gives no right.
            let former = mina.run("member", "show", "@Joon")
            #expect(former.status == 0)
            #expect(former.errors == "Joon is Joonho now\n")
            let told = mina.run("member", "show", "@Joon", "--json")
            #expect(told.object["formerly"]?[0]?["name"] == "Joon" && told.errors.isEmpty)
            #expect(mina.run("member", "role", "@Joon", "admin").status == 5)
            let seen = mina.run("profile", "show", "@Joonho", "--json").object
            #expect(seen["phone"] == .null)
            #expect(mina.run("member", "show", "@Joonho").output.contains("Paints at night"))
            #expect(joon.run("profile", "set", "--show", "phone").status == 0)
            #expect(
                eventually {
                    mina.run("profile", "show", "@Joonho").output.contains("010-1234-5678")
                })
            #expect(joon.run("profile", "image", "set", "--preset", "7").status == 0)
            #expect(
                eventually {
                    mina.run("profile", "show", "@Joonho", "--json").object["image"] == "preset:7"
                })
            #expect(joon.run("profile", "image", "clear").status == 0)
            let wrong = joon.run("profile", "set", "--phone", "12", "--email", "x")
            #expect(wrong.status == 2)
            for flag in ["--phone", "--email"] {
                #expect(wrong.errors.contains("'\(flag)' must be"), "\(wrong.errors)")
            }

            let busy = joon.run("presence", "set", "busy", "--text", "in a meeting")
            #expect(busy.output == "you are busy: in a meeting\n")
            #expect(
                eventually {
                    mina.run("presence", "list", "--json").objects.contains {
                        $0["name"] == "Joonho" && $0["state"] == "busy"
                            && $0["text"] == "in a meeting"
                    }
                })
            #expect(mina.run("presence", "list").output.contains("in a meeting"))
            #expect(joon.run("rpc", "typing.send", "channel=general").status == 0)
            joon.run("down")
            #expect(
                eventually { mina.run("presence", "list", "--json").objects.count == 1 })
            joon.up()
            #expect(
                eventually {
                    mina.run("presence", "list", "--json").objects.contains {
                        $0["state"] == "busy"
                    }
                })
            #expect(joon.run("presence", "clear").output == "you are online\n")
            for node in [mina, joon] { node.run("down") }
        }
    }
}
