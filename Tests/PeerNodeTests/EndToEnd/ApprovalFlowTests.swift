import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Asking to be let in` {
        @Test func `is told to wait, and is in once an admin has approved`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("channel", "create", "plans")
            let printed = mina.run("invite", "create", "--approve", "--channel", "plans").output
            #expect(printed.contains(", an admin must approve\n"))
            let link = try #require(
                printed.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("wsx://join/") })
            let joon = TemporaryNode()
            let asked = joon.join(String(link), name: "Joon")
            #expect(asked.status == 7)
            #expect(asked.error.kind == "pending")
            #expect(joon.run("workspace", "list", "--json").objects.isEmpty)
            #expect(joon.run("status").output.contains("your request to join waits for"))
            // Who waits is not told to found a workspace.
            let waiting = joon.run("up")
            #expect(waiting.status == 0)
            #expect(waiting.output.contains("your request to join waits for an approval\n"))
            #expect(waiting.output.contains("next: wait until someone lets you in"))
            #expect(!waiting.output.contains("up --workspace"))

            // Both nodes stop, and the admin decides while nobody waits.
            joon.run("down")
            mina.run("down")
            mina.run("up", "--announce", "off")
            let list = mina.run("request", "list")
            #expect(list.output.contains("pending") && list.output.contains("Joon"))
            let id = try #require(
                mina.run("request", "list", "--json").object["id"]?.stringValue)
            #expect(mina.run("request", "approve", "@Nobody", "--json").error.kind == "not_found")
            #expect(!id.isEmpty)
            let decided = mina.run("request", "approve", "@joon")
            #expect(decided.status == 0 && decided.output.contains("approved"))
            joon.up()
            #expect(eventually { !joon.run("workspace", "list", "--json").objects.isEmpty })
            #expect(
                eventually {
                    joon.run("channel", "list", "--json").objects.compactMap { $0["name"] }
                        == ["general", "plans"]
                })
            #expect(!joon.run("status").output.contains("waits for an approval"))
            #expect(joon.run("send", "plans", "in").status == 0)
            #expect(eventually { mina.texts("plans") == ["in"] })
        }

        @Test func `by the address of the workspace, until the policy is closed`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let policy = mina.run("policy", "set", "--join", "request", "--json").object
            let address = try #require(policy["address"]?.stringValue)
            #expect(mina.run("policy", "show").output.contains(address))
            #expect(mina.run("workspace", "show").output.contains(address))
            let joon = TemporaryNode()
            #expect(joon.join(address, name: "Joon").status == 7)
            let id = try #require(
                mina.run("request", "list", "--json").object["id"]?.stringValue)
            #expect(mina.run("request", "reject", id, "--json").object["state"] == "rejected")
            #expect(
                eventually { joon.run("status").output.contains("was declined") })
            #expect(joon.run("invite", "decline", address).status == 0)
            #expect(!joon.run("status").output.contains("was declined"))
            #expect(mina.run("policy", "set", "--join", "closed").status == 0)
            let late = TemporaryNode()
            #expect(late.join(address, name: "Late").error.kind == "invite_invalid")
            #expect(mina.run("policy", "set", "--join", "sometimes").status == 2)
        }

        @Test func `by two links is decided once, by the name of who asks`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let dana = TemporaryNode()
            for name: String? in ["Dana", nil] {
                let made = mina.run("invite", "create", "--approve", "--json").object
                let link = try #require(made["link"]?.stringValue)
                #expect(dana.join(link, name: name).status == 7)
            }
            #expect(mina.run("request", "list", "--json").objects.count == 2)
            let decided = mina.run("request", "approve", "@dana", "--json")
            #expect(decided.status == 0 && decided.object["state"] == "approved")
            let states = mina.run("request", "list", "--json").objects.compactMap { $0["state"] }
            #expect(states == ["approved", "approved"])
            #expect(eventually { dana.run("send", "general", "in").status == 0 })
        }

        @Test func `to come back is declined once, and the person hears so`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            #expect(joon.run("workspace", "leave", "--yes").status == 0)
            #expect(
                eventually { mina.run("member", "list", "--json").objects.count == 1 })
            let link = mina.invite()
            #expect(joon.join(link).status == 7)
            let waiting = joon.run("send", "general", "x", "--json")
            #expect(waiting.error.reason == "workspace.pending", "\(waiting.errors)")
            let decided = mina.run("request", "reject", "@Joon", "--json")
            #expect(decided.object["state"] == "rejected", "\(decided.errors)")
            #expect(
                eventually {
                    joon.run("status").output.contains(
                        "your request to join acme was declined")
                })
            #expect(joon.join(link).error.reason == "request.declined")
            let states = mina.run("request", "list", "--json").objects.compactMap { $0["state"] }
            #expect(states == ["rejected"])
            #expect(mina.run("request", "list").output.contains("who left today"))
        }

        @Test func `for a workspace that is handed over and ended`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            #expect(mina.run("workspace", "edit", "--name", "acme two").status == 0)
            #expect(
                eventually {
                    joon.run("workspace", "show", "--json").object["name"] == "acme two"
                })
            #expect(mina.run("workspace", "successor", "@Joon").status == 0)
            #expect(mina.run("workspace", "transfer", "@Joon").output.contains("admin"))
            #expect(
                eventually {
                    joon.run("workspace", "show", "--json").object["role"] == "owner"
                })
            #expect(mina.run("workspace", "delete", "acme two").status == 4)
            #expect(joon.run("workspace", "delete", "acme").status == 5)
            #expect(joon.run("workspace", "delete", "acme two", "--yes").status == 0)
            #expect(
                eventually {
                    let object = joon.run("workspace", "show", "--json").object
                    return object["acknowledged"]?.arrayValue?.count == 1
                })
            #expect(
                eventually { mina.run("workspace", "list", "--json").object["deleted"] == true })
            #expect(mina.run("send", "general", "late").status == 4)
        }
    }
}
