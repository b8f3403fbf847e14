import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `How long calls take` {
    @Test func `is counted from the call to the answer's leaving, in cumulative buckets`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let host = try #require(mina.host)
        // What came before is not what is looked at.
        host.didPerform(at: bench.time.monotonic)
        func call(_ method: String, after milliseconds: UInt64) {
            _ = mina.call(method)
            host.didPerform(at: bench.time.monotonic + milliseconds)
        }
        let before = host.core.turn.tally.durations["channel"]?.totalMilliseconds ?? 0
        for time in [0, 1, 2, 40, 31_000] as [UInt64] { call("channel.list", after: time) }
        call("made.up", after: 1)
        let known = try #require(host.core.turn.tally.durations["channel"])
        #expect(known.totalMilliseconds == before + 31_043)
        #expect(known.counts == [2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1])
        #expect(host.core.turn.tally.durations["made"] == nil)
        let page = try mina.ok("node.metrics").text("text")
        #expect(page.contains("# TYPE wsx_rpc_seconds histogram\n"))
        let lines = page.split(separator: "\n").filter { $0.contains("group=\"channel\"") }
        #expect(
            lines == [
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.001\"} 2",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.005\"} 3",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.01\"} 3",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.025\"} 3",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.05\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.1\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"0.25\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"1\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"5\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"30\"} 4",
                "wsx_rpc_seconds_bucket{group=\"channel\",le=\"+Inf\"} 5",
                "wsx_rpc_seconds_sum{group=\"channel\"} 31.043",
                "wsx_rpc_seconds_count{group=\"channel\"} 5",
            ])
    }

    @Test func `has a bounded set of labels, and survives a lost turn`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let host = try #require(mina.host)
        for command in Command.methods { _ = mina.call(command.name, [:]) }
        for number in 0..<50 { _ = mina.call("x\(number).y") }
        let open = try #require(mina.host)
        open.didPerform(at: bench.time.monotonic)
        let groups = Set(Command.methods.map { $0.name.prefix { $0 != "." } }.map(String.init))
        #expect(Set(open.core.turn.tally.durations.keys).isSubset(of: groups.union(["unknown"])))
        let count = open.core.turn.tally.durations.count
        mina.plant(.commitBefore(0), .full)
        _ = mina.call("channel.create", ["name": "plans"])
        open.didPerform(at: bench.time.monotonic)
        #expect(open.core.turn.tally.durations.count >= count)
        withExtendedLifetime(host) {}
    }

    @Test(arguments: [
        (0, "0"), (1, "0.001"), (10, "0.01"), (250, "0.25"), (1_000, "1"), (1_250, "1.25"),
        (31_043, "31.043"),
    ])
    func `is shown in seconds`(_ milliseconds: Int64, _ text: String) {
        #expect(MetricsObject.thousandths(milliseconds) == text)
    }
}
