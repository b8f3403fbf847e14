import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Joon and a thief who has Joon's old words replace the phrase, apart. The owner has heard of the
/// thief's end alone and gives a role that replaces, so Joon's end has no effect anywhere. No node
/// can tell the one from the other: an admin asks Joon.
struct `A thief's phrase under a role that replaces` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let kim: BenchNode
    private let joon: BenchNode
    /// A home that came in by Joon's words.
    private let thief: BenchNode
    private let words: JSONValue

    init() throws {
        mina = try bench.node("Mina")
        kim = try bench.guest("Kim", of: mina)
        joon = try bench.guest("Joon", of: mina, role: "admin")
        words = try joon.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        thief = try bench.bareNode("Thief")
        let link = try mina.link()
        try thief.ok(
            "identity.recover", ["phrase": words, "link": .string(link), "name": "Joon"])
        bench.advance(5_000)
        for node in [mina, kim, thief] { bench.cut(joon, node) }
        for node in [thief, joon] { try node.ok("identity.phrase.new", ["phrase": words]) }
        bench.advance(2_000)
        try mina.ok("member.role", ["member": "Joon", "role": "member"])
        bench.advance(2_000)
        for node in [mina, kim, thief] { bench.heal(joon, node) }
        bench.advance(20_000)
    }

    private func device(of node: BenchNode) throws -> DeviceID {
        try #require(node.host?.core.session.home).device
    }

    private func phrase(of node: BenchNode) throws -> DeviceID {
        let words = try node.ok("identity.show", ["phrase": true]).text("phrase")
        return try RecoveryPhrase(words).signingKey.device
    }

    /// Joon's computer, the thief's home, the thief's phrase, and Joon's new one.
    private func all() throws -> [DeviceID] {
        [
            try device(of: joon), try device(of: thief), try phrase(of: thief),
            try phrase(of: joon),
        ]
    }

    private func expect(
        _ devices: [DeviceID], areIn wanted: [Bool],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for node in [mina, kim, joon] {
            let evaluator = try node.workspace().judged.evaluator
            let found = devices.map { evaluator.bestGrant(of: $0) != nil }
            #expect(found == wanted, "\(node.name)", sourceLocation: location)
        }
    }

    /// Whether only Joon's computer is left, and is heard, also after a start.
    private func expectJoonAlone(_ devices: [DeviceID]) throws {
        thief.kill()
        try expect(devices, areIn: [true, false, false, false])
        try joon.send("it is me")
        bench.advance(5_000)
        for node in [mina, kim, joon] { try node.restart() }
        bench.advance(20_000)
        try expect(devices, areIn: [true, false, false, false])
        for node in [mina, kim, joon] {
            #expect(try node.log() == ["it is me"], "\(node.name)")
            #expect(try node.memberNames() == ["Joon", "Kim", "Mina"], "\(node.name)")
        }
    }

    @Test func `goes by a removal, and its person comes back with the computer`() throws {
        let devices = try all()
        try expect(devices, areIn: [true, true, true, false])
        // What Joon tries says what helps.
        let refused = try joon.refused("identity.phrase.new", ["phrase": words])
        #expect(refused.reason == "recovery.not_replaced")
        #expect(refused.hint?.contains("have an admin remove you") == true)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(20_000)
        try expect(devices, areIn: [false, false, false, false])
        // The thief asks, too: the request shows which device does.
        let link = try mina.link(["uses": 9])
        _ = thief.ask(link)
        #expect(joon.ask(link) == "pending")
        bench.advance(2_000)
        let computer = JSONValue.string(try joon.deviceID())
        let request = try #require(
            try mina.requests().first {
                $0["state"] == "pending" && $0["device"] == computer
            })
        try mina.ok("join.approve", ["id": request["id"] ?? .null])
        bench.advance(10_000)
        try expectJoonAlone(devices)
    }

    @Test func `goes by name with its home, and its person's computer is never out`() throws {
        let devices = try all()
        let listed = try mina.ok("device.list", ["member": "Joon"]).items.filter {
            $0["recovery"] == true && $0["revoked"] == false
        }
        #expect(listed.compactMap { $0["id"]?.stringValue } == [PublicID.device(devices[2])])
        for device in [devices[2], devices[1]] {
            try mina.ok("device.revoke", ["device": .string(PublicID.device(device))])
        }
        bench.advance(20_000)
        try expectJoonAlone(devices)
    }
}
