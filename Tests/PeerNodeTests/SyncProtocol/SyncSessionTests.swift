import SyncProtocol
import Testing
import WorkspaceModel

struct `A sync session` {
    // MARK: Costs

    /// Two nodes that agreed, with some history, and a fresh link.
    private func agreedWorld() -> SyncWorld {
        let world = SyncWorld(count: 2)
        for number in 0..<300 {
            world.write(
                at: number % 2, SyncWorld.document(number % 40), payload: [UInt8(number & 255)])
        }
        world.connect(0, 1)
        world.pass(60_000)
        world.disconnect(0, 1)
        world.forgetTraffic()
        return world
    }

    /// Bytes as they cross the wire: a fragment head, a length and a tag for each message.
    private func wireBytes(_ world: SyncWorld) -> Int {
        world.sent.reduce(0) { $0 + $1.bytes + 3 + 2 + 16 }
    }

    @Test func `says at most 400 bytes in one round trip when nothing is new`() {
        let world = agreedWorld()
        world.connect(0, 1)
        world.settle()
        #expect(world.sent.count == 2)
        #expect(wireBytes(world) <= 400)
        #expect(world.nodes[0].caughtUp == [1] && world.nodes[1].caughtUp == [0])
        world.pass(3_600_000)
        #expect(world.sent.count == 2, "and nothing later")
    }

    @Test func `brings one new operation of many in two round trips`() {
        let world = agreedWorld()
        world.write(at: 0, SyncWorld.document(7), payload: [UInt8](repeating: 5, count: 96))
        world.connect(0, 1)
        world.settle()
        let kinds = world.sent.map(\.message.type)
        #expect(kinds.sorted() == [0x01, 0x01, 0x12, 0x12, 0x13, 0x15])
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
        let besidesPayload = wireBytes(world) - 96
        print("one new operation costs \(besidesPayload) bytes besides its payload")
        #expect(besidesPayload <= 900)
    }

    @Test func `descends to the one document that differs`() {
        let world = agreedWorld()
        world.nodes[0].agreed = [:]
        world.write(at: 0, SyncWorld.document(7), payload: [5])
        world.connect(0, 1)
        world.settle()
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
        #expect(wireBytes(world) <= 12_000)
    }

    // MARK: Live

    @Test func `pushes what it writes and announces what it relays, gathered`() {
        let world = SyncWorld(count: 3)
        world.connect(0, 1)
        world.connect(1, 2)
        world.settle()
        world.forgetTraffic()
        for number in 0..<10 { world.write(at: 0, SyncWorld.document(1), payload: [UInt8(number)]) }
        world.settle()
        let pushes = world.sent.filter { $0.from == 0 && $0.message.type == 0x15 }
        #expect(pushes.count == 10)
        #expect(world.nodes[0].links[1]?.session.ahead == 10)
        #expect(world.nodes[2].replica.operations.isEmpty)
        world.pass(100)
        #expect(world.nodes[2].replica.operations.count == 10)
        let toReader = world.sent.filter { $0.from == 1 && $0.message.type == 0x12 }
        #expect(toReader.count == 2, "one to each side for ten operations")
        #expect(world.nodes[0].links[1]?.session.ahead == 0)
    }

    @Test func `stops pushing to a slow peer and goes on when it has caught up`() {
        let world = SyncWorld(count: 2)
        world.connect(0, 1)
        world.settle()
        let payload = [UInt8](repeating: 1, count: 50_000)
        for number in 0..<10 {
            world.write(at: 0, SyncWorld.document(1), payload: [UInt8(number)] + payload)
        }
        let unasked = world.nodes[0].links[1]?.scheduler.unaskedUnsentBytes ?? 0
        #expect(unasked <= Limits.unaskedUnsentBytesMax && unasked > 200_000)
        world.pass(1_000)
        #expect(world.nodes[1].replica.operations.count == 10)
        world.forgetTraffic()
        world.write(at: 0, SyncWorld.document(1), payload: [99])
        #expect(world.sent.map(\.message.type) == [0x15], "pushed again after the receipt")
    }

    @Test func `does not push what the peer cannot chain`() {
        let world = SyncWorld(count: 2)
        for number in 0..<3 { world.write(at: 0, SyncWorld.document(1), payload: [UInt8(number)]) }
        world.connect(0, 1)
        // Both have opened, and the descent is not over.
        world.deliver(from: 1, to: 0)
        world.forgetTraffic()
        world.write(at: 0, SyncWorld.document(1), payload: [9])
        world.write(at: 0, SyncWorld.document(2), payload: [9])
        let pushed = world.sent.filter { $0.message.type == 0x15 }
        #expect(pushed.count == 1, "only the log that begins")
        world.pass(1_000)
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
    }

    // MARK: Forks

    @Test func `finds the common part of a log that was forked long ago`() {
        let world = SyncWorld(count: 2)
        let log = LogName(
            document: SyncWorld.document(1), device: world.nodes[0].device, incarnation: 1)
        for node in world.nodes {
            var last: OperationID?
            for number in 0..<100 {
                let isForked = number >= 40
                let payload = [UInt8(number), isForked ? node.device.bytes[0] : 0]
                node.replica.write(log, behind: last, payload: payload)
                last = node.replica.heads(of: log).last?.id
            }
        }
        world.connect(0, 1)
        world.settle()
        #expect(world.sent.contains { $0.message.type == 0x17 })
        #expect(world.nodes[0].replica.operations.count == 160)
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
        let entries = world.sent.reduce(into: 0) { count, sent in
            if case .operations(_, _, let runs, _) = sent.message {
                count += runs.reduce(0) { $0 + $1.entries.count }
            }
        }
        #expect(entries <= 2 * 128, "at most twice what is missing")
    }

    @Test func `says whether the peer knows more of your own device`() {
        let same = agreedWorld()
        same.connect(0, 1)
        same.settle()
        let before = same.nodes[0].confirmations
        #expect(before > 0)
        same.disconnect(0, 1)
        let device = same.nodes[0].device
        // Node 0 comes back with an empty disk.
        same.nodes[0].replica = ModelReplica(authorityDocument: SyncWorld.authority)
        same.nodes[0].agreed = [:]
        same.connect(0, 1)
        same.settle()
        // Not before it holds what it once wrote.
        #expect(same.nodes[0].confirmations == before + 1)
        #expect(same.nodes[0].ownWhenConfirmed == same.nodes[1].replica.ownTipsDigest(of: device))
        #expect(same.nodes[0].replica.root == same.nodes[1].replica.root)
    }

    // MARK: Standing

    private func workspace() -> SyncWorld {
        let world = SyncWorld(count: 2)
        for number in 0..<6 {
            world.write(at: 0, SyncWorld.document(number % 3), payload: [UInt8(number)])
        }
        return world
    }

    private func documents(of world: SyncWorld, at node: Int) -> Set<DocumentID> {
        Set(world.nodes[node].replica.operations.values.map(\.log.document))
    }

    @Test func `gives a joiner the authority document only, and everything when admitted`() {
        let world = workspace()
        world.connect(0, 1, as: .joining, and: .authorityOnly)
        world.pass(1_000)
        #expect(world.nodes[1].replica.operations.isEmpty)
        let all = (0..<3).flatMap { world.nodes[0].replica.tips(of: SyncWorld.document($0)) }
        world.give(.announced(all), to: 1, from: 0)
        world.pass(10_000)
        #expect(documents(of: world, at: 1) == [SyncWorld.authority])
        world.give(.standingChanged(.full), to: 0, from: 1)
        world.give(.standingChanged(.full), to: 1, from: 0)
        world.pass(1_000)
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
        #expect(world.nodes[1].caughtUp == [0])
    }

    @Test func `asks a device without a grant for the authority document and serves nothing`() {
        let world = workspace()
        world.write(at: 1, SyncWorld.document(1), payload: [77])
        world.connect(0, 1, as: .full, and: .authorityOnly)
        world.pass(100_000)
        #expect(documents(of: world, at: 1) == [SyncWorld.authority, SyncWorld.document(1)])
        #expect(world.nodes[1].replica.operations.count == 3)
        #expect(world.nodes[0].replica.operations.count == 6, "nothing was served")
        #expect(world.nodes[0].refusals == [.authorityOnly])
        for sent in world.sent where sent.from == 1 {
            if case .workspaceOpen(let opening) = sent.message { #expect(opening.root == .zero) }
        }
        world.give(.standingChanged(.full), to: 1, from: 0)
        world.pass(1_000)
        #expect(world.nodes[0].replica.operations.count == 7)
        #expect(world.nodes[1].replica.root == world.nodes[0].replica.root)
    }

    @Test func `tells a removed device so, and nothing else`() {
        let world = workspace()
        world.connect(0, 1, as: .removed)
        world.pass(100_000)
        let told = world.sent.filter { $0.from == 0 }.map(\.message)
        #expect(told == [.workspaceResult(tag: LoneSession.tag, .removed)])
        #expect(world.nodes[1].replica.operations.isEmpty)
    }

    @Test func `stops serving when a device is removed while it listens`() {
        let world = workspace()
        world.connect(0, 1)
        world.pass(1_000)
        world.give(.standingChanged(.removed), to: 0, from: 1)
        world.write(at: 0, SyncWorld.document(1), payload: [1, 2, 3])
        world.pass(100_000)
        #expect(world.nodes[1].replica.operations.count == 6)
        #expect(world.nodes[1].refusals == [.removed])
    }

    // MARK: Comparing

    @Test func `compares busy replicas every 30 s`() {
        let world = SyncWorld(count: 2)
        world.connect(0, 1)
        world.pass(1_000)
        world.forgetTraffic()
        for number in 0..<300 {
            world.write(at: 0, SyncWorld.document(1), payload: [UInt8(number & 255), 1])
            world.pass(1_000)
        }
        let openings = world.sent.filter { $0.from == 0 && $0.message.type == 0x01 }
        #expect((9...11).contains(openings.count))
        #expect(world.nodes[0].agreed[1]?.root != nil)
    }

    @Test func `compares less and less often when it moves nothing`() {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        var times: [UInt64] = []
        // The peer announces again and again what it never delivers.
        for _ in 0..<5_000 {
            lone.now += 1_000
            let tips = SyncMessage.tips(4, [LoneSession.tip(1)], final: true)
            var effects = lone.give(.received(tips), &planner)
            for pull in effects.pulls {
                let nothing = SyncMessage.operations(
                    4, request: pull.request, [], isComplete: true)
                effects += lone.give(.received(nothing), &planner)
            }
            effects += lone.give(.deadline, &planner)
            if effects.messages.contains(where: { $0.type == 0x01 }) {
                times.append(lone.now)
                _ = lone.give(.received(LoneSession.opening(root: 0x99)), &planner)
            }
        }
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(times.first == 30_000)
        #expect(gaps.prefix(5) == [60_000, 120_000, 240_000, 480_000, 600_000])
        #expect(gaps.allSatisfy { $0 <= 600_000 })
    }

    /// Nobody is said to be in sync who has not been asked yet.
    @Test func `knows how far both are apart when both have told, not before`() {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        #expect(!lone.session.knowsDistance && lone.session.behind == 0)
        let digest = SyncMessage.workspaceDigest(4, buckets: [UInt8](repeating: 0, count: 4_096))
        _ = lone.give(.received(digest), &planner)
        #expect(!lone.session.knowsDistance)
        _ = lone.give(.received(.tips(4, [LoneSession.tip(1)], final: true)), &planner)
        #expect(lone.session.knowsDistance && lone.session.behind == 1)
        // Equal roots tell the same.
        let world = SyncWorld(count: 2)
        world.connect(0, 1)
        world.settle()
        #expect(world.nodes[0].links[1]?.session.knowsDistance == true)
    }

    /// Of whom nothing is known one pull is outstanding, of who has answered two.
    @Test func `asks for the authority document first and has two pulls outstanding`() throws {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        var tips = (1...1_500).map { LoneSession.tip($0) }
        tips.append(LoneSession.tip(7, document: 0))
        let pull = try #require(
            lone.give(.received(.tips(4, tips, final: true)), &planner).pulls.first)
        #expect(pull.items.first?.target.log.document == SyncWorld.authority)
        let runs = pull.items.map { LoneSession.run($0.target.log) }
        _ = lone.give(
            .received(.operations(4, request: pull.request, runs, isComplete: true)), &planner)
        let pulls = lone.give(
            .stored(pull.items.map(\.target), waiting: [], answering: pull.request), &planner
        ).pulls
        #expect(pulls.count == 2)
        for pull in pulls + [pull] {
            #expect(pull.items.count <= SyncMessage.pullItemsMax)
            #expect(SyncMessage.pull(1, pull).encoded().count <= Limits.messageBytesMax)
        }
    }

    @Test func `asks again for what was lost while it waited, once something came`() throws {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        let tip = LoneSession.tip(1)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let runs = [LoneSession.run(tip.log)]
        _ = lone.give(
            .received(.operations(4, request: request, runs, isComplete: true)), &planner)
        let settled = lone.give(
            .stored([], waiting: [tip.log], answering: request), &planner)
        #expect(settled.pulls.isEmpty, "asking again at once would bring the same")
        let later = lone.give(
            .stored([LoneSession.tip(2)], waiting: [], answering: nil), &planner)
        #expect(later.pulls.first?.items.first?.target == tip)
    }
}
