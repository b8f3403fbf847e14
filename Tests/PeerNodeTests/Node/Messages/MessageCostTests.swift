import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What a message costs the store of both nodes, counted: it writes its operation, its row in the
/// view, its event and the end of its log, and asks for nothing.
struct `A message in the store` {
    private let bench = CoreBench()
    /// The four rows, and the statement that holds the turn's snapshot.
    private static let turnMax = 5

    private func statements(of node: BenchNode, _ body: () throws -> Void) throws -> Int {
        let connection = try #require(node.connection)
        let before = connection.statementCount
        try body()
        return connection.statementCount - before
    }

    private func call(_ number: UInt64, _ text: String) -> NodeInput {
        .call(
            CallID(connection: 9, number: number), method: "message.send",
            arguments: ["channel": "general", "text": .string(text)])
    }

    @Test func `asks for nothing where it is sent`() throws {
        let mina = try bench.node("Mina")
        let host = try #require(mina.host)
        // What is asked for once is known afterwards.
        for number in 0..<3 { try mina.send("before \(number)") }
        for number in 0..<3 as Range<UInt64> {
            var effects: [NodeEffect] = []
            let cost = try statements(of: mina) {
                effects = host.turn([call(number, "text \(number)")], at: mina.time)
            }
            #expect(cost <= Self.turnMax)
            let isAnswered = effects.contains {
                if case .answer(_, .success(let answer)) = $0 {
                    return answer["text"] == .string("text \(number)")
                }
                return false
            }
            #expect(isAnswered)
        }
        #expect(try mina.log().suffix(2) == ["text 1", "text 2"])
    }

    @Test func `costs a further message of the same turn its rows`() throws {
        let mina = try bench.node("Mina")
        let host = try #require(mina.host)
        for number in 0..<3 { try mina.send("before \(number)") }
        let cost = try statements(of: mina) {
            _ = host.turn((0..<10).map { call($0, "text \($0)") }, at: mina.time)
        }
        // The end of the log is written once, as is the snapshot held.
        #expect(cost <= 10 * 3 + 2)
    }

    @Test func `asks for nothing where it arrives`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for number in 0..<3 { try mina.send("before \(number)") }
        for number in 0..<3 {
            let cost = try statements(of: joon) { try mina.send("text \(number)") }
            // Further turns, such as one when the answer of the first has left, hold a snapshot.
            #expect(cost <= Self.turnMax + 3)
        }
        #expect(try joon.log().suffix(2) == ["text 1", "text 2"])
    }
}
