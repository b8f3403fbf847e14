import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// Makes a link on this node and uses it on another.
    @discardableResult
    func link(_ other: BenchNode) throws(NodeError) -> JSONValue {
        let link = try ok("device.link")["link"] ?? .null
        return try other.ok("device.link", ["code": link, "name": .string(name)])
    }

    /// The person's devices, without the phrase.
    func machines() throws -> [JSONValue] {
        try ok("device.list").items.filter { $0["recovery"] == false }
    }

    /// The id of this node's device.
    func deviceID() throws -> String { try ok("identity.show").text("id") }
}

struct `A second device` {
    /// Mina's laptop, her phone, and Joon.
    private func world() throws -> (CoreBench, laptop: BenchNode, phone: BenchNode, joon: BenchNode)
    {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: laptop)
        try laptop.send("before")
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        return (bench, laptop, phone, joon)
    }

    @Test func `is the same person, with everything that was there before`() throws {
        let (bench, laptop, phone, joon) = try world()
        #expect(try phone.log() == ["before"])
        try phone.send("from the phone")
        try joon.send("from Joon")
        for node in [laptop, phone, joon] {
            #expect(try node.log() == ["before", "from the phone", "from Joon"])
            let people = try node.ok("member.list").items
            #expect(people.map { $0["name"] } == ["Mina", "Joon"])
            #expect(people.map { $0["devices"] } == [2, 1])
            let authors = try node.ok("message.history", ["channel": "general"]).items
                .compactMap { $0["author"]?["id"]?.stringValue }
            #expect(authors[0] == authors[1])
            #expect(authors[0] != authors[2])
        }
        #expect(try laptop.digest() == phone.digest())
        #expect(try laptop.digest() == joon.digest())
        #expect(try phone.ok("workspace.get")["role"] == "owner")
        // Its own name is the device's and nobody's else, wherever its owner goes with it.
        #expect(try phone.ok("identity.show")["name"] == "Mina")
        try phone.ok("workspace.create", ["name": "third"])
        #expect(try phone.ok("member.list").items.map { $0["name"] } == ["Mina"])
        let ana = try bench.node("Ana", workspace: "elsewhere")
        try phone.join(try ana.ok("invite.create").text("link"))
        #expect(try ana.memberNames() == ["Ana", "Mina"])
        withExtendedLifetime(bench) {}
    }

    @Test func `comes into later workspaces by another link, over the one connection`() throws {
        let (bench, laptop, phone, joon) = try world()
        try laptop.ok("workspace.create", ["name": "second"])
        try laptop.send("only here")
        try laptop.link(phone)
        #expect(
            try phone.ok("workspace.list").items.compactMap { $0["name"] } == ["acme", "second"])
        #expect(try phone.ok("member.list", ["workspace": "second"]).items.count == 1)
        for (node, other) in [(laptop, phone), (phone, laptop)] {
            let core = try #require(node.host).core
            let device = try #require(other.host?.core.session.ownDevice)
            #expect(core.links.network.links(to: device).count == 1)
        }
        // It serves both.
        for workspace in ["acme", "second"] {
            try laptop.ok(
                "message.send",
                ["channel": "general", "text": "later", "workspace": .string(workspace)])
            bench.advance(100)
            let log = try phone.ok(
                "message.history", ["channel": "general", "workspace": .string(workspace)])
            #expect(log.texts().last == "later")
        }
        withExtendedLifetime((bench, joon)) {}
    }

    @Test func `answers with the identity and selects the workspace`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        try laptop.ok("workspace.create", ["name": "second"])
        let phone = try bench.bareNode("Phone")
        let made = try laptop.link(phone)
        #expect(made["members"]?.arrayValue?.count == 2)
        #expect(made["members"] == (try laptop.ok("identity.show")["members"]))
        #expect(made["recovery"] == "elsewhere")
        #expect(try phone.ok("workspace.list").items.count == 2)
        #expect(try phone.ok("workspace.get")["selected"] == true)
    }

    @Test func `is listed, with a name of its own that all see`() throws {
        let (bench, laptop, phone, joon) = try world()
        let devices = try laptop.ok("device.list").items
        #expect(devices.map { $0["recovery"] } == [true, false, false])
        #expect(devices.map { $0["self"] } == [false, true, false])
        #expect(devices.allSatisfy { $0["revoked"] == false })
        #expect(devices[2]["id"] == .string(try phone.deviceID()))
        let id = JSONValue.string(try phone.deviceID())
        #expect(try phone.ok("device.rename", ["device": id, "name": "phone"])["name"] == "phone")
        #expect(try laptop.machines().map { $0["name"] }.last == "phone")
        let seen = try joon.ok("device.list", ["member": "Mina"]).items
        #expect(seen.last?["name"] == "phone")
        // By its name, and by the start of its id.
        #expect(try laptop.ok("device.rename", ["device": "Phone", "name": "a"])["name"] == "a")
        let short = JSONValue.string(String(try phone.deviceID().prefix(12)))
        #expect(try laptop.ok("device.rename", ["device": short, "name": "b"])["name"] == "b")
        #expect(try phone.machines().last?["name"] == "b")
        try phone.restart()
        #expect(try phone.machines().last?["name"] == "b")
        #expect(try joon.refused("device.rename", ["device": id, "name": "x"]).kind == .forbidden)
        #expect(
            try laptop.refused("device.rename", ["device": "d_000000", "name": "x"]).kind
                == .notFound)
        withExtendedLifetime(bench) {}
    }

    @Test func `is shown to others on their first screen for three days`() throws {
        let (bench, laptop, phone, joon) = try world()
        let shown = try joon.ok("home.get")["new_devices"]?.arrayValue ?? []
        #expect(shown.map { $0["device"]?["id"] } == [.string(try phone.deviceID())])
        #expect(shown.first?["member"]?["name"] == "Mina")
        #expect(try laptop.ok("home.get")["new_devices"] == [], "it is one of her own")
        bench.wall += Limits.newDeviceMilliseconds + 60_000
        #expect(try joon.ok("home.get")["new_devices"] == [])
    }

    @Test func `is announced`() throws {
        let (bench, laptop, phone, joon) = try world()
        let added = try laptop.events(types: ["device.added"])
        #expect(added.count == 1)
        #expect(added.first?["data"]?["id"] == .string(try phone.deviceID()))
        #expect(added.first?["data"]?["member"]?["name"] == "Mina")
        let changed = try joon.events(types: ["member.key_changed"])
        #expect(changed.count == 1)
        #expect(changed.first?["data"]?["member"]?["name"] == "Mina")
        #expect(changed.first?["data"]?["device"]?["id"] == .string(try phone.deviceID()))
        #expect(try joon.events(types: ["device.added"]).isEmpty)
        #expect(joon.log.contains { $0.hasPrefix("member.key_changed") })
        // What is read later is the same, though a device is seen all the time.
        for node in [laptop, phone, joon] {
            let types = ["device.added", "device.renamed", "member.key_changed"]
            let before = try node.events(types: types)
            bench.advance(60_000)
            #expect(try node.events(types: types) == before && !before.isEmpty, "\(node.name)")
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `is reported when it is renamed, to everyone who sees that name`() throws {
        let (bench, laptop, phone, joon) = try world()
        let id = JSONValue.string(try phone.deviceID())
        // It says what it is called when it is linked.
        for node in [laptop, joon] {
            let first = try node.events(types: ["device.renamed"])
            #expect(first.compactMap { $0["data"]?["id"] } == [id], "\(node.name)")
        }
        let nodes = [laptop, phone, joon]
        let cursors = try nodes.map { try $0.cursor() }
        // What says nothing new is not told of.
        for _ in 0..<2 { try laptop.ok("device.rename", ["device": id, "name": "pocket"]) }
        // Neither is what somebody calls a device of another person, which nobody is shown.
        let device = try #require(phone.host?.core.session.home?.device)
        try joon.inTurn { core, workspace in
            _ = try core.profiles.authorProfile(.device(device, name: "mine"), in: workspace)
        }
        bench.advance(2_000)
        for (node, cursor) in zip(nodes, cursors) {
            let events = try node.events(since: cursor, types: ["device.renamed", "member.edited"])
            #expect(events.compactMap { $0["type"] } == ["device.renamed"], "\(node.name)")
            let data = events.first?["data"]
            #expect(data?["id"] == id && data?["name"] == "pocket", "\(node.name)")
            #expect(data?["member"]?["name"] == "Mina" && data?["revoked"] == false)
        }
    }

    /// Someone who saw the code knows its secret, and could make the phone a
    /// device of somebody else.
    @Test func `is accepted only by the person who made the link`() throws {
        let bench = CoreBench()
        let (laptop, kim) = (try bench.node("Mina"), try bench.node("Kim"))
        let made = try DeviceLink(laptop.ok("device.link").text("link"))
        let core = try #require(kim.host?.core)
        let device = try #require(laptop.host?.core.session.ownDevice)
        let forged = DeviceLink(
            secret: made.secret, issuer: device,
            hints: Array(core.links.network.addresses.listening.prefix(1)))
        core.links.network.joining.issuedLink = IssuedDeviceLink(
            link: forged, expiresAt: bench.wall + 600_000,
            deadline: core.turn.time.monotonic + 600_000)
        let phone = try bench.bareNode("Phone")
        let code = JSONValue.string(forged.text)
        let refused = try phone.refused(
            "device.link", ["code": code, "name": "Mina", "timeout_ms": 5_000])
        #expect(refused.kind == .unreachable)
        #expect(try kim.machines().count == 1 && phone.ok("workspace.list").items.isEmpty)
        // Where the one who made it can be reached, too, the other one only delays it.
        let both = DeviceLink(
            secret: made.secret, issuer: device,
            hints: Array(core.links.network.addresses.listening.prefix(1))
                + Array(try #require(laptop.host?.core.links.network.addresses.listening.prefix(1)))
        )
        try phone.ok("device.link", ["code": .string(both.text), "name": "Mina"])
        #expect(try laptop.machines().count == 2 && kim.machines().count == 1)
    }

    /// Someone who saw the code sends valid first messages, but takes no places of members.
    @Test func `has places of its own while it is linked`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let link = try laptop.ok("device.link")
        let candidates = try #require(laptop.host?.core).enrolment.linking.deviceLinkCandidates
        #expect(candidates.map(\.share) == [SecretShare(.deviceLink)])
        try bench.bareNode("Phone").ok(
            "device.link", ["code": link["link"] ?? .null, "name": "Mina"])
        #expect(
            try #require(laptop.host?.core).enrolment.linking.deviceLinkCandidates.map(\.rank) == [
                .deviceLink
            ])
    }

    @Test func `may use a link once, and for ten minutes`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let link = try laptop.ok("device.link")
        #expect(try link.number("expires_at") == Int64(bench.wall) + 600_000)
        #expect(link["qr_text"] == .string(try link.text("link").uppercased()))
        let phone = try bench.bareNode("Phone")
        try phone.ok("device.link", ["code": link["link"] ?? .null, "name": "Mina"])
        let thief = try bench.bareNode("Thief")
        let used = try thief.refused(
            "device.link", ["code": link["link"] ?? .null, "name": "Mina"])
        #expect(used.kind == .inviteExpired)
        // A command here would make a link of this home, which is the wrong one.
        #expect(used.hint?.contains("on the other device") == true)
        #expect(used.hint?.contains("wsx-node") == false)
        let late = try laptop.ok("device.link")
        bench.advance(600_001)
        let refused = try thief.refused(
            "device.link", ["code": late["link"] ?? .null, "name": "Mina", "timeout_ms": 5_000])
        #expect(refused.kind == .unreachable)
        #expect(try thief.ok("workspace.list").items.isEmpty)
        #expect(try laptop.machines().count == 2)
    }

    @Test func `cannot be linked by what is no link`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        let bad = try phone.refused("device.link", ["code": "wsx://device/abc", "name": "Mina"])
        #expect(bad.kind == .inviteInvalid)
        let invite = try laptop.ok("invite.create")["link"] ?? .null
        #expect(
            try phone.refused("device.link", ["code": invite, "name": "Mina"]).kind
                == .inviteInvalid)
        let link = try laptop.ok("device.link")["link"] ?? .null
        #expect(try phone.refused("device.link", ["code": link]).kind == .badRequest)
        #expect(try phone.refused("identity.show").kind == .notFound)
        // Who is in nothing has nothing to offer.
        let alone = try bench.node("Alone", workspace: nil)
        #expect(try alone.refused("device.link").kind == .notFound)
    }

    @Test func `does not become a device of two people`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: laptop)
        let link = try laptop.ok("device.link")["link"] ?? .null
        #expect(try joon.refused("device.link", ["code": link]).kind == .conflict)
        #expect(try laptop.machines().count == 1)
        #expect(try joon.machines().count == 1)
    }

    @Test func `goes on after a restart in the middle`() throws {
        let (bench, laptop, phone, joon) = try world()
        try phone.restart()
        try joon.send("later")
        #expect(try phone.log() == ["before", "later"])
        try laptop.restart()
        try phone.send("again")
        #expect(try laptop.log() == ["before", "later", "again"])
        withExtendedLifetime(bench) {}
    }
}

struct `A revoked device` {
    private func world() throws -> (CoreBench, laptop: BenchNode, phone: BenchNode, joon: BenchNode)
    {
        let bench = CoreBench()
        let laptop = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: laptop)
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        try phone.send("from the phone")
        return (bench, laptop, phone, joon)
    }

    @Test func `writes no more, and is told why`() throws {
        let (bench, laptop, phone, joon) = try world()
        #expect(try joon.log() == ["from the phone"])
        let id = JSONValue.string(try phone.deviceID())
        let revoked = try laptop.ok("device.revoke", ["device": id])
        #expect(revoked["revoked"] == true)
        bench.advance(2_000)
        let refused = try phone.refused(
            "message.send", ["channel": "general", "text": "too late"])
        #expect(refused.kind == .deviceRevoked)
        try laptop.send("without the phone")
        for node in [laptop, joon] {
            // What it wrote before stays.
            #expect(try node.log() == ["from the phone", "without the phone"])
            #expect(try node.ok("member.list").items.map { $0["devices"] } == [1, 1])
            #expect(try node.events(types: ["device.revoked"]).count == 1)
        }
        #expect(try phone.log() == ["from the phone"])
        // Once more is the same answer, and no operation.
        let count = try laptop.rowCount("operation")
        #expect(try laptop.ok("device.revoke", ["device": id])["revoked"] == true)
        #expect(try laptop.rowCount("operation") == count)
    }

    @Test func `holds none of the later keys`() throws {
        let (bench, laptop, phone, joon) = try world()
        let id = try phone.deviceID()
        bench.cut(laptop, phone)
        bench.cut(joon, phone)
        try laptop.ok("device.revoke", ["device": .string(id)])
        try laptop.send("new key")
        let workspace = try #require(laptop.host?.core.workspaces.values.first)
        let key = try #require(workspace.currentKey?.id)
        #expect(phone.host?.core.workspaces.values.first?.secrets.keys[key] == nil)
        #expect(joon.host?.core.workspaces.values.first?.secrets.keys[key] != nil)
        // Nor would it, if somebody brought it the revocation.
        let boxes = workspace.authority.values.compactMap { record in
            if case .removeDevice(_, _, let rekey) = record.payload { rekey?.wraps } else { nil }
        }
        let device = try #require(phone.host?.core.session.home).device
        #expect(boxes.count == 1 && boxes.allSatisfy { !$0.isEmpty })
        #expect(!boxes.joined().contains { $0.devicePrefix == Array(device.bytes.prefix(8)) })
    }

    @Test func `cannot be an older one without the phrase`() throws {
        let (bench, laptop, phone, _) = try world()
        let id = JSONValue.string(try laptop.deviceID())
        let refused = try phone.refused("device.revoke", ["device": id])
        #expect(refused.kind == .forbidden)
        #expect(refused.reason == "device.older")
        #expect(try phone.machines().allSatisfy { $0["revoked"] == false })
        let phrase = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let revoked = try phone.ok("device.revoke", ["device": id, "phrase": phrase])
        #expect(revoked["revoked"] == true)
        bench.advance(2_000)
        #expect(
            try laptop.refused("message.send", ["channel": "general", "text": "x"]).kind
                == .deviceRevoked)
        try phone.send("mine again")
        #expect(try phone.ok("workspace.get")["role"] == "owner")
    }

    @Test func `certified by the phrase is reported with the workspaces that need it too`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina", workspace: "acme")
        try laptop.ok("workspace.create", ["name": "duo"])
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        let id = JSONValue.string(try laptop.deviceID())
        let phrase = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let one = try phone.ok(
            "device.revoke", ["device": id, "phrase": phrase, "workspace": "acme"])
        #expect(one["certified"] == true)
        #expect(one["still_in"]?.arrayValue?.map { $0["name"] } == ["duo"])
        let all = try phone.ok("device.revoke", ["device": id, "phrase": phrase])
        #expect(all["certified"] == true)
        #expect(all["still_in"] == [])
        // The phone came by a link: no phrase vouches for it.
        let other = try bench.node("Joon", workspace: "trio")
        let tablet = try bench.bareNode("Tablet")
        try other.link(tablet)
        let linked = try other.ok(
            "device.revoke", ["device": .string(try tablet.deviceID())])
        #expect(linked["certified"] == false && linked["still_in"] == [])
    }

    /// Each workspace has its own names for your devices, and none of them matches by accident.
    @Test func `is neither of two in other workspaces with the same name`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Mina", workspace: "acme")
        let tablet = try bench.bareNode("Tablet")
        try laptop.link(tablet)
        try laptop.ok("workspace.create", ["name": "duo"])
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        for (node, workspace) in [(tablet, "acme"), (phone, "duo")] {
            try laptop.ok(
                "device.rename",
                [
                    "device": .string(try node.deviceID()), "name": "pad",
                    "workspace": .string(workspace),
                ])
        }
        try laptop.ok("workspace.create", ["name": "third"])
        for method in ["device.revoke", "device.rename"] {
            var given: JSONObject = ["device": "pad"]
            if method == "device.rename" { given["name"] = "slate" }
            let error = try laptop.refused(method, .object(given))
            #expect(error.kind == .ambiguous, "\(method)")
            #expect(error.details["candidates"]?.arrayValue?.count == 2)
        }
        let id = JSONValue.string(try phone.deviceID())
        #expect(try laptop.ok("device.revoke", ["device": id])["id"] == id)
    }

    @Test func `may be your own or, for an admin, anybody's`() throws {
        let (bench, laptop, phone, joon) = try world()
        let own = JSONValue.string(try phone.deviceID())
        #expect(try joon.refused("device.revoke", ["device": own]).kind == .forbidden)
        #expect(try phone.refused("device.revoke", ["device": own]).reason == "device.self")
        let joons = JSONValue.string(try joon.deviceID())
        #expect(try laptop.ok("device.revoke", ["device": joons])["revoked"] == true)
        bench.advance(2_000)
        #expect(
            try joon.refused("message.send", ["channel": "general", "text": "x"]).kind
                == .deviceRevoked)
        let wrong = try laptop.refused(
            "device.revoke",
            ["device": own, "phrase": .string(RecoveryTestPhrase.stranger)])
        #expect(wrong.kind == .wrongSecret)
        let typo = try laptop.refused(
            "device.revoke", ["device": own, "phrase": "abacus xqzw"])
        #expect(typo.kind == .badRequest)
        #expect(typo.message.contains("word 2"))
    }
}
