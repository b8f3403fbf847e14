import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What members admit or create for everybody is confirmed by an admin's device, so that nobody can
/// void it by claiming not to have known it (PROTOCOL.md, V-6).
struct `What a member let in or made` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let ada: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        ada = try bench.guest("Ada", of: mina, role: "admin")
        joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
    }

    /// Joon answers a newcomer while no admin is there.
    private func newcomer(_ name: String) throws -> BenchNode {
        let created = try mina.ok("invite.create", ["uses": 9])
        bench.advance(2_000)
        mina.kill()
        ada.kill()
        let node = try bench.bareNode(name)
        try node.ok(
            "workspace.join", ["link": created["link"] ?? .null, "name": .string(name)])
        try mina.boot()
        try ada.boot()
        bench.advance(10_000)
        return node
    }

    private func confirmations(at node: BenchNode) throws -> [DeviceID] {
        try node.workspace().authorityOrder.compactMap { id in
            guard let record = try node.workspace().authority[id],
                case .confirm = record.payload
            else { return nil }
            return record.log.device
        }
    }

    private func device(_ node: BenchNode) throws -> DeviceID {
        try #require(node.host?.core.session.home).device
    }

    @Test func `is confirmed once, by the strongest admin who is there`() throws {
        _ = try newcomer("Late")
        bench.advance(Limits.confirmingMilliseconds * 4)
        #expect(try confirmations(at: joon) == [device(mina)])
        let first = try device(mina)
        mina.kill()
        try joon.ok("channel.create", ["name": "sea"])
        bench.advance(Limits.confirmingRestMilliseconds / 2)
        #expect(try confirmations(at: joon) == [first])
        bench.advance(Limits.confirmingRestMilliseconds)
        #expect(try confirmations(at: joon) == [first, device(ada)])
        bench.advance(Limits.confirmingRestMilliseconds * 4)
        #expect(try confirmations(at: joon).count == 2)
    }

    @Test func `is what others can build on, and nothing that an owner did`() throws {
        try mina.ok("channel.create", ["name": "sea"])
        try joon.send("hello")
        bench.advance(Limits.confirmingRestMilliseconds)
        #expect(try confirmations(at: joon).isEmpty)
        try ada.ok("channel.create", ["name": "land"])
        bench.advance(2 * Limits.confirmingMilliseconds)
        #expect(try confirmations(at: joon) == [device(mina)])
    }

    /// An admin leaves on a laptop that has heard nothing of what they did with the phone.
    @Test(arguments: [false, true])
    func `by an admin is not undone from another device that was away`(isRevocation: Bool) throws {
        let eve = try bench.guest("Eve", of: mina)
        let phone = try bench.bareNode("Phone")
        try ada.link(phone)
        bench.advance(10_000)
        let id = try device(phone)
        ada.kill()
        try phone.ok("member.remove", ["member": "Eve", "force": true])
        let zoe = try bench.guest("Zoe", of: phone)
        bench.advance(3 * Limits.confirmingMilliseconds)
        let others = [mina, joon, eve, phone, zoe]
        for node in others { bench.cut(ada, node) }
        try ada.boot()
        if isRevocation {
            try ada.ok("device.revoke", ["device": .string(PublicID.device(id))])
        } else {
            try ada.ok("workspace.leave")
        }
        for node in others { bench.heal(ada, node) }
        bench.advance(60_000)
        let expected = (isRevocation ? ["Ada"] : []) + ["Joon", "Mina", "Zoe"]
        for node in [mina, joon, zoe] {
            #expect(try node.memberNames() == expected, "\(node.name)")
        }
        #expect(try zoe.digest() == mina.digest())
    }

    /// A confirmation of what was taken back before causes no rest: nobody can delay others that
    /// way.
    @Test func `is confirmed in a minute though something was taken back before`() throws {
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        var forged = try ForgedLog(joon, incarnation: 70)
        let before = try ForgedLog.heads(of: joon)
        try joon.ok("channel.create", ["name": "sea"])
        bench.advance(5_000)
        let end = forged.write(.leave(cuts: []), knowing: before).run(in: try mina.workspace().id)
        for node in [mina, ada, kim] { try node.take([end]) }
        bench.advance(5_000)
        try kim.ok("channel.create", ["name": "land"])
        bench.advance(2 * Limits.confirmingMilliseconds)
        #expect(try confirmations(at: kim) == [device(mina)])
    }

    @Test func `is confirmed seldom, however much it is`() throws {
        for number in 0..<30 {
            try joon.ok("channel.create", ["name": .string("c\(number)")])
            bench.advance(Limits.confirmingRestMilliseconds / 10)
        }
        #expect((1...4).contains(try confirmations(at: joon).count))
    }

    @Test(arguments: [false, true]) func `stays when its author had not known of it`(
        leaves: Bool
    ) throws {
        var forged = try ForgedLog(joon, incarnation: 70)
        let before = try ForgedLog.heads(of: joon)
        let device = try device(joon)
        let late = try newcomer("Late")
        try joon.ok("channel.create", ["name": "sea"])
        bench.advance(Limits.confirmingRestMilliseconds)
        try late.send("of Late", to: "sea")
        bench.advance(5_000)
        let end = forged.write(
            leaves ? .leave(cuts: []) : .removeDevice(device, cuts: [], rekey: nil), knowing: before
        ).run(in: try mina.workspace().id)
        for node in [mina, ada, late] { try node.take([end]) }
        bench.advance(120_000)
        for node in [mina, ada, late] {
            // Joon's phrase is a device too, and an rmdev does not end it.
            let expected = ["Ada"] + (leaves ? [] : ["Joon"]) + ["Late", "Mina"]
            #expect(try node.memberNames() == expected, "\(node.name)")
            #expect(try node.log(of: "sea") == ["of Late"], "\(node.name)")
            try node.restart()
            #expect(try node.log(of: "sea") == ["of Late"], "\(node.name)")
        }
        #expect(try mina.digest() == late.digest())
        let why = try mina.ok("why", ["subject": "#sea"])["steps"]?.arrayValue
        #expect(why?.map { $0["kind"] }.prefix(3) == ["doccreate", "docset", "confirm"])
        #expect(why?.dropFirst(2).first?["by"]?["name"] == "Mina")
    }

    /// Neither by a confirmation of nothing, nor with an accomplice's channel.
    @Test(arguments: [false, true])
    func `is confirmed in a minute whatever a weaker admin confirms`(
        something: Bool
    ) throws {
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        var forged = try ForgedLog(ada, incarnation: 70)
        var named = try #require(
            try mina.workspace().authorityOrder.first {
                if case .invite? = try mina.workspace().authority[$0]?.payload {
                    true
                } else {
                    false
                }
            })
        if something {
            try kim.ok("channel.create", ["name": "land"])
            bench.advance(5_000)
            named = try #require(try mina.workspace().authorityOrder.last)
        }
        let word = forged.write(.confirm([named]), knowing: try ForgedLog.heads(of: ada))
            .run(in: try mina.workspace().id)
        for node in [mina, ada, joon, kim] { try node.take([word]) }
        try joon.ok("channel.create", ["name": "sea"])
        bench.advance(2 * Limits.confirmingMilliseconds)
        #expect(try confirmations(at: joon) == [device(ada), device(mina)])
    }

    /// More heads of the document than an operation may cite, by a member who knows none of them.
    @Test func `is confirmed though it has more ends than one operation cites`() throws {
        let runs = try ForgedLog.ends(300, of: joon)
        for node in [mina, ada, joon] { try node.take(runs) }
        let late = try newcomer("Late")
        bench.advance(6 * Limits.confirmingMilliseconds)
        #expect(try confirmations(at: mina).count >= 2)
        try expectAllConfirmed()
        #expect(try late.digest() == mina.digest())
    }

    /// One of the cited operations is an admin's, which nobody confirms.
    @Test func `is confirmed without a rest where a word knew nearly as much as it may`() throws {
        let runs = try ForgedLog.ends(150, of: joon)
        try ada.ok("channel.create", ["name": "land"])
        bench.advance(2_000)
        for node in [mina, ada, joon] { try node.take(runs) }
        bench.advance(5 * Limits.confirmingMilliseconds)
        #expect(try confirmations(at: mina).count >= 2)
        try expectAllConfirmed()
    }

    private func expectAllConfirmed() throws {
        for node in [mina, ada] {
            let evaluator = try node.workspace().judged.evaluator
            let grant = try #require(
                evaluator.bestGrant(of: device(node), as: node.workspace().member))
            #expect(evaluator.unconfirmed(for: try device(node), under: grant).isEmpty)
        }
    }

    @Test func `is gone with who had not known of it where nobody confirmed it`() throws {
        var forged = try ForgedLog(joon, incarnation: 70)
        let before = try ForgedLog.heads(of: joon)
        _ = try newcomer("Late")
        let end = forged.write(.leave(cuts: []), knowing: before)
        try mina.take([end.run(in: try mina.workspace().id)])
        bench.advance(120_000)
        #expect(try mina.memberNames() == ["Ada", "Mina"])
    }
}
