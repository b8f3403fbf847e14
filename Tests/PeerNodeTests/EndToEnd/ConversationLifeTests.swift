import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `A conversation of two homes` {
        /// A message as a home shows it.
        private func shown(_ id: String, on node: TemporaryNode) -> JSONValue {
            node.run("message", "show", id, "--json").object
        }

        @Test func `is edited, answered, pinned and reacted to, and survives a crash`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            let sent = mina.run("send", "general", "helo @joon", "--json").object
            let id = try #require(sent["id"]?.stringValue)
            #expect(sent["mentions"]?.arrayValue?.count == 1)
            #expect(eventually { joon.texts() == ["helo @joon"] })

            #expect(
                mina.run("message", "edit", "last", "-", "--in", "general", input: "hello\n")
                    .status == 0)
            let short = String(id.prefix(26))
            #expect(joon.run("message", "react", short, "👍", "--in", "general").status == 0)
            #expect(joon.run("message", "pin", id).status == 0)
            #expect(joon.run("send", "general", "hi", "--thread", id, "--json").status == 0)
            #expect(
                joon.run("send", "general", "--location", "52.52,13.405", "--json").object["text"]
                    == "")
            func isWhole(_ node: TemporaryNode) -> Bool {
                let message = shown(id, on: node)
                return message["text"] == "hello" && message["pinned"] == true
                    && message["replies"] == 1 && message["reactions"]?.arrayValue?.count == 1
            }
            #expect(eventually { isWhole(mina) && isWhole(joon) })
            #expect(joon.run("message", "edit", id, "mine").status == 4)
            #expect(joon.run("unread").status == 0)
            let log = mina.run("log", "general").output
            #expect(log.contains("hello (edited) (pinned)\n"))
            #expect(log.contains("👍 1\n"))
            #expect(log.contains("↳ 1 reply\n"))
            #expect(log.contains("at 52.52,13.405\n"))
            #expect(!log.contains("hi\n"))
            #expect(mina.run("log", "general", "--thread", id, "--json").objects.count == 1)
            #expect(
                mina.run("log", "general", "--around", id, "-n", "1", "--json").object["id"]
                    == .string(id))
            #expect(mina.run("log", "general", "--since", "2h", "--json").objects.count == 3)
            #expect(mina.run("log", "general", "--until", "2h", "--json").objects.isEmpty)
            #expect(
                eventually {
                    mina.run("message", "who", id, "--json").objects
                        .allSatisfy { $0["complete"] == true }
                })

            let told = joon.run(
                "events", "--since", "all", "--type", "mention.*", "--count", "1", "--json")
            #expect(told.object["data"]?["id"] == .string(id))
            joon.kill()
            joon.up()
            #expect(isWhole(joon))
            #expect(joon.run("message", "react", id, "👍", "--remove").status == 0)
            #expect(joon.run("message", "unpin", id).status == 0)
            #expect(
                eventually {
                    let message = shown(id, on: mina)
                    return message["pinned"] == false && message["reactions"] == []
                })
            for node in [mina, joon] {
                #expect(node.run("check", "--json").object["ok"] == true)
                node.run("down")
            }
        }
    }
}
