import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// `identity phrase new`: replacing the recovery phrase.
struct `A recovery phrase that is replaced` {
    private let scene: Scene

    init() throws { scene = try Scene() }

    /// Mina founded the workspace with a laptop and linked a phone; Joon is an admin.
    private struct Scene {
        let bench = CoreBench()
        let laptop: BenchNode
        let phone: BenchNode
        let joon: BenchNode
        let old: JSONValue

        init() throws {
            laptop = try bench.node("Mina")
            joon = try bench.guest("Joon", of: laptop, role: "admin")
            phone = try bench.bareNode("Phone")
            try laptop.link(phone)
            try laptop.send("before")
            old = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
            bench.advance(5_000)
        }

        /// Replaces the phrase on a node, and shows the new one.
        func renew(on node: BenchNode) throws -> JSONValue {
            try node.ok("identity.phrase.new", ["phrase": old])
            let shown = try node.ok("identity.show", ["phrase": true])["phrase"] ?? .null
            bench.advance(5_000)
            return shown
        }

        /// A new home that tries to come back by a phrase.
        func fresh(_ name: String) throws -> (node: BenchNode, link: JSONValue) {
            let link = try joon.ok("invite.create")["link"] ?? .null
            return (try bench.bareNode(name), link)
        }
    }

    @Test func `no longer leads back, and the new one does`() throws {
        let before = try scene.laptop.ok("identity.show")["members"]?[0]?["member"]
        let new = try scene.renew(on: scene.laptop)
        #expect(new != scene.old)
        scene.laptop.kill()
        scene.phone.kill()
        let (late, first) = try scene.fresh("Late")
        let refused = try late.refused(
            "identity.recover", ["phrase": scene.old, "link": first, "name": "Mina"])
        #expect(refused.kind == .forbidden)
        let (fresh, link) = try scene.fresh("Fresh")
        let workspace = try fresh.ok(
            "identity.recover", ["phrase": new, "link": link, "name": "Mina"])
        #expect(workspace["role"] == "owner")
        #expect(try fresh.ok("identity.show")["members"]?[0]?["member"] == before)
        #expect(try fresh.log() == ["before"])
        try fresh.send("back")
        #expect(try scene.joon.log() == ["before", "back"])
    }

    @Test func `can revoke older devices, and the phone stays`() throws {
        let new = try scene.renew(on: scene.laptop)
        let laptop = JSONValue.string(try scene.laptop.deviceID())
        scene.laptop.kill()
        let refused = try scene.phone.refused("device.revoke", ["device": laptop])
        #expect(refused.reason == "device.older")
        let revoked = try scene.phone.ok("device.lost", ["device": laptop, "phrase": new])
        #expect(revoked["revoked"] == true)
        try scene.phone.send("still here")
        #expect(try scene.joon.log() == ["before", "still here"])
        let devices = try scene.joon.ok("device.list", ["member": "Mina"]).items
        #expect(devices.filter { $0["recovery"] == true }.map { $0["revoked"] } == [true, false])
        #expect(devices.filter { $0["recovery"] == false }.map { $0["revoked"] } == [true, false])
    }

    /// A thief with the old words may have been first. Nobody else is stronger than their phrase.
    @Test func `revokes one that somebody added as its successor before`() throws {
        let old = try RecoveryPhrase(try #require(scene.old.stringValue))
        let theirs = RecoveryPhrase(using: SeededRandom(seed: 7))
        try scene.phone.inTurn { core, workspace in
            let entry = theirs.entry(
                entering: .adding(
                    to: workspace.id, before: old.signingKey.device, member: workspace.member))
            let added = try core.enrolment.linking.addDevice(
                entry, to: workspace, signedBy: old.signingKey, takesPlace: true)
            #expect(added != nil)
        }
        scene.bench.advance(5_000)
        _ = try scene.renew(on: scene.laptop)
        for node in [scene.laptop, scene.phone, scene.joon] {
            let workspace = try node.workspace()
            let phrases = workspace.recoveryDevices.filter {
                workspace.owner(of: $0)
                    == workspace.judged.evaluator.citedMember(of: theirs.signingKey.device)
            }
            #expect(workspace.judged.evaluator.bestGrant(of: theirs.signingKey.device) == nil)
            #expect(workspace.judged.evaluator.bestGrant(of: old.signingKey.device) == nil)
            #expect(phrases.count { workspace.judged.evaluator.bestGrant(of: $0) != nil } == 1)
        }
    }

    @Test func `does nothing any more`() throws {
        let new = try scene.renew(on: scene.laptop)
        let phone = JSONValue.string(try scene.phone.deviceID())
        let count = try scene.joon.rowCount("operation")
        _ = try scene.laptop.refused("device.lost", ["device": phone, "phrase": scene.old])
        let again = try scene.laptop.refused("identity.phrase.new", ["phrase": scene.old])
        #expect(again.reason == "recovery.not_replaced")
        #expect(try scene.joon.rowCount("operation") == count)
        #expect(try scene.laptop.ok("identity.show")["recovery"] == "shown")
        // The next one is put in by the new one.
        let third = try scene.laptop.ok("identity.phrase.new", ["phrase": new])
        #expect(third["done"]?.arrayValue?.map { $0["name"] } == ["acme"])
    }

    @Test func `and then revoked brings nobody back, which doctor says`() throws {
        let new = try scene.renew(on: scene.laptop)
        func finding() throws -> JSONValue? {
            try scene.laptop.ok("node.doctor").items.first { $0["id"] == "recovery" }
        }
        #expect(try finding()?["state"] == "ok")
        let phrase = try scene.laptop.ok("device.list").items.first {
            $0["recovery"] == true && $0["revoked"] == false
        }
        try scene.laptop.ok(
            "device.revoke", ["device": phrase?["id"] ?? .null, "phrase": new])
        let after = try finding()
        #expect(after?["state"] == "warn")
        #expect(
            after?["message"]?.stringValue?.hasPrefix("no recovery phrase can bring you back")
                == true)
        try scene.laptop.restart()
        #expect(try finding() == after)
    }

    @Test func `is answered with where, and the new words wait until they were shown`() throws {
        let answer = try scene.laptop.ok("identity.phrase.new", ["phrase": scene.old])
        #expect(answer.fieldNames == ["recovery", "done", "left"])
        #expect(answer["recovery"] == "unshown")
        #expect(answer["done"]?.arrayValue?.map { $0["name"] } == ["acme"])
        #expect(answer["left"] == [])
        try scene.laptop.restart()
        #expect(try scene.laptop.ok("identity.show")["recovery"] == "unshown")
        let new = try scene.laptop.ok("identity.show", ["phrase": true])
        #expect(new["phrase"] != scene.old && new["recovery"] == "shown")
        #expect(try scene.laptop.rowCount("meta WHERE name = 'recovery.seed'") == 0)
        try scene.laptop.restart()
        #expect(try scene.laptop.refused("identity.show", ["phrase": true]).kind == .notFound)
    }

    @Test func `takes the words of now, and says what is possible without them`() throws {
        let count = try scene.joon.rowCount("operation")
        let without = try scene.laptop.refused("identity.phrase.new")
        #expect(without.kind == .badRequest && without.reason == "recovery.words")
        #expect(without.hint?.contains("admin") == true)
        let wrong = try scene.laptop.refused(
            "identity.phrase.new", ["phrase": .string(RecoveryTestPhrase.stranger)])
        #expect(wrong.kind == .wrongSecret)
        // Joon's are not Mina's.
        let joons = try scene.joon.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        #expect(
            try scene.laptop.refused("identity.phrase.new", ["phrase": joons]).kind
                == .wrongSecret)
        #expect(try scene.laptop.ok("identity.show")["recovery"] == "shown")
        #expect(try scene.joon.rowCount("operation") == count)
    }

    @Test func `is not replaced before its own words were shown`() throws {
        let bench = CoreBench()
        let first = try bench.node("Mina")
        let old = try first.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let desk = try bench.node("Desk", workspace: "own")
        try first.link(desk)
        let refused = try desk.refused("identity.phrase.new", ["phrase": old])
        #expect(refused.kind == .conflict && refused.reason == "recovery.unshown")
        #expect(try desk.ok("identity.show")["recovery"] == "unshown")
        try desk.ok("identity.show", ["phrase": true])
        let answer = try desk.ok("identity.phrase.new", ["phrase": old])
        #expect(answer["done"]?.arrayValue?.map { $0["name"] } == ["acme"])
        #expect(answer["left"]?.arrayValue?.map { $0["name"] } == ["own"])
    }

    @Test func `tells of workspaces that another phrase leads back into, or none`() throws {
        try scene.phone.ok("workspace.create", ["name": "solo"])
        let answer = try scene.phone.ok("identity.phrase.new", ["phrase": scene.old])
        #expect(answer["done"]?.arrayValue?.map { $0["name"] } == ["acme"])
        #expect(answer["left"]?.arrayValue?.map { $0["name"] } == ["solo"])
        #expect(answer["left"]?[0]?["message"]?.stringValue?.isEmpty == false)
    }

    @Test func `is brought into no further workspace, by whichever device`() throws {
        let new = try RecoveryPhrase(scene.renew(on: scene.phone).stringValue ?? "")
        for node in [scene.phone, scene.laptop] {
            try node.ok("workspace.create", ["name": "later"])
        }
        func phrases(_ node: BenchNode) throws -> Set<DeviceID> {
            let all = try #require(node.host?.core.workspaces.values)
            return try #require(all.first { $0.displayName == "later" }).recoveryDevices
        }
        #expect(try phrases(scene.phone) == [new.signingKey.device])
        #expect(try phrases(scene.laptop).isEmpty)
        #expect(try scene.laptop.ok("identity.show")["recovery"] == "none")
    }

    @Test func `hands on what was said in private`() throws {
        try scene.laptop.ok(
            "channel.create", ["name": "nest", "private": true, "history": "all"])
        try scene.laptop.ok("channel.add", ["channel": "nest", "members": ["Joon"]])
        try scene.laptop.send("old", to: "nest")
        scene.bench.advance(5_000)
        let new = try scene.renew(on: scene.laptop)
        try scene.joon.send("since then", to: "nest")
        scene.bench.advance(30_000)
        scene.laptop.kill()
        scene.phone.kill()
        let (fresh, link) = try scene.fresh("Fresh")
        try fresh.ok("identity.recover", ["phrase": new, "link": link, "name": "Mina"])
        scene.bench.advance(30_000)
        #expect(try fresh.log(of: "nest") == ["old", "since then"])
    }
}
