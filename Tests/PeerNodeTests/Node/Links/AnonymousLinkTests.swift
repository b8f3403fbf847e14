import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Connections of nobody` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    private static func connecting(_ numbers: Range<UInt64>) -> [NodeInput] {
        numbers.map { number in
            let place = "\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
            return .accepted(LinkID(number), address: "10.\(place):5")
        }
    }

    private static func closed(_ effects: [NodeEffect]) -> [UInt64] {
        effects.compactMap { if case .close(let link) = $0 { link.number } else { nil } }
    }

    private static func network(_ node: BenchNode) throws -> NetworkState {
        try #require(node.host?.core.links.network)
    }

    /// The first message of somebody who knows a secret of the node.
    private static func firstMessage(
        to node: BenchNode, seed: UInt64 = 9, under rank: SecretRank = .newest,
        of workspace: WorkspaceID? = nil
    ) throws -> [UInt8] {
        let random = SeededRandom(seed: seed)
        let candidate = try #require(
            node.host?.core.links.pskCandidates().first {
                $0.rank == rank && (workspace == nil || $0.share.workspace == workspace)
            })
        let (_, effects) = try PeerSession.dialling(
            as: InMemoryLink.identity(random), under: candidate, now: 0,
            wallMilliseconds: InMemoryLink.wall, using: random)
        for case .write(let bytes) in effects { return bytes }
        return []
    }

    @Test func `cost a place and no session, and as many as there are places`() throws {
        let places = UInt64(Limits.anonymousLinksMax)
        let effects = mina.turn(Self.connecting(1_000_000..<1_005_000))
        let closed = Self.closed(effects)
        #expect(closed.count == 5_000 - Limits.anonymousLinksMax)
        #expect(Set(closed).count == closed.count)
        #expect(closed.allSatisfy { $0 < 1_005_000 })
        // At random: not those that came first, nor the last ones.
        #expect(closed.contains { $0 > 1_000_000 + places / 2 })
        let network = try Self.network(mina)
        #expect(
            network.links.isEmpty && network.strangers.anonymous.count == Limits.anonymousLinksMax)
        #expect(mina.host?.core.turn.tally.failedHandshakes["crowded"] == closed.count)
        bench.advance(5_001)
        let after = try Self.network(mina)
        #expect(after.strangers.anonymous.isEmpty && after.strangers.budget.halfOpenCount == 0)
        #expect(mina.host?.core.turn.tally.failedHandshakes["timeout"] == Limits.anonymousLinksMax)
    }

    @Test func `are judged when the first message is whole, and then out of others' reach (N19)`()
        throws
    {
        let first = try Self.firstMessage(to: mina)
        #expect(first.count == 66)
        let member = LinkID(1_000_000)
        _ = mina.turn([.accepted(member, address: "192.0.2.1:5")])
        for byte in first.dropLast() { _ = mina.turn([.received(member, [byte])]) }
        #expect(try Self.network(mina).links.isEmpty)
        let effects = mina.turn([.received(member, first.suffix(1))])
        #expect(effects.contains { if case .write(member, _) = $0 { true } else { false } })
        #expect(try Self.network(mina).links[member] != nil)
        #expect(try Self.network(mina).strangers.anonymous.isEmpty)
        let others = Self.closed(mina.turn(Self.connecting(1_000_001..<1_020_000)))
        #expect(!others.contains(member.number) && others.count > 14_000)
        #expect(try Self.network(mina).links[member] != nil)
    }

    /// Everyone who ever held an invite keeps a secret, and using it costs only hashes.
    @Test(arguments: [SecretRank.older, .invite, .endedInvite])
    func `that know what others know take nothing of what members have (N15)`(
        rank: SecretRank
    ) throws {
        let ended = try mina.ok("invite.create")
        try mina.ok("invite.revoke", ["id": ended["id"] ?? .null])
        try mina.ok("invite.create")
        try mina.ok("workspace.rekey", ["discovery": true])
        bench.advance(2_000)
        func come(_ number: UInt64, _ rank: SecretRank) throws -> [NodeEffect] {
            let link = LinkID(1_000_000 + number)
            return mina.turn([
                .accepted(link, address: "10.0.\(number / 250).\(number % 250):5"),
                .received(link, try Self.firstMessage(to: mina, seed: number, under: rank)),
            ])
        }
        var answered = 0
        for number in 1...600 as ClosedRange<UInt64> {
            let effects = try come(number, rank)
            answered += effects.count { if case .write = $0 { true } else { false } }
        }
        #expect(answered * PeerSession.agreementsPerAnswer <= Int(rank.agreementsPerSecond))
        #expect(answered > 0)
        #expect(try Self.network(mina).strangers.budget.halfOpenCount <= rank.placesMax)
        let effects = try come(900, .newest)
        #expect(effects.contains { if case .write = $0 { true } else { false } })
        #expect(try Self.network(mina).links[LinkID(1_000_900)] != nil)
    }

    /// A member of one workspace of a node is a stranger to its others.
    @Test func `that know a secret of one workspace take nothing of another's (N15)`() throws {
        let acme = try mina.workspace().id
        try mina.ok("workspace.create", ["name": "club"])
        let club = try mina.workspace().id
        // From now on the newest are what group keys give, and nothing else.
        for name in ["acme", "club"] {
            let ended = try mina.ok("invite.create", ["workspace": .string(name)])
            try mina.ok(
                "invite.revoke", ["workspace": .string(name), "id": ended["id"] ?? .null])
        }
        bench.advance(5_000)
        func come(_ number: UInt64, _ workspace: WorkspaceID) throws -> Bool {
            let link = LinkID(1_000_000 + number)
            let first = try Self.firstMessage(to: mina, seed: number, of: workspace)
            let effects = mina.turn([
                .accepted(link, address: "10.0.\(number / 250).\(number % 250):5"),
                .received(link, first),
            ])
            return effects.contains { if case .write(link, _) = $0 { true } else { false } }
        }
        var answered = 0
        for number in 1...600 as ClosedRange<UInt64> where try come(number, club) { answered += 1 }
        #expect(answered > 0)
        #expect(answered * PeerSession.agreementsPerAnswer <= 300)
        #expect(
            try Self.network(mina).strangers.budget.halfOpenCount <= SecretRank.newest.placesMax / 2
        )
        #expect(try come(900, acme))
        #expect(try Self.network(mina).links[LinkID(1_000_900)] != nil)
    }

    /// A member may write very many invites, and each costs everybody who comes a hash.
    @Test func `are looked up in a limited number of invites, and members before them`() throws {
        for _ in 0..<2 {
            let ended = try mina.ok("invite.create")
            try mina.ok("invite.revoke", ["id": ended["id"] ?? .null])
        }
        try mina.ok("invite.create")
        bench.advance(5_000)
        let core = try #require(mina.host?.core)
        let ranks = core.links.pskCandidates().map(\.rank)
        let ofWorkspace: [SecretRank] = [.newest, .older, .older]
        #expect(ranks == ofWorkspace + [.invite, .endedInvite, .endedInvite])
        #expect(core.links.candidatesOfStrangers().count == ranks.count)
        while core.links.network.strangers.budget.look(among: 3, now: core.turn.time.monotonic) {}
        #expect(core.links.candidatesOfStrangers().map(\.rank) == ofWorkspace)
        bench.advance(1)
        _ = mina.turn([])
        #expect(core.links.candidatesOfStrangers().count == ranks.count)
    }

    /// A peer with a secret is answered, and a former member has one: so the cost of answers is
    /// bounded, and peers beyond it wait for the next tenths of a second.
    @Test func `that know a secret cost a limited number of agreements a second (N15)`() throws {
        bench.advance(2_000)
        var inputs: [NodeInput] = []
        for number in 0..<200 as Range<UInt64> {
            let link = LinkID(1_000_000 + number)
            inputs.append(.accepted(link, address: "10.0.1.\(number):5"))
            inputs.append(.received(link, try Self.firstMessage(to: mina, seed: 100 + number)))
        }
        let effects = mina.turn(inputs)
        let answered = effects.count { if case .write = $0 { true } else { false } }
        let each = PeerSession.agreementsPerAnswer
        let most = Limits.strangerAgreementsPerSecondMax / each
        #expect(answered == most)
        func waiting() throws -> Int {
            try Self.network(mina).links.values.count { $0.beginning.agreementDue != nil }
        }
        #expect(try waiting() == 200 - most)
        bench.advance(500)
        #expect(try ((most / 2 - 1)...(most / 2 + 1)).contains(200 - most - waiting()))
    }

    /// What somebody has recorded of a member's connection shows nothing, however often it is sent
    /// and from wherever.
    @Test func `that repeat what a member has said are closed, and take no member's place`() throws
    {
        let first = try Self.firstMessage(to: mina)
        let member = LinkID(1_000_000)
        _ = mina.turn([.accepted(member, address: "192.0.2.1:5"), .received(member, first)])
        for number in UInt64(1_000_001)..<1_001_000 {
            let link = LinkID(number)
            let address = "10.0.\(number >> 8 & 255).\(number & 255):5"
            let effects = mina.turn([.accepted(link, address: address), .received(link, first)])
            #expect(Self.closed(effects) == [number])
        }
        let network = try Self.network(mina)
        #expect(
            Array(network.links.keys) == [member] && network.strangers.budget.halfOpenCount == 1)
        #expect(mina.host?.core.turn.tally.failedHandshakes["replayed"] == 999)
    }

    @Test func `that repeat are known as long as others are not very many`() {
        var seen = HandshakeReplayCache()
        func first(_ number: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 7, count: 66)
            for place in 0..<4 { bytes[18 + place] = UInt8(number >> (8 * place) & 255) }
            return bytes
        }
        #expect((0..<Limits.greetingsMax).allSatisfy { seen.isNew(first($0)) })
        #expect(!(0..<Limits.greetingsMax).contains { seen.isNew(first($0)) })
        #expect(seen.isNew(first(Limits.greetingsMax)) && seen.isNew(first(0)))
        #expect(!seen.isNew(first(2)) && seen.isNew(first(1)))
        #expect(seen.isNew([]) && seen.isNew([]))
    }

    @Test(arguments: [48, 0, 7, 65_535])
    func `that know nothing are closed as soon as that shows`(length: Int) throws {
        let link = LinkID(1_000_000)
        _ = mina.turn([.accepted(link, address: "192.0.2.1:5")])
        let head = [UInt8](repeating: 9, count: 16) + [UInt8(length >> 8), UInt8(length & 255)]
        let needed = 18 + min(length, 48)
        let bytes = head + [UInt8](repeating: 9, count: 48)
        let early = Self.closed(mina.turn([.received(link, Array(bytes.prefix(needed - 1)))]))
        #expect(early == [])
        let effects = mina.turn([.received(link, Array(bytes[(needed - 1)..<needed]))])
        #expect(Self.closed(effects) == [link.number])
        #expect(!effects.contains { if case .write = $0 { true } else { false } })
        let network = try Self.network(mina)
        #expect(network.links.isEmpty && network.strangers.anonymous.isEmpty)
        #expect(network.strangers.budget.halfOpenCount == 0)
    }

    @Test func `go with the network, and tell little in the log`() throws {
        _ = mina.turn(Self.connecting(1_000_000..<1_000_100))
        let gone = mina.turn([.linkClosed(LinkID(1_000_000))])
        #expect(Self.closed(gone) == [1_000_000])
        try mina.ok("net.suspend")
        #expect(try Self.network(mina).strangers.anonymous.isEmpty)
        #expect(try Self.network(mina).strangers.budget.halfOpenCount == 0)
        try mina.ok("net.resume")
        var lines = 0
        for number in 2_000_000..<2_001_000 as Range<UInt64> {
            let effects = mina.turn([
                .accepted(LinkID(number), address: "192.0.2.1:5"),
                .received(LinkID(number), [UInt8](repeating: 9, count: 66)),
            ])
            lines += effects.count {
                if case .log(.info, let text) = $0 { text.hasPrefix("link.closed") } else { false }
            }
        }
        #expect((1...2 * Limits.strangerLinesPerMinuteMax).contains(lines))
    }
}
