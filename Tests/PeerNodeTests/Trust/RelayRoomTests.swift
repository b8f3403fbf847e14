import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Accomplices fill the room for waiting operations that one honest peer relays: they cite what
/// that peer holds, and what no share can pay for elsewhere (S-5, A19).
struct `What waits of an honest peer` {
    /// Operations of a log that cites `heads`, each with that many cuts.
    private func write(
        _ sizes: [Int], into log: inout ForgedLog, knowing heads: [OperationReference]
    ) -> [SignedOperation] {
        sizes.enumerated().map { number, count in
            let cuts = (0..<count).map {
                CutEntry(
                    log: LogName(document: .zero, device: .zero, incarnation: UInt32($0)),
                    sequence: 1, id: .zero)
            }
            return log.write(.cutPart(cuts), knowing: number == 0 ? heads : [])
        }
    }

    /// As if they had written other operations there: their own shares are used up, and so are the
    /// shares of need.
    private func useUp(_ members: [MemberID], at node: BenchNode) throws {
        try node.inTurn { core, known in
            for member in members {
                let devices = known.judged.evaluator.devices(everOf: member).map {
                    known.id.bytes + $0.bytes
                }
                let shares: [(AuthorityBudget.Share, Int)] =
                    [
                        (.init(.authority, of: member.bytes), Limits.authorityBurstPerMember),
                        (.init(.vouched, of: member.bytes), Limits.authorityBurstForOthers),
                    ] + devices.map { (.init(.device, of: $0), Limits.authorityBurstPerDevice) }
                for (share, most) in shares {
                    _ = core.log.shares.authorityBudget.pay(
                        most, from: [share], now: core.turn.time.monotonic)
                }
            }
        }
    }

    @Test func `keeps no removal from being heard`() throws {
        let pair = try HostilePair()
        pair.takeOver()
        let (ada, bob, bench) = (pair.ada, pair.bob, pair.bench)
        var nodes: [BenchNode] = []
        for name in ["Eve", "Kim", "Lou", "Max"] {
            nodes.append(try bench.guest(name, of: ada))
            bench.advance(5_000)
        }
        let heads = try ForgedLog.heads(of: ada)
        let keys = try nodes.map { try ForeignDevice(of: $0) }
        let members = try nodes.map { try $0.workspace().member }
        // Each waits for the first one, and together they fill the room completely.
        let sizes =
            [Int](repeating: 1_100, count: 20) + [Int](repeating: 170, count: 6)
            + [Int](repeating: 20, count: 10) + [Int](repeating: 0, count: 30)
        var logs = try nodes.map { node in
            try sizes.indices.map { try ForgedLog(node, incarnation: 80 + UInt32($0)) }
        }
        for node in nodes { node.kill() }
        bench.cut(ada, bob)
        try useUp(members, at: bob)
        let first = write([2_000], into: &logs[0][0], knowing: heads)
        try pair.hand(first, to: ada, as: keys[0])
        for index in 1...3 {
            var made: [SignedOperation] = []
            for (place, size) in sizes.enumerated() {
                made += write([size], into: &logs[index][place], knowing: first.map(\.reference))
            }
            try pair.hand(made, to: ada, as: keys[index])
        }
        bench.heal(ada, bob)
        bench.advance(20_000)
        // More than the whole room, by turns: what one wrote was dropped for another's.
        let waiting = try #require(bob.host?.core).log.waiting.byteCount
        #expect(try ada.workspace().authorityOrder.count > sizes.count * 3)
        #expect(waiting > Limits.waitingAuthorityBytesPerPeerMax / 4)
        for name in ["Eve", "Kim", "Lou", "Max"] {
            try ada.ok("member.remove", ["member": .string(name)])
        }
        try ada.send("without them")
        bench.advance(30_000)
        #expect(try bob.log() == ["without them"])
        #expect(try bob.memberNames() == ada.memberNames())
    }
}
