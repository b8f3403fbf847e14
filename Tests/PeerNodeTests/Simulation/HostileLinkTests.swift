import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import SyncProtocol

struct `A link that means harm` {
    // MARK: Who it is

    @Test func `under the right secret but of nobody learns nothing (N07)`() throws {
        let scene = try HostileScene(seed: 81)
        defer { scene.world.end() }
        let ada = try HostileMember(keysOf: scene.ada)
        let core = try #require(scene.ada.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let tips =
            CoreReplica(for: core.syncing, workspace: workspace).tips(of: workspace.id)
            + CoreReplica(for: core.syncing, workspace: workspace).tips(of: ada.channel)
        let peer = scene.peer(0, as: scene.mallory.stranger(seed: 9))
        let link = peer.connect(to: scene.ada)
        #expect(link.identity?.device == ada.device, "the handshake itself is good")
        link.open(root: SetDigest([UInt8](repeating: 7, count: 32)))
        link.send(.workspaceDigest(1, buckets: [UInt8](repeating: 0, count: 4_096)))
        link.send(
            .documentDigests(1, (0...255).map { BucketDigests(bucket: $0, documents: []) }))
        link.announce(tips)
        link.finish(tips)
        for tip in tips {
            let item = PullItem(target: tip, have: [])
            link.send(.pull(1, PullRequest(request: 3, items: [item], maxBytes: 1 << 20)))
        }
        scene.world.run(for: 30_000)
        for message in link.messages { #expect(Self.saysNothing(message), "\(message)") }
        try scene.expectHonestPeace()
        // What is written while it listens is not told either.
        for message in link.messages { #expect(Self.saysNothing(message), "\(message)") }
    }

    private static func saysNothing(_ message: SyncMessage) -> Bool {
        switch message {
        case .workspaceOpen(let opening): opening.root == .zero && opening.mine == .zero
        case .workspaceResult, .error: true
        case .operations(_, _, let runs, _): runs.isEmpty
        case .tips(_, let tips, _): tips.isEmpty
        default: false
        }
    }

    @Test func `with a certificate that is not its own is not let in (N08)`() throws {
        let scene = try HostileScene(seed: 82)
        defer { scene.world.end() }
        let bob = try HostileMember(keysOf: scene.bob).identity
        let own = scene.mallory.identity
        let random = SeededRandom(seed: 4)
        let identities = [
            // Bob's device with her key, with his certificate and without.
            LocalIdentity(
                device: bob.device, certificate: bob.certificate, staticKey: own.staticKey,
                store: bob.store),
            LocalIdentity(
                device: bob.device, certificate: own.certificate, staticKey: own.staticKey,
                store: own.store),
            LocalIdentity(
                device: bob.device, certificate: Signature([UInt8](repeating: 0, count: 64)),
                staticKey: own.staticKey, store: bob.store),
            // Her own device with a key or a store that it did not certify.
            LocalIdentity(
                device: own.device, certificate: own.certificate,
                staticKey: AgreementKey(using: random), store: own.store),
            LocalIdentity(
                device: own.device, certificate: own.certificate, staticKey: own.staticKey,
                store: bob.store),
        ]
        for (number, identity) in identities.enumerated() {
            let link = scene.peer(number, as: scene.mallory.showing(identity))
                .connect(to: scene.ada)
            #expect(!link.isOpen, "identity \(number)")
            #expect(link.messages == [])
        }
        let refused = scene.ada.log.filter { $0.contains("reason=auth.binding") }
        #expect(refused.count == identities.count)
        let states = scene.ada.ask("peer.list")?["items"]?.arrayValue ?? []
        #expect(states.filter { $0["state"] == "connected" }.count == 1, "Bob keeps his link")
        try scene.expectHonestPeace()
    }

    @Test func `that plays back a member's whole session brings nothing (N09)`() throws {
        let scene = try HostileScene(seed: 83)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("recorded", at: scene.wall)
        let recorded = scene.peer().connect(to: scene.ada)
        recorded.push(log.run())
        scene.world.run(for: 1_000)
        recorded.close()
        // Bob is down, and so has not got it from Ada.
        scene.world.run(for: 1_000)
        let before = scene.ada.log.filter { $0.hasPrefix("peer.connected") }.count
        for (number, node) in [scene.ada, scene.bob, scene.ada].enumerated() {
            let link = scene.peer(10 + number).dial(node, isBare: true)
            scene.world.run(for: 100)
            link.write(recorded.sent)
            scene.world.run(for: 10_000)
            #expect(!link.isOpen)
            // At most the answer to the first message, which is the same for all who know it.
            #expect(link.received.count < 300)
        }
        #expect(scene.ada.log.filter { $0.hasPrefix("peer.connected") }.count == before)
        try scene.expectHonestPeace(showing: ["recorded"])
    }

    // MARK: Too many

    @Test func `that says nothing, 2 000 times, keeps no member out (N13)`() throws {
        let scene = try HostileScene(seed: 84)
        defer { scene.world.end() }
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        bob.crash()
        world.run(for: 1_000)
        let crowd = (0..<100).map { scene.peer($0) }
        for number in 0..<2_000 {
            world.schedule(after: UInt64(number / 2)) {
                crowd[number % 100].dial(ada, isBare: true)
            }
        }
        world.schedule(after: 500) { bob.start() }
        var most = 0
        let isIn = world.run(within: 3_000) {
            guard let network = ada.host?.core.links.network else { return true }
            most = max(most, network.links.count)
            return world.network.connectionCount >= 2_000
                && network.links.values.contains { $0.session.established != nil }
        }
        #expect(isIn, "\(ada.log.suffix(5))")
        #expect(most <= 4, "a silent peer has no session")
        world.run(for: 20_000)
        let network = try #require(ada.host?.core.links.network)
        #expect(network.strangers.budget.halfOpenCount == 0 && network.strangers.anonymous.isEmpty)
        #expect(network.links.count == 1)
        let answer = ada.ask("message.send", ["channel": "general", "text": "here"])
        #expect(answer != nil)
        world.run(for: 2_000)
        #expect(Scenes.texts(of: "general", on: bob).last == "here")
        #expect(world.failures == [])
    }

    @Test func `made and broken 100 times a second leaves nothing behind (N18)`() throws {
        let scene = try HostileScene(seed: 85)
        defer { scene.world.end() }
        let (world, ada) = (scene.world, scene.ada)
        let before = try #require(ada.host?.core.links.network)
        let (rows, book) = (before.registry.rows.count, before.links.count)
        let peer = scene.peer()
        for number in 0..<500 {
            world.schedule(after: UInt64(number * 10)) {
                let link = peer.dial(ada)
                // Some at once, some in the handshake, most after it.
                world.schedule(after: UInt64(number % 7) * 40) { link.close() }
            }
        }
        world.run(for: 5_000)
        let during = try #require(ada.host?.core.links.network)
        #expect(during.links.count + during.strangers.anonymous.count <= Limits.knownHandshakesMax)
        world.run(for: 120_000)
        let after = try #require(ada.host?.core.links.network)
        #expect(ada.log.filter { $0.hasPrefix("peer.connected") }.count > 20)
        #expect(after.links.count == book)
        #expect(after.strangers.budget.halfOpenCount == 0)
        #expect(after.contests.isEmpty)
        #expect(after.exchange.planners.values.allSatisfy { $0.count == 0 })
        #expect(after.registry.rows.count <= rows + 1)
        #expect(ada.host?.core.log.waiting.operationCount == 0)
        try scene.expectHonestPeace()
    }

    // MARK: In the middle

    @Test(arguments: [1, 2, 17, 400, 9_000, 20_000], [true, false])
    func `cut in the middle of a frame loses nothing (N17)`(bytes: Int, isReset: Bool) throws {
        let scene = try HostileScene(seed: 86)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        var shown: [String] = []
        for number in 0..<240 {
            shown.append("r\(number)")
            log.write(shown[number], at: scene.wall + UInt64(number))
        }
        let first = scene.peer().connect(to: scene.ada)
        first.bytesUntilCut = bytes
        first.push(log.run())
        scene.world.run(for: 500)
        #expect(first.bytesUntilCut == 0, "the frame is longer than what came of it")
        if isReset {
            for connection in scene.world.network.open
            where connection.hosts.contains(where: { $0 is HostilePeer }) {
                connection.cut()
            }
        } else {
            first.close()
        }
        scene.world.run(for: 500)
        #expect(scene.ada.host?.core.links.network.links.count == 1)
        #expect(Scenes.texts(of: "general", on: scene.ada) == ["from Ada", "from Bob"])
        let again = scene.peer(1, as: scene.mallory).connect(to: scene.ada)
        again.push(log.run())
        scene.world.run(for: 1_000)
        #expect(again.isOpen)
        try scene.expectHonestPeace(showing: shown)
    }

    // Two honest nodes whose connection breaks wherever it can, again and again.
    @Test(arguments: Seeds.explore(1))
    func `cut again and again while much is fetched resumes each time (N17)`(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        defer { scene.world.end() }
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        world.network.part(ada, bob)
        let long = String(repeating: "x", count: 12_000)
        var shown: [String] = []
        for number in 0..<60 {
            shown.append("\(number) \(long)")
            bob.call("message.send", ["channel": "general", "text": .string(shown[number])])
        }
        world.run(for: 200_000)
        world.network.heal()
        for round in 0..<6 {
            let limit = 20_000 + 30_011 * round
            world.run(within: 60_000) {
                (world.network.open.last?.byteCounts.reduce(0, +) ?? 0) > limit
            }
            for connection in world.network.open { connection.cut() }
        }
        try scene.expectHonestPeace(showing: shown)
    }
}
