import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    /// What people do with channels besides writing into them.
    struct `A channel's life` {
        private func name(_ node: TemporaryNode, _ channel: String) -> JSONValue? {
            node.run("channel", "show", channel, "--json").object["name"]
        }

        @Test func `from its making to its deletion, on two nodes`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            #expect(joon.run("channel", "create", "plans").status == 0)
            #expect(eventually { name(mina, "plans") == "plans" })

            let edited = joon.run("channel", "edit", "plans", "--topic", "then", "--json")
            #expect(edited.object["topic"] == "then" && edited.object["owner"]?["name"] == "Joon")
            #expect(joon.run("channel", "edit", "plans").status == 2)
            #expect(joon.run("channel", "add", "plans", "@Mina").status == 0)
            #expect(joon.run("channel", "role", "plans", "@Mina", "admin").status == 0)
            #expect(
                eventually {
                    let members = mina.run("channel", "members", "plans", "--plain").output
                    return members.contains("Joon\towner") && members.contains("Mina\tadmin")
                })
            #expect(joon.run("channel", "find", "THEN", "--json").objects.count == 1)

            let leaving = joon.run("channel", "leave", "plans")
            #expect(leaving.status == 6)
            #expect(leaving.errors.contains(" channel transfer plans @U"))
            for command in ["leave", "archive", "delete"] {
                let refused = joon.run("channel", command, "general", "--json")
                #expect(refused.status == 6 && refused.error.kind == "default_channel")
            }
            #expect(joon.run("channel", "archive", "plans").status == 0)
            #expect(joon.run("send", "plans", "x", "--json").error.kind == "archived")
            #expect(joon.run("channel", "unarchive", "plans").status == 0)
            #expect(joon.run("channel", "transfer", "plans", "@Mina").status == 0)
            #expect(joon.run("channel", "leave", "plans").status == 0)
            #expect(joon.run("channel", "delete", "plans").status == 4)
            #expect(
                eventually {
                    mina.run("channel", "show", "plans", "--json").object["owner"]?["name"]
                        == "Mina"
                })
            #expect(mina.run("channel", "remove", "plans", "@Mina").status == 6)

            let gone = mina.run("channel", "delete", "plans")
            #expect(gone.status == 0 && gone.output.hasSuffix("  #plans\n"), "\(gone.output)")
            #expect(eventually { joon.run("channel", "show", "plans").status == 5 })
            #expect(joon.run("send", "plans", "x", "--json").error.kind == "not_found")
            let events = joon.run("rpc", "events.wait", "since=all", "limit=1000").output
            for type in ["edited", "role_changed", "archived", "unarchived", "deleted"] {
                #expect(events.contains("\"channel.\(type)\""), "\(type)")
            }
        }

        @Test func `as a twin that was made while two nodes were apart`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            #expect(joon.run("net", "suspend").status == 0)
            #expect(joon.run("channel", "create", "plans").status == 0)
            #expect(mina.run("channel", "create", "Plans").status == 0)
            #expect(joon.run("net", "resume").status == 0)
            func twins(_ node: TemporaryNode) -> [JSONValue] {
                node.run("channel", "list", "--all", "--json").objects
                    .filter { $0["default"] == false }
            }
            #expect(eventually { twins(mina).count == 2 && twins(joon).count == 2 })
            #expect(twins(mina).map { $0["id"] } == twins(joon).map { $0["id"] })
            #expect(Set(twins(mina).compactMap { $0["name"]?.stringValue }).count == 2)
            let error = mina.run("send", "plans", "x", "--json").error
            #expect(error.kind == "ambiguous")
            #expect(error["data"]?["candidates"]?.arrayValue?.count == 2)
            let own = try #require(twins(mina).first { $0["owner"]?["name"] == "Mina" })
            let id = try #require(own["id"]?.stringValue)
            #expect(mina.run("send", id, "to mine").status == 0)
            #expect(mina.run("channel", "edit", id, "--name", "ideas").status == 0)
            #expect(eventually { name(joon, "ideas") == "ideas" && name(joon, "plans") != nil })
            #expect(mina.run("send", "plans", "to his").status == 0)
            #expect(eventually { joon.texts("plans") == ["to his"] })
            #expect(joon.texts("ideas") == ["to mine"])
        }
    }
}
