import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The metrics of a node` {
    private let bench = CoreBench()

    /// Every line of the page that is no comment, with its value.
    private func samples(_ node: BenchNode) throws -> [String: Int64] {
        var samples: [String: Int64] = [:]
        for line in try node.ok("node.metrics").text("text").split(separator: "\n") {
            if line.hasPrefix("#") { continue }
            let parts = line.split(separator: " ")
            try #require(parts.count == 2, "\(line)")
            #expect(
                samples.updateValue(try #require(Int64(parts[1])), forKey: String(parts[0])) == nil)
        }
        return samples
    }

    @Test func `count operations by where they came from, events, and peers by their state`() throws
    {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let before = try samples(joon)
        try mina.send("one")
        try mina.send("two")
        // A person who says something has read the rest, which is an operation too.
        try joon.ok("message.send", ["channel": "general", "text": "three", "bot": true])
        let after = try samples(joon)
        #expect(
            after["wsx_ops_total{origin=\"peer\"}"]
                == (before["wsx_ops_total{origin=\"peer\"}"] ?? 0) + 2)
        #expect(
            after["wsx_ops_total{origin=\"own\"}"] == (before["wsx_ops_total{origin=\"own\"}"] ?? 0)
                + 1)
        #expect(after["wsx_ops"] == (before["wsx_ops"] ?? 0) + 3)
        #expect(after["wsx_event_seq"] == (before["wsx_event_seq"] ?? 0) + 3)
        #expect(after["wsx_peers{state=\"connected\"}"] == 1)
        for way in ["in", "out"] {
            let name = "wsx_net_bytes_total{direction=\"\(way)\"}"
            #expect((after[name] ?? 0) > (before[name] ?? 0))
        }
        let behind = after.filter { $0.key.hasPrefix("wsx_sync_behind{peer=\"d_") }
        #expect(behind.map(\.value) == [0])
    }

    @Test func `count answers by method and kind, whatever names a caller makes up`() throws {
        let mina = try bench.node("Mina")
        let before = try samples(mina)
        _ = try mina.refused("channel.get", ["channel": "nowhere"])
        for number in 0..<3 { _ = try mina.refused("made.up\(number)\"\n", [:]) }
        let after = try samples(mina)
        #expect(
            after["wsx_rpc_requests_total{method=\"channel.get\",kind=\"not_found\"}"] == 1)
        #expect(after["wsx_rpc_requests_total{method=\"unknown\",kind=\"unknown_op\"}"] == 3)
        let name = "wsx_rpc_requests_total{method=\"node.metrics\",kind=\"ok\"}"
        #expect(after[name] == (before[name] ?? 0) + 1)
    }

    @Test func `count handshakes that fail`() throws {
        let mina = try bench.node("Mina")
        let link = LinkID(1_000_000)
        bench.give(.accepted(link, address: "10.7.7.7:1"), to: mina)
        bench.give(.received(link, [UInt8](repeating: 7, count: 400)), to: mina)
        bench.settle()
        bench.advance(10_000)
        let failures = try samples(mina).filter {
            $0.key.hasPrefix("wsx_handshake_failures_total{")
        }
        #expect(failures.values.reduce(0, +) == 1)
    }

    @Test func `go on after a failed write, and say how many streams are open`() throws {
        let mina = try bench.node("Mina")
        try mina.send("kept")
        let own = "wsx_ops_total{origin=\"own\"}"
        let before = try samples(mina)
        mina.plant(.commitBefore(0), .full)
        _ = try mina.refused("message.send", ["channel": "general", "text": "lost"])
        let after = try samples(mina)
        #expect((after[own] ?? 0) >= (before[own] ?? 1))
        #expect(after["wsx_subscribers"] == 0)
        try mina.ok("events.subscribe")
        #expect(try samples(mina)["wsx_subscribers"] == 1)
    }

    @Test func `tell no names`() throws {
        let mina = try bench.node("Wilhelmina", workspace: "undercover")
        try mina.ok("channel.create", ["name": "blueprints"])
        _ = try bench.guest("Joachimsthal", of: mina)
        let page = try mina.ok("node.metrics").text("text")
        for name in ["Wilhelmina", "undercover", "blueprints", "Joachimsthal", "general"] {
            #expect(!page.contains(name))
        }
    }
}
