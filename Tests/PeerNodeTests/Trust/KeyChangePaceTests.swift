import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member ends their own devices one after the other, each of which calls for a new key.
struct `Keys that an owner's node changes unasked` {
    private let pair: HostilePair
    private let before: Int

    init() throws { try self.init(role: "member") }

    private init(role: String) throws {
        pair = try HostilePair(role: role)
        before = try Self.changes(at: pair.ada)
        let log = try ForgedLog(pair.mallory, incarnation: 80)
        let grant = try pair.mallory.hostile().grant
        pair.takeOver()
        try endDevices(40, linkedBy: log, under: grant)
    }

    /// How many operations a node has that only change the key.
    private static func changes(at node: BenchNode) throws -> Int {
        try node.workspace().authority.values
            .filter { if case .rekey = $0.payload { true } else { false } }.count
    }

    private func changes() throws -> Int { try Self.changes(at: pair.ada) - before }

    /// Mallory links devices and ends one every two seconds.
    private func endDevices(
        _ count: Int, linkedBy log: ForgedLog, under grant: OperationID
    ) throws {
        let key = try #require(try pair.ada.workspace().currentKey).id
        let heads = try ForgedLog.heads(of: pair.ada)
        let devices = (0..<count).map { ForeignDevice(UInt64(300 + $0)) }
        var linking = log
        for device in devices {
            let entry = [ListedDevice.own(device)].signed(
                entering: .adding(
                    to: pair.workspace, before: pair.keys.id, member: pair.known.member))
            linking.write(
                .addDevices(entry, keyID: key, wraps: []),
                knowing: linking.operations.isEmpty ? heads : [])
        }
        try pair.hand(linking.operations, as: pair.keys)
        let added = linking.operations
        for (number, device) in devices.enumerated() {
            var ending = ForgedLog(
                pair.keys.signing, like: log, under: grant, incarnation: UInt32(100 + number))
            let known = OperationReference(
                device: pair.keys.id, incarnation: 80,
                sequence: added[number].header.sequence, id: added[number].id)
            let ended = ending.write(
                .removeDevice(device.id, cuts: [], rekey: nil), knowing: [known])
            try pair.hand([ended], as: pair.keys)
            pair.bench.advance(1_000)
        }
        pair.bench.advance(5_000)
    }

    @Test func `leave room for what the owner writes`() throws {
        #expect(try changes() == Int(Limits.keyChangesAtOnce))
        #expect(try pair.ada.workspace().sealingKey?.answersAll == false)
        // What is sent meanwhile is sealed under the newest key.
        try pair.ada.send("meanwhile")
        pair.bench.advance(2_000)
        #expect(try pair.bob.log() == ["meanwhile"])
        #expect(try changes() == Int(Limits.keyChangesAtOnce))
        // Her shares at other nodes leave room for more than twice as much.
        let device = try #require(pair.ada.host?.core.session.home).device
        let own = try pair.ada.workspace().authority.values.filter { $0.log.device == device }
        #expect(own.count < Limits.authorityBurstPerMember / 2)
    }

    @Test func `are as many if an admin ends their own devices`() throws {
        #expect(try Self(role: "admin").changes() == Int(Limits.keyChangesAtOnce))
    }

    @Test func `are one more after a while, and that answers all`() throws {
        pair.bench.advance(Limits.keyChangeMilliseconds)
        #expect(try changes() == Int(Limits.keyChangesAtOnce) + 1)
        #expect(try pair.ada.workspace().sealingKey?.answersAll == true)
    }

    @Test func `have the same pace after a start`() throws {
        try pair.ada.restart()
        pair.bench.advance(60_000)
        #expect(try changes() == Int(Limits.keyChangesAtOnce))
        try pair.ada.send("after the start")
        #expect(try changes() == Int(Limits.keyChangesAtOnce))
    }

    @Test func `answer at once what an admin has said`() throws {
        _ = try pair.ada.link()
        let invite = try #require(try pair.ada.ok("invite.list").items.last?["id"])
        try pair.ada.ok("invite.revoke", ["id": invite])
        pair.bench.advance(5_000)
        #expect(try changes() == Int(Limits.keyChangesAtOnce) + 1)
        #expect(try pair.ada.workspace().sealingKey?.answersAll == true)
    }
}

struct `The pace of changes of the key` {
    private static let hour: UInt64 = 60 * 60 * 1_000
    private static let start: UInt64 = 1_800_000_000_000

    @Test func `is so many at once, and then one a time`() {
        var pace = KeyChangePace()
        for _ in 0..<Limits.keyChangesAtOnce {
            #expect(pace.wait(now: Self.start) == 0)
            pace.note(written: Self.start, now: Self.start)
        }
        #expect(pace.wait(now: Self.start) == Limits.keyChangeMilliseconds)
        let later = Self.start + Limits.keyChangeMilliseconds
        #expect(pace.wait(now: later - 1) == 1)
        #expect(pace.wait(now: later) == 0)
        pace.note(written: later, now: later)
        #expect(pace.wait(now: later) == Limits.keyChangeMilliseconds)
        #expect(pace.wait(now: later + 3 * Self.hour) == 0)
    }

    @Test func `is held up by no time that lies ahead, and by no clock that was put back`() {
        var pace = KeyChangePace()
        pace.note(written: .max, now: Self.start)
        #expect(pace.wait(now: Self.start) == 0)
        for _ in 0..<20 { pace.note(written: Self.start, now: Self.start) }
        #expect(pace.wait(now: Self.start - 100 * Self.hour) == Limits.keyChangeMilliseconds)
    }
}

struct `A change of the key that is due` {
    @Test func `is delayed by what comes meanwhile, and not endlessly`() {
        var plan = KeyChangePlan()
        for now in stride(from: UInt64(0), through: 40_000, by: 500) {
            let due = plan.takeDue(at: now)
            guard due.isEmpty else {
                #expect(due == [7] && now == 1_000 + Limits.keyChangePutOffMilliseconds)
                return
            }
            plan.plan(7, at: now, after: 1_000)
        }
        Issue.record("delayed endlessly")
    }

    @Test func `is taken once, and not at all when it was called off`() {
        var plan = KeyChangePlan()
        plan.plan(1, at: 0, after: 10)
        plan.plan(2, at: 0, after: 20)
        plan.plan(3, at: 0, after: 20)
        plan.cancel(3)
        #expect(plan.takeDue(at: 9).isEmpty)
        #expect(plan.takeDue(at: 20) == [1, 2])
        #expect(plan.takeDue(at: 100).isEmpty)
    }
}
