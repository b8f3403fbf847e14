import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Doctor's findings from the node's own observations.
struct `Doctor` {
    private let bench = CoreBench()

    private func finding(_ id: String, _ node: BenchNode) throws -> JSONValue {
        try #require(try node.ok("node.doctor").items.first { $0["id"] == .string(id) })
    }

    // MARK: Announcements

    @Test func `hears whether it hears itself`() throws {
        let mina = try bench.bareNode("Mina")
        mina.announces = true
        try mina.restart()
        try mina.ok("identity.create", ["name": "Mina"])
        try mina.ok("workspace.create", ["name": "acme"])
        #expect(try finding("beacon", mina)["state"] == "ok")
        bench.advance(60_000)
        #expect(mina.beaconCount > 0)
        let warned = try finding("beacon", mina)
        #expect(warned["state"] == "warn" && warned["hint"] == "wsx-node peer add HOST")
        let beacon = try #require(mina.lastBeacon)
        bench.give(.beacon(beacon, host: "10.0.0.1"), to: mina)
        bench.settle()
        #expect(try finding("beacon", mina)["state"] == "ok")
        // Nobody is dialled because of it.
        #expect(try mina.ok("peer.list").items.isEmpty)
    }

    @Test func `tells of a peer that is heard, once, and not of one that is linked`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for node in [mina, joon] {
            node.announces = true
            try node.restart()
        }
        bench.advance(60_000)
        let beacon = try #require(joon.lastBeacon)
        func discovered() throws -> [JSONValue] {
            try mina.events(types: ["peer.discovered"]).compactMap { $0["data"] }
        }
        // Where it is linked it is known.
        bench.give(.beacon(beacon, host: joon.hostAddress), to: mina)
        bench.settle()
        #expect(try discovered().isEmpty)
        for seed in 0..<3 {
            let elsewhere = try Self.beacon(of: joon, from: 0x0A09_0909, seed: UInt64(seed))
            bench.give(.beacon(elsewhere, host: "10.9.9.9"), to: mina)
            bench.settle()
        }
        let found = try discovered()
        #expect(found.count == 1)
        #expect(found.first?["address"]?.stringValue?.hasPrefix("10.9.9.9:") == true, "\(found)")
        #expect(found.first?["id"] == .null)
        // What no member sent is nobody.
        let stranger = try bench.node("Eve", workspace: "else")
        stranger.announces = true
        try stranger.restart()
        bench.advance(60_000)
        let unknown = try Self.beacon(of: stranger, from: 0x0A08_0808, seed: 1)
        bench.give(.beacon(unknown, host: "10.8.8.8"), to: mina)
        bench.settle()
        #expect(try discovered().count == 1)
    }

    /// A beacon of a member's node from a given address, which is not the node's own in the bench.
    private static func beacon(
        of node: BenchNode, from host: UInt32, seed: UInt64
    ) throws -> [UInt8] {
        let secret = try #require(try node.workspace().discovery.last)
        return BeaconPacket(
            from: .ipv4(host), port: 4_000, keys: [secret.derived(Array("beacon".utf8))],
            wallMilliseconds: try #require(node.host?.core.turn.time.wall),
            using: SeededRandom(seed: seed)
        ).bytes
    }

    @Test func `says that discovery is off`() throws {
        let mina = try bench.node("Mina")
        bench.advance(60_000)
        #expect(try finding("beacon", mina)["message"] == "LAN discovery is off")
    }

    // MARK: Backups and peers

    @Test func `knows how old the last backup is`() throws {
        let mina = try bench.node("Mina")
        #expect(
            try finding("backup", mina)["message"] == "no backup yet, and this home is new")
        let day: UInt64 = 24 * 3_600_000
        bench.wall += 8 * day
        let never = try finding("backup", mina)
        #expect(never["state"] == "warn" && never["hint"] == "wsx-node backup create -o FILE")
        bench.give(.backedUp(at: bench.wall), to: mina)
        bench.settle()
        #expect(try finding("backup", mina)["message"] == "the last backup was made today")
        try mina.restart()
        bench.wall += 30 * day
        #expect(try finding("backup", mina)["state"] == "ok")
        bench.wall += day
        let old = try finding("backup", mina)
        #expect(old["state"] == "warn" && old["message"] == "the last backup is 31 days old")
    }

    @Test func `shows where each peer was tried, why that failed, and when it was seen`() throws {
        let mina = try bench.node("Mina")
        try mina.ok("peer.add", ["address": "10.9.9.9"])
        let lost = try finding("peer", mina)
        #expect(lost["state"] == "warn")
        let told =
            "10.9.9.9:29790 not connected: the connection was refused; never seen; "
            + "addresses 10.9.9.9:29790"
        #expect(lost["message"] == .string(told))
        try mina.ok("peer.remove", ["peer": "10.9.9.9:29790"])
        let joon = try bench.guest("Joon", of: mina)
        #expect(try finding("peer", mina)["state"] == "ok")
        bench.cut(mina, joon)
        bench.advance(3 * 3_600_000)
        let message = try finding("peer", mina).text("message")
        #expect(message.hasPrefix("Joon not connected: "))
        #expect(!message.contains("_") && !message.contains("link."), "\(message)")
        #expect(message.contains("last seen 3 h ago; addresses 10.0.0.2:29790"), "\(message)")
    }
}
