import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A14: very many authority operations by a removed member, and by a member. Their cost is counted
/// in rows, judged operations and waiting bytes; `Causal pasts` counts the work of judging.
struct `A flood of authority operations (A14)` {
    private let table: Table

    init() throws { table = try Table() }

    /// What a removed member writes as if they had not heard of the removal.
    enum Shape: String, CaseIterable {
        case oneLog, incarnations, large

        /// That many of them, besides the removal.
        func operations(_ count: Int, of table: Table) -> [SignedOperation] {
            var log = table.log
            return (0..<count).map { number in
                if self == .incarnations {
                    log = ForgedLog(
                        table.pair.keys.signing, like: table.log, under: table.grant,
                        incarnation: UInt32(1_000 + number))
                }
                let isFirst = number == 0 || self == .incarnations
                return log.write(payload(number), knowing: isFirst ? table.before : [])
            }
        }

        private func payload(_ number: Int) -> AuthorityPayload {
            guard self == .large else { return Table.document(number) }
            let log = LogName(document: .zero, device: .zero, incarnation: UInt32(number))
            return .cutPart((0..<70).map { CutEntry(log: log, sequence: $0, id: .zero) })
        }
    }

    /// Mallory, and Eve, a member who brings what Mallory writes.
    struct Table {
        let pair: HostilePair
        let eve: (keys: ForeignDevice, log: ForgedLog)
        let log: ForgedLog
        let grant: OperationID
        /// What Mallory knew while she was in.
        let before: [OperationReference]

        init() throws {
            pair = try HostilePair()
            eve = try pair.accomplice()
            log = try ForgedLog(pair.mallory, incarnation: 80)
            grant = try pair.mallory.hostile().grant
            before = try ForgedLog.heads(of: pair.ada)
            pair.takeOver()
        }

        static func document(_ number: Int) -> AuthorityPayload {
            let nonce = (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }
            return .createDocument(type: 1, nonce: nonce)
        }

        func rows() throws -> [HostileRows] { try pair.honest.map { try HostileRows($0) } }

        /// Whether others are served: what a member writes is accepted at once.
        func expectService() throws {
            try pair.bob.ok("channel.create", ["name": "plans"])
            pair.bench.advance(2_000)
            #expect(try pair.ada.ok("channel.get", ["channel": "plans"])["name"] == "plans")
            try pair.expectPeace()
            for node in pair.honest { #expect(node.openCount == 1) }
        }
    }

    /// What a member may write at once, and what the share refills during the test.
    private static func isShare(_ count: Int) -> Bool { (share...share + 8).contains(count) }

    /// Of a member with one device.
    private static let share = Limits.authorityBurstPerMember + Limits.authorityBurstPerDevice

    @Test(arguments: Shape.allCases)
    func `by somebody who was removed takes no room, though a member brings it`(
        shape: Shape
    ) throws {
        try table.pair.removeMallory()
        let before = try table.rows()
        let count = shape == .incarnations ? 700 : 150
        try table.pair.bring(shape.operations(count, of: table), as: table.eve.keys)
        #expect(try table.rows() == before)
        for node in table.pair.honest {
            let core = try #require(node.host?.core)
            #expect(core.log.waiting.byteCount == 0)
            // Beyond a member's share nobody examines more of it.
            let isDelayed =
                core.log.shares.authorityBudget.delayed[table.pair.known.member.bytes] != nil
            #expect(isDelayed == (count > Self.share))
        }
        try table.expectService()
    }

    /// A peer that brings an old operation of another member again and again uses up nothing of
    /// that member's share.
    @Test func `is not made of one operation that is brought very often`() throws {
        try table.pair.removeMallory()
        let before = try table.rows()
        let one = try #require(Shape.incarnations.operations(1, of: table).first)
        let often = [SignedOperation](
            repeating: one, count: Self.share + 40)
        try table.pair.hand(often, as: table.eve.keys)
        #expect(try table.rows() == before)
        for node in table.pair.honest {
            #expect(node.host?.core.log.shares.authorityBudget.delayed.isEmpty == true)
        }
        try table.expectService()
    }

    @Test func `under keys that nobody knows is refused, each on a link that ends`() throws {
        try table.pair.removeMallory()
        let before = try table.rows()
        for number in 0..<20 {
            var log = ForgedLog(
                ForeignDevice(UInt64(500 + number)).signing, like: table.log, under: table.grant,
                incarnation: 1)
            let operation = log.write(Table.document(number), knowing: table.before)
            try table.pair.expectFault(operation, as: table.eve.keys, "a key that is in no grant")
        }
        #expect(try table.rows() == before)
        try table.expectService()
    }

    /// S-4: a device without a grant may bring 64 of them; then that host waits, and no other.
    /// Others behind the same address may be in, and nobody has heard of it yet. A network of 64 bits
    /// of IPv6 is one host.
    @Test(arguments: [
        ["10.0.1.1", "10.0.1.1", "10.0.1.2"],
        ["[2001:db8::1]", "[2001:db8::2]", "[2001:db8:0:1::1]"],
    ])
    func `ends the link of an outsider, and the next of that host with the first`(
        hosts: [String]
    ) throws {
        try table.pair.removeMallory()
        let (ada, before) = (table.pair.ada, try table.rows())
        let operations = Shape.incarnations.operations(100, of: table)
        let visitor = try table.pair.visit(ada, as: ForeignDevice(5), from: hosts[0])
        let most = Limits.outsiderOperationsHourly
        visitor.offer(table.pair.runs(of: Array(operations.prefix(most))))
        #expect(visitor.isOpen)
        visitor.offer(table.pair.runs(of: [operations[most]]))
        #expect(!visitor.isOpen && ada.endings.last == "auth.budget")
        let again = try table.pair.visit(ada, as: ForeignDevice(6), from: hosts[1])
        #expect(again.isOpen)
        again.offer(table.pair.runs(of: [operations[most + 1]]))
        #expect(!again.isOpen && ada.endings.last == "auth.budget")
        let elsewhere = try table.pair.visit(ada, as: ForeignDevice(7), from: hosts[2])
        #expect(elsewhere.isOpen)
        #expect(try table.rows() == before)
        try table.expectService()
    }

    /// S-4: what cites unavailable operations cannot be judged, and would wait without bound.
    @Test func `ends the link of an outsider by what waits unasked`() throws {
        try table.pair.removeMallory()
        let (ada, before) = (table.pair.ada, try table.rows())
        let nobody = OperationReference(
            device: ForeignDevice(9).id, incarnation: 1, sequence: 0,
            id: OperationID([UInt8](repeating: 7, count: 32)))
        var log = table.log
        let visitor = try table.pair.visit(ada)
        for number in 0...Limits.outsiderOperationsHourly {
            #expect(visitor.isOpen, "\(number)")
            let waits = log.write(Table.document(number), knowing: [nobody])
            visitor.push([waits.run(in: table.pair.workspace)])
        }
        #expect(!visitor.isOpen && ada.endings.last == "auth.budget")
        #expect(try table.rows() == before)
        try table.expectService()
    }

    /// What waits for unavailable operations is bounded for an outsider, and is dropped with the
    /// link.
    @Test func `that cites what nobody has waits in a bounded room`() throws {
        try table.pair.removeMallory()
        let nowhere = table.before.map {
            OperationReference(
                device: $0.device, incarnation: 999, sequence: 0,
                id: OperationID([UInt8](repeating: 9, count: 32)))
        }
        let operations = (0..<1_200).map { number in
            var log = ForgedLog(
                table.pair.keys.signing, like: table.log, under: table.grant,
                incarnation: UInt32(1_000 + number))
            return log.write(Table.document(number), knowing: nowhere)
        }
        let before = try table.rows()
        let visitor = try table.pair.visit(table.pair.ada, as: ForeignDevice(5))
        for start in stride(from: 0, to: operations.count, by: 100) {
            visitor.offer(table.pair.runs(of: Array(operations[start..<start + 100])))
        }
        let core = try #require(table.pair.ada.host?.core)
        #expect(core.log.waiting.operationCount == Limits.waitingPerOutsiderMax)
        #expect(core.log.waiting.byteCount <= Limits.outsiderBytesHourly)
        visitor.close()
        table.pair.bench.advance(1_000)
        #expect(try table.rows() == before)
        try table.expectService()
    }

    /// Void and valid by turns: what was valid here stays, and nothing after it arrives.
    @Test func `is a member's share while she is in, and nothing behind her removal`() throws {
        let operations = Shape.oneLog.operations(1_200, of: table)
        let start = try table.rows()
        try table.pair.bring(Array(operations.prefix(700)), as: table.pair.keys)
        let filled = try table.rows()
        for (before, after) in zip(start, filled) {
            #expect(Self.isShare(after.judged - before.judged))
        }
        let warnings = try table.pair.ada.ok("node.status")["warnings"]?.arrayValue ?? []
        let delays = warnings.filter { $0["kind"] == "member.delayed" }
        #expect(delays.compactMap { $0["message"]?.stringValue?.hasPrefix("Mallory ") } == [true])
        try table.pair.removeMallory()
        // What she made before is confirmed, some of it at a time.
        table.pair.bench.advance(3_600_000)
        let removed = try table.rows()
        for _ in 0..<2 {
            try table.pair.bring(
                Array(operations.suffix(500)), as: table.eve.keys)
            #expect(try table.rows().map(\.judged) == removed.map(\.judged))
            #expect(try table.rows().map(\.operations) == removed.map(\.operations))
            // Her share refills in an hour, and is of no use to her.
            table.pair.bench.advance(3_600_000)
        }
        try table.expectService()
    }

    /// The removal at one node cites what the other one may not accept any longer (S-5).
    @Test func `does not keep its author from being removed`() throws {
        let count = Self.share + 8
        let operations = Shape.incarnations.operations(2 * count, of: table)
        let halves = [operations.prefix(count), operations.suffix(count)]
        for (node, half) in zip(table.pair.honest, halves) {
            try node.inTurn { core, known in
                for operation in half {
                    _ = try core.acceptAtOnce(
                        operation.run(in: table.pair.workspace), in: known,
                        from: .peer(table.pair.keys.id, source: 1_000_000, isBackfill: false))
                }
            }
        }
        try table.pair.removeMallory()
        table.pair.bench.advance(60_000)
        for node in table.pair.honest {
            #expect(try !node.memberNames().contains("Mallory"), "\(node.name)")
        }
        try table.expectService()
    }

    /// A member's valid operation on top of what was removed: Mallory's share, then what the member
    /// may need of others.
    @Test func `that a member cites fills no more than that member's share besides`() throws {
        try table.pair.removeMallory()
        let further = Limits.authorityBurstForOthers
        let operations = Shape.oneLog.operations(Self.share + further + 40, of: table)
        let last = operations[operations.count - 1]
        var above = table.eve.log
        let cited = above.write(
            Table.document(0),
            knowing: try ForgedLog.heads(of: table.pair.ada) + [
                OperationReference(
                    device: table.pair.keys.id, incarnation: 80,
                    sequence: last.header.sequence, id: last.id)
            ])
        let before = try table.rows()
        try table.pair.hand([cited] + operations.reversed(), as: table.eve.keys)
        for (start, after) in zip(before, try table.rows()) {
            #expect(Self.isShare(after.judged - start.judged - further))
            #expect(Self.isShare(Int(after.operations - start.operations) - further))
        }
        for node in table.pair.honest {
            let core = try #require(node.host?.core)
            #expect(core.log.waiting.byteCount <= Limits.waitingBytesPerPeerMax)
        }
        try table.expectService()
    }

    /// S-5: all devices that she links have one share together, and a little more.
    @Test(arguments: [(6, false), (24, false), (24, true)])
    func `of many devices of one member is little more than one member's share`(
        count: Int, isEarly: Bool
    ) throws {
        let key = try #require(try table.pair.ada.workspace().currentKey).id
        let start = try table.rows()
        var all: [(added: SignedOperation, said: [SignedOperation])] = []
        for number in 0..<count {
            let device = ForeignDevice(UInt64(300 + number))
            let entry = [ListedDevice.own(device)].signed(
                entering: .adding(
                    to: table.pair.workspace, before: table.pair.keys.id,
                    member: table.pair.known.member))
            var adding = ForgedLog(
                table.pair.keys.signing, like: table.log, under: table.grant,
                incarnation: UInt32(100 + number))
            let added = adding.write(
                .addDevices(entry, keyID: key, wraps: []), knowing: table.before)
            var log = ForgedLog(device.signing, like: table.log, under: added.id, incarnation: 1)
            let said = (0..<(count > 6 ? 64 : 150)).map {
                log.write(Table.document($0), knowing: $0 == 0 ? [adding.reference] : [])
            }
            all.append((added, said))
        }
        // The weakest first: each is the strongest that is known when it arrives.
        all.sort { $0.added.id > $1.added.id }
        if isEarly {
            // Her own share is used up; what the devices write waits for what makes them known, and
            // a device that is not known has no share.
            let own = Shape.oneLog.operations(Self.share + 40, of: table)
            try table.pair.hand(own, as: table.pair.keys)
            try table.pair.hand(all.flatMap { $0.said + [$0.added] }, as: table.pair.keys)
        } else {
            try table.pair.bring(all.flatMap { [$0.added] + $0.said }, as: table.pair.keys)
        }
        for (before, after) in zip(start, try table.rows()) {
            // Operations of some fill the common share, and the strongest devices go on with a
            // little each.
            let shares = isEarly ? 0 : min(count, Limits.linkedDeviceSharesMax + 1)
            let most = Self.share + shares * Limits.authorityBurstPerLinkedDevice
            let taken = after.judged - before.judged
            #expect((Limits.authorityBurstPerMember...most + 8).contains(taken))
        }
        try table.expectService()
    }
}
