import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Many messages at once` {
    private func pair() throws -> (CoreBench, BenchNode, BenchNode) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        return (bench, mina, try bench.guest("Joon", of: mina))
    }

    private func calls(_ count: Int, byteCount: Int = 20, from first: UInt64 = 0) -> [NodeInput] {
        (0..<count).map { number in
            let text = "m\(number) " + String(repeating: "x", count: max(byteCount - 5, 0))
            return .call(
                CallID(connection: 9, number: first + UInt64(number)), method: "message.send",
                arguments: ["channel": "general", "text": .string(text)])
        }
    }

    /// The lengths are those at which what is left of an answer of 1 MiB, after as many operations
    /// as go in, is less than the head of their run.
    @Test(arguments: [4_688, 14_128, 15_184])
    func `A history of several answers comes whole, whatever the length of its messages`(
        _ byteCount: Int
    ) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let count = 3 * (1 << 20) / byteCount
        mina.turn(calls(count, byteCount: byteCount))
        bench.settle()
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        #expect(try joon.rowCount("message") == count)
        #expect(try joon.digest() == mina.digest())
    }

    @Test func `The first message after joining is pushed at once`() throws {
        let (bench, mina, joon) = try pair()
        let call = mina.begin("message.send", ["channel": "general", "text": "welcome"])
        #expect(mina.answer(to: call) != nil)
        // No time has passed in which it could have been announced and asked for.
        #expect(try joon.rowCount("message") == 1)
        withExtendedLifetime(bench) {}
    }

    @Test func `A burst of one turn is pushed as one run with one signature to verify`() throws {
        let (bench, mina, joon) = try pair()
        let before = try verifiedCount(joon)
        mina.turn(calls(200))
        bench.settle()
        #expect(try joon.rowCount("message") == 200)
        #expect(try verifiedCount(joon) - before == 1)
        #expect(try verifiedCount(mina) >= 200)
        withExtendedLifetime(bench) {}
    }

    @Test func `A burst of two channels arrives in both`() throws {
        let (bench, mina, joon) = try pair()
        try mina.ok("channel.create", ["name": "ops"])
        let general = calls(20)
        let ops = (0..<20).map { number in
            NodeInput.call(
                CallID(connection: 8, number: UInt64(number)), method: "message.send",
                arguments: ["channel": "ops", "text": .string("o\(number)")])
        }
        mina.turn(zip(general, ops).flatMap { [$0, $1] })
        bench.settle()
        #expect(try joon.rowCount("message") == 40)
        #expect(try joon.log(of: "ops") == (0..<20).map { "o\($0)" })
    }

    @Test func `A burst larger than one push arrives`() throws {
        let (bench, mina, joon) = try pair()
        mina.turn(calls(30, byteCount: 12_000))
        bench.settle()
        bench.advance(1_000)
        #expect(try joon.rowCount("message") == 30)
    }

    private func verifiedCount(_ node: BenchNode) throws -> Int64 {
        try node.connection?.statement("SELECT sum(sigok) FROM operation").integer() ?? 0
    }
}
