import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The content of the frozen vectors. Real nodes write all of it, except what `ForgedLog` and
/// `HostileLog` sign.
enum FrozenScenes {
    static func all() throws -> [FrozenScene] {
        [try life(), try doors(), try liars(), try departures(), try behindDoors()]
    }

    /// People come, talk, change, are parted, are removed, and go.
    private static func life() throws -> FrozenScene {
        let bench = CoreBench(seed: 31)
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let joon = try bench.guest("Joon", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        let nodes = [mina, ada, joon, kim]
        bench.advance(10_000)
        for node in nodes { try node.send("hello from \(node.name)") }
        try joon.ok("channel.create", ["name": "plans", "topic": "now"])
        bench.advance(2_000)
        try joon.ok("channel.edit", ["channel": "plans", "topic": "later"])
        try joon.ok("channel.role", ["channel": "plans", "member": "@Kim", "role": "admin"])
        try joon.ok("channel.transfer", ["channel": "plans", "member": "@Kim"])
        try kim.send("mine now", to: "plans")
        bench.advance(5_000)
        try mina.ok("member.role", ["member": "@Kim", "role": "admin"])
        bench.advance(5_000)
        let (before, admins) = (try ForgedLog.heads(of: mina), try ForgedLog(kim, incarnation: 90))
        try mina.ok("member.role", ["member": "@Kim", "role": "member"])
        let unused = try mina.ok("invite.create")["id"] ?? .null
        try mina.ok("invite.revoke", ["id": unused])
        bench.advance(5_000)
        for far in [joon, kim] {
            for near in [mina, ada] { bench.cut(far, near) }
        }
        try mina.ok("member.remove", ["member": "@Joon"])
        for number in 0..<3 { try joon.send("late \(number)") }
        bench.advance(1_000)
        try kim.send("from the other side")
        try joon.ok("channel.create", ["name": "late"])
        try mina.send("among us")
        for near in [mina, ada] { bench.heal(kim, near) }
        bench.advance(60_000)
        try kim.send("under the new key")
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "Joon", "recut": true])
        var gone = HostileLog(try kim.hostile(), incarnation: 91)
        try kim.ok("channel.transfer", ["channel": "plans", "member": "@Ada"])
        try kim.ok("workspace.leave")
        bench.advance(30_000)
        // Kim goes on under a role that was replaced, and after leaving.
        var replaced = admins
        replaced.write(try joon.promotion(to: .member), knowing: before)
        gone.write("still here", at: bench.wall)
        return try FrozenScene("a life", of: nodes, besides: replaced.operations + gone.operations)
    }

    /// Policy, approval, rejection, roles that are given up and taken, and devices.
    private static func doors() throws -> FrozenScene {
        let bench = CoreBench(seed: 37)
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let kim = try bench.guest("Kim", of: mina)
        try mina.ok("policy.set", ["who_may_invite": "members"])
        bench.advance(2_000)
        let lena = try bench.bareNode("Lena")
        try lena.join(try kim.link())
        // Kim does not hear of it in time that members may not invite any more.
        for near in [mina, ada, lena] { bench.cut(kim, near) }
        try mina.ok("policy.set", ["who_may_invite": "admins"])
        _ = try kim.link()
        for near in [mina, ada, lena] { bench.heal(kim, near) }
        let link = try ada.link(["approve": true, "uses": 2])
        let (otto, pia) = (try bench.bareNode("Otto"), try bench.bareNode("Pia"))
        try #require(otto.ask(link) == "pending")
        try mina.decide("join.approve")
        bench.advance(2_000)
        try #require(pia.ask(link) == "pending")
        try mina.decide("join.reject")
        bench.advance(2_000)
        let phone = try bench.bareNode("Phone")
        try lena.link(phone)
        bench.advance(2_000)
        try phone.send("from the phone")
        bench.advance(2_000)
        let phoneID = try phone.deviceID()
        for near in [mina, ada, kim, lena, otto] { bench.cut(phone, near) }
        try lena.ok("device.revoke", ["device": .string(phoneID)])
        try phone.send("stolen")
        try otto.send("before I listen only")
        bench.advance(2_000)
        try mina.ok("member.role", ["member": "@Otto", "role": "guest"])
        bench.advance(2_000)
        let before = try ForgedLog.heads(of: mina)
        var known = try ForgedLog(mina, incarnation: 91)
        var unknown = try ForgedLog(mina, incarnation: 92)
        try mina.ok("workspace.transfer", ["member": "@Ada"])
        bench.advance(2_000)
        try mina.ok("member.role", ["member": "@Otto", "role": "member"])
        try ada.ok("workspace.edit", ["name": "ours", "description": "Ada's by now"])
        try mina.send("an admin now")
        bench.advance(5_000)
        // Under the grant that Mina was owner by: before it is known that she no longer is, and after.
        let promotion = try lena.promotion(to: .admin)
        // Later in depth than the transfer, which reaches only what is weaker.
        for _ in 0..<4 { unknown.write(.cutPart([]), knowing: before) }
        unknown.write(promotion, knowing: before)
        known.write(promotion, knowing: try ForgedLog.heads(of: mina))
        var late = try ForgedLog(kim, incarnation: 93)
        late.write(try late.memberInvite(), knowing: try ForgedLog.heads(of: mina))
        return try FrozenScene(
            "doors and devices", of: [mina, ada, kim, lena, otto, phone],
            besides: known.operations + unknown.operations + late.operations)
    }

    /// A member leaves by the younger of two devices, and the older one goes on; an owner leaves
    /// without another and with one, and comes in again.
    private static func departures() throws -> FrozenScene {
        let bench = CoreBench(seed: 47)
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let lena = try bench.guest("Lena", of: mina)
        let phone = try bench.bareNode("Phone")
        try lena.link(phone)
        bench.advance(5_000)
        for node in [mina, lena, phone] { try node.send("hello from \(node.name)") }
        bench.advance(5_000)
        var alone = try ForgedLog(mina, incarnation: 90)
        alone.write(.leave(cuts: []), knowing: try ForgedLog.heads(of: mina))
        let before = try ForgedLog.heads(of: mina)
        var (older, hidden, open) = (
            HostileLog(try lena.hostile(), incarnation: 91),
            try ForgedLog(lena, incarnation: 92), try ForgedLog(lena, incarnation: 93)
        )
        try phone.ok("workspace.leave")
        bench.advance(20_000)
        older.write("the older one goes on", at: bench.wall)
        let after = try ForgedLog.heads(of: mina)
        let (first, second) = (
            hidden.write(try hidden.binding(3_001), knowing: before),
            open.write(try open.binding(3_002), knowing: after)
        )
        var acts: [SignedOperation] = []
        for (seed, added, log) in [(3_001, first, hidden), (3_002, second, open)] {
            var act = ForgedLog(seed, like: log, under: added.id, incarnation: 94)
            act.write(
                .createDocument(type: 1, nonce: [UInt8](repeating: 8, count: 16)),
                knowing: [log.reference])
            acts += act.operations
        }
        try mina.ok("workspace.transfer", ["member": "@Ada"])
        bench.advance(5_000)
        try mina.ok("workspace.leave")
        bench.advance(20_000)
        try mina.comeBack(to: ada, in: bench)
        bench.advance(20_000)
        try mina.send("again")
        bench.advance(5_000)
        return try FrozenScene(
            "departures", of: [mina, ada, lena, phone],
            besides: alone.operations + older.operations + hidden.operations + open.operations
                + acts)
    }

    /// What people sign whose nodes would not: histories in two versions, deeds of somebody who
    /// is out, dated back, keys and proofs of others.
    private static func liars() throws -> FrozenScene {
        let bench = CoreBench(seed: 43)
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        let wim = try bench.guest("Wim", of: mina)
        let otto = try bench.guest("Otto", of: mina)
        for node in [joon, otto] { try node.send("hello from \(node.name)") }
        bench.advance(10_000)
        let own = Door(try joon.ok("invite.create", ["uses": 3]))
        let closed = Door(try mina.ok("invite.create", ["uses": 3]))
        let open = Door(try mina.ok("invite.create", ["uses": 1]))
        bench.advance(10_000)
        let before = try ForgedLog.heads(of: mina)
        let wall = bench.wall
        // Two histories that Mina knows when she removes Joon, and what is hung on them later.
        var trunk = HostileLog(try joon.hostile(), incarnation: 77)
        for number in 0..<2 { trunk.write("p\(number)", at: wall + UInt64(number)) }
        var (a, b, c) = (trunk, trunk, trunk.cut(to: 1))
        for number in 2..<4 { a.write("a\(number)", at: wall + UInt64(number)) }
        b.write("b2", at: wall + 2)
        try mina.take([a.run(), b.run()])
        try mina.ok("member.remove", ["member": "@Joon"])
        try mina.ok("invite.revoke", ["id": closed.id])
        bench.advance(10_000)
        b.write("b3", at: wall + 3)
        c.write("c1", at: wall + 1)
        var d = HostileLog(try joon.hostile(), incarnation: 78)
        d.write("d0", at: wall)
        var written = a.operations + b.operations + c.operations + d.operations
        written += try deeds(of: joon, against: wim, knowing: before)
        written += try admissions(by: wim, [own, closed, open], knowing: before)
        written += try keys([wim, ada, mina], knowing: before)
        written += try parts(by: mina, about: otto, ada, keeping: b, of: joon)
        return try FrozenScene("liars", of: [mina, ada, joon, wim, otto], besides: written)
    }

    /// What an admin who was removed dates back.
    private static func deeds(
        of joon: BenchNode, against wim: BenchNode, knowing heads: [OperationReference]
    ) throws -> [SignedOperation] {
        var log = try ForgedLog(joon, incarnation: 79)
        let member = try wim.workspace().member
        let device = try #require(wim.host?.core.session.home).device
        log.write(
            .grant(
                .init(
                    member: member, devices: [device], role: .member, replaces: false,
                    drops: nil, cuts: [])), knowing: heads)
        log.write(.remove(.init(of: member)), knowing: heads)
        log.write(
            .invite(
                .init(
                    role: .member, maximum: 9, expires: 1 << 44, publicKey: device.bytes,
                    approve: false, documents: [], psk: log.field, policy: nil)),
            knowing: heads)
        log.write(.createDocument(type: 1, nonce: [UInt8](repeating: 7, count: 16)), knowing: heads)
        log.write(try log.binding(3_002), knowing: heads)
        return log.operations
    }

    /// Admissions on the invite of somebody removed, on one revoked, and on an open one: with a
    /// bad proof, in order, after its end, once too often, and too late.
    private static func admissions(
        by wim: BenchNode, _ doors: [Door], knowing heads: [OperationReference]
    ) throws -> [SignedOperation] {
        var log = try ForgedLog(wim, incarnation: 80)
        for (number, door) in doors.enumerated() {
            log.write(try log.admission(2_000 + number, door, isProven: number < 2), knowing: heads)
        }
        log.write(try log.admission(2_003, doors[2]), knowing: heads, at: 1 << 45)
        var other = try ForgedLog(wim, incarnation: 81)
        other.write(try other.admission(2_004, doors[2]), knowing: heads)
        other.write(try other.admission(2_005, doors[2]), knowing: heads)
        return log.operations + other.operations
    }

    /// One key that two people bind at a time, and a third who knows; and a role for a device of
    /// somebody else.
    private static func keys(
        _ people: [BenchNode], knowing heads: [OperationReference]
    ) throws -> [SignedOperation] {
        var logs = try people.map { try ForgedLog($0, incarnation: 82) }
        for number in 0..<2 { logs[number].write(try logs[number].binding(3_000), knowing: heads) }
        let known = heads + logs[..<2].map { $0.reference }
        logs[2].write(try logs[2].binding(3_000), knowing: known)
        let stranger = SigningKey(using: SeededRandom(seed: 3_001)).device
        logs[2].write(
            .grant(
                .init(
                    member: try people[0].workspace().member, devices: [stranger], role: .admin,
                    replaces: false, drops: nil, cuts: [])), knowing: heads)
        return logs.flatMap(\.operations)
    }

    /// A removal in parts, one whose parts are not those that it names, and widenings of the one
    /// of Joon: by Mina, and by Ada, who is weaker.
    private static func parts(
        by mina: BenchNode, about otto: BenchNode, _ ada: BenchNode, keeping log: HostileLog,
        of joon: BenchNode
    ) throws -> [SignedOperation] {
        let heads = try ForgedLog.heads(of: mina)
        let (core, workspace) = (try #require(mina.host?.core), try mina.workspace())
        let device = try #require(otto.host?.core.session.home).device
        var forged = try ForgedLog(mina, incarnation: 83)
        let part = forged.write(
            .cutPart(core.membership.cuts(ofDevices: [device], in: workspace)), knowing: heads)
        let good = CutParts.hash(of: [part.id])
        forged.write(
            .remove(.init(of: try otto.workspace().member, parts: 1, hash: good)), knowing: heads)
        forged.write(
            .remove(.init(of: try ada.workspace().member, parts: 1, hash: good)), knowing: heads)
        let joons = try joon.workspace().member
        let removal = try #require(
            workspace.authorityOrder.first {
                guard case .remove(let remove)? = workspace.authority[$0]?.payload else {
                    return false
                }
                return remove.member == joons
            })
        let last = log.operations[log.operations.count - 1]
        let cut = CutEntry(
            log: log.name, sequence: last.header.sequence, id: .init(prefixOf: last.id))
        var adas = try ForgedLog(ada, incarnation: 83)
        adas.write(.recut(revocation: removal, cuts: [cut]), knowing: heads)
        var minas = try ForgedLog(mina, incarnation: 84)
        minas.write(.recut(revocation: removal, cuts: [cut]), knowing: heads)
        return forged.operations + adas.operations + minas.operations
    }
}
