import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A member who serves badly` {
    /// How a pull for Bob's messages is answered.
    enum Answer: CaseIterable {
        case silence, pings, nothing, nothingYet, noCommonBranch, otherLog, garbage, garbageBehind
    }

    // Ada lacks what Bob wrote. Mallory says first that she has it, so Ada asks her first.
    @Test(arguments: Answer.allCases)
    func `does not keep a node from the same operations elsewhere`(answer: Answer) throws {
        let scene = try HostileScene(seed: 61)
        defer { scene.world.end() }
        let (world, ada, bob) = (scene.world, scene.ada, scene.bob)
        world.network.part(ada, bob)
        let texts = (0..<20).map { "b\($0)" }
        for text in texts {
            _ = bob.ask("message.send", ["channel": "general", "text": .string(text)])
        }
        // The old link is dead, so nothing that was pushed into it arrives.
        world.run(for: 200_000)
        let peer = scene.peer()
        peer.onPull = { Self.serve($0, $1, answer, scene) }
        let link = peer.connect(to: ada)
        link.announce(try Self.tips(of: bob))
        world.run(for: 200)
        #expect(!link.pulls.isEmpty)
        if answer == .pings { Self.ping(link, in: world, until: world.now + 900_000) }
        world.network.heal()
        let isThere = world.run(within: 120_000, every: 100) {
            HostileScene.root(of: ada) == HostileScene.root(of: bob)
        }
        #expect(isThere, "\(ada.log)")
        let isLie = answer == .otherLog || answer == .garbage
        #expect(link.isOpen == !isLie)
        if answer == .otherLog {
            #expect(HostileScene.hasLogged(ada, "link.closed", "sync.unasked"))
        }
        if answer == .garbage || answer == .garbageBehind {
            #expect(HostileScene.hasLogged(ada, "op.rejected", "op.bad_signature"))
        }
        #expect(ada.host?.core.log.waiting.operationCount == 0)
        link.close()
        try scene.expectHonestPeace(showing: texts)
    }

    // A peer that offers a log beside a slow peer must wait for a while, not endlessly.
    @Test func `is left for another one although bytes keep coming`() throws {
        let scene = try HostileScene(seed: 62)
        defer { scene.world.end() }
        let (world, ada) = (scene.world, scene.ada)
        var log = HostileLog(scene.mallory, incarnation: 77)
        for number in 0..<5 { log.write("m\(number)", at: scene.wall + UInt64(number)) }
        let slow = scene.peer()
        slow.onPull = { _, _ in }
        let link = slow.connect(to: ada)
        link.announce([log.tip])
        world.run(for: 200)
        Self.ping(link, in: world, until: world.now + 900_000)
        let other = try scene.addCleo()
        let cleo = try HostileMember(keysOf: other)
        other.crash()
        let good = scene.peer(1, as: cleo)
        _ = good.connect(to: ada)
        good.offer([log])
        let start = world.now
        world.run(within: 120_000, every: 200) { Scenes.isShown("m4", on: ada) }
        #expect(world.now - start < 30_000)
        #expect(link.isOpen)
    }

    private static func ping(_ link: HostileLink, in world: SimulatedWorld, until end: UInt64) {
        guard world.now < end, link.isOpen else { return }
        link.send(.ping(number: 1, isAnswer: true))
        world.schedule(after: 2_000) { ping(link, in: world, until: end) }
    }

    private static func serve(
        _ pull: PullRequest, _ link: HostileLink, _ answer: Answer, _ scene: HostileScene
    ) {
        switch answer {
        case .silence, .pings: break
        case .nothing: link.answer(pull, [])
        case .nothingYet: link.answer(pull, [], isComplete: false)
        case .noCommonBranch:
            for item in pull.items { link.send(.forkProbe(1, item.target)) }
            link.answer(pull, [])
        case .otherLog:
            var log = HostileLog(scene.mallory, incarnation: 77)
            log.write("unasked", at: scene.wall)
            link.answer(pull, [log.run()])
        case .garbage, .garbageBehind:
            var log = HostileLog(scene.mallory, incarnation: 77)
            log.write("garbage", at: scene.wall)
            let runs = pull.items.map { item in
                let first = answer == .garbage ? 0 : item.target.sequence
                return OperationRun(
                    log: item.target.log, firstSequence: first,
                    previous: first > 0 ? previous(of: item.target, at: scene.bob) : nil,
                    entries: log.run().entries)
            }
            link.answer(pull, runs)
        }
    }

    /// The operation before a tip, as a node has it that wrote it.
    private static func previous(of tip: LogTip, at node: SimulatedNode) -> OperationID? {
        guard tip.sequence > 0, let operations = node.host?.core.turn.store.operations,
            let workspace = try? HostileScene.workspace(of: node),
            let branch = operations.branches(of: tip.log, in: workspace.number).first
        else { return nil }
        return (try? operations.place(in: branch.number, at: tip.sequence - 1))?.link.id
    }

    /// What a node holds of the public channel.
    private static func tips(of node: SimulatedNode) throws -> [LogTip] {
        let core = try #require(node.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let channel = try #require(workspace.book.channels.values.first { $0.name == "general" })
        return CoreReplica(for: core.syncing, workspace: workspace).tips(of: channel.id)
    }
}

extension Scenes {
    /// Whether the newest message is this one, without letting time pass.
    fileprivate static func isShown(_ text: String, on node: SimulatedNode) -> Bool {
        guard let core = node.host?.core, let workspace = try? core.membership.selectedWorkspace(),
            let channel = workspace.book.channels.values.first(where: { $0.name == "general" })
        else { return false }
        var isFound = false
        try? core.turn.store.operations.forEachOperation(in: channel.id, of: workspace.number) {
            operation in
            if case .message(let message)? = try? core.keys.content(
                of: operation, in: workspace),
                message.text == text
            {
                isFound = true
            }
        }
        return isFound
    }
}
