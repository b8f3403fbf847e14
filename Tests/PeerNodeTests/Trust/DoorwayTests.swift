import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The checks of a node that answers newcomers, one by one: everything else in the request is
/// right, so that only the check in question can refuse it.
struct `Somebody at the door` {
    private let pair: HostilePair
    private let own = ForeignDevice(77)

    init() throws { pair = try HostilePair() }

    private var ada: BenchNode { pair.ada }

    private func held(_ terms: JSONValue = ["uses": 9]) throws -> HeldLink {
        let held = try HeldLink(try ada.link(terms), known: ada)
        pair.bench.advance(2_000)
        return held
    }

    private func visitor(_ held: HeldLink, as device: ForeignDevice? = nil) throws -> Visitor {
        try Visitor(
            as: device ?? own, under: held.link.secret.psk, at: ada, on: pair.bench)
    }

    /// `join2` of one device, correctly signed by it.
    private func request(
        _ held: HeldLink, of device: ForeignDevice, before answerer: DeviceID
    ) -> JoinRequest {
        let member = device.member(in: pair.workspace)
        let consent = held.consent(of: member, before: answerer)
        return held.request(member, [ListedDevice.own(device)].signed(entering: consent))
    }

    private func expectNobody(_ devices: ForeignDevice...) throws {
        pair.bench.advance(2_000)
        for device in devices {
            for node in pair.honest { #expect(try node.workspace().owner(of: device.id) == nil) }
        }
        #expect(try ada.memberNames() == ["Ada", "Bob", "Mallory"])
        #expect(try ada.requests().isEmpty)
    }

    /// Otherwise the other tests would prove nothing.
    @Test func `joins by a correct request`() throws {
        let held = try held()
        let said = try Visitor.asks(ada, as: own, with: held, on: pair.bench) {
            request(held, of: own, before: $0)
        }
        #expect(said == .admitted)
        pair.bench.advance(2_000)
        for node in pair.honest {
            #expect(try node.workspace().owner(of: own.id) == own.member(in: pair.workspace))
        }
    }

    /// Having read `join1` in one session, as an answerer does, does not help in the next one.
    @Test func `shows nothing by what was signed in another session`() throws {
        let held = try held()
        let first = try visitor(held)
        let hash = try #require(first.identity?.handshakeHash)
        let secret = held.link.secret
        let proof = secret.joinProof(handshakeHash: hash)
        let second = try visitor(held, as: ForeignDevice(78))
        second.send(.joinHello(invite: secret.publicKeyName, proof: proof))
        #expect(second.joinResult == .invalid)
        #expect(!second.messages.contains { if case .tips = $0 { true } else { false } })
        first.send(.joinHello(invite: secret.publicKeyName, proof: proof))
        #expect(first.joinResult == .open)
    }

    /// Nothing of the authority document is shown, and the newcomer need not read it in vain.
    @Test func `with an invite that was revoked hears so before anything else`() throws {
        let held = try held()
        let id = try #require(try ada.ok("invite.list").items.first?["id"])
        try ada.ok("invite.revoke", ["id": id])
        let visitor = try visitor(held)
        visitor.knock(with: held)
        let said = visitor.messages.compactMap {
            if case .joinResult(let result) = $0 { result } else { nil }
        }
        #expect(said.map(\.code) == [.invalid])
        #expect(said.allSatisfy { $0.tips == nil && $0.workspace == nil })
        try expectNobody(own)
    }

    /// A person who proves to hold the link is admitted, and nobody whose signed list they present.
    @Test func `enters no device but its own`() throws {
        let held = try held()
        let other = ForeignDevice(79)
        let said = try Visitor.asks(ada, as: own, with: held, on: pair.bench) {
            request(held, of: other, before: $0)
        }
        #expect(said == .invalid)
        try expectNobody(own, other)
    }

    /// An invite that needs approval cannot be bypassed by knocking with one that does not.
    @Test func `enters by no invite but the one that was shown`() throws {
        let (shown, other) = (try held(["uses": 9, "approve": true]), try held())
        let visitor = try visitor(shown)
        let answerer = try #require(visitor.identity?.device)
        visitor.knock(with: shown)
        try #require(visitor.joinResult == .open)
        // Everything in it is right: a person who shows the other invite is admitted by that one.
        visitor.send(.joinRequest(request(other, of: own, before: answerer)))
        #expect(visitor.joinResult == .invalid)
        try expectNobody(own)
        visitor.send(.joinRequest(request(shown, of: own, before: answerer)))
        #expect(visitor.joinResult == .pending, "or nothing was tried")
    }

    /// A newcomer who connects in time and asks too late is told so, and no admission is tried.
    @Test func `with an invite that ends in between comes too late`() throws {
        let held = try held(["expires_ms": 60_000])
        let visitor = try visitor(held)
        let answerer = try #require(visitor.identity?.device)
        visitor.knock(with: held)
        try #require(visitor.joinResult == .open)
        pair.bench.advance(60_001)
        try #require(visitor.isOpen)
        visitor.send(.joinRequest(request(held, of: own, before: answerer)))
        #expect(visitor.joinResult == .expired)
        try expectNobody(own)
    }

    /// The proof is by the invite's key over member and devices. Members know how to make the rest.
    @Test(arguments: ["of another member", "of other devices", "by another key"])
    func `enters by no proof`(_ which: String) throws {
        let (held, other) = (try held(), try held())
        let (second, member) = (ForeignDevice(80), own.member(in: pair.workspace))
        let said = try Visitor.asks(ada, as: own, with: held, on: pair.bench) { answerer in
            let good = request(held, of: own, before: answerer)
            let bad =
                switch which {
                case "of another member": request(held, of: second, before: answerer)
                case "of other devices":
                    held.request(
                        member,
                        [ListedDevice.own(own), .own(second)].signed(
                            entering: held.consent(of: member, before: answerer)))
                default: request(other, of: own, before: answerer)
                }
            return JoinRequest(
                invite: good.invite, member: good.member, devices: good.devices,
                proof: bad.proof, name: good.name, answering: nil)
        }
        #expect(said == .invalid)
        try expectNobody(own, second)
    }

    /// The secret opens the workspace that it was made for, whatever id precedes it in the link.
    @Test func `takes part in no workspace but the link's`() throws {
        let link = try InviteLink(try ada.link())
        let other = try pair.bench.node("Zoe", workspace: "elsewhere")
        let forged = InviteLink(
            workspace: Identifier16(prefixOf: try other.workspace().id), secret: link.secret,
            invite: link.invite, hints: link.hints
        ).text.link
        let kim = try pair.bench.bareNode("Kim")
        let error = try kim.refused(
            "workspace.join", ["link": .string(forged), "name": "Kim", "timeout_ms": 5_000])
        #expect(error.kind == .inviteInvalid)
        #expect(try kim.ok("workspace.list").items.isEmpty)
        #expect(try kim.rowCount("operation") == 0)
        #expect(try ada.memberNames() == ["Ada", "Bob", "Mallory"])
    }

    // MARK: Another device

    /// Knocks with a device link, and is offered to become a device of Ada's.
    private func linking() throws -> Visitor {
        let link = try DeviceLink(try ada.ok("device.link").text("link"))
        let visitor = try Visitor(as: own, under: link.secret.psk, at: ada, on: pair.bench)
        pair.bench.settle()
        try #require(
            visitor.messages.contains { if case .linkOffer = $0 { true } else { false } })
        return visitor
    }

    /// The consent of a device to be Ada's, signed by a device.
    private func consent(signedBy signer: ForeignDevice) throws -> LinkConsent {
        let workspace = try ada.workspace()
        let answerer = try #require(ada.host?.core.session.home).device
        let consent = DeviceConsent.adding(
            to: workspace.id, before: answerer, member: workspace.member)
        let keys = [
            DeviceEntry(device: own.id, agreementKey: own.box.publicKey.bytes, signature: .zero)
        ]
        return LinkConsent(
            workspace: workspace.id, agreementKey: own.box.publicKey.bytes,
            signature: signer.signing.signature(for: consent.message(for: keys)))
    }

    private func answer(_ visitor: Visitor) -> LinkResult.Code? {
        visitor.messages.compactMap {
            if case .linkResult(let result) = $0 { result.code } else { nil }
        }.last
    }

    /// A person who has read a link from a screen cannot make another's device one of Ada's.
    @Test func `becomes a device of a person by its own signature alone`() throws {
        let visitor = try linking()
        visitor.send(.linkRequest([try consent(signedBy: ForeignDevice(81))]))
        #expect(answer(visitor) == .invalid)
        try expectNobody(own)
        visitor.send(.linkRequest([try consent(signedBy: own)]))
        #expect(answer(visitor) == .linked)
    }

    /// The ten minutes apply to the answer too, and not only to the connection.
    @Test func `becomes no device after ten minutes, on a link that stands since before`() throws {
        let visitor = try linking()
        pair.bench.advance(DeviceLink.lifetimeMilliseconds)
        try #require(visitor.isOpen)
        visitor.send(.linkRequest([try consent(signedBy: own)]))
        #expect(answer(visitor) == .expired)
        try expectNobody(own)
    }
}
