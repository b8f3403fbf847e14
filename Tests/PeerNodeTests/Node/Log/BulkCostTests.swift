import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a history costs the node that takes all of it.
struct `A history that comes in bulk` {
    private static let messageCount = 320

    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws {
        mina = try bench.node("Mina")
    }

    /// The statements that write which a new node runs until it has caught up.
    private func writesOfGuest(_ name: String) throws -> Int {
        let guest = try bench.guest(name, of: mina)
        bench.advance(5_000)
        #expect(try guest.log(of: "general") == mina.log(of: "general"))
        return try #require(guest.connection).writeCount
    }

    // One row at a time these would be 960: operation, message and event.
    @Test func `is written many rows at a time`() throws {
        let before = try writesOfGuest("Joon")
        for number in 0..<Self.messageCount { try mina.send("\(number)", to: "general") }
        bench.advance(5_000)
        let after = try writesOfGuest("Wim")
        #expect(after - before < Self.messageCount)
    }

    @Test func `is read as it was written`() throws {
        for number in 0..<Self.messageCount { try mina.send("\(number)", to: "general") }
        let guest = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        #expect(try guest.log(of: "general") == mina.log(of: "general"))
        #expect(try guest.ok("node.check")["problem_count"] == 0)
        let shown = try guest.log(of: "general")
        try guest.restart()
        #expect(try guest.log(of: "general") == shown)
    }
}
