import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who writes each operation into a separate log that knows no other: then there are more
/// heads than an operation cites, all of them stronger than what others write (S-7).
struct `A document with more ends than one operation cites` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let late: BenchNode
    private let phone: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        late = try bench.guest("Late", of: mina)
        phone = try bench.bareNode("Phone")
        bench.advance(5_000)
        let runs = try ForgedLog.ends(150, of: joon)
        for node in [mina, joon, late] { try node.take(runs) }
        try late.link(phone)
        bench.advance(5_000)
    }

    @Test func `keeps nobody from revoking a device that was linked behind them`() throws {
        let id = JSONValue.string(try phone.deviceID())
        #expect(try mina.workspace().judged.evaluator.heads.count > Limits.authDependenciesMax)
        #expect(try mina.ok("device.revoke", ["device": id])["revoked"] == true)
        bench.advance(5_000)
        let device = try #require(phone.host?.core.session.home).device
        for node in [mina, late] {
            let workspace = try node.workspace()
            let grant = try workspace.judged.evaluator.bestGrant(
                of: device, as: late.workspace().member)
            #expect(grant == nil, "\(node.name)")
        }
        #expect(try mina.digest() == late.digest())
    }

    @Test func `keeps nobody from giving a role to somebody with such a device`() throws {
        try mina.ok("member.role", ["member": "Late", "role": "admin"])
        bench.advance(5_000)
        for node in [mina, late] {
            #expect(try node.workspace().role(of: late.workspace().member) == .admin)
        }
    }

    @Test func `keeps no owner from handing the workspace to somebody with such a device`() throws {
        try mina.ok("workspace.transfer", ["member": "Late"])
        bench.advance(5_000)
        for node in [mina, late] {
            #expect(try node.workspace().role(of: late.workspace().member) == .owner)
        }
    }
}

/// The same in a private channel, for keys that a member introduces, in more logs than a share
/// admits at once.
struct `A private channel with more ends than one operation cites` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let ada: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        ada = try bench.guest("Ada", of: mina)
        joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
    }

    @Test func `keeps no owner from taking out whom another admin has added behind them`() throws {
        let late = try bench.guest("Late", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "board", "private": true])
        try mina.ok("channel.add", ["channel": "board", "members": ["Ada", "Joon"]])
        try mina.ok("channel.role", ["channel": "board", "member": "Ada", "role": "admin"])
        bench.advance(5_000)
        let runs = try Self.keys(300, of: joon, at: bench)
        for node in [mina, ada, joon] { try node.take(runs, isBackfill: true) }
        #expect(try mina.document("board").authority.heads.count > Limits.authDependenciesMax)
        try ada.ok("channel.add", ["channel": "board", "members": ["Late"]])
        bench.advance(5_000)
        try mina.ok("channel.remove", ["channel": "board", "members": ["Late"]])
        bench.advance(5_000)
        let person = try late.workspace().member
        for node in [mina, ada] {
            #expect(try node.document("board").authority.standing(of: person) == nil)
        }
    }

    /// Kim's leave is weaker than all that Joon writes, and every key has to know it.
    @Test func `keeps nobody from saying anything after a departure`() throws {
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "board", "private": true])
        // The later member is the weaker one.
        for names: JSONValue in [["Ada", "Joon"], ["Kim"]] {
            try mina.ok("channel.add", ["channel": "board", "members": names])
        }
        bench.advance(5_000)
        let runs = try Self.keys(300, of: joon, at: bench)
        try kim.ok("channel.leave", ["channel": "board"])
        bench.advance(5_000)
        for node in [mina, ada, joon] { try node.take(runs, isBackfill: true) }
        #expect(try mina.document("board").authority.heads.count > Limits.authDependenciesMax)
        try ada.send("after Kim", to: "board")
        try mina.send("and more", to: "board")
        bench.advance(5_000)
        for node in [mina, ada] {
            #expect(try Set(node.log(of: "board")) == ["after Kim", "and more"], "\(node.name)")
        }
    }

    @Test func `keeps nobody from saying anything after more ends than one key answers`() throws {
        let lou = try bench.guest("Lou", of: mina)
        bench.advance(5_000)
        let opened = try mina.ok("dm.open", ["members": ["Ada", "Joon", "Lou"]])
        let channel = try #require(opened["id"]?.stringValue)
        try mina.send("before", to: channel)
        bench.advance(5_000)
        let count = Limits.privateAnswersMax / 2 + 4
        let runs =
            try Self.ends(count, of: joon, from: 5_000) + Self.ends(count, of: lou, from: 6_000)
        for node in [mina, ada] {
            try node.inTurn { core, known in
                for run in runs {
                    let outcome = try core.acceptAtOnce(
                        run, in: known, from: .peer(run.log.device, source: 1, isBackfill: true))
                    guard case .stored(2) = outcome else {
                        throw RefusedRun(outcome: outcome)
                    }
                }
            }
        }
        try ada.send("after", to: channel)
        bench.advance(5_000)
        for node in [mina, ada] {
            #expect(try node.log(of: channel) == ["before", "after"], "\(node.name)")
        }
    }

    /// Devices that a member links and revokes again, each in a separate log that knows none of the
    /// others: one past may contain only so many.
    private static func ends(
        _ count: Int, of node: BenchNode, from seed: UInt64
    ) throws -> [OperationRun] {
        let keys = try ForeignDevice(of: node)
        let known = try node.workspace()
        let key = try #require(known.currentKey).id
        let heads = try ForgedLog.heads(of: node)
        return try (0..<count).map { number in
            let device = ForeignDevice(seed + UInt64(number))
            let entry = [ListedDevice.own(device)].signed(
                entering: .adding(to: known.id, before: keys.id, member: known.member))
            var log = try ForgedLog(node, incarnation: 1_000 + UInt32(number))
            log.write(.addDevices(entry, keyID: key, wraps: []), knowing: heads)
            log.write(.removeDevice(device.id, cuts: [], rekey: nil), knowing: [])
            let runs = log.operations.map { $0.run(in: known.id) }
            return OperationRun(
                log: runs[0].log, firstSequence: 0, previous: nil,
                entries: runs.flatMap(\.entries))
        }
    }

    /// Keys of a member, each in a separate log that knows only what seats the member.
    private static func keys(
        _ count: Int, of node: BenchNode, at bench: CoreBench
    ) throws -> [OperationRun] {
        let board = try node.document("board")
        let member = try node.workspace().member
        let seat = try #require(board.authority.standing(of: member)).seat
        let record = try #require(board.records[seat])
        let known = OperationReference(
            device: record.log.device, incarnation: record.log.incarnation,
            sequence: record.sequence, id: seat)
        let random = SeededRandom(seed: 1)
        let held = try #require(board.newestKey)
        return try (0..<count).map { number in
            var log = ForgedDocumentLog(
                try node.hostile(), document: board.id, incarnation: 1_000 + UInt32(number),
                at: bench.wall)
            // Several operations may introduce one key, and everybody holds this one.
            log.write(
                PrivateChange(.rekey(PrivateEpoch(keyID: held.keyID)), seat: seat),
                knowing: [known], under: held, random)
            return log.operations[0].run(in: board.id)
        }
    }
}
