import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// `workspace rekey --discovery`: the secret by which members find and reach each other.
struct `A changed discovery secret` {
    private func names(_ node: BenchNode) throws -> [[UInt8]] {
        try node.workspace().discovery.map(DiscoveryName.id)
    }

    /// Which of them the node dials somebody under who does not answer under what a group key gives,
    /// the oldest being 0.
    private func dialled(by node: BenchNode) throws -> UInt32? {
        let core = try #require(node.host?.core)
        let before = core.links.network.addresses.unanswered
        defer { core.links.network.addresses.unanswered = before }
        if !(try node.workspace().secrets.keys.isEmpty) {
            core.links.network.addresses.noteUnanswered("nowhere")
        }
        guard
            case .workspace(_, let number)? = core.links.candidate(
                toDial: .address(try #require(PeerAddress("nowhere:1"))), at: "nowhere")?.label
        else { return nil }
        return number
    }

    @Test func `is what new sessions try, while old ones stay accepted`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for near in [mina, ada, joon] { bench.cut(wim, near) }
        #expect(
            try joon.refused("workspace.rekey", ["discovery": true]).kind == .forbidden)
        try mina.ok("workspace.rekey", ["discovery": true])
        bench.advance(5_000)
        let all = try names(mina)
        #expect(all.count == 2)
        for node in [ada, joon] { #expect(try names(node) == all) }
        #expect(try names(wim) == [all[0]])
        // Who was away comes back under the old one, and hears of the new.
        try mina.send("where is Wim?")
        for near in [mina, ada, joon] { bench.heal(wim, near) }
        bench.advance(60_000)
        #expect(try names(wim) == all)
        #expect(try wim.log() == ["where is Wim?"])
        // It is what is dialled from then on, after a restart too.
        for node in [wim, mina] {
            try node.restart()
            bench.advance(60_000)
            #expect(try names(node) == all)
        }
        #expect(try dialled(by: mina) == 1)
        try wim.send("here")
        #expect(try mina.log() == ["where is Wim?", "here"])
        try world.expectEqual("all are there", [mina, ada, wim, joon])
    }

    @Test func `is not used permanently to dial somebody who does not know it`() throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        for near in [mina, world.ada, world.joon] { bench.cut(wim, near) }
        try mina.ok("workspace.rekey", ["discovery": true])
        try mina.ok("workspace.rekey", ["discovery": true])
        bench.advance(5_000)
        // Wim knows no address any more: he waits until somebody dials him.
        wim.host?.core.links.network.registry = PeerRegistry()
        bench.heal(mina, wim)
        bench.advance(600_000)
        let all = try names(mina)
        #expect(all.count == 3)
        #expect(try names(wim) == all)
        try mina.send("found")
        #expect(try wim.log() == ["found"])
    }

    @Test func `reaches later members together with the old ones`() throws {
        let world = try RemovalBench()
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        try mina.ok("workspace.rekey", ["discovery": true])
        bench.advance(2_000)
        try ada.ok("workspace.rekey")
        try ada.ok("workspace.rekey", ["discovery": true])
        bench.advance(2_000)
        let late = try bench.guest("Late", of: mina)
        bench.advance(20_000)
        let all = try names(mina)
        #expect(all.count == 3)
        #expect(try names(late) == all)
        try late.restart()
        #expect(try names(late) == all)
        // The newest is in use, whatever came first.
        #expect(try dialled(by: late) == 2)
    }

    @Test func `is not known to who was removed before it was made`() throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        try mina.ok("member.remove", ["member": "Joon"])
        try mina.ok("workspace.rekey", ["discovery": true])
        bench.advance(60_000)
        let all = try names(mina)
        #expect(all.count == 2)
        #expect(try names(joon) == [all[0]])
        let held = try #require(joon.host?.core).turn.store.registry.secrets(
            of: joon.workspace().number)
        #expect(!held.contains { $0.id == all[1] })
        // Beacons of members tell him nothing any more.
        let newest = try #require(try mina.workspace().discovery.last)
        let sender = PeerAddress.Host.ipv4(0x0A00_0001)
        let beacon = BeaconPacket(
            from: sender, port: 4_000, keys: [newest.derived(Array("beacon".utf8))],
            wallMilliseconds: bench.wall, using: SeededRandom(seed: 1))
        let own = try joon.workspace().discovery.map { $0.derived(Array("beacon".utf8)) }
        #expect(!own.contains { beacon.matches($0, from: sender, wallMilliseconds: bench.wall) })
        // Under the old one he is told that he is out, and nothing else.
        try joon.restart()
        bench.advance(60_000)
        #expect(try joon.ok("node.status")["warnings"]?.text.contains("removed") == true)
        #expect(try names(joon) == [all[0]])
    }

    @Test(arguments: [false, true])
    func `is not taken from a box under a name that nothing gives`(namesAnother: Bool) throws {
        let world = try RemovalBench()
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        let before = try names(mina)
        let random = SeededRandom(seed: 12)
        let (key, secret) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let other = SymmetricKey(using: random)
        let core = try #require(ada.host?.core)
        let wraps = try ada.workspace().keyHolders(excluding: []).compactMap {
            core.keys.wrap(key, secret, for: $0.device, to: $0.agreementKey)
        }
        try ada.author(
            .rekey(
                .init(
                    rekey: Rekey(keyID: key.keyID, wraps: wraps, olderKeys: []),
                    discoveryID: namesAnother ? DiscoveryName.id(of: other) : nil,
                    olderDiscovery: [
                        SealedSecret(
                            id: DiscoveryName.id(of: other),
                            sealed: KeyWrap.wrap(secret, under: key, using: random))
                    ], answers: nil)))
        bench.advance(5_000)
        for node in [mina, wim, world.joon] {
            #expect(try node.workspace().secrets.keys[key.keyID] != nil)
            #expect(try names(node) == before)
        }
        try wim.restart()
        bench.advance(30_000)
        #expect(try names(wim) == before)
        try wim.send("still found")
        #expect(try mina.log().last == "still found")
    }

    @Test func `is the newest after a lock as before it`() throws {
        let bench = CoreBench()
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for _ in 0..<5 { try mina.ok("workspace.rekey", ["discovery": true]) }
        bench.advance(5_000)
        let all = try names(mina)
        #expect(all.count == 6)
        try mina.ok("lock.now")
        #expect(try #require(mina.host?.core.workspaces.values.first).discovery.count == 6)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try names(mina) == all)
        try joon.restart()
        bench.advance(60_000)
        #expect(try dialled(by: joon) == 5)
    }

    /// Joon removes Ada, Mina removes Joon without having heard of that, and Ada's change of the
    /// key, which counted for nothing at Wim's, counts after all.
    @Test(arguments: [false, true])
    func `is taken when its change comes into force later`(isLocked: Bool) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        // The elder one, who may remove the other.
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        let ada = try bench.guest("Ada", of: mina, role: "admin")
        let wim = try bench.sealedNode("Wim", workspace: nil)
        let link = try mina.ok("invite.create")["link"] ?? .null
        try wim.ok("workspace.join", ["link": link, "name": "Wim"])
        bench.advance(20_000)
        for far in [mina, ada] {
            for near in [joon, wim] { bench.cut(far, near) }
        }
        try joon.ok("member.remove", ["member": "@Ada", "force": true])
        try ada.ok("workspace.rekey", ["discovery": true])
        bench.advance(5_000)
        try mina.ok("member.remove", ["member": "@Joon", "force": true])
        bench.advance(5_000)
        let all = try names(mina)
        #expect(all.count == 2)
        #expect(try wim.memberNames() == ["Joon", "Mina", "Wim"])
        #expect(try names(wim) == [all[0]])
        if isLocked { try wim.ok("lock.now") }
        bench.cut(joon, wim)
        bench.heal(mina, wim)
        bench.advance(60_000)
        if isLocked {
            try wim.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
            bench.advance(5_000)
        }
        #expect(try wim.memberNames() == ["Ada", "Mina", "Wim"])
        #expect(try names(wim) == all)
        try wim.ok("lock.now")
        try wim.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try names(wim) == all, "it is stored")
    }

    @Test func `by two admins at once is one of both for all, in one order`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        for (left, right) in [(mina, ada), (mina, wim), (joon, ada), (joon, wim)] {
            bench.cut(left, right)
        }
        try mina.ok("workspace.rekey", ["discovery": true])
        try ada.ok("workspace.rekey", ["discovery": true])
        bench.advance(2_000)
        #expect(try names(mina).last != names(ada).last)
        for (left, right) in [(mina, ada), (mina, wim), (joon, ada), (joon, wim)] {
            bench.heal(left, right)
        }
        bench.advance(60_000)
        let all = try names(mina)
        #expect(all.count == 3)
        for node in [ada, wim, joon] {
            #expect(try names(node) == all)
            try node.restart()
            #expect(try names(node) == all)
        }
    }
}
