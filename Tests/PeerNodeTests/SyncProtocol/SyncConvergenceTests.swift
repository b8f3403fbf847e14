import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Replicas that talk` {
    /// Random histories with forks and citations, random frame orders, links that drop at any
    /// frame, waiting rooms that are lost: in the end everybody holds the same.
    @Test(arguments: Seeds.explore(12))
    func `converge whatever happens on the way`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = 2 + random.below(3)
        let world = SyncWorld(count: count)
        for index in 0..<count {
            for _ in 0..<random.below(40) { writeSomething(at: index, in: world, &random) }
        }
        for _ in 0..<400 { step(world, &random) }
        connectAll(world)
        world.pass(200_000)
        // What a lost waiting room still lacks comes with a fresh link.
        for left in 0..<count {
            for right in left + 1..<count { world.disconnect(left, right) }
        }
        connectAll(world)
        world.pass(2_000_000)
        let roots = Set(world.nodes.map(\.replica.root))
        #expect(roots.count == 1, "seed \(seed): \(world.nodes.map(\.replica.operations.count))")
        for node in world.nodes {
            #expect(node.planner.count == 0)
            for (peer, link) in node.links {
                #expect(link.violation == nil)
                #expect(link.session.behind == 0 && link.session.ahead == 0)
                #expect(node.caughtUp.contains(peer))
                #expect(node.agreed[peer]?.root == node.replica.root)
            }
        }
    }

    private func connectAll(_ world: SyncWorld) {
        for left in world.nodes.indices {
            for right in left + 1..<world.nodes.count where world.nodes[left].links[right] == nil {
                world.connect(left, right)
            }
        }
    }

    private func step(_ world: SyncWorld, _ random: inout SeededGenerator) {
        let left = random.below(world.nodes.count)
        let right = (left + 1 + random.below(world.nodes.count - 1)) % world.nodes.count
        let isLinked = world.nodes[left].links[right] != nil
        switch random.below(20) {
        case 0 where isLinked: world.disconnect(left, right)
        case 0, 1:
            if !isLinked { world.connect(left, right) }
        case 2: world.now += UInt64(random.below(3_000))
        case 3: world.pass(UInt64(random.below(500)))
        case 4: writeSomething(at: left, in: world, &random)
        case 5 where random.oneIn(4): world.nodes[left].replica.forgetWaiting()
        default:
            world.deliver(from: left, to: right, maxPlaintext: 64 + random.below(4_000))
        }
    }

    private func writeSomething(
        at index: Int, in world: SyncWorld, _ random: inout SeededGenerator
    ) {
        let replica = world.nodes[index].replica
        let document = SyncWorld.document(random.below(6))
        let log = LogName(
            document: document, device: world.nodes[index].device, incarnation: 1)
        var references: [OperationReference] = []
        let others = replica.tips(of: document).filter { $0.log != log }
        if !others.isEmpty, random.oneIn(3) {
            let tip = others[random.below(others.count)]
            if let cited = replica.heads(of: tip.log).first(where: {
                $0.sequence == tip.sequence && Identifier16(prefixOf: $0.id) == tip.id
            }) {
                references = [
                    OperationReference(
                        device: tip.log.device, incarnation: tip.log.incarnation,
                        sequence: tip.sequence, id: cited.id)
                ]
            }
        }
        var fork: OperationID?
        if random.oneIn(12), replica.heads(of: log).count < 4 {
            let own = replica.operations.values.filter { $0.log == log }.map(\.id).sorted()
            if !own.isEmpty { fork = own[random.below(own.count)] }
        }
        world.write(
            at: index, document, payload: random.bytes(random.below(200)),
            dependencies: references, forkingAt: fork)
    }

    @Test func `a log of several answers comes whole`() {
        let world = SyncWorld(count: 2)
        for number in 0..<60 {
            world.write(
                at: 0, SyncWorld.document(1),
                payload: [UInt8](repeating: UInt8(number), count: 100_000))
        }
        world.connect(0, 1)
        world.settle()
        #expect(world.nodes[1].replica.operations.count == 60)
        #expect(world.nodes[1].caughtUp == [0])
    }

    @Test func `a relay passes on what its author never sent to the reader`() {
        let world = SyncWorld(count: 3)
        world.connect(0, 1)
        world.connect(1, 2)
        world.pass(1_000)
        world.write(at: 0, SyncWorld.document(1), payload: [1])
        world.pass(1_000)
        #expect(world.nodes[2].replica.root == world.nodes[0].replica.root)
        #expect(world.nodes[0].links[1]?.session.ahead == 0, "the receipt came back")
    }

    @Test func `nothing is pulled twice from two sources`() {
        let world = SyncWorld(count: 3)
        for number in 0..<40 {
            world.write(at: 0, SyncWorld.document(number), payload: [UInt8(number)])
        }
        world.connect(0, 1)
        world.pass(1_000)
        world.connect(0, 2)
        world.connect(1, 2)
        world.forgetTraffic()
        world.pass(1_000)
        let pulled = world.sent.reduce(into: 0) { count, sent in
            if case .operations(_, let request, let runs, _) = sent.message, request != 0 {
                count += runs.reduce(0) { $0 + $1.entries.count }
            }
        }
        #expect(world.nodes[2].replica.operations.count == 40)
        #expect(pulled == 40)
    }
}
