import Foundation
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `An invite that opens nothing` {
        private func mina() -> TemporaryNode {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            return node
        }

        /// Refused with this word, at once, and with nothing left behind.
        private func expect(
            _ link: String, _ kind: String, at late: TemporaryNode = TemporaryNode(),
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let refused = late.join(link, name: "Late")
            #expect(refused.status == 1, sourceLocation: sourceLocation)
            #expect(refused.error.kind == kind, "\(refused.errors)", sourceLocation: sourceLocation)
            #expect(refused.output.isEmpty, sourceLocation: sourceLocation)
            #expect(
                late.run("workspace", "list", "--json").objects.isEmpty,
                sourceLocation: sourceLocation)
        }

        private func state(_ id: JSONValue?, at node: TemporaryNode) -> JSONValue? {
            node.run("invite", "list", "--json").objects.first { $0["id"] == id }?["state"]
        }

        @Test func `has expired`() throws {
            let mina = mina()
            let made = mina.run("invite", "create", "--expires", "1s", "--json").object
            #expect(eventually { state(made["id"], at: mina) == "expired" })
            let link = made["link"]?.stringValue ?? ""
            expect(link, "invite_expired")
            let human = TemporaryNode().run(
                ["join", link, "--name", "Late"] + TemporaryNode.loopback)
            #expect(human.status == 1)
            #expect(human.errors.contains("expired"))
            #expect(human.errors.contains("hint: ask for a new one"))
            #expect(mina.run("member", "list", "--json").objects.count == 1)
            #expect(mina.run("invite", "create", "--expires", "999ms", "--json").status == 2)
        }

        @Test func `was revoked`() throws {
            let mina = mina()
            let made = mina.run("invite", "create", "--json").object
            let id = made["id"]?.stringValue ?? ""
            let revoked = mina.run("invite", "revoke", id, "--json").object
            #expect(revoked["state"] == "revoked")
            expect(made["link"]?.stringValue ?? "", "invite_invalid")
            #expect(mina.run("invite", "revoke", id, "--json").object["state"] == "revoked")
        }

        @Test func `is used up`() throws {
            let mina = mina()
            let made = mina.run("invite", "create", "--uses", "2", "--json").object
            let link = made["link"]?.stringValue ?? ""
            for name in ["Joon", "Ana"] {
                let node = TemporaryNode()
                #expect(node.join(link, name: name).status == 0)
                // A member is told so, and cannot use it a second time.
                #expect(node.join(link).status == 0)
            }
            #expect(state(made["id"], at: mina) == "used")
            expect(link, "invite_used")
            #expect(mina.run("member", "list", "--json").objects.count == 3)
        }

        @Test func `names another workspace than its secret is for`() throws {
            let mina = mina()
            let acme = try InviteLink(mina.invite())
            #expect(mina.up(workspace: "beta").status == 0)
            let beta = try InviteLink(mina.invite())
            let crossed = InviteLink(
                workspace: acme.workspace, secret: beta.secret, invite: beta.invite,
                hints: beta.hints)
            let late = TemporaryNode()
            expect(crossed.text.link, "invite_invalid", at: late)
            #expect(mina.run("member", "list", "--json").objects.count == 1)
            // The same home may still come in by a link that is right.
            #expect(late.join(acme.text.link, name: "Late").status == 0)
            #expect(late.run("workspace", "show", "--json").object["name"] == "acme")
        }

        @Test func `is no link at all`() throws {
            let mina = mina()
            let link = mina.invite()
            let other = link.last == "0" ? "1" : "0"
            let half = String(link.prefix(link.count / 2))
            let texts = [
                "wsx://join/", "wsx://join/zzz", "http://example.org/", "acme",
                "wsx://joyn/" + link,
                half, link + "0", String(link.dropLast()) + other, link + " " + link,
                "wsx://join/" + String(repeating: "b", count: 139),
            ]
            for text in texts {
                let late = TemporaryNode()
                let refused = late.join(text, name: "Late")
                #expect(refused.status == 1, "\(text)")
                #expect(refused.error.kind == "invite_invalid", "\(text) \(refused.errors)")
                // Nothing was started for it, and nothing made.
                #expect(!FileManager.default.fileExists(atPath: late.home), "\(text)")
            }
            #expect(TemporaryNode().join("", name: "Late").status != 0)
            #expect(mina.run("status", "--check").status == 0)
        }

        @Test func `is for the workspace that you are in already`() throws {
            let mina = mina()
            let made = mina.run("invite", "create", "--json").object
            let link = made["link"]?.stringValue ?? ""
            #expect(mina.up(workspace: "beta").status == 0)
            let again = mina.join(link)
            #expect(again.status == 0, "\(again.errors)")
            #expect(again.object["name"] == "acme")
            #expect(again.object["selected"] == true, "it is selected, as after joining")
            #expect(state(made["id"], at: mina) == "open")
            #expect(mina.run("member", "list", "--json").objects.count == 1)
        }
    }
}
