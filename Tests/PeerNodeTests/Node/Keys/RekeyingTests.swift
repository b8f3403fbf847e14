import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A changed key` {
    private let world: RemovalBench

    init() throws { world = try RemovalBench() }

    private func sealingKeys(_ nodes: [BenchNode]) throws -> Set<KeyID> {
        Set(try nodes.compactMap { try $0.workspace().sealingKey?.id })
    }

    @Test func `is used by all, and leads to those before it`() throws {
        let (mina, ada, wim, bench) = (world.mina, world.ada, world.wim, world.bench)
        try wim.send("first")
        for round in 1...3 {
            try (round == 2 ? ada : mina).ok("workspace.rekey")
            bench.advance(5_000)
            #expect(try sealingKeys([mina, ada, wim, world.joon]).count == 1)
            try wim.send("after \(round)")
        }
        #expect(try wim.refused("workspace.rekey").kind == .forbidden)
        let late = try bench.guest("Late", of: mina)
        bench.advance(10_000)
        #expect(try late.log() == ["first", "after 1", "after 2", "after 3"])
        #expect(try late.workspace().secrets.keys.count == 4)
        try late.restart()
        #expect(try late.workspace().secrets.keys.count == 4)
        // Each operation carries only the key before it, which leads to the others.
        let carried = try mina.workspace().authority.values
            .compactMap { $0.payload.carriedRekey?.olderKeys.count }
        #expect(carried == [1, 1, 1])
    }

    @Test func `has its boxes in the order of the devices, one for each`() throws {
        try world.mina.ok("workspace.rekey")
        let workspace = try world.mina.workspace()
        let rekey = try #require(
            workspace.authority.values.compactMap(\.payload.carriedRekey).first)
        let prefixes = rekey.wraps.map(\.devicePrefix)
        let devices = world.bench.nodes.compactMap { $0.host?.core.session.home }
            .flatMap { [$0.recovery?.device, $0.device].compactMap { $0 } }
            .map { [UInt8]($0.bytes.prefix(8)) }
        #expect(prefixes == devices.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func `by two admins at once is opened by all, and settled by the next`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(10_000)
        bench.cut(mina, ada)
        for node in [wim, joon, kim] { bench.cut(ada, node) }
        try mina.ok("member.remove", ["member": "Joon"])
        try ada.ok("member.remove", ["member": "Kim", "force": true])
        try mina.send("from Mina")
        try ada.send("from Ada")
        bench.advance(5_000)
        #expect(try sealingKeys([mina, ada]).count == 2)
        bench.heal(mina, ada)
        bench.heal(ada, wim)
        bench.advance(60_000)
        // Neither key answers both removals, so an admin has changed it once more: one of them.
        let changes = try wim.workspace().authority.values.filter {
            if case .rekey = $0.payload { true } else { false }
        }
        #expect(changes.count == 1)
        let key = try #require(try wim.workspace().sealingKey)
        #expect(key.answersAll)
        #expect(try sealingKeys([mina, ada, wim]) == [key.id])
        #expect(try wim.log().sorted() == ["from Ada", "from Mina"])
        try world.expectEqual("after both")
        for out in [joon, kim] { #expect(try !out.opens(whatIsSealedBy: wim)) }
        let late = try bench.guest("Late", of: mina)
        bench.advance(10_000)
        #expect(try late.log().sorted() == ["from Ada", "from Mina"])
    }

    @Test func `follows a departure by the first admin who is there`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        mina.kill()
        let before = try sealingKeys([ada])
        try joon.ok("workspace.leave")
        bench.advance(2_000)
        // A plain member writes meanwhile, with what there is.
        try wim.send("meanwhile")
        bench.advance(20_000)
        let after = try sealingKeys([ada, wim])
        #expect(after.count == 1 && after != before)
        #expect(try !joon.opens(whatIsSealedBy: ada))
        try mina.boot()
        bench.advance(60_000)
        #expect(try sealingKeys([mina, ada, wim]) == after, "once is enough")
        try world.expectEqual("after the departure")
    }

    @Test func `precedes what an admin writes after a departure`() throws {
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        try joon.ok("workspace.leave")
        bench.settle()
        let before = try #require(try mina.workspace().sealingKey)
        bench.advance(500)
        let call = mina.begin("message.send", ["channel": "general", "text": "without him"])
        guard case .success? = mina.answer(to: call) else {
            Issue.record("not sent")
            return
        }
        let after = try #require(try mina.workspace().sealingKey)
        #expect(after.answersAll && after.id != before.id)
        let document = try #require(try mina.workspace().book.channels.values.first).id
        let store = try #require(mina.host?.core.turn.store)
        var keys: [KeyID?] = []
        try store.operations.forEachOperation(in: document, of: 1) { keys.append($0.entry.keyID) }
        #expect(keys.last == after.id)
    }

    @Test func `reaches a member who was admitted concurrently`() throws {
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let late = try bench.bareNode("Late")
        for node in [ada, wim, joon, late] { bench.cut(node, mina) }
        try mina.ok("member.remove", ["member": "Joon"])
        try mina.send("with the new key")
        // Ada lets somebody in meanwhile, and hands on the key that she knows.
        try late.join(try ada.link())
        #expect(try !late.opens(whatIsSealedBy: mina))
        for node in [ada, wim, late] { bench.heal(node, mina) }
        bench.advance(60_000)
        #expect(try late.log() == ["with the new key"])
        #expect(try sealingKeys([mina, ada, wim, late]).count == 1)
    }

    @Test func `that leads in a circle hides no older one`() throws {
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        let random = SeededRandom(seed: 5)
        let keys = (0..<2).map { _ in SymmetricKey(using: random) }
        let workspace = try ada.workspace()
        let holders = workspace.keyHolders(excluding: [])
        let core = try #require(ada.host?.core)
        let discovery = try #require(workspace.discovery.last)
        for (own, other) in [(0, 1), (1, 0)] {
            try ada.author(
                .rekey(
                    .init(
                        rekey: Rekey(
                            keyID: keys[own].keyID,
                            wraps: holders.compactMap {
                                core.keys.wrap(
                                    keys[own], discovery, for: $0.device, to: $0.agreementKey)
                            },
                            olderKeys: [
                                SealedSecret(
                                    id: keys[other].keyID.bytes,
                                    sealed: KeyWrap.wrap(
                                        keys[other], under: keys[own], using: random))
                            ]), discoveryID: nil, olderDiscovery: nil, answers: nil)))
        }
        bench.advance(10_000)
        try mina.ok("workspace.rekey")
        let late = try bench.guest("Late", of: mina)
        bench.advance(10_000)
        // create, the two of the circle, and the last.
        #expect(try late.workspace().secrets.keys.count == 4)
    }

    /// An admin may seal anything under the name of an older key. What nothing introduces opens
    /// nothing, and would fill the store of everybody.
    @Test func `hands on no key under the name of another`() throws {
        let (mina, ada, bench) = (world.mina, world.ada, world.bench)
        let random = SeededRandom(seed: 6)
        let (hidden, open, stray) = (
            SymmetricKey(using: random), SymmetricKey(using: random), SymmetricKey(using: random)
        )
        let workspace = try ada.workspace()
        let core = try #require(ada.host?.core)
        let own = try #require(core.session.home).device
        let discovery = try #require(workspace.discovery.last)
        let before = try mina.workspace().secrets.keys.count
        // Ada alone has the first one, and says that the second leads to it.
        for (key, sealed) in [(hidden, nil), (open, stray)] {
            let holders = workspace.keyHolders(excluding: []).filter {
                sealed != nil || $0.device == own
            }
            try ada.author(
                .rekey(
                    .init(
                        rekey: Rekey(
                            keyID: key.keyID,
                            wraps: holders.compactMap {
                                core.keys.wrap(
                                    key, discovery, for: $0.device, to: $0.agreementKey)
                            },
                            olderKeys: sealed.map {
                                [
                                    SealedSecret(
                                        id: hidden.keyID.bytes,
                                        sealed: KeyWrap.wrap($0, under: key, using: random))
                                ]
                            } ?? []), discoveryID: nil, olderDiscovery: nil, answers: nil)))
        }
        bench.advance(10)
        let keys = try mina.workspace().secrets.keys
        #expect(keys.holds(open.keyID) && !keys.holds(hidden.keyID))
        #expect(!keys.holds(stray.keyID))
        #expect(try mina.rowCount("epoch_key") == ada.rowCount("epoch_key") - 1)
        #expect(keys.count == before + 1)
        // It counts, and so it is asked for when both have the same.
        bench.advance(60_000)
        #expect(try mina.workspace().secrets.keys.holds(hidden.keyID))
        #expect(try !mina.workspace().secrets.keys.holds(stray.keyID))
    }
}
