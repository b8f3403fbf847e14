import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The named object determines the workspace of a call without one (4-interface 4.0.2).
struct `A call that names something of another workspace` {
    /// Mina and Joon in `acme`, where something was said; then Mina made and selected `other`.
    private func world() throws -> (CoreBench, mina: BenchNode, message: JSONValue) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try joon.ok("channel.create", ["name": "plans"])
        let message = try mina.send("hello", to: "plans")
        try mina.ok("workspace.create", ["name": "other"])
        return (bench, mina, message)
    }

    @Test func `acts there, if it is named by id`() throws {
        let (bench, mina, message) = try world()
        let (id, channel) = (message["id"] ?? .null, message["channel"] ?? .null)
        let acme = message["workspace"]
        let joon =
            try mina.ok("member.list", ["workspace": "acme"]).items
            .first { $0["name"] == "Joon" }?["id"] ?? .null
        for place in [channel, joon] {
            #expect(
                try mina.ok("message.send", ["channel": place, "text": "x"])["workspace"] == acme,
                "\(place.text)")
        }
        #expect(try mina.ok("message.history", ["channel": channel]).items.count == 2)
        #expect(try mina.ok("message.get", ["ids": [id]]).items.first?["id"] == id)
        #expect(try mina.ok("read.mark", ["channel": channel, "message": id])["id"] == channel)
        #expect(try mina.ok("member.get", ["member": joon])["name"] == "Joon")
        #expect(try mina.ok("why", ["subject": joon])["name"] == "Joon")
        #expect(try mina.ok("why", ["subject": id])["answer"] == true)
        #expect(
            try mina.ok("channel.notify", ["channel": channel, "level": "none"])["id"] == channel)
        #expect(
            try mina.ok("search", ["query": "hello", "channels": [channel]]).items.count == 1)
        let invite = try mina.ok("invite.create", ["workspace": "acme"])
        #expect(
            try mina.ok("invite.revoke", ["id": invite["id"] ?? .null])["state"] == "revoked")
        // Nothing of that selects it.
        #expect(try mina.ok("workspace.get")["name"] == "other")
        withExtendedLifetime(bench) {}
    }

    /// A name that is missing in the workspace that was meant may be in another one.
    @Test func `changes nothing there by a name alone`() throws {
        let (bench, mina, message) = try world()
        let calls: [(String, JSONValue)] = [
            ("member.remove", ["member": "@Joon", "force": true]),
            ("member.role", ["member": "@Joon", "role": "admin"]),
            ("workspace.transfer", ["member": "@Joon"]), ("channel.leave", ["channel": "plans"]),
            ("channel.delete", ["channel": "plans"]),
            ("channel.edit", ["channel": "plans", "topic": "x"]),
            ("channel.add", ["channel": "plans", "members": ["@Joon"]]),
            ("invite.create", ["channels": ["plans"]]),
            ("message.send", ["channel": "plans", "text": "x"]),
            ("message.send", ["channel": "@Joon", "text": "x"]),
            ("message.history", ["channel": "plans"]), ("why", ["subject": "@Joon"]),
        ]
        for (method, given) in calls {
            let failure = try mina.refused(method, given)
            #expect(failure.kind == .notFound || failure.kind == .unknownUser, "\(method)")
            #expect(failure.hint?.contains("--workspace") == true, "\(method): \(failure)")
        }
        #expect(try mina.ok("member.list", ["workspace": "acme"]).items.count == 2)
        let channel = message["channel"] ?? .null
        #expect(try mina.ok("channel.edit", ["channel": channel, "topic": "x"])["topic"] == "x")
        withExtendedLifetime(bench) {}
    }

    /// As for channels, also where a part of the name is typed; what somebody here is called in part is
    /// said of nobody elsewhere.
    @Test func `points to the workspace where there is somebody of that name`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon Kim", of: mina)
        try mina.ok("workspace.create", ["name": "other two"])
        for name in ["@Joon Kim", "@joon"] {
            let calls: [(String, JSONValue)] = [
                ("message.send", ["channel": .string(name), "text": "x"]),
                ("member.get", ["member": .string(name)]),
                ("dm.open", ["members": [.string(name)]]),
            ]
            for (method, given) in calls {
                let failure = try mina.refused(method, given)
                #expect(failure.kind == .unknownUser, "\(failure)")
                #expect(
                    failure.hint
                        == "someone with that name is in another workspace: add --workspace acme",
                    "\(method): \(failure)")
            }
        }
        try mina.ok("workspace.select", ["workspace": "acme"])
        let other = try bench.bareNode("Sora")
        try other.join(try mina.link(["workspace": "other two"]))
        bench.advance(5_000)
        let failure = try mina.refused("message.send", ["channel": "@Sora", "text": "x"])
        #expect(
            failure.hint
                == "someone with that name is in another workspace: add --workspace 'other two'")
        let here = try mina.refused("message.send", ["channel": "@Joon", "text": "x"])
        #expect(here.hint?.contains("--workspace") != true, "\(here)")
    }

    /// A stranger elsewhere who has the name of somebody here, whom two are called, or one was.
    @Test(arguments: [false, true])
    func `sends nothing to a namesake elsewhere`(isGone: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let nora = try bench.guest("Nora", of: mina)
        try mina.ok("workspace.create", ["name": "fun"])
        let stranger = try bench.bareNode("Nora")
        try stranger.join(try mina.link(["workspace": "fun"]))
        bench.advance(5_000)
        try mina.ok("workspace.select", ["workspace": "acme"])
        if isGone {
            // Not a partial match: people with such a name in part are found here in any case.
            try nora.ok("profile.set", ["name": "Sora"])
        } else {
            _ = try bench.guest("Nora", of: mina)
        }
        bench.advance(5_000)
        let draft: JSONValue = ["channel": "@Nora", "text": "secret"]
        if isGone {
            // The name still leads to who had it here.
            let sent = try mina.ok("message.send", draft)
            #expect(sent["formerly"]?[0]?["member"]?["name"] == "Sora")
            bench.advance(5_000)
            #expect(try nora.log(of: "@Mina") == ["secret"])
        } else {
            let failure = try mina.refused("message.send", draft)
            #expect(failure.kind == .ambiguous, "\(failure)")
        }
        bench.advance(5_000)
        #expect(try (stranger.ok("dm.list")["items"]?.arrayValue ?? []).isEmpty)
    }

    /// What was missing is not what others have as well.
    @Test func `says of another one only what is not here`() throws {
        let (bench, mina, _) = try world()
        let failure = try mina.refused(
            "message.send",
            ["channel": "general", "thread": "m_00000000000000000000000000", "text": "x"])
        #expect(failure.kind == .notFound, "\(failure)")
        #expect(failure.hint?.contains("--workspace") != true, "\(failure)")
        withExtendedLifetime(bench) {}
    }

    @Test func `stays where it is while that will do, or more than one will`() throws {
        let (bench, mina, message) = try world()
        let other = try mina.ok("workspace.get")["id"]
        let sent = try mina.ok("message.send", ["channel": "general", "text": "x"])
        #expect(sent["workspace"] == other)
        #expect(try mina.refused("message.history", ["channel": "nowhere"]).kind == .notFound)
        // All that is named has to be there.
        #expect(
            try mina.refused(
                "read.mark", ["channel": "general", "message": message["id"] ?? .null]
            ).kind == .notFound)
        #expect(
            try mina.refused(
                "message.send", ["channel": "plans", "text": "x", "workspace": "other"]
            ).kind == .notFound)
        try mina.ok("workspace.create", ["name": "third"])
        try mina.ok("channel.create", ["name": "plans", "workspace": "other"])
        #expect(
            try mina.refused("message.send", ["channel": "plans", "text": "x"]).kind == .notFound)
        withExtendedLifetime(bench) {}
    }
}
