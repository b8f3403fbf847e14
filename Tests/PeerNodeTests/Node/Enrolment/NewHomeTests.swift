import CRDTStore
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Homes that start with a device link or the recovery phrase.
struct `A home that begins with another` {
    private let bench = CoreBench()

    @Test func `is sealed by a passphrase from its first moment, and linked`() throws {
        let laptop = try bench.node("Mina")
        try laptop.send("before")
        let phone = try bench.bareNode("Phone")
        let link = try laptop.ok("device.link")["link"] ?? .null
        let weak = try phone.refused(
            "device.link", ["code": link, "name": "Phone", "passphrase": "short"])
        #expect(weak.kind == .badRequest && weak.fields.first?.name == "passphrase")
        #expect(phone.files.identity == nil)
        let made = try phone.ok(
            "device.link",
            ["code": link, "name": "Phone", "passphrase": .string(goodPassphrase)])
        #expect(made["passphrase"] == true)
        #expect(phone.files.identityWriteCount == 1)
        let bytes = try #require(phone.files.identity)
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("wsxlock1"))
        #expect(try phone.log() == ["before"])
        try phone.restart()
        #expect(phone.session["state"] == "closed")
        try phone.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        try phone.send("from the phone")
        #expect(try laptop.log() == ["before", "from the phone"])
    }

    @Test func `is sealed by a passphrase from its first moment, and comes back`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        try mina.send("before")
        let phrase = try mina.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try joon.ok("invite.create")["link"] ?? .null
        mina.kill()
        let fresh = try bench.bareNode("Fresh")
        let given: JSONObject = [
            "phrase": phrase, "link": link, "name": "Mina",
            "passphrase": .string(goodPassphrase),
        ]
        var weak = given
        weak["passphrase"] = "short"
        #expect(try fresh.refused("identity.recover", .object(weak)).kind == .badRequest)
        #expect(fresh.files.identity == nil)
        #expect(try fresh.ok("identity.recover", .object(given))["role"] == "owner")
        let bytes = try #require(fresh.files.identity)
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("wsxlock1"))
        try fresh.send("back")
        #expect(try joon.log() == ["before", "back"])
        #expect(try fresh.ok("identity.show")["recovery"] == "shown")
        #expect(fresh.session["passphrase"] == true)
    }

    @Test func `is called as it was told, in every workspace and by everybody`() throws {
        let laptop = try bench.node("Mina")
        try laptop.ok("workspace.create", ["name": "second"])
        let phone = try bench.bareNode("Phone")
        let link = try laptop.ok("device.link")["link"] ?? .null
        try phone.ok("device.link", ["code": link, "name": "Pocket"])
        bench.advance(5_000)
        let id = try phone.deviceID()
        for node in [laptop, phone] {
            for workspace in ["acme", "second"] {
                let devices = try node.ok("device.list", ["workspace": .string(workspace)]).items
                let found = devices.first { $0["id"] == .string(id) }
                #expect(found?["name"] == "Pocket")
            }
        }
        // The person is called as before.
        #expect(try laptop.ok("member.list").texts("name") == ["Mina"])
        #expect(try laptop.digest() == phone.digest())
    }

    @Test func `says that the phrase of the first one leads back`() throws {
        let laptop = try bench.node("Mina")
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        #expect(try phone.ok("identity.show")["recovery"] == "elsewhere")
        #expect(
            try phone.refused("identity.show", ["phrase": true]).message
                .contains("first device"))
        let bare = try bench.bareNode("Bare")
        try bare.ok("identity.create", ["name": "Bare", "no_recovery": true])
        try bare.ok("workspace.create", ["name": "own"])
        let other = try bench.bareNode("Other")
        try bare.link(other)
        #expect(try other.ok("identity.show")["recovery"] == "none")
    }
}
