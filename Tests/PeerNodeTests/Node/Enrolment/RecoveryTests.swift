import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

enum RecoveryTestPhrase {
    /// A good phrase that is nobody's.
    static let stranger = RecoveryPhrase(using: SeededRandom(seed: 4_711)).words
        .joined(separator: " ")
}

struct `The phrase of a new identity` {
    @Test func `is shown once and then kept nowhere`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(try mina.ok("identity.show")["recovery"] == "unshown")
        #expect(try mina.rowCount("meta WHERE name = 'recovery.seed'") == 1)
        let shown = try mina.ok("identity.show", ["phrase": true])
        #expect(shown["recovery"] == "shown")
        let phrase = try RecoveryPhrase(shown.text("phrase"))
        #expect(try mina.rowCount("meta WHERE name = 'recovery.seed'") == 0)
        #expect(try mina.refused("identity.show", ["phrase": true]).kind == .notFound)
        #expect(try mina.ok("identity.show")["phrase"] == nil)
        let home = try HomeIdentity(fileBytes: try #require(mina.files.identity))
        #expect(home.recovery?.device == phrase.signingKey.device)
        try mina.restart()
        #expect(try mina.ok("identity.show")["recovery"] == "shown")
    }

    @Test func `stays until somebody confirms that its words were seen`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let first = try mina.ok("identity.show", ["phrase": true, "keep": true])
        #expect(first["recovery"] == "unshown")
        try mina.restart()
        let words = try mina.ok("identity.show", ["phrase": true, "keep": true])["phrase"] ?? .null
        #expect(first["phrase"] == words)
        // Neither somebody else's words nor words with a slip are these.
        let others = try mina.ok("identity.show", ["seen": .string(RecoveryTestPhrase.stranger)])
        #expect(others["recovery"] == "unshown")
        let slip = try mina.refused("identity.show", ["seen": "abacus"])
        #expect(slip.kind == .badRequest && slip.fields.map(\.name) == ["seen"])
        #expect(
            try mina.refused("identity.show", ["phrase": true, "seen": words]).kind == .badRequest)
        #expect(try mina.rowCount("meta WHERE name = 'recovery.seed'") == 1)
        // Of two programs that show the words at the same time, both confirm.
        for _ in 1...2 {
            let seen = try mina.ok("identity.show", ["seen": words])
            #expect(seen["recovery"] == "shown" && seen["phrase"] == nil)
            #expect(try mina.rowCount("meta WHERE name = 'recovery.seed'") == 0)
        }
        let late = try mina.refused("identity.show", ["phrase": true, "keep": true])
        #expect(late.kind == .notFound)
    }

    @Test func `is missed by doctor until it was shown`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        func finding(_ node: BenchNode) throws -> JSONValue? {
            try node.ok("node.doctor").items.first { $0["id"] == "recovery" }
        }
        #expect(try finding(mina)?["state"] == "warn")
        #expect(try finding(mina)?["hint"]?.stringValue?.contains("--phrase") == true)
        try mina.ok("identity.show", ["phrase": true])
        #expect(try finding(mina)?["state"] == "ok")
        let bare = try bench.bareNode("Bare")
        try bare.ok("identity.create", ["name": "Bare", "no_recovery": true])
        #expect(try bare.ok("identity.show")["recovery"] == "none")
        #expect(try bare.refused("identity.show", ["phrase": true]).kind == .notFound)
        #expect(try finding(bare)?["state"] == "warn")
        try bare.ok("workspace.create", ["name": "own"])
        #expect(try finding(bare)?["state"] == "warn")
        #expect(try bare.ok("device.list").items.map { $0["recovery"] } == [false])
    }

    @Test func `stands first in its owner's grants, and does not count as a device`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for node in [mina, joon] {
            #expect(try node.ok("member.list").items.map { $0["devices"] } == [1, 1])
            for member in ["Mina", "Joon"] {
                let devices = try node.ok("device.list", ["member": .string(member)]).items
                #expect(devices.map { $0["recovery"] } == [true, false])
            }
        }
        let core = try #require(mina.host?.core)
        let workspace = try #require(core.workspaces.values.first)
        for id in workspace.judged.evaluator.validOperations {
            let devices = workspace.judged.evaluator.devices(ofGrant: id)
            guard devices.count == 2 else { continue }
            #expect(workspace.recoveryDevices.contains(devices[0]))
            #expect(!workspace.recoveryDevices.contains(devices[1]))
        }
        #expect(workspace.recoveryDevices.count == 2)
    }

    @Test func `certifies one device and no other`() throws {
        let random = SeededRandom(seed: 5)
        let phrase = RecoveryPhrase(using: random)
        let home = HomeIdentity(name: "Mina", createdAt: 1, phrase: phrase, using: random)
        let other = HomeIdentity(name: "Eve", createdAt: 1, using: random)
        let salt = [UInt8](repeating: 9, count: 16)
        let member = home.member(salt: salt)
        let good = home.deviceEntries(entering: .founding(nonce: salt, member: member))
        #expect(isBound(good, member, salt))
        // Eve takes the recovery device and its certificate for her own device.
        let stolen = [
            good[0], other.deviceEntry(entering: .founding(nonce: salt, member: member)),
        ]
        #expect(!isBound(stolen, member, salt))
        // Mina's whole entry, where somebody else is meant or another workspace.
        #expect(!isBound(good, member, [UInt8](repeating: 8, count: 16)))
        #expect(!isBound([good[1], good[0]], member, salt))
        #expect(!isBound([good[0]], member, salt))
        #expect(!isBound([good[0], good[0]], member, salt))
        let read = try HomeIdentity(fileBytes: home.fileBytes)
        #expect(read.recovery == home.recovery)
        #expect(try HomeIdentity(fileBytes: other.fileBytes).recovery == nil)
    }

    private func isBound(_ devices: [DeviceEntry], _ member: MemberID, _ salt: [UInt8]) -> Bool {
        let create = AuthorityPayload.create(
            .init(
                nonce: salt, member: member, devices: devices,
                keyID: KeyID([UInt8](repeating: 1, count: 16)), wraps: [],
                name: SealedField(
                    keyID: KeyID([UInt8](repeating: 1, count: 16)), nonce: [], ciphertext: []),
                discoveryID: []))
        let workspace = Workspace(
            id: .zero,
            row: .init(number: 1, standing: .member, member: member, joined: 0),
            vault: KeyVault(nil))
        return Binding.isGood(
            create, by: devices.last?.device ?? .zero, under: .zero, in: workspace, isRoot: true)
    }
}

struct `Somebody who lost the only device` {
    struct Scene {
        let bench: CoreBench
        let mina: BenchNode
        let joon: BenchNode
        let phrase: JSONValue
        let link: JSONValue
    }

    /// Mina founded the workspace; Joon is in it, and an invite is open.
    private func scene() throws -> Scene {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        try mina.send("before")
        try joon.send("hello")
        let phrase = try mina.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try joon.ok("invite.create")["link"] ?? .null
        return Scene(bench: bench, mina: mina, joon: joon, phrase: phrase, link: link)
    }

    @Test func `comes back as the same member by the phrase and an invite's link`() throws {
        let scene = try scene()
        let before = try scene.mina.ok("identity.show")["members"]?[0]?["member"]
        let lost = JSONValue.string(try scene.mina.deviceID())
        scene.mina.kill()
        let fresh = try scene.bench.bareNode("Fresh")
        let workspace = try fresh.ok(
            "identity.recover",
            ["phrase": scene.phrase, "link": scene.link, "name": "Mina"])
        #expect(workspace["name"] == "acme")
        #expect(workspace["role"] == "owner")
        #expect(try fresh.ok("identity.show")["members"]?[0]?["member"] == before)
        #expect(try fresh.log() == ["before", "hello"])
        try fresh.send("back")
        #expect(try scene.joon.log() == ["before", "hello", "back"])
        let people = try scene.joon.ok("member.list").items
        #expect(people.map { $0["name"] } == ["Mina", "Joon"])
        #expect(try scene.joon.digest() == fresh.digest())
        // The invite is not used up by it.
        #expect(try scene.joon.ok("invite.list").items.first?["state"] == "open")
        // The lost one is older: only the phrase ends it.
        #expect(try fresh.refused("device.revoke", ["device": lost]).reason == "device.older")
        let revoked = try fresh.ok("device.revoke", ["device": lost, "phrase": scene.phrase])
        #expect(revoked["revoked"] == true)
        #expect(try scene.joon.events(types: ["device.revoked"]).count == 1)
        try fresh.send("alone again")
        #expect(try scene.joon.log().last == "alone again")
        // A recovered home leads back in its turn, by the same phrase.
        #expect(try fresh.ok("identity.show")["recovery"] == "shown")
    }

    @Test func `and has been admitted by another comes back too`() throws {
        let scene = try scene()
        let phrase = try scene.joon.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try scene.mina.ok("invite.create")["link"] ?? .null
        scene.joon.kill()
        let fresh = try scene.bench.bareNode("Fresh")
        let workspace = try fresh.ok(
            "identity.recover", ["phrase": phrase, "link": link, "name": "Joon"])
        #expect(workspace["role"] == "admin")
        try fresh.send("back")
        #expect(try scene.mina.log() == ["before", "hello", "back"])
        // Twice is once.
        let again = try fresh.ok("identity.recover", ["phrase": phrase, "link": link])
        #expect(again["id"] == workspace["id"])
    }

    @Test func `reads what was written under earlier keys`() throws {
        let scene = try scene()
        let phone = try scene.bench.bareNode("Phone")
        try scene.mina.link(phone)
        try scene.mina.ok("device.revoke", ["device": .string(try phone.deviceID())])
        try scene.mina.send("new key")
        scene.bench.advance(1_000)
        scene.mina.kill()
        let fresh = try scene.bench.bareNode("Fresh")
        try fresh.ok(
            "identity.recover", ["phrase": scene.phrase, "link": scene.link, "name": "Mina"])
        #expect(try fresh.log() == ["before", "hello", "new key"])
    }

    @Test func `does not come back by a wrong phrase`() throws {
        let scene = try scene()
        let fresh = try scene.bench.bareNode("Fresh")
        let words = try #require(scene.phrase.stringValue).split(separator: " ").map(String.init)
        for (text, part) in [
            (words.dropLast().joined(separator: " "), "24 words, not 23"),
            ((["xqzw"] + words.dropFirst()).joined(separator: " "), "word 1"),
        ] {
            let refused = try fresh.refused(
                "identity.recover",
                ["phrase": .string(text), "link": scene.link, "name": "Mina"])
            #expect(refused.kind == .badRequest)
            #expect(refused.message.contains(part), "\(refused.message)")
        }
        #expect(try fresh.refused("identity.show").kind == .notFound)
        let count = try scene.joon.rowCount("operation")
        let stranger = try fresh.refused(
            "identity.recover",
            [
                "phrase": .string(RecoveryTestPhrase.stranger), "link": scene.link,
                "name": "Mina",
            ])
        #expect(stranger.kind == .notFound)
        #expect(try fresh.ok("workspace.list").items.isEmpty)
        #expect(try scene.joon.rowCount("operation") == count)
        // Then with the right one.
        try fresh.ok("identity.recover", ["phrase": scene.phrase, "link": scene.link])
        #expect(try fresh.log() == ["before", "hello"])
    }

    @Test func `does not come back alone after a removal`() throws {
        let scene = try scene()
        let phrase = try scene.joon.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try scene.mina.ok("invite.create")["link"] ?? .null
        try scene.mina.ok("member.remove", ["member": "Joon", "force": true])
        let fresh = try scene.bench.bareNode("Fresh")
        let refused = try fresh.refused(
            "identity.recover", ["phrase": phrase, "link": link, "name": "Joon"])
        #expect(refused.kind == .pending && refused.reason == "recovery.pending")
        #expect(try scene.mina.memberNames() == ["Mina"])
        #expect(try fresh.ok("workspace.list").items.isEmpty)
    }

    @Test func `needs a link that opens the door`() throws {
        let scene = try scene()
        let fresh = try scene.bench.bareNode("Fresh")
        let id = try #require(scene.joon.ok("invite.list").items.first?["id"])
        try scene.joon.ok("invite.revoke", ["id": id])
        let refused = try fresh.refused(
            "identity.recover", ["phrase": scene.phrase, "link": scene.link, "name": "Mina"])
        #expect(refused.kind == .inviteInvalid)
        #expect(
            try fresh.refused(
                "identity.recover", ["phrase": scene.phrase, "link": "wsx://join/abc"]
            ).kind == .inviteInvalid)
    }
}
