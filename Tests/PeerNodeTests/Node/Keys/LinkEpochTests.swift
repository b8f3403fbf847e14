import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Secrets derived from the newest group keys, besides discovery secrets: only members
/// can open these links.
struct `Secrets of links` {
    private func candidates(_ node: BenchNode) throws -> [PSKCandidate] {
        try #require(node.host?.core).links.pskCandidates()
    }

    /// What a node knows by rank, as bytes.
    private func known(
        to node: BenchNode, _ ranks: Set<SecretRank> = [.newest, .older]
    ) throws -> Set<[UInt8]> {
        Set(try candidates(node).filter { ranks.contains($0.rank) }.map { $0.psk.exposedCopy() })
    }

    /// What the node's links were opened under.
    private func used(by node: BenchNode) throws -> [PSKLabel] {
        try #require(node.host?.core).links.network.links.values.flatMap { $0.peer?.labels ?? [] }
    }

    private func secret(dialledBy node: BenchNode, to other: BenchNode) throws -> PSKCandidate {
        let core = try #require(node.host?.core)
        let device = try #require(other.host?.core.session.ownDevice)
        return try #require(core.links.candidate(toDial: .device(device), at: "nowhere"))
    }

    @Test func `are all known to everybody while nobody has left`() throws {
        let world = try RemovalBench()
        let all = try known(to: world.mina)
        #expect(all.count == 2)
        for node in [world.ada, world.wim, world.joon] {
            #expect(try known(to: node) == all)
            #expect(try known(to: node, [.newest]) == all)
        }
    }

    @Test func `of members are not what somebody knows who was removed`() throws {
        let world = try RemovalBench()
        let (mina, wim, joon, bench) = (world.mina, world.wim, world.joon, world.bench)
        let before = try known(to: joon)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        for node in [mina, world.ada, wim] {
            let newest = try known(to: node, [.newest])
            #expect(newest.count == 1)
            #expect(newest.isDisjoint(with: before))
            // Those of before still let in who was away, in the places of those who are out.
            #expect(try known(to: node, [.older]) == before)
        }
        #expect(try known(to: joon).isSubset(of: before))
        // A change of the discovery secret has members and guests alone know it again.
        try world.ada.ok("workspace.rekey", ["discovery": true])
        bench.advance(5_000)
        #expect(try known(to: wim, [.newest]).count == 3)
        #expect(try known(to: wim, [.newest]).isDisjoint(with: before))
    }

    @Test func `are dialled first of group keys, and of discovery next`() throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        let first = try secret(dialledBy: mina, to: wim)
        #expect(try known(to: wim, [.newest]) == [first.psk.exposedCopy()])
        let workspace = try mina.workspace().id
        var labels: [PSKLabel] = []
        for _ in 0..<3 {
            labels.append(try secret(dialledBy: mina, to: wim).label)
            mina.host?.core.links.network.addresses.noteUnanswered("nowhere")
        }
        #expect(
            labels == [
                .epoch(workspace), .workspace(workspace, discovery: 0), .epoch(workspace),
            ])
        for node in [mina, wim, world.ada] { try node.restart() }
        bench.advance(60_000)
        #expect(try Set(used(by: mina)) == [.epoch(workspace)])
        try wim.send("under it")
        #expect(try mina.log().last == "under it")
    }

    /// He dials under what he knows, and is dialled under what he does not know.
    @Test(arguments: [false, true])
    func `let in who was away while the key was changed`(onlyWaits: Bool) throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        for near in [mina, world.ada, world.joon] { bench.cut(wim, near) }
        try mina.ok("member.remove", ["member": "Joon"])
        for _ in 0..<Limits.linkEpochsMax { try mina.ok("workspace.rekey") }
        try mina.send("where is Wim?")
        bench.advance(5_000)
        let newest = try known(to: mina, [.newest])
        #expect(newest.isDisjoint(with: try known(to: wim)))
        #expect(try mina.workspace().linkEpochs().count == Limits.linkEpochsMax)
        if onlyWaits { wim.host?.core.links.network.registry = PeerRegistry() }
        bench.heal(mina, wim)
        bench.advance(onlyWaits ? 300_000 : 60_000)
        #expect(try wim.log() == ["where is Wim?"])
        #expect(try known(to: wim, [.newest]) == newest)
    }

    @Test func `of discovery are what a guest has, dialled at once`() throws {
        let table = try GuestTable()
        let workspace = try GuestTable.workspace(of: table.ada).id
        let label = PSKLabel.workspace(workspace, discovery: 0)
        #expect(try secret(dialledBy: table.ada, to: table.gita).label == label)
        #expect(try secret(dialledBy: table.gita, to: table.ada).label == label)
        #expect(try secret(dialledBy: table.ada, to: table.bob).label == .epoch(workspace))
        #expect(try candidates(table.gita).map(\.label) == [label])
    }

    @Test func `of members are so on a locked node, too`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let wim = try bench.sealedNode("Wim", workspace: nil)
        let link = try mina.ok("invite.create")["link"] ?? .null
        try wim.ok("workspace.join", ["link": link, "name": "Wim"])
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(20_000)
        let before = try known(to: joon)
        // Nobody has asked since it came: what it gives is worked out when the keys are dropped.
        let ended = try mina.ok("workspace.rekey")
        bench.advance(2_000)
        #expect(ended != .null)
        try wim.ok("lock.now")
        #expect(try known(to: wim, [.newest]) == known(to: mina, [.newest]))
        #expect(try known(to: wim, [.newest]).count == before.count + 1)
        let workspace = try mina.workspace().id
        #expect(try secret(dialledBy: wim, to: mina).label == .epoch(workspace))
        // It cannot open the key that comes, and hears that somebody else knows the old one.
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        #expect(try known(to: wim, [.older]).isSuperset(of: before))
        #expect(try known(to: wim, [.newest]).isEmpty)
        for node in [mina, wim] { bench.cut(node, joon) }
        bench.cut(mina, wim)
        bench.advance(60_000)
        bench.heal(mina, wim)
        bench.advance(60_000)
        #expect(try !used(by: mina).isEmpty)
        try wim.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try known(to: wim, [.newest]) == known(to: mina, [.newest]))
    }

    /// Departures have the key changed at a pace, and must not have members share places with all who
    /// ever were in meanwhile.
    @Test func `of members are there while people leave faster than keys change`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let late = try bench.guest("Late", of: mina)
        bench.advance(20_000)
        let before = try known(to: world.joon)
        for near in [mina, ada, wim, late] { bench.cut(world.joon, near) }
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        // Nobody who could change the key hears of the departure.
        for near in [wim, late] {
            for far in [mina, ada] { bench.cut(near, far) }
        }
        try late.ok("workspace.leave")
        bench.advance(2_000)
        #expect(try wim.workspace().keyEnds().count == 2)
        #expect(try wim.workspace().sealingKey?.answersAll == false)
        let newest = try known(to: wim, [.newest])
        #expect(newest.count == 1 && newest.isDisjoint(with: before))
        // Once it has changed, what the leaver knows is not of members alone.
        for near in [mina, ada] { bench.heal(wim, near) }
        bench.advance(60_000)
        #expect(try wim.workspace().sealingKey?.answersAll == true)
        #expect(try known(to: wim, [.newest]).isDisjoint(with: newest))
        #expect(try !known(to: wim, [.newest]).isEmpty)
    }

    /// A leaver's key stays what others know, too, while ends of own devices wait for their answer.
    @Test func `of members are not a leaver's while own devices end`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let phone = try bench.bareNode("Wim phone")
        _ = try wim.link(phone)
        bench.advance(20_000)
        let before = try known(to: joon)
        try joon.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try wim.workspace().sealingKey?.answersAll == true)
        for near in [mina, ada, phone] { bench.cut(wim, near) }
        // An end that names no key.
        let device = try #require(phone.host?.core.session.ownDevice)
        try wim.author(.removeDevice(device, cuts: [], rekey: nil))
        #expect(try wim.workspace().sealingKey?.answersAll == false)
        let newest = try known(to: wim, [.newest])
        #expect(!newest.isEmpty && newest.isDisjoint(with: before))
    }
}
