import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which events can be requested, and from which position.
struct `Events that somebody asks for` {
    @Test(arguments: [
        "file.added", "file.*", "note.*", "note.lock", "import.finished", "conflict.resolved",
        "config.changed",
    ])
    func `of what this version does not have may be asked for, and do not come`(
        _ type: String
    ) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.send("a")
        let types: JSONValue = [.string(type), "message.created"]
        let page = try mina.ok("events.wait", ["since": "all", "types": types])
        #expect(page.items.map { $0["type"] } == ["message.created"])
        try mina.ok("events.subscribe", ["types": types])
    }

    @Test(arguments: ["message.creatd", "mesage.*", "nothing", "files.added"])
    func `that no version has are refused, not waited for`(_ type: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for method in ["events.wait", "events.subscribe"] {
            let error = try mina.refused(method, ["types": ["message.created", .string(type)]])
            #expect(error.kind == .badRequest && error.reason == "events.type")
            #expect(error.fields.first?.name == "types" && error.hint != nil)
        }
    }

    @Test(arguments: [false, true])
    func `of a channel are read to the end after it was deleted`(_ isPrivate: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let made = try mina.ok(
            "channel.create", ["name": "plans", "private": .bool(isPrivate)])
        let id = made["id"] ?? .null
        let place = try mina.ok("events.wait", ["since": "all"])["next"] ?? .null
        try mina.send("last words", to: "plans")
        try mina.ok("channel.delete", ["channel": "plans"])
        let rest = try mina.ok("events.wait", ["since": place, "channels": [id]]).items
        #expect(rest.last?["type"] == "channel.deleted")
        #expect(rest.contains { $0["type"] == "message.created" })
        #expect(try mina.refused("events.wait", ["channels": ["c_nothere0"]]).kind == .notFound)
    }

    @Test func `go on after a cursor of before there was an identity`() throws {
        let bench = CoreBench()
        let mina = try bench.bareNode("Mina")
        let early = try mina.ok("events.wait")["next"] ?? .null
        try mina.ok("identity.create", ["name": "Mina"])
        try mina.ok("workspace.create", ["name": "acme"])
        let page = try mina.ok("events.wait", ["since": early])
        #expect(page.items.contains { $0["type"] == "workspace.created" })
        #expect(try mina.refused("events.wait", ["since": "e0.5"]).kind == .cursorExpired)
    }
}
