import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What an invite permits, and what it does not (A05, A06).
struct `An invite in use` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    @Test func `adds the newcomer to its channels`() throws {
        for name in ["plans", "random", "other"] {
            try mina.ok("channel.create", ["name": .string(name)])
        }
        let invite = try mina.ok(
            "invite.create", ["channels": ["#random", "plans", "random", "general"]])
        let channels = try mina.ok("channel.list", ["scope": "all"]).items
        let ids = Dictionary(
            uniqueKeysWithValues: try channels.map { (try $0.text("name"), $0["id"] ?? .null) })
        #expect(
            invite["channels"]
                == .array(["random", "plans", "general"].compactMap { ids[$0] }))
        let joon = try bench.bareNode("Joon")
        try joon.join(try invite.text("link"))
        #expect(try joon.ok("channel.list").texts("name") == ["general", "plans", "random"])
        #expect(try mina.ok("channel.get", ["channel": "plans"])["members"] == 2)
        #expect(try mina.ok("channel.get", ["channel": "other"])["members"] == 1)
        #expect(mina.outcome("invite.create", ["channels": ["nowhere"]]) == "not_found")
        #expect(
            mina.outcome("invite.create", ["role": "guest", "channels": ["plans"]]) == "bad_request"
        )
        #expect(mina.outcome("invite.create", ["role": "guest"]) == "bad_request")
    }

    @Test func `is listed before what is over`() throws {
        let gone = try mina.ok("invite.create").text("id")
        _ = try mina.ok("invite.create")
        try mina.ok("invite.revoke", ["id": .string(gone)])
        #expect(try mina.ok("invite.list").items.compactMap { $0["state"] } == ["open", "revoked"])
        let types = try mina.eventTypes()
        #expect(types.filter { $0 == "invite.created" }.count == 2)
        #expect(types.filter { $0 == "invite.revoked" }.count == 1)
    }

    /// A05: two members who do not hear of each other let one person in each by one use.
    @Test func `of one use by two at once lets in both where nobody could know, and then nobody`()
        throws
    {
        let joon = try bench.guest("Joon", of: mina)
        let link = try mina.link()
        bench.advance(2_000)
        let (ana, bo) = (try bench.bareNode("Ana"), try bench.bareNode("Bo"))
        bench.cut(mina, joon)
        bench.cut(ana, joon)
        bench.cut(bo, mina)
        try ana.join(link)
        try bo.join(link)
        bench.heal(mina, joon)
        bench.heal(ana, joon)
        bench.heal(bo, mina)
        bench.advance(60_000)
        let nodes = [mina, joon, ana, bo]
        for node in nodes {
            #expect(try node.memberNames() == ["Ana", "Bo", "Joon", "Mina"])
        }
        #expect(Set(try nodes.map { try $0.digest() }).count == 1)
        let late = try bench.bareNode("Late")
        #expect(late.ask(link) == "invite_used")
        let invite = try mina.ok("invite.list").items.first { $0["used"] == 2 }
        #expect(invite?["state"] == "used" && invite?["uses"] == 1)
    }

    /// A05: at one member, the second is told so.
    @Test func `of one use by two at once at one member lets in one`() throws {
        let link = try mina.link()
        let (ana, bo) = (try bench.bareNode("Ana"), try bench.bareNode("Bo"))
        let calls = [ana, bo].map { node in
            (
                node,
                node.begin("workspace.join", ["link": .string(link), "name": .string(node.name)])
            )
        }
        bench.advance(5_000)
        let words = calls.map { node, call in
            switch node.answer(to: call) {
            case .success?: "ok"
            case .failure(let error)?: error.kind.rawValue
            case nil: "none"
            }
        }
        #expect(words.sorted() == ["invite_used", "ok"])
        #expect(try mina.memberNames().count == 2)
    }

    /// A05: an admission that a member writes for an invite that is over has no effect.
    @Test(arguments: ["used", "expired", "revoked", "unasked"])
    func `that is over admits nobody, no matter who writes the admit`(_ end: String) throws {
        let joon = try bench.guest("Joon", of: mina)
        let invite = try mina.ok(
            "invite.create", ["expires_ms": 60_000, "approve": .bool(end == "unasked")])
        let id = try invite.text("id")
        let link = try InviteLink(try invite.text("link"))
        if end == "used" { try bench.bareNode("Kim").join(link.text.link) }
        if end == "expired" { bench.advance(60_001) }
        if end == "revoked" { try mina.ok("invite.revoke", ["id": .string(id)]) }
        bench.advance(1_000)
        let eve = try bench.bareNode("Eve")
        try eve.ok("identity.create", ["name": "Eve"])
        let core = try #require(joon.host?.core)
        let terms = try joinerTerms(of: eve, by: link.text.link, at: joon)
        core.beginTurn(at: joon.time)
        #expect(
            try core.enrolment.admissions.admit(terms, request: nil, to: try joon.workspace())
                == nil)
        joon.carryOut(try core.endTurn())
        #expect(try !mina.memberNames().contains("Eve"))
    }

    /// A05: what holds in one workspace is nothing in another.
    @Test func `of one workspace is nothing to the members of another`() throws {
        let link = try InviteLink(try mina.link())
        try mina.ok("workspace.create", ["name": "elsewhere"])
        let other = try mina.workspace()
        let forged = InviteLink(
            workspace: Identifier16(prefixOf: other.id), secret: link.secret,
            invite: link.invite, hints: link.hints)
        let eve = try bench.bareNode("Eve")
        let error = try eve.refused(
            "workspace.join",
            ["link": .string(forged.text.link), "name": "Eve", "timeout_ms": 2_000])
        #expect(error.kind == .inviteInvalid)
        #expect(try eve.rowCount("operation") == 0)
        for name in ["acme", "elsewhere"] {
            let people = try mina.ok("member.list", ["workspace": .string(name)])
            #expect(people.texts("name") == ["Mina"])
        }
    }

    /// A06: one device that comes in by two doors is one member, told apart from namesakes by id.
    @Test func `by two members at once makes one member of one device`() throws {
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("policy.set", ["who_may_invite": "members"])
        let (first, second) = (try mina.link(["uses": 2]), try joon.link(["uses": 2]))
        bench.advance(2_000)
        let kim = try bench.bareNode("Kim")
        bench.cut(mina, joon)
        bench.cut(kim, joon)
        try kim.join(first)
        let terms = try joinerTerms(of: kim, by: second, at: joon)
        let core = try #require(joon.host?.core)
        core.beginTurn(at: joon.time)
        #expect(
            try core.enrolment.admissions.admit(terms, request: nil, to: try joon.workspace())
                != nil)
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        joon.carryOut(effects)
        bench.heal(mina, joon)
        bench.heal(kim, joon)
        bench.advance(60_000)
        for node in [mina, joon, kim] {
            #expect(try node.memberNames() == ["Joon", "Kim", "Mina"])
        }
        #expect(Set(try [mina, joon, kim].map { try $0.digest() }).count == 1)
    }

    /// What Kim's node would ask with.
    private func joinerTerms(
        of node: BenchNode, by text: String, at other: BenchNode
    ) throws -> JoinerTerms {
        let link = try InviteLink(text)
        let home = try #require(node.host?.core.session.home)
        let workspace = try other.workspace()
        let invite = try #require(
            workspace.invites.invites.first { id in
                guard case .invite(let invite)? = workspace.authority[id]?.payload else {
                    return false
                }
                return invite.publicKey == link.secret.publicKey.bytes
            })
        let member = home.member(salt: workspace.id.bytes)
        let answerer = try #require(other.host?.core.session.home).device
        let devices = home.deviceEntries(
            entering: .joining(workspace.id, by: invite, before: answerer, member: member))
        return JoinerTerms(
            invite: invite, member: member, devices: devices,
            proof: link.secret.admissionProof(
                workspace: workspace.id, invite: invite, member: member,
                encodedDevices: DeviceEntry.encoded(devices)), name: home.name)
    }

    @Test func `of somebody who was removed lets nobody in any more`() throws {
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let joon = try bench.guest("Joon", of: mina)
        let link = try ada.link(["uses": 9])
        bench.advance(2_000)
        try mina.remove(ada)
        bench.advance(2_000)
        for admitter in [mina, joon] {
            let eve = try bench.bareNode("Eve of \(admitter.name)")
            for other in [mina, ada, joon] where other !== admitter { bench.cut(eve, other) }
            let hints = [try #require(PeerAddress(admitter.address, defaultPort: 0))]
            let parsed = try InviteLink(link)
            let forged = InviteLink(
                workspace: parsed.workspace, secret: parsed.secret,
                invite: parsed.invite, hints: hints)
            #expect(eve.ask(forged.text.link) != "ok")
            #expect(try admitter.memberNames() == ["Joon", "Mina"])
        }
    }

    /// Everybody could write invites that they may not; they must not open links with them.
    @Test func `that nobody was allowed to write opens no link`() throws {
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("policy.set", ["who_may_invite": "members"])
        let link = try joon.link()
        let workspace = try mina.workspace()
        let core = try #require(mina.host?.core)
        let id = try #require(workspace.invites.invites.last)
        #expect(core.links.pskCandidates().contains { $0.label == .invite(id) })
        #expect(workspace.psk(of: id) != nil)
        #expect(try InviteLink(link).secret.publicKey.bytes.count == 32)
        // The same invite, had it not cited the policy, has a fault and is no candidate.
        let record = try #require(workspace.authority[id])
        let fault = OperationID([UInt8](repeating: 9, count: 32))
        let refused: AuthOperation = .init(
            id: fault, device: record.log.device, incarnation: 77, sequence: 0, previous: nil,
            dependencies: workspace.judged.evaluator.heads, grant: record.grant,
            action: .invite(.init(role: .member)))
        #expect(throws: AuthError.faulty(.roleTooWeak), "A-8") {
            _ = try workspace.judged.add(refused)
        }
        core.links.network.candidates = nil
        #expect(core.links.pskCandidates().contains { $0.label == .invite(id) })
    }

    /// More logs of the authority document than one `join_result` names.
    @Test(arguments: [1, 2, 3, 7])
    func `works where the authority document has many logs`(_ limit: Int) throws {
        for number in 0..<6 {
            mina.host?.core.session.storeIdentity?.incarnation = UInt32(7 * number % 6 + 1)
            try mina.author(.cutPart([]))
        }
        let link = try mina.link()
        mina.host?.core.session.storeIdentity?.incarnation = 9
        let joon = try bench.bareNode("Joon")
        for node in [mina, joon] { node.host?.core.links.network.joining.joinTipsMax = limit }
        try joon.join(link)
        #expect(try joon.digest() == mina.digest())
        #expect(try joon.rowCount("log") == mina.rowCount("log"))
    }

    @Test func `brings people in through its other hint while the inviter is down`() throws {
        _ = try bench.guest("Joon", of: mina)
        let link = try mina.link()
        bench.advance(2_000)
        mina.kill()
        let kim = try bench.bareNode("Kim")
        try kim.join(link)
        #expect(kim.dialled.first == "10.0.0.1:29790")
        #expect(kim.dialled.contains("10.0.0.2:29790"))
        #expect(try kim.memberNames() == ["Joon", "Kim", "Mina"])
    }
}
