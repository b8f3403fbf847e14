import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `The last message` {
        @Test func `is one that can be spoken of still`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            for text in ["one", "two", "three"] { mina.run("send", "general", text) }
            #expect(eventually { joon.texts() == ["one", "two", "three"] })
            #expect(joon.run("send", "general", "from Joon").status == 0)
            #expect(eventually { mina.texts().last == "from Joon" })
            func run(_ words: String..., on node: TemporaryNode) -> TemporaryNode.Outcome {
                node.run(["message"] + words + ["--in", "general", "--json"])
            }
            // You can only change your own.
            #expect(run("delete", "last", on: mina).status == 0)
            #expect(mina.texts() == ["one", "two", "from Joon"])
            #expect(run("edit", "last", "2", on: mina).object["text"] == "2")
            #expect(run("react", "last", "👍", on: mina).object["text"] == "from Joon")
            #expect(eventually { joon.texts() == ["one", "2", "from Joon"] })
            #expect(run("delete", "last", on: joon).status == 0)
            #expect(run("pin", "last", on: joon).object["text"] == "2")
            #expect(run("show", "last", on: joon).object["text"] == "2")
            #expect(
                joon.run("send", "general", "x", "--thread", "last", "--json").status == 0)
            let none = run("delete", "last", on: joon)
            #expect(none.status == 0)
            #expect(run("edit", "last", "y", on: joon).error.kind == "not_found")
        }

        @Test func `of nothing but white space is not sent`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            for words in [["send", "general", " "], ["send", "general", "\n"]] {
                #expect(mina.run(words).status == 2)
            }
            #expect(mina.run("send", "general", "-", input: "\n").status == 2)
            #expect(mina.run("send", "general", "-", input: "hi\n").status == 0)
            #expect(mina.texts() == ["hi"])
            let long = mina.run(
                "send", "general", "-", "--json", input: String(repeating: "x", count: 20_000))
            #expect(long.status == 1 && long.error.kind == "too_large")
            let posted = mina.run(
                "rpc", "message.send", "channel=general", "text=hi", "thread=m_nope00", "--json")
            #expect(posted.status == 5)
        }
    }
}
