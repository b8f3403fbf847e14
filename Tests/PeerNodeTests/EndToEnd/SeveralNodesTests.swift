import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Several nodes` {
        private func digest(_ node: TemporaryNode) -> JSONValue? {
            node.run("workspace", "show", "--json").object["digest"]
        }

        @Test func `meet by a link, and the next command sees everything`() throws {
            let mina = TemporaryNode()
            let joon = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("channel", "create", "plans")
            for number in 1...40 {
                mina.run("rpc", "message.send", "channel=plans", "text=p\(number)")
            }
            let printed = mina.run("invite", "create").output
            let word = printed.split(whereSeparator: \.isWhitespace)
                .first { $0.hasPrefix("wsx://join/") }
            let link = String(try #require(word))
            #expect(link.utf8.count <= 150)
            #expect(printed.hasPrefix("one person, 24 hours, role member\n"))

            let joined = joon.run(
                ["join", link.uppercased(), "--name", "Joon"] + TemporaryNode.loopback)
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(joined.output.contains("ok   identity   Joon"))
            #expect(joined.output.contains("ok   found      Mina at 127.0.0.1:"))
            #expect(joined.output.contains("ok   joined     acme  role member\n"))
            #expect(joon.texts("plans") == (1...40).map { "p\($0)" })
            #expect(joon.run("workspace", "show", "--json").object["selected"] == true)
            #expect(joon.run("send", "general", "hello").status == 0)
            #expect(eventually { mina.texts() == ["hello"] })
            #expect(eventually { digest(mina) == digest(joon) })
            #expect(
                eventually { mina.run("peer", "list", "--json").object["ahead"] == 0 },
                "who has just joined is not said to lack what came with joining")
            let names = mina.run("member", "list", "--json").objects.compactMap { $0["name"] }
            #expect(names == ["Mina", "Joon"])
            // The link is used up, and joining again with it changes nothing for who is in.
            #expect(joon.join(link).status == 0)
            let late = TemporaryNode()
            let refused = late.join(link, name: "Late")
            #expect(refused.status == 1)
            #expect(refused.error.kind == "invite_used")
        }

        @Test func `are together when the command ends, with all there is to read`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let socket = try #require(ControlSocket(mina.socket))
            let texts = (1...200).map { "m\($0)" }
            for text in texts {
                socket.post("message.send", ["channel": "general", "text": .string(text)])
            }
            for _ in texts { #expect(socket.next()?["result"] != nil) }
            let link = mina.invite("--uses", "3")
            for name in ["Joon", "Ana", "Noor"] {
                let node = TemporaryNode()
                #expect(node.join(link, name: name).status == 0)
                let page = node.run("log", "general", "-n", "100", "--json").objects
                #expect(page.map { $0["text"]?.stringValue } == texts.suffix(100))
            }
        }

        @Test func `catch up by themselves after one was away`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            joon.run("down")
            let socket = try #require(ControlSocket(mina.socket))
            let texts = (1...100).map { "m\($0)" }
            for text in texts {
                socket.post("message.send", ["channel": "general", "text": .string(text)])
            }
            for _ in texts { #expect(socket.next()?["result"] != nil) }
            joon.up()
            #expect(eventually { joon.texts().count >= 100 })
            #expect(joon.texts() == texts)
            #expect(eventually { digest(mina) == digest(joon) })
            // Nobody is said to lack what he has.
            for node in [mina, joon] {
                #expect(
                    eventually {
                        let peer = node.run("peer", "list", "--json").object
                        return peer["ahead"] == 0 && peer["behind"] == 0
                    })
            }
            let id = mina.run("message", "show", "last", "--in", "general", "--json").object
            #expect(id["text"] == "m100")
            #expect(
                eventually {
                    mina.run("message", "show", "last", "--in", "general", "--json")
                        .object["holders"] == 2
                })
        }

        @Test func `let others in while the inviter is away`() throws {
            let mina = TemporaryNode()
            let joon = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let made = joon.join(mina.invite("--role", "admin"), name: "Joon")
            try #require(made.status == 0, "\(made.errors)")
            #expect(made.object["role"] == "admin")
            mina.run("send", "general", "from Mina")
            #expect(eventually { joon.texts() == ["from Mina"] })
            // The invite travels to the other admin before its maker leaves.
            let link = mina.invite()
            #expect(eventually { joon.run("invite", "list", "--json").objects.count >= 2 })
            mina.run("down")
            let ana = TemporaryNode()
            let joined = ana.join(link, name: "Ana")
            #expect(joined.status == 0, "\(joined.errors)")
            #expect(ana.texts() == ["from Mina"])

            // Mina and Ana never met: Joon tells them of each other, and goes.
            mina.up()
            #expect(eventually { mina.run("member", "list", "--json").objects.count == 3 })
            #expect(
                eventually {
                    ana.run("peer", "list", "--json").objects
                        .filter { $0["state"] == "connected" }.count == 2
                }, "\(ana.run("peer", "list", "--json").output)")
            joon.run("down")
            ana.run("send", "general", "from Ana")
            #expect(eventually { mina.texts().last == "from Ana" })
        }

        @Test func `add and forget peers, and leave the network`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let address = try #require(
                mina.run("net", "status", "--json").object["listen"]?.arrayValue?.first?.stringValue
            )
            func connected(_ node: TemporaryNode) -> Int {
                node.run("peer", "list", "--json").objects
                    .filter { $0["state"] == "connected" }.count
            }
            #expect(eventually { connected(joon) == 1 && connected(mina) == 1 })
            let away = mina.run("net", "suspend", "--json").object
            #expect(away["suspended"] == true)
            #expect(away["peers"]?["connected"] == 0)
            #expect(mina.run("send", "general", "alone").status == 0)
            #expect(eventually { connected(joon) == 0 })
            #expect(joon.texts() == [])
            // It is answered when the listener is back, at the address that others know.
            let back = mina.run("net", "resume", "--json").object
            #expect(back["suspended"] == false)
            #expect(back["listen"] == [.string(address)])
            let again = mina.run("net", "resume", "--json").object
            #expect(again["listen"] == [.string(address)])
            #expect(eventually { joon.texts() == ["alone"] })

            let peer = try #require(
                joon.run("peer", "list", "--json").object["id"]?.stringValue)
            #expect(joon.run("peer", "remove", peer, "--json").status == 0)
            #expect(joon.run("peer", "add", "no address", "--json").status == 2)
            let now = mina.run("net", "status", "--json").object["listen"]?.arrayValue?.first
            #expect(joon.run("peer", "add", now?.stringValue ?? address, "--json").status == 0)
            #expect(eventually { connected(joon) == 1 })
            #expect(eventually { joon.run("sync", "status", "--json").object["behind"] == 0 })
        }

        @Test func `refuse bad invites at once, and leave nothing behind`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            let late = TemporaryNode()

            let garbage = late.join("wsx://join/garbage", name: "Late")
            #expect(garbage.status == 1)
            #expect(garbage.error.kind == "invite_invalid")
            #expect(!FileManager.default.fileExists(atPath: late.home))
            let link = mina.invite()
            let last = link.last == "0" ? "2" : "0"
            #expect(
                late.join(String(link.dropLast()) + last, name: "Late").error.kind
                    == "invite_invalid")

            #expect(late.join(link).status == 2)
            #expect(!FileManager.default.fileExists(atPath: late.home))

            let made = mina.run("invite", "create", "--json").object
            let revoked = made["link"]?.stringValue ?? ""
            #expect(
                mina.run("invite", "revoke", made["id"]?.stringValue ?? "", "--json")
                    .object["state"] == "revoked")
            let refused = late.join(revoked, name: "Late")
            #expect(refused.error.kind == "invite_invalid", "\(refused.errors)")
            #expect(refused.status == 1)
            #expect(late.run("workspace", "list", "--json").objects.isEmpty)

            // Used up by somebody else.
            let once = mina.invite()
            let joon = TemporaryNode()
            #expect(joon.join(once, name: "Joon").status == 0)
            let used = late.join(once, name: "Late")
            #expect(used.error.kind == "invite_used")
            #expect(used.status == 1)

            // Nobody there who may admit, which every member may by an open invite.
            let valid = mina.invite()
            mina.run("down")
            joon.run("down")
            let alone = late.join(valid, name: "Late", timeout: "1s")
            #expect(alone.error.kind == "unreachable", "\(alone.errors)")
            #expect(alone.status == 7)
            #expect(late.run("workspace", "list", "--json").objects.isEmpty)
            // And when there is somebody again, the same link does: a start that is not told
            // where to listen takes the address of the last one, which the link tells.
            mina.run("up", "--announce", "off")
            #expect(late.join(valid, name: "Late").status == 0)
        }
    }
}
