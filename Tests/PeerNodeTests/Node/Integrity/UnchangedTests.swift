import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Changes that change nothing.
struct `A change to what is there already` {
    @Test func `says so and writes nothing`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let plans = try mina.ok("channel.create", ["name": "plans", "topic": "2027"])
        let said = try mina.send("hello", to: "plans")
        let calls: [(String, JSONValue)] = [
            ("workspace.edit", ["name": "acme"]), ("workspace.edit", ["description": ""]),
            ("channel.edit", ["channel": "plans", "topic": "2027"]),
            ("channel.transfer", ["channel": "plans", "member": "Mina"]),
            ("profile.set", ["name": "Mina"]),
            ("message.edit", ["message": said["id"] ?? .null, "text": "hello"]),
        ]
        for (method, parameters) in calls {
            let count = try mina.rowCount("operation")
            let answer = try mina.ok(method, parameters)
            #expect(answer["changed"] == false, "\(method) \(answer.text)")
            #expect(try mina.rowCount("operation") == count, "\(method)")
        }
        let device = try mina.ok("identity.show")["id"] ?? .null
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let twice: [(String, JSONValue)] = [
            ("device.rename", ["device": device, "name": "desk"]),
            ("workspace.successor.set", ["member": "Joon"]), ("policy.set", ["join": "closed"]),
        ]
        for (method, parameters) in twice {
            try mina.ok(method, parameters)
            bench.advance(5_000)
            let count = try mina.rowCount("operation")
            try mina.ok(method, parameters)
            #expect(try mina.rowCount("operation") == count, "\(method)")
        }
        #expect(try joon.ok("workspace.get")["successor"] != nil)
        let changes: [(String, JSONValue)] = [
            ("workspace.edit", ["name": "acme 2"]), ("profile.set", ["name": "Mina Park"]),
            ("channel.edit", ["channel": plans["id"] ?? .null, "topic": "2028"]),
        ]
        for (method, parameters) in changes {
            #expect(try mina.ok(method, parameters)["changed"] == nil, "\(method)")
        }
    }
}

/// People's names and profiles, wherever they are shown.
struct `A person's own name` {
    @Test func `is the one of today in everything that is shown and made`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        try mina.ok("profile.set", ["name": "Mina Park"])
        let offer = try mina.ok("device.link")["link"] ?? .null
        let linked = try phone.ok("device.link", ["code": offer, "name": "phone"])
        #expect(linked["name"] == "Mina Park")
        bench.advance(5_000)
        for node in [mina, phone] {
            #expect(try node.ok("identity.show")["name"] == "Mina Park", "\(node.name)")
            #expect(try node.ok("node.status")["identity"]?["name"] == "Mina Park", "\(node.name)")
        }
        try mina.ok("workspace.create", ["name": "side"])
        #expect(try mina.ok("profile.get", ["workspace": "side"])["name"] == "Mina Park")
    }

    @Test func `and fields can be set before there is a workspace`() throws {
        let bench = CoreBench()
        let mina = try bench.bareNode("Mina")
        try mina.ok("identity.create", ["name": "Mina", "email": "mina@example.org"])
        let set = try mina.ok("profile.set", ["phone": "+4930123456", "email": "m@example.org"])
        #expect(set["email"] == "m@example.org" && set["phone"] == "+4930123456")
        #expect(set["workspace"] == .null && set["self"] == true && set["name"] == "Mina")
        try mina.restart()
        #expect(try mina.ok("profile.get")["phone"] == "+4930123456")
        let refused = try mina.refused("profile.set", ["name": "Someone"])
        #expect(refused.kind == .conflict && refused.reason == "workspace.none")
        try mina.ok("workspace.create", ["name": "acme"])
        let profile = try mina.ok("profile.get")
        #expect(profile["email"] == "m@example.org" && profile["phone"] == "+4930123456")
    }
}

/// Names of guests.
struct `A guest who is named` {
    @Test func `is no stranger where guests cannot be`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.ok("channel.create", ["name": "lounge", "private": true])
        let gus = try bench.guest("Gus", of: mina, role: "guest", channels: ["lounge"])
        try mina.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        #expect(try gus.ok("workspace.get")["role"] == "guest")
        for (method, field) in [("channel.add", "members"), ("channel.transfer", "member")] {
            let who: JSONValue = field == "members" ? ["@Gus"] : "@Gus"
            let refused = try mina.refused(method, ["channel": "plans", field: who])
            #expect(refused.kind == .forbidden && refused.reason == "member.guest", "\(method)")
        }
        // In a private channel they can be, and own nothing all the same.
        let id = try gus.ok("identity.show")["members"]?[0]?["member"] ?? .null
        for who in ["@Gus", id] {
            for (method, more) in [
                ("channel.transfer", [:]), ("channel.role", ["role": "admin"]),
            ] as [(String, JSONObject)] {
                var parameters = more
                parameters["channel"] = "lounge"
                parameters["member"] = who
                let refused = try mina.refused(method, .object(parameters))
                let rule = "a guest cannot own a channel or be its admin"
                #expect(refused.message == "'Gus' is a guest, and \(rule)", "\(method)")
            }
        }
    }
}
