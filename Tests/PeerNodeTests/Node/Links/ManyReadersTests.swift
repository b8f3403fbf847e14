import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A script with a new reader name on each run must not fill the store.
struct `Very many readers of events` {
    @Test func `leave those that moved last, and no name of the others`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let cursor = try mina.cursor()
        func move(_ name: String) throws {
            try mina.ok("events.ack", ["name": .string(name), "cursor": .string(cursor)])
        }
        try move("first")
        let rows = try mina.rowCount("meta")
        for number in 0..<Limits.eventReadersMax + 20 {
            bench.wall += 1
            try move("reader \(number)")
            if number % 500 == 0 { try move("first") }
        }
        #expect(try mina.rowCount("reader") == Int64(Limits.eventReadersMax))
        #expect(try mina.rowCount("meta") == rows + Int64(Limits.eventReadersMax) - 1)
        let names = try mina.ok("events.names", ["limit": 100]).texts("name")
        #expect(names.contains("first") && !names.contains("reader 0"))
    }
}
