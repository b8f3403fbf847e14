import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import SyncProtocol

/// A11: the member who answers a newcomer puts one of her own devices into the list, or another box
/// key, to act or read as the newcomer.
struct `A member who answers a newcomer with another list (A11)` {
    /// How she changes the list that was signed before her.
    enum Change: String, CaseIterable {
        case another, instead, inFront, behindTheDevice, alone, boxOfDevice, boxOfPhrase, signature

        /// The same keys, or fewer; for some changes under the name of her own device.
        func list(_ signed: [DeviceEntry], _ evil: DeviceEntry) -> [DeviceEntry] {
            let (phrase, device) = (signed[0], signed[1])
            switch self {
            case .another: return signed + [evil]
            case .instead: return [phrase, evil]
            case .inFront: return [evil, device]
            case .behindTheDevice: return [device, evil]
            case .alone: return [evil]
            case .boxOfDevice: return [phrase, device.with(evil.agreementKey)]
            case .boxOfPhrase: return [phrase.with(evil.agreementKey), device]
            case .signature: return [phrase, device.with(device.agreementKey, signedAs: evil)]
            }
        }
    }

    private static let evil = ForeignDevice(66)
    private static let (phrase, kim) = (ForeignDevice(76), ForeignDevice(77))

    /// The list as she changes it, with her own signature for that list wherever she has the key.
    private static func forged(
        _ change: Change, _ signed: [DeviceEntry], _ consent: DeviceConsent
    ) -> [DeviceEntry] {
        let unsigned = DeviceEntry(
            device: evil.id, agreementKey: evil.box.publicKey.bytes, signature: .zero)
        return change.list(signed, unsigned).map { entry in
            guard entry.device == evil.id else { return entry }
            let message = consent.message(for: change.list(signed, unsigned))
            return entry.with(entry.agreementKey, evil.signing.signature(for: message))
        }
    }

    /// All the others refuse it, although she is an admin and holds the link herself.
    @Test(arguments: Change.allCases)
    func `is refused by all others`(change: Change) throws {
        let pair = try HostilePair(role: "admin")
        let held = try HeldLink(try pair.mallory.link(["uses": 9]), known: pair.mallory)
        pair.bench.advance(2_000)
        let heads = try ForgedLog.heads(of: pair.ada)
        let keyID = try #require(try pair.ada.workspace().currentKey).id
        let start = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let member = Self.phrase.member(in: pair.workspace)
        let consent = held.consent(of: member, before: pair.keys.id)
        let signed = [ListedDevice.own(Self.phrase), .own(Self.kim)].signed(entering: consent)
        let forged = Self.forged(change, signed, consent)
        // Under the newcomer's id, and under the one that her list would give.
        for name in [member, HomeIdentity.member(of: forged[0].device, salt: pair.workspace.bytes)]
        {
            var log = start
            let payload = AuthorityPayload.admit(
                held.joiner(name, forged), keyID: keyID, wraps: [], request: nil)
            guard change != .alone || name == member else { continue }
            try pair.expectFault(log.write(payload, knowing: heads), "\(change)")
        }
        // What was signed before her is valid when she uses it unchanged.
        var log = start
        let good = log.write(
            .admit(held.joiner(member, signed), keyID: keyID, wraps: [], request: nil),
            knowing: heads)
        for node in pair.honest {
            try pair.visit(node).push([good.run(in: pair.workspace)])
            #expect(try node.workspace().owner(of: Self.kim.id) == member)
            #expect(try node.workspace().owner(of: Self.evil.id) == nil)
        }
        try pair.expectPeace()
    }

    /// Nor is a recorded join of use to somebody who did not answer it (G16).
    @Test func `brings a recorded join to nobody else's admission`() throws {
        let pair = try HostilePair(role: "admin")
        let held = try HeldLink(try pair.mallory.link(["uses": 9]), known: pair.mallory)
        pair.bench.advance(2_000)
        let heads = try ForgedLog.heads(of: pair.ada)
        let keyID = try #require(try pair.ada.workspace().currentKey).id
        let member = Self.phrase.member(in: pair.workspace)
        let bob = try #require(pair.bob.host?.core.session.home).device
        let signed = [ListedDevice.own(Self.phrase), .own(Self.kim)].signed(
            entering: held.consent(of: member, before: bob))
        var log = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        let payload = AuthorityPayload.admit(
            held.joiner(member, signed), keyID: keyID, wraps: [], request: nil)
        try pair.expectFault(log.write(payload, knowing: heads), "signed before Bob")
    }

    /// The newcomer notices, whatever the others would say: nothing of the workspace is kept.
    @Test(arguments: [Change.another, .boxOfDevice, .alone, nil])
    func `does not deceive the newcomer`(change: Change?) throws {
        let pair = try HostilePair(role: "admin")
        let answerer = try FalseAnswerer(pair) { signed, consent in
            change.map { Self.forged($0, signed, consent) } ?? signed
        }
        let kim = try pair.bench.bareNode("Kim")
        let parameters: JSONValue = [
            "link": .string(answerer.link), "name": "Kim", "timeout_ms": 5_000,
        ]
        if change == nil {
            // The false answerer would be a valid one if she changed nothing.
            try kim.ok("workspace.join", parameters)
            return
        }
        let failure = try kim.refused("workspace.join", parameters)
        #expect(failure.kind == .unreachable || failure.kind == .inviteInvalid)
        #expect(answerer.admissionCount > 0)
        #expect(kim.log.contains { $0.hasPrefix("auth.fault") })
        #expect(try kim.ok("workspace.list").items.isEmpty)
        #expect(try kim.rowCount("operation") == 0)
        #expect(try kim.rowCount("epoch_key") == 0)
        // An honest member admits them.
        pair.bench.advance(60_000)
        try kim.join(try pair.ada.link())
        #expect(try kim.digest() == pair.ada.digest())
    }

    /// She holds the secret, answers for another workspace than the link's, and admits them to it.
    @Test func `leads nobody into another workspace than the link's`() throws {
        let pair = try HostilePair(role: "admin")
        let other = try pair.bench.node("Zoe", workspace: "elsewhere").workspace().id
        let answerer = try FalseAnswerer(pair, naming: other)
        let kim = try pair.bench.bareNode("Kim")
        let failure = try kim.refused(
            "workspace.join",
            ["link": .string(answerer.link), "name": "Kim", "timeout_ms": 5_000])
        #expect(failure.kind == .inviteInvalid)
        #expect(answerer.openCount > 0, "or nothing was tried")
        #expect(answerer.admissionCount == 0)
        #expect(try kim.ok("workspace.list").items.isEmpty)
        #expect(try kim.rowCount("operation") == 0)
    }

    // MARK: Refusing

    /// An answer proves nothing: the host at the next address is asked.
    @Test(arguments: [JoinResult.Code.used, .expired, .invalid, .busy, .pending])
    func `keeps nobody out by refusing`(code: JoinResult.Code) throws {
        try expectWayIn { try FalseAnswerer($0, refusing: code, besides: $0.ada) }
    }

    /// The admission is valid, and of no use: the next peer answers a newcomer.
    @Test func `keeps nobody out by an admission without a key`() throws {
        let pair = try HostilePair(role: "admin")
        let answerer = try FalseAnswerer(pair, besides: pair.ada, withKey: false)
        let kim = try pair.bench.bareNode("Kim")
        try kim.join(answerer.link)
        #expect(answerer.admissionCount == 1)
        try kim.ok("message.send", ["channel": "general", "text": "in"])
    }

    /// Nor by staying silent, at the handshake or after everything was asked.
    @Test(arguments: [AnswererSilence.atTheDoor, .whenAsked])
    func `keeps nobody out by silence`(silence: AnswererSilence) throws {
        try expectWayIn { try FalseAnswerer($0, silence: silence, besides: $0.ada) }
    }

    /// Ada is at the second address of the link.
    fileprivate func expectWayIn(
        besides make: (HostilePair) throws -> FalseAnswerer
    ) throws {
        let pair = try HostilePair(role: "admin")
        let answerer = try make(pair)
        let kim = try pair.bench.bareNode("Kim")
        try kim.ok(
            "workspace.join",
            ["link": .string(answerer.link), "name": "Kim", "timeout_ms": 30_000])
        #expect(answerer.refusalCount == 1)
        pair.bench.advance(5_000)
        #expect(try kim.digest() == pair.ada.digest())
    }

    @Test(arguments: [
        (JoinResult.Code.used, NodeError.Kind.inviteUsed), (.expired, .inviteExpired),
        (.invalid, .inviteInvalid), (.busy, .unreachable), (.pending, .unreachable),
    ])
    func `is believed where nobody else answers`(
        code: JoinResult.Code, kind: NodeError.Kind
    ) throws {
        let pair = try HostilePair(role: "admin")
        let answerer = try FalseAnswerer(pair, refusing: code, besides: pair.ada)
        pair.ada.kill()
        let kim = try pair.bench.bareNode("Kim")
        let failure = try kim.refused(
            "workspace.join",
            ["link": .string(answerer.link), "name": "Kim", "timeout_ms": 20_000])
        #expect(failure.kind == kind)
        #expect(failure.hint?.contains("did not answer: try again later") == true)
        #expect(try kim.ok("workspace.list").items.isEmpty)
        #expect(kim.host?.core.links.network.joining.joins.isEmpty == true)
    }

    /// An answerer that claims to have asked an admin, and has asked none, is waited for during ten
    /// minutes, or until the user asks again.
    @Test(arguments: [false, true])
    func `is not waited for without end`(isAskedAgain: Bool) throws {
        let pair = try HostilePair(role: "admin")
        let answerer = try FalseAnswerer(
            pair, refusing: .pending, besides: pair.ada, by: ["approve": true, "uses": 9])
        let kim = try pair.bench.bareNode("Kim")
        #expect(kim.ask(answerer.link) == "pending")
        pair.bench.advance(5_000)
        #expect(try pair.ada.requests().isEmpty)
        if isAskedAgain {
            #expect(kim.ask(answerer.link) == "pending")
        } else {
            pair.bench.advance(Limits.joinTurnMilliseconds + 20_000)
        }
        try pair.ada.decide("join.approve")
        pair.bench.advance(20_000)
        #expect(try kim.digest() == pair.ada.digest())
    }
}

/// When a false answerer stops answering.
enum AnswererSilence { case atTheDoor, whenAsked }

/// Mallory at her own address, answering joins with a list that she has changed.
private final class FalseAnswerer {
    let link: String
    private(set) var openCount = 0
    private(set) var admissionCount = 0
    private(set) var refusalCount = 0

    private let visitor: Visitor

    /// - Parameters:
    ///   - code: her answer instead of an admission; that an admin has to approve she answers only
    ///     to a request.
    ///   - other: the member at the second address of the link.
    ///   - named: the workspace of the link, if it is not the one that she answers for.
    init(
        _ pair: HostilePair, refusing code: JoinResult.Code? = nil,
        silence: AnswererSilence? = nil, besides other: BenchNode? = nil,
        by terms: JSONValue = ["uses": 9], withKey givesKey: Bool = true,
        naming named: WorkspaceID? = nil,
        changing: @escaping ([DeviceEntry], DeviceConsent) -> [DeviceEntry] = { list, _ in list }
    ) throws {
        let held = try HeldLink(try pair.mallory.link(terms), known: pair.mallory)
        pair.bench.advance(2_000)
        let address = "10.9.9.9:1"
        link =
            InviteLink(
                workspace: named.map { Identifier16(prefixOf: $0) } ?? held.link.workspace,
                secret: held.link.secret, invite: held.link.invite,
                hints: try ([address] + [other?.address].compactMap { $0 }).map {
                    try #require(PeerAddress($0, defaultPort: 0))
                }
            ).text.link
        let core = try #require(pair.ada.host?.core)
        let workspace = try pair.ada.workspace()
        let replica = CoreReplica(for: core.syncing, workspace: workspace)
        let tips = replica.tips(of: workspace.id)
        let heads = try ForgedLog.heads(of: pair.ada)
        let key = try #require(workspace.currentKey)
        let discovery = try #require(workspace.discovery.last)
        let start = try ForgedLog(pair.mallory, incarnation: 80)
        pair.takeOver()
        visitor = Visitor(as: pair.keys, at: address, under: held.link.secret.psk, on: pair.bench)
        visitor.stock = tips.compactMap { tip in
            let item = PullItem(target: tip, have: [])
            guard case .runs(let runs, _) = replica.runs(for: item, maxBytes: 1 << 20),
                let run = runs.first
            else { return nil }
            return (tip, run)
        }
        visitor.onMessage = { [weak self] message, visitor in
            switch message {
            case .joinHello where silence == .atTheDoor, .joinRequest where silence == .whenAsked:
                self?.refusalCount += 1
            case .joinHello where code.map { $0 != .pending } == true,
                .joinRequest where code == .pending:
                self?.refusalCount += 1
                code.map { visitor.queue(.joinResult(.init(code: $0))) }
            case .joinHello:
                self?.openCount += 1
                visitor.queue(
                    .joinResult(.init(code: .open, workspace: workspace.id, tips: tips)))
                visitor.open(workspace.id)
            case .joinRequest(let request):
                let consent = held.consent(of: request.member, before: pair.keys.id)
                let signed = (try? DeviceEntry.list(decoding: request.devices)) ?? []
                let listed = changing(signed, consent)
                var log = start
                let written = log.write(
                    .admit(
                        held.joiner(request.member, listed), keyID: key.id,
                        wraps: givesKey
                            ? core.keys.wraps(key.key, discovery, for: listed) : [],
                        request: nil),
                    knowing: heads)
                let tip = HostileLog.tip(
                    of: written, in: written.run(in: workspace.id).log)
                visitor.stock.append((tip, written.run(in: workspace.id)))
                self?.admissionCount += 1
                visitor.queue(
                    .joinResult(
                        .init(
                            code: .admitted, workspace: workspace.id, tips: [tip] + tips,
                            admission: written.id)))
            default: break
            }
        }
    }
}

extension DeviceEntry {
    /// The same device with another box key, or another signature.
    fileprivate func with(_ box: [UInt8], _ other: Signature? = nil) -> DeviceEntry {
        DeviceEntry(device: device, agreementKey: box, signature: other ?? signature)
    }

    fileprivate func with(_ box: [UInt8], signedAs other: DeviceEntry) -> DeviceEntry {
        with(box, other.signature)
    }
}
