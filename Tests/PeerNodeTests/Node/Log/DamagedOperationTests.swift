import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

// D05
struct `A stored operation that was damaged` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let wim: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        wim = try bench.guest("Wim", of: mina)
        for number in 0..<4 { try [mina, wim][number % 2].send("\(number)") }
        bench.advance(60_000)
    }

    struct Flip: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: String
    }

    static let flips = [
        Flip(
            testDescription: "a byte of the payload",
            change: "payload = CAST(substr(payload, 1, 20) || x'fe' || substr(payload, 22) AS BLOB)"
        ),
        Flip(testDescription: "the timestamp", change: "hlc = hlc + 1"),
        Flip(testDescription: "the grant", change: "gid = gid + 1"),
        Flip(testDescription: "the dependencies", change: "deps = x'ffff'"),
        Flip(
            testDescription: "the signature and the payload", change: "sig = x'00', payload = x'00'"
        ),
        Flip(testDescription: "its id", change: "id = zeroblob(32)"),
    ]

    /// The arrival numbers of operations of one kind, oldest first.
    private func arrivals(_ kind: OperationKind, at node: BenchNode) throws -> [Int64] {
        try #require(node.connection).statement(
            "SELECT arr FROM operation WHERE kind = ? ORDER BY arr"
        ).rows(.integer(Int64(kind.rawValue))) { $0.integer(0) }
    }

    private func newestMessage(at node: BenchNode) throws -> Int64 {
        let connection = try #require(node.connection)
        return try #require(try connection.statement("SELECT max(arr) FROM message").integer())
    }

    private func damage(_ arrival: Int64, _ flip: Flip, at node: BenchNode) throws {
        node.kill()
        try node.damage("UPDATE operation SET \(flip.change) WHERE arr = \(arrival)")
        try node.boot()
    }

    private func warns(_ node: BenchNode) throws -> Bool {
        try node.ok("node.status")["warnings"]?.arrayValue?.contains {
            $0["kind"] == "store.corrupt"
        } ?? false
    }

    private func expectWhole(_ node: BenchNode, _ place: String) throws {
        #expect(try !warns(node), "\(place)")
        let operations = try #require(node.host?.core.turn.store.operations)
        #expect(
            try StoreCheck.problems(in: operations, arrivals: 1...operations.arrival).isEmpty,
            "\(place)")
        #expect(try node.rowCount("damaged") == 0, "\(place)")
        #expect(try mina.digest() == wim.digest(), "\(place)")
        #expect(try node.log() == ["0", "1", "2", "3"], "\(place)")
    }

    @Test(arguments: flips)
    func `of authority comes back, whichever it was`(_ flip: Flip) throws {
        for arrival in try arrivals(.authority, at: mina) {
            bench.cut(mina, wim)
            try damage(arrival, flip, at: mina)
            // Where only the id was wrong, the rest of the log says which it was.
            let isKnown = flip.change.hasPrefix("id")
            #expect(try warns(mina) != isKnown, "\(arrival)")
            let finding = try mina.ok("node.doctor").items.first { $0["id"] == "operations" }
            #expect((finding?["state"] == "fail") != isKnown, "\(arrival)")
            // Nobody is served by rights that cannot be judged.
            let core = try #require(mina.host?.core)
            let device = try #require(wim.host?.core.session.home?.device)
            #expect(
                core.membership.standing(of: device, in: try mina.workspace())
                    == (isKnown ? .full : .authorityOnly))
            bench.heal(mina, wim)
            bench.advance(1_500_000)
            try expectWhole(mina, "\(arrival)")
            try mina.restart()
            bench.advance(60_000)
            try expectWhole(mina, "\(arrival) after a restart")
        }
        try mina.send("4")
        bench.advance(60_000)
        #expect(try wim.log().last == "4")
    }

    @Test(arguments: flips.filter { !$0.change.hasPrefix("id") })
    func `of content is found when it is looked at, and comes back`(_ flip: Flip) throws {
        for arrival in try arrivals(.content, at: mina) {
            bench.cut(mina, wim)
            try damage(arrival, flip, at: mina)
            let before = try mina.log()
            #expect(before.count >= 3, "the rest is shown")
            try mina.ok("node.doctor")
            #expect(try warns(mina))
            bench.heal(mina, wim)
            bench.advance(1_500_000)
            try expectWhole(mina, "\(arrival)")
        }
    }

    @Test func `is asked for on links that stand`() throws {
        let arrival = try newestMessage(at: mina)
        try mina.damage("UPDATE operation SET payload = x'00' WHERE arr = \(arrival)")
        #expect(try mina.log().count < 4)
        bench.advance(60_000)
        try expectWhole(mina, "found by reading")
    }

    @Test func `stops nobody who is alone, and is not served`() throws {
        let arrival = try newestMessage(at: mina)
        bench.cut(mina, wim)
        try damage(arrival, Self.flips[0], at: mina)
        try mina.ok("node.doctor")
        try mina.restart()
        #expect(try warns(mina))
        #expect(try mina.log().count == 3)
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(60_000)
        #expect(!mina.log.contains { $0.contains("bad_signature") })
        #expect(!joon.log.contains { $0.contains("op.rejected") })
        bench.heal(mina, wim)
        bench.advance(1_500_000)
        try expectWhole(mina, "later")
        #expect(try joon.log() == ["0", "1", "2", "3"])
    }
}
