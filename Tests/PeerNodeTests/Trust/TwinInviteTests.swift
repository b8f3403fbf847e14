import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members who may invite can read the public key and the secret of another's invite, and reuse
/// them in one of their own. A link names its invite (PROTOCOL.md, 5.6).
struct `An invite with the key of another` {
    private let bench = CoreBench()
    private let mina: BenchNode
    /// The author of the other invite.
    private let kim: BenchNode
    /// The author of the link's invite; she came in later, so Kim's operations are stronger.
    private let ann: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        kim = try bench.guest("Kim", of: mina)
        ann = try bench.guest("Ann", of: mina)
        bench.advance(120_000)
    }

    @discardableResult
    private func twin(
        of link: String, role: Role = .member, expires: UInt64? = nil, approve: Bool = false,
        hasOwnKey: Bool = false, by author: BenchNode? = nil
    ) throws -> OperationID {
        let secret = try InviteLink(link).secret
        let key =
            hasOwnKey ? InviteSecret(using: SeededRandom(seed: 5)).publicKey : secret.publicKey
        let id = try (author ?? kim).inTurn { core, workspace in
            let cited = workspace.ownRole == .member ? workspace.fields.invitePolicy : nil
            return try core.log.authorAuthority(in: workspace) { authoring in
                .invite(
                    .init(
                        role: role, maximum: 9, expires: expires ?? bench.wall + 3_600_000,
                        publicKey: key.bytes, approve: approve, documents: [],
                        psk: authoring.sealed(secret.psk.exposedCopy(), field: 7),
                        policy: cited))
            }
        }
        bench.advance(2_000)
        return try #require(id)
    }

    @Test func `leaves your link as it is, even if over, revoked or with approval`() throws {
        let (expired, revoked, asking) = (try ann.link(), try ann.link(), try ann.link())
        try twin(of: expired, expires: bench.wall - 1_000)
        let ended = try twin(of: revoked)
        try kim.inTurn { core, workspace in
            _ = try core.log.authorAuthority(in: workspace, naming: [ended]) { _ in
                .revokeInvite(ended)
            }
        }
        try twin(of: asking, approve: true)
        for (name, link) in [("Ada", expired), ("Bob", revoked), ("Eve", asking)] {
            try bench.bareNode(name).join(link)
        }
    }

    /// An owner's invite could replace Ann's if that were over; a member's never can.
    @Test(arguments: [false, true])
    func `lets nobody in without an admin whose link wants one`(isOwners: Bool) throws {
        let link = try ann.link(["approve": true])
        try twin(of: link, by: isOwners ? mina : kim)
        #expect(try bench.bareNode("Joon").ask(link) == "pending")
    }

    /// If two invites have one secret, the handshake does not tell which is meant.
    @Test(arguments: [false, true])
    func `closes none with the secret alone either`(isOver: Bool) throws {
        let link = try ann.link(["uses": 9])
        try twin(of: link, expires: isOver ? bench.wall - 1_000 : nil, hasOwnKey: true)
        for host in [kim, mina] {
            try bench.bareNode("To \(host.name)").join(
                try #require(InviteLink(link, leadingTo: host.address)).text.link)
        }
    }

    @Test func `brings nobody in by a link that was revoked`() throws {
        let link = try ann.link()
        try ann.inTurn { core, workspace in
            let own = try #require(workspace.invites.invites.last)
            _ = try core.log.authorAuthority(in: workspace, naming: [own]) { _ in .revokeInvite(own)
            }
        }
        bench.advance(2_000)
        try twin(of: link)
        let pia = try bench.bareNode("Pia")
        #expect(pia.ask(link) != "joined")
        #expect(try !mina.memberNames().contains("Pia"))
    }

    /// The address is what every member shows; only an admin's invite is one.
    @Test func `is not the workspace's address, where a plain member made it`() throws {
        try mina.ok("policy.set", ["join": "open"])
        bench.advance(2_000)
        let nodes = [mina, kim, ann]
        let before = try nodes.map { try $0.ok("policy.get")["address"] }
        let secret = InviteSecret(using: SeededRandom(seed: 9))
        try kim.inTurn { core, workspace in
            _ = try core.log.authorAuthority(in: workspace) { authoring in
                .invite(
                    .init(
                        role: .member, maximum: 9, expires: bench.wall + 3_600_000,
                        publicKey: secret.publicKey.bytes, approve: false, documents: [],
                        psk: authoring.sealed(secret.exposedSeed(), field: 7),
                        policy: workspace.fields.invitePolicy))
            }
        }
        bench.advance(5_000)
        #expect(try nodes.map { try $0.ok("policy.get")["address"] } == before)
        #expect(before.allSatisfy { $0?.isNull == false })
    }

    @Test func `makes no member of a guest`() throws {
        try mina.ok("channel.create", ["name": "deal", "private": true])
        let link = try mina.link(["role": "guest", "channels": ["deal"]])
        try twin(of: link)
        let uma = try bench.bareNode("Uma")
        try uma.join(link)
        #expect(try uma.workspace().ownRole == .guest)
    }

    /// Links of earlier versions name a device instead: of all valid invites the strongest counts.
    @Test func `counts less than the owner's, where a link names none`() throws {
        let made = try InviteLink(try mina.link(["approve": true]))
        try twin(of: made.text.link)
        let former = InviteLink(
            workspace: made.workspace, secret: made.secret, invite: 0, hints: made.hints)
        #expect(try bench.bareNode("Joon").ask(former.text.link) == "pending")
    }

    /// Eve is in both, and Mina was in Eve's first.
    @Test func `in another workspace closes none either`() throws {
        let bench = CoreBench()
        let eve = try bench.node("Eve", workspace: "evil")
        let mina = try bench.guest("Mina", of: eve)
        try mina.ok("workspace.create", ["name": "acme"])
        let link = try mina.link(["uses": 9])
        bench.advance(2_000)
        try eve.join(link)
        bench.advance(2_000)
        let secret = try InviteLink(link).secret
        let made = try eve.inTurn { core, _ in
            let evil = try #require(core.workspaces.values.first { $0.displayName == "evil" })
            return try core.log.authorAuthority(in: evil) { authoring in
                .invite(
                    .init(
                        role: .member, maximum: 9, expires: bench.wall - 1_000,
                        publicKey: secret.publicKey.bytes, approve: false, documents: [],
                        psk: authoring.sealed(secret.psk.exposedCopy(), field: 7), policy: nil))
            }
        }
        try #require(made != nil)
        bench.advance(5_000)
        bench.cut(eve, try bench.bareNode("Pia"))
        let pia = try #require(bench.nodes.last)
        try pia.join(link)
    }

    /// Mina was in Eve's workspace first, so its invites are tried first.
    @Test func `with what members of another workspace know shuts out nobody there`() throws {
        let bench = CoreBench()
        let eve = try bench.node("Eve", workspace: "evil")
        let mina = try bench.guest("Mina", of: eve)
        try mina.ok("workspace.create", ["name": "acme"])
        let link = try mina.link(["uses": 9])
        for node in [eve, try bench.bareNode("Nora")] { try node.join(link) }
        let nora = try #require(bench.nodes.last)
        bench.advance(5_000)
        try eve.inTurn { core, _ in
            let evil = try #require(core.workspaces.values.first { $0.displayName == "evil" })
            let acme = try #require(core.workspaces.values.first { $0.displayName == "acme" })
            let known = core.links.pskCandidates().filter { $0.label.workspace == acme.id }
            for candidate in known {
                _ = try core.log.authorAuthority(in: evil) { authoring in
                    .invite(
                        .init(
                            role: .member, maximum: 9, expires: bench.wall + 3_600_000,
                            publicKey: InviteSecret(using: SeededRandom(seed: 6)).publicKey.bytes,
                            approve: false, documents: [],
                            psk: authoring.sealed(candidate.psk.exposedCopy(), field: 7),
                            policy: nil)
                    )
                }
            }
        }
        bench.advance(5_000)
        let pia = try bench.bareNode("Pia")
        for other in [mina, eve] {
            bench.cut(other, pia)
            bench.cut(other, nora)
        }
        try pia.join(try #require(InviteLink(link, leadingTo: nora.address)).text.link)
        bench.advance(5_000)
        bench.cut(nora, pia)
        bench.heal(mina, pia)
        try pia.ok("peer.add", ["address": .string(mina.address)])
        bench.advance(60_000)
        let members = try mina.ok("member.list", ["workspace": "acme"])
        #expect(members.text.contains("Pia"), "\(members.text)")
    }
}
