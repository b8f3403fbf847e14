import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// PROTOCOL.md, 4.0.4, S-5 for kind 3: what a member may make everybody judge, and keep.
@Suite struct `Private channels without number` {
    private static let burst = Limits.authorityBurstPerMember

    /// Ada owns the workspace. Bob makes private channels of his own while she is away.
    private struct Table {
        let bench = CoreBench()
        let ada: BenchNode
        let bob: BenchNode

        init(channels: Int) throws {
            ada = try bench.node("Ada")
            bob = try bench.guest("Bob", of: ada)
            bench.advance(5_000)
            bench.cut(ada, bob)
            for number in 0..<channels {
                try bob.ok("channel.create", ["name": .string("c\(number)"), "private": true])
            }
        }

        /// How many private documents Ada keeps.
        var kept: Int {
            get throws {
                let core = try #require(ada.host?.core)
                let workspace = try #require(core.workspaces.values.first)
                return core.store.operations.documents(ofWorkspace: workspace.number).count {
                    core.store.operations.document($0, in: workspace.number)?.kind
                        == .privateDocument
                }
            }
        }

        func delays() throws -> [String] {
            try ada.ok("node.status")["warnings"]?.arrayValue?
                .filter { $0["kind"] == "member.delayed" }
                .compactMap { $0["message"]?.stringValue } ?? []
        }
    }

    @Test func `of one member are taken as far as the share goes, and the rest with time`() throws {
        let table = try Table(channels: Self.burst + 40)
        let before = try table.kept
        #expect(try table.delays().isEmpty)
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(60_000)
        let taken = try table.kept - before
        // Some came back in the minute.
        #expect(taken >= Self.burst && taken <= Self.burst + 10)
        let delays = try table.delays()
        #expect(delays.count == 1 && delays.first?.hasPrefix("Bob ") == true)
        // What he says meanwhile comes as ever.
        try table.bob.ok("message.send", ["channel": "general", "text": "still here"])
        table.bench.advance(5_000)
        #expect(
            try table.ada.ok("message.history", ["channel": "general"])["items"]?.arrayValue?
                .contains { $0["text"] == "still here" } == true)
        table.bench.advance(3_600_000)
        #expect(try table.kept == before + Self.burst + 40)
        table.bench.advance(3_600_000)
        #expect(try table.delays().isEmpty)
    }

    @Test func `of a busy day are taken at once`() throws {
        let table = try Table(channels: 40)
        let before = try table.kept
        table.bench.heal(table.ada, table.bob)
        table.bench.advance(5_000)
        #expect(try table.kept == before + 40)
        #expect(try table.delays().isEmpty)
    }
}
