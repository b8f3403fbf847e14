import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A call under a key` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    struct Creation: Sendable, CustomTestStringConvertible {
        let method: String
        let parameters: JSONObject
        /// Parameters of another call.
        let others: JSONObject
        var testDescription: String { method }

        func under(_ key: String, _ parameters: JSONObject? = nil) -> JSONValue {
            var parameters = parameters ?? self.parameters
            parameters.append("key", .string(key))
            return .object(parameters)
        }
    }

    static let creations = [
        Creation(
            method: "message.send", parameters: ["channel": "general", "text": "hi"],
            others: ["channel": "general", "text": "ho"]),
        Creation(
            method: "channel.create", parameters: ["name": "plans"], others: ["name": "dreams"]),
        Creation(
            method: "workspace.create", parameters: ["name": "second"],
            others: ["name": "third"]),
        Creation(method: "invite.create", parameters: ["uses": 2], others: ["uses": 3]),
    ]

    @Test(arguments: creations)
    func `gives the first answer again and makes nothing`(_ creation: Creation) throws {
        let first = try mina.ok(creation.method, creation.under("k1"))
        #expect(first["replayed"] == nil)
        let count = try mina.rowCount("operation")
        let again = try mina.ok(creation.method, creation.under("k1"))
        #expect(again["replayed"] == true)
        #expect(again["id"] == first["id"])
        #expect(again.fieldNames == first.fieldNames.union(["replayed"]))
        #expect(try mina.rowCount("operation") == count)
    }

    @Test(arguments: [false, true])
    func `gives what was deleted since as it can still be told`(_ isPrivate: Bool) throws {
        let call: JSONValue = ["name": "plans", "private": .bool(isPrivate), "key": "k1"]
        let first = try mina.ok("channel.create", call)
        try mina.ok("channel.delete", ["channel": "plans"])
        let again = try mina.ok("channel.create", call)
        #expect(again["replayed"] == true && again["deleted"] == true)
        #expect(again["id"] == first["id"] && again["name"] == "plans")
        #expect(try mina.ok("channel.list", ["scope": "all"]).items.count == 1)
    }

    @Test(arguments: creations)
    func `is refused when another body comes`(_ creation: Creation) throws {
        try mina.ok(creation.method, creation.under("k1"))
        let count = try mina.rowCount("operation")
        let error = try mina.refused(
            creation.method, creation.under("k1", creation.others))
        #expect(error.kind == .keyReused)
        #expect(error.exitStatus == 6)
        #expect(error.json["data"]?["field"] == "key")
        #expect(try mina.rowCount("operation") == count)
        // And the key still stands for the first one.
        #expect(try mina.ok(creation.method, creation.under("k1"))["replayed"] == true)
    }

    @Test(arguments: creations)
    func `is remembered over a restart, and whatever the clock says`(_ creation: Creation) throws {
        let week: UInt64 = 7 * 86_400_000
        let first = try mina.ok(creation.method, creation.under("k1"))
        try mina.restart()
        bench.wall += week - 60_000
        #expect(try mina.ok(creation.method, creation.under("k1"))["id"] == first["id"])
        // Nor does a clock that jumps ahead make anybody do it twice.
        bench.wall += 3_650 * 86_400_000
        #expect(try mina.ok(creation.method, creation.under("k1"))["id"] == first["id"])
    }

    @Test func `is another key under another method`() throws {
        for creation in Self.creations {
            #expect(try mina.ok(creation.method, creation.under("same"))["replayed"] == nil)
        }
    }

    @Test(arguments: creations)
    func `finds what it made in another workspace than the selected one`(
        _ creation: Creation
    ) throws {
        let first = try mina.ok(creation.method, creation.under("k1"))
        try mina.ok("workspace.create", ["name": "elsewhere"])
        let again = try mina.ok(creation.method, creation.under("k1"))
        #expect(again["id"] == first["id"])
        #expect(again["replayed"] == true)
    }

    @Test func `takes parameters in any order`() throws {
        try mina.ok("message.send", ["channel": "general", "text": "hi", "key": "k"])
        let again = try mina.ok(
            "message.send", ["key": "k", "text": "hi", "thread": .null, "channel": "general"])
        #expect(again["replayed"] == true)
    }

    @Test func `shows the object as it is now`() throws {
        let sent = try mina.ok(
            "message.send", ["channel": "general", "text": "hi", "key": "k"])
        try mina.send("an answer", thread: try sent.text("id"))
        let again = try mina.ok(
            "message.send", ["channel": "general", "text": "hi", "key": "k"])
        #expect(again["replies"] == 1)
    }

    @Test func `makes an identity once`() throws {
        let bench = CoreBench()
        let node = try bench.bareNode("Mina")
        let first = try node.ok("identity.create", ["name": "Mina", "key": "k"])
        let again = try node.ok("identity.create", ["name": "Mina", "key": "k"])
        #expect(again["id"] == first["id"])
        #expect(again["replayed"] == true)
        #expect(
            try node.refused("identity.create", ["name": "Mona", "key": "k"]).kind == .keyReused)
        #expect(
            try node.refused("identity.create", ["name": "Mina", "key": "l"]).kind == .duplicate)
        #expect(node.files.identityWriteCount == 1)
    }

    @Test func `joins once`() throws {
        let joon = try bench.bareNode("Joon")
        let link = try mina.link()
        let call: JSONValue = ["link": .string(link), "name": "Joon", "key": "k"]
        let first = try joon.ok("workspace.join", call)
        #expect(first["replayed"] == nil)
        let again = try joon.ok("workspace.join", call)
        #expect(again["id"] == first["id"])
        #expect(again["replayed"] == true)
        let other = try mina.link()
        #expect(
            try joon.refused(
                "workspace.join", ["link": .string(other), "name": "Joon", "key": "k"]
            ).kind == .keyReused)
        #expect(try mina.ok("member.list").items.count == 2)
    }

    /// K13: an answer lost in a crash is given when the call is repeated.
    @Test func `makes one thing when the answer was lost`() throws {
        let call: JSONValue = ["channel": "general", "text": "once", "key": "k"]
        _ = mina.begin("message.send", call)
        try mina.restart()
        #expect(try mina.ok("message.send", call)["replayed"] == true)
        #expect(try mina.log() == ["once"])
    }

    @Test func `makes one thing when its COMMIT failed`() throws {
        let call: JSONValue = ["channel": "general", "text": "once", "key": "k"]
        for place in [Fault.Place.commitBefore(0), .commitAfter(0)] {
            mina.plant(place, .full)
            _ = try mina.refused("message.send", call)
        }
        try mina.ok("message.send", call)
        #expect(try mina.log() == ["once"])
    }

    @Test func `leaves no word of it in the store`() throws {
        try mina.ok(
            "message.send",
            ["channel": "general", "text": "canary-text", "key": "canary-key"])
        let image = String(decoding: try mina.image, as: UTF8.self)
        for canary in ["canary-text", "canary-key", "general", "acme", "message.send"] {
            #expect(!image.contains(canary))
        }
    }
}
