import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Peers` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test(arguments: [
        ("10.9.9.9", "10.9.9.9:29790"), ("10.9.9.9:7", "10.9.9.9:7"),
        ("Node.Example", "node.example:29790"), ("2001:db8::1", "[2001:db8::1]:29790"),
        ("[2001:DB8::1]:80", "[2001:db8::1]:80"),
    ])
    func `are added by address, in one form`(_ typed: String, _ shown: String) throws {
        let peer = try mina.ok("peer.add", ["address": .string(typed)])
        #expect(peer["address"] == .string(shown))
        for unknown in ["id", "member", "name"] { #expect(peer[unknown] == .null) }
        #expect(peer["behind"] == .null && peer["ahead"] == .null)
        // Twice is once.
        try mina.ok("peer.add", ["address": .string(shown)])
        #expect(try mina.ok("peer.list").texts("address") == [shown])
        #expect(mina.dialled.contains(shown))
        try mina.ok("peer.remove", ["peer": .string(typed)])
        #expect(try mina.ok("peer.list").items.isEmpty)
    }

    @Test func `have a state`() throws {
        #expect(try mina.ok("peer.list").items.isEmpty)
        try mina.ok("peer.add", ["address": "10.9.9.9"])
        let waiting = try mina.ok("peer.list").items[0]
        #expect(waiting["state"] == "waiting")
        #expect(waiting["last_error"] == "refused")
        #expect(waiting["last_tried"] == .integer(Int64(bench.wall)))
        let joon = try bench.guest("Joon", of: mina)
        let peers = try mina.ok("peer.list").items
        let connected = try #require(peers.first { $0["state"] == "connected" })
        #expect(connected["name"] == "Joon")
        #expect(connected["member"]?["name"] == "Joon")
        #expect(connected["id"] == (try joon.ok("identity.show")["id"]))
        #expect(connected["last_error"] == .null)
        bench.advance(5_000)
        let now = try mina.ok("peer.list").items.first { $0["name"] == "Joon" }
        #expect(now?["last_seen"] == .integer(Int64(bench.wall)))
        // Of a link that the other side has made, too, the address that it really has.
        for node in [mina, joon] {
            let linked = try node.ok("peer.list").items.first { $0["state"] == "connected" }
            #expect(linked?["address"]?.stringValue?.isEmpty == false, "\(node.name)")
        }
        let counts = try mina.ok("net.status")["peers"]
        #expect(counts == ["connected": 1, "dialing": 0, "waiting": 1, "blocked": 0])
        #expect(try mina.ok("node.status")["peers"] == counts)
        bench.cut(mina, joon)
        let lost = try #require(
            try mina.ok("peer.list").items.first { $0["name"] == "Joon" })
        #expect(lost["state"] == "waiting")
        #expect(try lost.number("last_seen") <= Int64(bench.wall))
        #expect(try mina.eventTypes().last == "peer.disconnected")
    }

    @Test func `that are removed are forgotten, and their links closed`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let id = try joon.ok("identity.show").text("id")
        let removed = try mina.ok("peer.remove", ["peer": .string(id)])
        #expect(removed["id"] == .string(id))
        #expect(try mina.ok("peer.list").items.allSatisfy { $0["state"] != "connected" })
        #expect(try joon.ok("net.status")["peers"]?["connected"] == 0)
        // A removed peer is no stranger: it may come back by itself.
        bench.advance(120_000)
        try joon.send("still a member")
        #expect(try mina.log() == ["still a member"])
    }

    @Test func `are remembered over a restart, and met again`() throws {
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        mina.kill()
        try joon.send("while Mina was away")
        try mina.boot()
        bench.advance(120_000)
        #expect(try mina.log() == ["while Mina was away"])
        #expect(try mina.ok("net.status")["peers"]?["connected"] == 1)
    }

    @Test func `that know each other through a third dial each other`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(30_000)
        mina.kill()
        try joon.send("directly")
        bench.advance(120_000)
        #expect(try kim.log() == ["directly"])
    }

    @Test func `are told how far they are apart`() throws {
        let joon = try bench.guest("Joon", of: mina)
        try mina.send("x")
        // Until roots are compared again, what the other has is known from its receipts alone.
        bench.advance(60_000)
        let id = try joon.ok("identity.show").text("id")
        let rows = try mina.ok("sync.status").items
        #expect(rows.count == 1)
        #expect(rows[0]["peer"] == .string(id))
        #expect(rows[0]["workspace"] == (try mina.ok("workspace.get")["id"]))
        #expect(rows[0]["behind"] == 0)
        #expect(rows[0]["ahead"] == 0)
        #expect(try mina.ok("sync.status", ["peer": .string(id)]).items == rows)
        let other = try mina.ok("identity.show").text("id")
        #expect(try mina.ok("sync.status", ["peer": .string(other)]).items.isEmpty)
    }

    @Test func `hold messages, which the sender sees`() throws {
        let alone = try mina.send("alone")
        #expect(alone["holders"] == 1)
        #expect(alone["state"] == "local")
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(60_000)
        let id = JSONValue.array([alone["id"] ?? .null])
        for node in [mina, joon, kim] {
            let seen = try node.ok("message.get", ["ids": id]).items[0]
            #expect(seen["holders"] == 3, "\(node.name)")
            #expect(seen["state"] == "held_by_others")
        }
        bench.cut(mina, joon)
        bench.cut(mina, kim)
        let later = try mina.send("later")
        #expect(later["holders"] == 1)
        bench.heal(mina, joon)
        let held = try mina.ok("message.get", ["ids": .array([later["id"] ?? .null])]).items[0]
        #expect(held["state"] == "held_by_others")
    }
}

struct `The network` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `is left and used again`() throws {
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let left = try mina.ok("net.suspend")
        #expect(left["suspended"] == true)
        #expect(left["listen"] == [])
        #expect(left["peers"]?["connected"] == 0)
        #expect(try joon.ok("net.status")["peers"]?["connected"] == 0)
        let dials = mina.dialled.count
        try mina.send("offline")
        try joon.send("meanwhile")
        bench.advance(600_000)
        #expect(mina.dialled.count == dials)
        #expect(try joon.log() == ["meanwhile"])
        #expect(try mina.ok("net.status")["suspended"] == true)
        let back = try mina.ok("net.resume")
        #expect(back["suspended"] == false)
        bench.advance(5_000)
        #expect(try mina.log() == ["offline", "meanwhile"])
        #expect(try joon.log() == ["offline", "meanwhile"])
        #expect(try mina.ok("net.status")["listen"] == [.string(mina.address)])
    }

    @Test func `answers suspend behind the closings`() throws {
        _ = try bench.guest("Joon", of: mina)
        let effects = mina.turn([
            .call(CallID(connection: 9, number: 1), method: "net.suspend", arguments: [:])
        ])
        let answer = try #require(
            effects.firstIndex { if case .answer = $0 { true } else { false } })
        let close = try #require(
            effects.lastIndex { if case .close = $0 { true } else { false } })
        #expect(close < answer)
        #expect(effects.contains { if case .setNetwork(false) = $0 { true } else { false } })
        bench.settle()
    }

    @Test func `is used again after a restart`() throws {
        try mina.ok("net.suspend")
        try mina.restart()
        #expect(try mina.ok("net.status")["suspended"] == false)
        #expect(try mina.ok("net.status")["listen"] == [.string(mina.address)])
    }

    @Test func `finds nobody while it is suspended`() throws {
        try mina.ok("net.suspend")
        let effects = mina.turn([.accepted(LinkID(9_999), address: "10.0.0.77:1")])
        #expect(effects.contains { if case .close(LinkID(9_999)) = $0 { true } else { false } })
    }

    @Test func `is told by beacons only where that is wanted`() throws {
        let bench = CoreBench()
        let quiet = try bench.node("Quiet")
        bench.advance(120_000)
        #expect(quiet.beaconCount == 0)
        #expect(try quiet.ok("net.status")["announce"] == false)
        quiet.announces = true
        try quiet.restart()
        bench.advance(120_000)
        #expect((2...4).contains(quiet.beaconCount))
        #expect(try quiet.ok("net.status")["announce"] == true)
        try quiet.ok("net.suspend")
        let count = quiet.beaconCount
        bench.advance(120_000)
        #expect(quiet.beaconCount == count)
    }

    @Test func `asks for the process to end after the answer`() throws {
        let effects = mina.turn([
            .call(CallID(connection: 9, number: 1), method: "node.stop", arguments: [:])
        ])
        guard case .stop? = effects.last else {
            Issue.record("no stop at the end")
            return
        }
        #expect(effects.contains { if case .answer = $0 { true } else { false } })
        #expect(mina.hasStopped)
        withExtendedLifetime(bench) {}
    }
}

struct `Doctor and status` {
    private func findings(_ node: BenchNode) throws -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        for item in try node.ok("node.doctor").items { found[try item.text("id")] = item }
        return found
    }

    @Test func `find nothing wrong with a healthy node`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("identity.show", ["phrase": true])
        for (id, finding) in try findings(mina) {
            #expect(finding["state"] == "ok", "\(id): \(finding.text)")
            #expect(finding["hint"] == .null)
        }
        #expect(try mina.ok("node.status")["warnings"] == [])
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        let id: String
        let state: String
        let make: @Sendable (CoreBench, BenchNode) throws -> Void
        var testDescription: String { id }
    }

    static let faults = [
        Fault(id: "disk", state: "warn") { _, node in node.files.freeBytes = 1 << 20 },
        Fault(id: "listener", state: "warn") { _, node in try node.ok("net.suspend") },
        Fault(id: "listener", state: "fail") { bench, node in
            bench.give(.listening([]), to: node)
            bench.settle()
        },
        Fault(id: "peer", state: "warn") { _, node in
            try node.ok("peer.add", ["address": "10.9.9.9"])
        },
        Fault(id: "operations", state: "fail") { _, node in
            try node.damage(
                "UPDATE operation SET payload = zeroblob(length(payload)) WHERE arr = 3")
        },
    ]

    @Test(arguments: faults)
    func `find what is wrong, with one remedy`(_ fault: Fault) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try fault.make(bench, mina)
        let finding = try #require(try findings(mina)[fault.id])
        #expect(finding["state"] == .string(fault.state))
        #expect(finding["hint"]?.stringValue?.isEmpty == false)
    }

    @Test func `work without an identity`() throws {
        let bench = CoreBench()
        let node = try bench.bareNode("Nobody")
        #expect(try findings(node)["identity"]?["state"] == "warn")
        let status = try node.ok("node.status")
        #expect(status["identity"] == .null)
        #expect(status["device"] == .null)
        #expect(status["workspaces"] == [])
        #expect(try node.ok("events.wait", ["since": "all"]).items.isEmpty)
        #expect(try node.ok("peer.list").items.isEmpty)
        #expect(try node.ok("net.status")["suspended"] == false)
    }

    @Test func `warn of a full disk`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        mina.files.freeBytes = 1 << 20
        let warnings = try mina.ok("node.status")["warnings"]?.arrayValue ?? []
        #expect(warnings.map { $0["kind"] } == ["disk.low"])
        #expect(warnings.first?.fieldNames == ["kind", "message", "hint"])
        for (free, message) in [
            (0, "the disk is full"), (1 << 20 - 1, "the disk is full"),
            (1 << 20, "1.0 MB of disk space is free"),
            (5 << 20 + 9, "5.2 MB of disk space is free"),
            (64 << 20 - 1, "67.1 MB of disk space is free"), (64 << 20, nil),
        ] as [(Int64, String?)] {
            mina.files.freeBytes = free
            let warned = try mina.ok("node.status")["warnings"]?.arrayValue?.first
            #expect(warned?["message"] == message.map { JSONValue.string($0) }, "\(free)")
        }
    }
}
