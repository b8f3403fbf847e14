import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Cara, who joined after Mallory, has admitted Kim. Mallory holds the key of Kim's device, and
/// binds it to herself in a past that knows neither.
struct `A device that somebody else makes an own one` {
    private let pair: HostilePair
    private let cara: BenchNode
    private let kim: BenchNode
    private let stolen: ForeignDevice
    private let phrase: JSONValue

    init() throws {
        pair = try HostilePair()
        try pair.ada.ok("policy.set", ["who_may_invite": "members"])
        pair.bench.advance(2_000)
        cara = try pair.bench.guest("Cara", of: pair.ada)
        pair.bench.advance(5_000)
        kim = try pair.bench.guest("Kim", of: cara)
        pair.bench.advance(5_000)
        try kim.send("by Kim")
        phrase = try kim.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        stolen = try ForeignDevice(of: kim)
        pair.bench.advance(5_000)
    }

    /// Mallory's adddev that makes Kim's device hers, citing nothing but her own admission.
    private func taking() throws -> SignedOperation {
        let entry = [ListedDevice.own(stolen)].signed(
            entering: .adding(
                to: pair.workspace, before: pair.keys.id, member: pair.known.member))
        let key = try #require(pair.known.currentKey).id
        var log = try ForgedLog(pair.mallory, incarnation: 80)
        let admission = try #require(
            pair.known.authorityOrder.last {
                pair.known.judged.evaluator.devices(ofGrant: $0).contains(pair.keys.id)
            })
        let record = try #require(pair.known.authority[admission])
        return log.write(
            .addDevices(entry, keyID: key, wraps: []),
            knowing: [
                OperationReference(
                    device: record.log.device, incarnation: record.log.incarnation,
                    sequence: record.sequence, id: admission)
            ])
    }

    @Test func `stays its person's, with what that person wrote, and the phrase`() throws {
        let taken = try taking()
        let seen = try kim.cursor()
        pair.takeOver()
        try pair.hand([taken], as: pair.keys)
        pair.bench.advance(20_000)
        for node in [pair.ada, pair.bob, cara, kim] {
            let known = try node.workspace()
            #expect(known.judged.evaluator.isValid(taken.id), "\(node.name)")
            #expect(try node.memberNames().contains("Kim"), "\(node.name)")
            #expect(try node.log() == ["by Kim"], "\(node.name)")
            for person in ["Kim", "Mallory"] {
                let devices = try node.ok("device.list", ["member": .string("@" + person)]).items
                #expect(
                    devices.contains { $0["id"] == .string(PublicID.device(stolen.id)) },
                    "\(person) at \(node.name)")
            }
        }
        let warnings = try kim.events(since: seen, types: ["node.warning"])
        #expect(warnings.filter { $0["data"]?["kind"] == "device.taken" }.count == 1)
        // Kim goes on with it, and revokes it with another device.
        try kim.send("still me")
        let phone = try pair.bench.bareNode("Phone")
        try kim.link(phone)
        pair.bench.advance(5_000)
        #expect(try pair.ada.log() == ["by Kim", "still me"])
        let fresh = try pair.bench.bareNode("Fresh")
        let link = try pair.ada.link()
        try fresh.ok(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Kim"])
        pair.bench.advance(5_000)
        try fresh.ok(
            "device.revoke",
            ["device": .string(PublicID.device(stolen.id)), "phrase": phrase])
        pair.bench.advance(20_000)
        let member = try fresh.workspace().member
        for node in [pair.ada, pair.bob, fresh] {
            let evaluator = try node.workspace().judged.evaluator
            #expect(evaluator.bestGrant(of: stolen.id, as: member) == nil, "\(node.name)")
            #expect(try node.memberNames().contains("Kim"), "\(node.name)")
            #expect(try node.log() == ["by Kim", "still me"], "\(node.name)")
        }
        #expect(kim.outcome("message.send", ["channel": "general", "text": "x"]) != "ok")
        try pair.expectPeace()
    }

    @Test func `is ended for both by an admin`() throws {
        let taken = try taking()
        pair.takeOver()
        try pair.hand([taken], as: pair.keys)
        pair.bench.advance(20_000)
        try pair.ada.ok("device.revoke", ["device": .string(PublicID.device(stolen.id))])
        pair.bench.advance(20_000)
        for node in [pair.ada, pair.bob, cara] {
            #expect(try node.workspace().judged.evaluator.bestGrant(of: stolen.id) == nil)
        }
        try pair.expectPeace()
    }
}

/// A thief of a device links as many others with it as its person may have.
struct `A stolen device that links many` {
    /// - Parameter isVoid: after it was revoked, in a past that does not know that; a member cites
    ///   all of it.
    @Test(arguments: [false, true])
    func `takes no places from older ones, nor from the phrase`(isVoid: Bool) throws {
        var theft = try StolenPhone()
        let (pair, phone) = (theft.pair, theft.phone)
        let ada = try pair.ada.workspace()
        let key = try #require(ada.currentKey).id
        let phrase = try pair.ada.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let heads = try ForgedLog.heads(of: pair.ada)
        let made = (0..<64).map { number in
            theft.log.write(
                .addDevices(
                    [ListedDevice.own(ForeignDevice(1_000 + UInt64(number)))].signed(
                        entering: .adding(to: ada.id, before: phone.id, member: ada.member)),
                    keyID: key, wraps: []),
                knowing: number == 0 ? heads : [])
        }
        if isVoid {
            try pair.ada.ok("device.revoke", ["device": .string(PublicID.device(phone.id))])
            pair.bench.advance(5_000)
            let admission = try #require(
                pair.known.authorityOrder.last {
                    pair.known.judged.evaluator.devices(ofGrant: $0).contains(pair.keys.id)
                })
            var citing = ForgedLog(
                pair.keys.signing, like: theft.log, under: admission, incarnation: 81)
            let last = citing.write(
                .createDocument(type: 1, nonce: [UInt8](repeating: 1, count: 16)),
                knowing: [theft.log.reference] + (try ForgedLog.heads(of: pair.ada)))
            try pair.hand([last] + made, as: pair.keys)
        } else {
            try pair.hand(made, as: phone)
        }
        pair.bench.advance(5_000)
        // The phone was the first.
        #expect(made.filter { ada.judged.evaluator.contains($0.id) }.count == 63)
        let fresh = try pair.bench.bareNode("Fresh")
        let link = try pair.ada.link()
        try fresh.ok(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Ada"])
        let tablet = try pair.bench.bareNode("Tablet")
        try pair.ada.link(tablet)
        pair.bench.advance(5_000)
        #expect(try fresh.ok("workspace.get")["role"] == "owner")
        #expect(try tablet.ok("workspace.get")["role"] == "owner")
        try pair.expectPeace()
    }
}
