import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Changing a workspace, handing it over, and ending it.
struct `A workspace` {
    private func pair() throws -> (CoreBench, BenchNode, BenchNode) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        return (bench, mina, try bench.guest("Joon", of: mina))
    }

    @Test func `is edited by admins, for everybody`() throws {
        let (bench, mina, joon) = try pair()
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let edited = try mina.ok(
            "workspace.edit", ["name": "acme two", "description": "all of it"])
        #expect(edited["name"] == "acme two" && edited["description"] == "all of it")
        #expect(try joon.ok("workspace.get")["name"] == "acme two")
        try ada.ok("workspace.edit", ["description": "", "image": "preset:7"])
        let seen = try joon.ok("workspace.get")
        #expect(seen["name"] == "acme two" && seen["description"] == .null)
        #expect(seen["image"] == "preset:7")
        for picture in ["preset:0", "preset:07", "preset:1000", "x"] {
            let failure = try ada.refused("workspace.edit", ["image": .string(picture)])
            #expect(failure.reason == "image.form", "\(picture)")
        }
        let unknown = try ada.refused("workspace.edit", ["image": "b_0123456789"])
        #expect(unknown.reason == "picture.not_found")
        #expect(try ada.ok("workspace.edit", ["image": ""])["image"] == .null)
        #expect(try joon.eventTypes().filter { $0 == "workspace.edited" }.count == 3)
        #expect(joon.outcome("workspace.edit", ["name": "mine"]) == "forbidden")
        #expect(mina.outcome("workspace.edit") == "bad_request")
        #expect(mina.outcome("workspace.edit", ["name": " "]) == "bad_request")
        try mina.ok("workspace.create", ["name": "other"])
        #expect(mina.outcome("workspace.edit", ["name": "Acme Two"]) == "duplicate")
    }

    @Test func `edited apart by two shows one name everywhere`() throws {
        let (bench, mina, _) = try pair()
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        bench.cut(mina, ada)
        try mina.ok("workspace.edit", ["name": "left", "description": "by Mina"])
        try ada.ok("workspace.edit", ["name": "right"])
        bench.heal(mina, ada)
        bench.advance(30_000)
        let names = try [mina, ada].map { try $0.ok("workspace.get").text("name") }
        #expect(names[0] == names[1])
        // A field that one side did not name stays as the other has set it.
        for node in [mina, ada] {
            #expect(try node.ok("workspace.get")["description"] == "by Mina")
        }
    }

    @Test func `is handed to another member, and its old owner stays as an admin`() throws {
        let (bench, mina, joon) = try pair()
        #expect(joon.outcome("workspace.transfer", ["member": "Mina"]) == "forbidden")
        #expect(mina.outcome("workspace.transfer", ["member": "Mina"]) == "bad_request")
        #expect(mina.outcome("workspace.transfer", ["member": "Nobody"]) == "unknown_user")
        let given = try mina.ok("workspace.transfer", ["member": "@Joon"])
        #expect(given["role"] == "admin" && given["owner"]?["name"] == "Joon")
        let taken = try joon.ok("workspace.get")
        #expect(taken["role"] == "owner" && taken["owner"]?["name"] == "Joon")
        #expect(try joon.eventTypes().contains("workspace.transferred"))
        // She can still do what admins do, write, and nothing more.
        try mina.send("still here")
        try mina.ok("workspace.edit", ["name": "acme two"])
        #expect(mina.outcome("invite.create", ["role": "admin"]) == "forbidden")
        #expect(mina.outcome("workspace.delete", ["name": "acme two"]) == "forbidden")
        #expect(mina.outcome("workspace.transfer", ["member": "Joon"]) == "forbidden")
        let kim = try bench.guest("Kim", of: mina)
        #expect(try joon.memberNames() == ["Joon", "Kim", "Mina"])
        try mina.restart()
        #expect(try mina.ok("workspace.get")["role"] == "admin")
        #expect(try kim.log() == ["still here"])
        // And back.
        try joon.ok("workspace.transfer", ["member": "Mina"])
        #expect(try mina.ok("workspace.get")["role"] == "owner")
        #expect(try joon.ok("workspace.get")["role"] == "admin")
        #expect(mina.outcome("invite.create", ["role": "admin"]) == "ok")
        for node in [joon, kim] { #expect(node.openCount == 1) }
    }

    @Test func `of one has nobody to be handed to`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(mina.outcome("workspace.transfer", ["member": "Joon"]) == "unknown_user")
    }

    @Test func `names who gets it, on the word of an owner alone`() throws {
        let (bench, mina, joon) = try pair()
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        #expect(try mina.ok("workspace.get")["successor"] == .null)
        try mina.ok("workspace.successor.set", ["member": "Joon"])
        #expect(try joon.ok("workspace.get")["successor"]?["name"] == "Joon")
        #expect(ada.outcome("workspace.successor.set", ["member": "Ada"]) == "forbidden")
        #expect(mina.outcome("workspace.successor.set", ["member": "Mina"]) == "bad_request")
        var settings = AuthorityPayload.WorkspaceSettings()
        settings.successor = try ada.workspace().member.bytes
        try ada.author(.setWorkspace(settings))
        #expect(try mina.ok("workspace.get")["successor"]?["name"] == "Joon")
        #expect(try mina.ok("workspace.successor.set", ["member": "none"])["successor"] == .null)
        try mina.ok("workspace.successor.set", ["member": "Ada"])
        #expect(try mina.ok("workspace.successor.set")["successor"] == .null)
    }

    /// No hint is a way to end the one that was not meant.
    @Test func `is not ended by the name of another one`() throws {
        let (bench, mina, _) = try pair()
        let unknown = try mina.refused("workspace.delete", ["name": "nosuch"])
        #expect(unknown.message.contains("'acme'") && unknown.hint?.contains("acme") == false)
        try mina.ok("workspace.create", ["name": "side"])
        let other = try mina.refused("workspace.delete", ["name": "acme"])
        #expect(other.message.contains("'side'") && other.hint?.contains("side") == false)
        #expect(other.hint?.contains("one with -w") == true)
        let rest = try mina.ok("workspace.list").items
        #expect(rest.count == 2 && rest.allSatisfy { $0["deleted"] != true })
        withExtendedLifetime(bench) {}
    }

    @Test func `is ended by its owner, who names it`() throws {
        let (bench, mina, joon) = try pair()
        let kim = try bench.guest("Kim", of: mina)
        try mina.send("hello")
        #expect(joon.outcome("workspace.delete", ["name": "acme"]) == "forbidden")
        #expect(mina.outcome("workspace.delete", ["name": "Acme"]) == "bad_request")
        bench.advance(2_000)
        kim.kill()
        let link = try mina.link()
        let deleted = try mina.ok("workspace.delete", ["name": "acme"])
        #expect(deleted["deleted"] == true && deleted["acknowledged"] == [])
        bench.advance(5_000)
        func knowing() throws -> [String] {
            let list = try mina.ok("workspace.get")["acknowledged"]?.arrayValue ?? []
            return list.compactMap { $0["member"]?["name"]?.stringValue }.sorted()
        }
        #expect(try knowing() == ["Joon"])
        try kim.boot()
        bench.advance(60_000)
        #expect(try knowing() == ["Joon", "Kim"])
        for node in [mina, joon, kim] {
            let listed = try node.ok("workspace.list").items
            #expect(listed.count == 1 && listed[0]["deleted"] == true)
            for method in ["channel.list", "invite.create", "policy.get", "member.list"] {
                #expect(try node.refused(method).reason == "workspace.deleted", "\(method)")
            }
            let refused = try node.refused(
                "message.send", ["channel": "general", "text": "late"])
            #expect(refused.reason == "workspace.deleted")
            let event = try node.events(types: ["workspace.deleted"])
            #expect(event.count == 1 && event[0]["data"]?["by"]?["name"] == "Mina")
            #expect(node.openCount <= 2)
        }
        let late = try bench.bareNode("Late")
        #expect(late.ask(link) == "invite_invalid")
        // Saying it twice is the same, and other workspaces go on.
        let count = try mina.rowCount("operation")
        #expect(try mina.ok("workspace.delete", ["name": "acme"])["deleted"] == true)
        #expect(try mina.rowCount("operation") == count)
        try mina.ok("workspace.create", ["name": "next"])
        try mina.send("goes on")
    }
}
