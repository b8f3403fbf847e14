import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The fate of people admitted by somebody without the right, or by an invite
/// that its author revokes.
struct `A person who was admitted` {
    private let bench = CoreBench()

    /// Xen has been away, and leaves: the ends do not know whom Mina has admitted.
    @Test func `by an admin stays when a member takes the invite back, having been away`() throws {
        let mina = try bench.node("Mina")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        let xen = try bench.guest("Xen", of: mina)
        bench.advance(120_000)
        let link = try #require(InviteLink(try xen.link(), leadingTo: mina.address)).text.link
        bench.advance(2_000)
        bench.cut(mina, xen)
        let pia = try bench.bareNode("Pia")
        bench.cut(pia, xen)
        try pia.join(link)
        bench.advance(4 * Limits.confirmingMilliseconds)
        try xen.ok("workspace.leave", ["workspace": "acme"])
        bench.heal(mina, xen)
        bench.advance(10_000)
        #expect(try mina.memberNames() == ["Mina", "Pia"])
        try pia.ok("message.send", ["channel": "general", "text": "still here"])
    }

    @Test func `is called what they have said, whatever name was written for them`() throws {
        let mina = try bench.node("Mina")
        let pia = try bench.bareNode("Pia")
        #expect(pia.ask(try mina.link(["approve": true])) == "pending")
        try mina.inTurn { core, workspace in
            let id = try #require(workspace.invites.requests.values.first?.first)
            guard case .request(let joiner)? = workspace.authority[id]?.payload else {
                Issue.record("no request")
                return
            }
            let terms = JoinerTerms(
                invite: joiner.invite, member: joiner.member, devices: joiner.devices,
                proof: joiner.proof, name: "Mina (owner)", answering: nil)
            _ = try core.enrolment.admissions.admit(terms, request: id, to: workspace)
        }
        bench.advance(30_000)
        #expect(try mina.memberNames().contains("Pia"))
    }

    /// A member answers, and records the request with a name that nobody can open.
    @Test func `is let in though the name in the request is none`() throws {
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina)
        let held = try HeldLink(try mina.link(["approve": true]), known: mina)
        bench.advance(2_000)
        let pia = ForeignDevice(7)
        let answerer = try #require(ada.host?.core.session.home).device
        let member = pia.member(in: try mina.workspace().id)
        let consent = held.consent(of: member, before: answerer)
        let entries = [ListedDevice.own(pia)].signed(entering: consent)
        try ada.inTurn { core, workspace in
            _ = try core.log.authorAuthority(in: workspace, naming: [held.invite]) { _ in
                .request(held.joiner(member, entries))
            }
        }
        bench.advance(2_000)
        #expect(try mina.requests().first?["name"] == .null)
        #expect(try mina.decide("join.approve")["state"] == "approved")
        let named = try mina.memberNames().first { $0 != "Ada" && $0 != "Mina" }
        #expect(named?.hasPrefix("u_") == true)
    }

    @Test func `without a key is given it by the others`() throws {
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        bench.advance(120_000)
        try mina.ok("message.send", ["channel": "general", "text": "before"])
        let pia = try bench.bareNode("Pia")
        bench.cut(pia, ada)
        #expect(pia.ask(try mina.link(["approve": true])) == "pending")
        bench.advance(2_000)
        try ada.inTurn { core, workspace in
            let id = try #require(workspace.invites.requests.values.first?.first)
            guard case .request(let joiner)? = workspace.authority[id]?.payload else {
                Issue.record("no request")
                return
            }
            let terms = JoinerTerms(
                invite: joiner.invite, member: joiner.member, devices: joiner.devices,
                proof: joiner.proof, name: "Pia", answering: nil)
            let key = try #require(workspace.currentKey).id
            _ = try core.log.authorAuthority(in: workspace, naming: [joiner.invite, id]) {
                authoring in
                .admit(terms.sealed(authoring, field: 7), keyID: key, wraps: [], request: id)
            }
        }
        bench.advance(60_000)
        #expect(try mina.memberNames() == ["Ada", "Mina", "Pia"])
        let page = try pia.ok("message.history", ["channel": "general"])
        #expect(page["items"]?[0]?["text"]?.stringValue == "before", "\(page.text)")
        try pia.ok("message.send", ["channel": "general", "text": "after"])
        bench.advance(2_000)
        let heard = try mina.ok("message.history", ["channel": "general"])
        #expect(heard["items"]?.arrayValue?.last?["text"]?.stringValue == "after", "\(heard.text)")
    }

    /// Kim was removed and does not say so: she answers with the earlier document.
    @Test func `by somebody who was removed hears that others know nothing of it`() throws {
        let mina = try bench.node("Mina")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(120_000)
        bench.cut(mina, kim)
        try mina.remove(kim)
        let pia = try bench.bareNode("Pia")
        bench.cut(mina, pia)
        try pia.join(try kim.link())
        bench.advance(10_000)
        bench.cut(kim, pia)
        let own = try mina.link()
        bench.heal(mina, pia)
        try dial(mina, from: pia)
        bench.advance(30_000)
        let status = try pia.ok("node.status")
        let kinds = status["warnings"]?.arrayValue?.compactMap { $0["kind"]?.stringValue }
        #expect(kinds?.contains("membership.unknown") == true, "\(status.text)")
        let error = try pia.refused("workspace.join", ["link": .string(own)])
        #expect(error.reason == "membership.unknown")
        // As the hint says.
        try pia.ok("workspace.leave", ["workspace": "acme"])
        try pia.join(own)
        #expect(try mina.memberNames() == ["Mina", "Pia"])
    }

    /// Kim, a plain member, tells Pia what a node tells a device that it does not know.
    @Test func `that others share is not put in doubt by what one of them says`() throws {
        let mina = try bench.node("Mina")
        let kim = try bench.guest("Kim", of: mina)
        let ada = try bench.guest("Ada", of: mina)
        let pia = try bench.guest("Pia", of: mina)
        bench.advance(120_000)
        for node in [mina, pia] { #expect(try node.ok("peer.list").text.contains("Ada")) }
        try kim.inTurn { core, workspace in
            for link in core.links.network.ordered {
                guard let peer = link.peer else { continue }
                let tag = Syncing.tag(of: workspace.id, handshakeHash: peer.handshakeHash)
                link.session.send(
                    .workspaceResult(tag: tag, .authorityOnly), in: .control, isUnasked: false)
            }
        }
        bench.advance(60_000)
        for node in [mina, ada, pia] {
            let status = try node.ok("node.status")
            let kinds = status["warnings"]?.arrayValue?.compactMap { $0["kind"]?.stringValue }
            #expect(kinds?.contains("membership.unknown") == false, "\(node.name): \(status.text)")
            try node.ok("workspace.join", ["link": .string(try mina.link())])
        }
    }

    /// Mina admitted everybody, and may have been removed: that others compare equal with Pia
    /// proves nothing. Once Kim compares equal as well, there is no doubt.
    @Test func `is put in doubt by one who has not held the same, and is told how many have`()
        throws
    {
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        let pia = try bench.guest("Pia", of: mina)
        bench.advance(120_000)
        func warning(equals: [BenchNode]) throws -> String? {
            try self.warning(at: pia, equals: equals, doubtedBy: kim)
        }
        let plain =
            "'Kim' does not know you as a member of 'acme': the person who let you in may have "
            + "been removed"
        #expect(try warning(equals: []) == plain)
        #expect(try warning(equals: [mina]) == plain)
        #expect(try warning(equals: [mina, ada]) == plain + "; 2 others see it as you do")
        #expect(try warning(equals: [mina, ada, kim]) == nil)
    }

    /// Ada admitted Pia, and nobody admitted Mina: once Mina compares equal, she vouches for Pia.
    @Test func `is not put in doubt by one, while somebody vouches whom another one let in`() throws
    {
        let mina = try bench.node("Mina")
        let ada = try bench.guest("Ada", of: mina)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        let link = try #require(InviteLink(try mina.link(), leadingTo: ada.address)).text.link
        bench.advance(2_000)
        let pia = try bench.bareNode("Pia")
        try pia.join(link)
        bench.advance(4 * Limits.confirmingMilliseconds)
        let doubt = try warning(at: pia, equals: [ada], doubtedBy: kim)
        #expect(doubt != nil, "or nothing was tried")
        #expect(try warning(at: pia, equals: [ada, mina], doubtedBy: kim) == nil)
        // The founder was admitted by nobody.
        #expect(try warning(at: mina, equals: [], doubtedBy: kim) == nil)
    }

    /// Makes a node compare equal with some others only, and be unknown to a member for half a
    /// minute.
    ///
    /// - Returns: the warning in its status.
    private func warning(
        at node: BenchNode, equals: [BenchNode], doubtedBy other: BenchNode
    ) throws -> String? {
        let doubter = try other.workspace().member
        let devices = try equals.map { try #require($0.host?.core.session.home).device }
        try node.inTurn { core, workspace in
            try core.turn.write()
            try core.turn.store.peers.forgetAgreements(in: workspace.number)
            for device in devices {
                try core.turn.store.peers.setAgreed(
                    .init(root: .zero, arrival: 0), with: device, workspace: workspace.number)
            }
            let links = core.links.network.ordered.filter {
                $0.peer.flatMap { workspace.owner(of: $0.device) } == doubter
            }
            try #require(!links.isEmpty)
            for link in links {
                link.syncs[workspace.number]?.unknownSince = core.turn.time.monotonic
            }
        }
        bench.letPass(30_000)
        return try node.ok("node.status")["warnings"]?.arrayValue?
            .first { $0["kind"] == "membership.unknown" }?["message"]?.stringValue
    }

    private func dial(_ other: BenchNode, from node: BenchNode) throws {
        try node.ok("peer.add", ["address": .string(other.address)])
        bench.advance(10_000)
    }
}
