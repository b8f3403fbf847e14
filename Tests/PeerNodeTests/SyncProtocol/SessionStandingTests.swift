import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

/// What a session sends, requests, serves and accepts, by the peer's standing.
struct `The standing of a peer` {
    struct Row: Sendable, CustomTestStringConvertible {
        let standing: SyncSession.Standing
        /// The types of the messages at the opening.
        let says: [UInt8]
        /// Whether it says its true root.
        var saysRoot = false
        /// Whether it asks for announced operations of the authority document, and of another.
        var asks = (authority: false, other: false)
        /// Whether it serves them.
        var serves = (authority: false, other: false)
        var testDescription: String { "\(standing)" }
    }

    static let rows = [
        Row(
            standing: .full, says: [0x01], saysRoot: true, asks: (true, true),
            serves: (true, true)),
        Row(standing: .authorityOnly, says: [0x01, 0x02], asks: (true, false)),
        Row(standing: .joining, says: [0x01], serves: (true, false)),
        Row(standing: .removed, says: [0x02], asks: (true, false)),
    ]

    private func opened(_ standing: SyncSession.Standing) -> (LoneSession, PullPlanner) {
        var lone = LoneSession()
        var planner = PullPlanner()
        for document in 0..<2 {
            lone.replica.write(Self.own(document), behind: nil, payload: [UInt8(document)])
        }
        _ = lone.open(&planner, as: standing)
        return (lone, planner)
    }

    private static func own(_ document: Int) -> LogName {
        LogName(
            document: SyncWorld.document(document), device: LoneSession.own, incarnation: 1)
    }

    @Test(arguments: rows)
    func `decides what is said at the opening`(_ row: Row) {
        var lone = LoneSession()
        var planner = PullPlanner()
        lone.replica.write(Self.own(1), behind: nil, payload: [1])
        let messages = lone.give(.opened(row.standing, agreed: nil), &planner).messages
        #expect(messages.map(\.type) == row.says)
        for case .workspaceOpen(let opening) in messages {
            #expect(opening.root == (row.saysRoot ? lone.replica.root : .zero))
            #expect((opening.mine == .zero) == !row.saysRoot, "digests tell what is held")
            #expect(opening.agreedRoot == nil)
        }
    }

    @Test(arguments: rows)
    func `decides what is asked for`(_ row: Row) {
        var (lone, planner) = opened(row.standing)
        let tips = [0, 1].map { LoneSession.tip(5, document: $0) }
        let effects = lone.give(.received(.tips(4, tips, final: true)), &planner)
        let asked = effects.pulls.flatMap(\.items).map(\.target)
        let wanted = (row.asks.authority ? [tips[0]] : []) + (row.asks.other ? [tips[1]] : [])
        #expect(asked == wanted)
        #expect(planner.count == wanted.count)
    }

    /// What came after its end is nothing that a peer learns by asking to be asked.
    @Test func `that has ended learns from no pull how much is here`() throws {
        var (lone, planner) = opened(.full)
        let end = try #require(lone.replica.tips(of: SyncWorld.document(0)).first)
        let before = try #require(lone.replica.operations.values.first { $0.log == end.log })
        lone.replica.write(end.log, behind: before.id, payload: [9])
        lone.replica.farewellTips = [end]
        _ = lone.give(.standingChanged(.removed), &planner)
        let beyond = LogTip(log: end.log, sequence: 9, id: LoneSession.tip(1).id)
        let other = LogTip(log: LoneSession.tip(1, document: 0).log, sequence: 9, id: end.id)
        let tips = SyncMessage.tips(4, [beyond, other], final: true)
        let asked = lone.give(.received(tips), &planner).pulls.flatMap(\.items)
        #expect(asked.map(\.target) == [beyond, other])
        #expect(asked.map(\.have) == [[LogPoint(sequence: end.sequence, id: end.id)], []])
    }

    @Test(arguments: rows)
    func `decides what is served`(_ row: Row) throws {
        for (document, isServed) in [(0, row.serves.authority), (1, row.serves.other)] {
            var (lone, planner) = opened(row.standing)
            let tip = try #require(lone.replica.tips(of: SyncWorld.document(document)).first)
            let pull = PullRequest(
                request: 9, items: [PullItem(target: tip, have: [])], maxBytes: 10_000)
            let answers = lone.give(.received(.pull(4, pull)), &planner).messages
            guard row.standing != .removed else {
                #expect(answers.isEmpty, "not even an answer")
                continue
            }
            guard case .operations(1, 9, let runs, true) = answers.first else {
                Issue.record("no answer of \(row.standing)")
                continue
            }
            #expect(runs.map(\.log.document) == (isServed ? [tip.log.document] : []))
        }
    }

    /// The peer may fetch the authority document up to what ended its membership.
    @Test func `that has ended leaves its end to be fetched, and nothing beyond`() throws {
        var (lone, planner) = opened(.full)
        let end = try #require(lone.replica.tips(of: SyncWorld.document(0)).first)
        let log = Self.own(0)
        let before = try #require(lone.replica.operations.values.first { $0.log == log })
        lone.replica.write(log, behind: before.id, payload: [9])
        let beyond = try #require(lone.replica.tips(of: SyncWorld.document(0)).first)
        #expect(beyond.sequence == end.sequence + 1)
        lone.replica.farewellTips = [end]
        let said = lone.give(.standingChanged(.removed), &planner).messages
        #expect(said.map(\.type) == [0x01, 0x02, 0x12])
        #expect(said.last == .tips(1, [end], final: true))
        for case .workspaceOpen(let opening) in said {
            #expect(opening.root == .zero && opening.mine == .zero)
        }
        for (target, served) in [
            (end, [end.log]), (beyond, []), (LoneSession.tip(1), []),
        ] {
            let pull = PullRequest(
                request: 9, items: [PullItem(target: target, have: [])], maxBytes: 10_000)
            let answers = lone.give(.received(.pull(4, pull)), &planner).messages
            guard case .operations(1, 9, let runs, true) = answers.first else {
                Issue.record("no answer for \(target)")
                continue
            }
            #expect(runs.map(\.log) == served)
            #expect(runs.allSatisfy { $0.entries.count == 1 }, "what follows is not told")
        }
        let tips = SyncMessage.tips(4, [LoneSession.tip(5, document: 1)], final: true)
        #expect(lone.give(.received(tips), &planner).isEmpty, "and it is not heard")
    }

    /// Nobody but this side may hold what undoes the end that the peer knows of.
    @Test(arguments: rows, WorkspaceRefusal.allCases)
    func `decides whether a refusal is answered`(_ row: Row, _ refusal: WorkspaceRefusal) throws {
        var (lone, planner) = opened(row.standing)
        let answer = refusal != .unknown && row.standing == .full
        let own = lone.replica.tips(of: SyncWorld.document(0))
        let message = SyncMessage.workspaceResult(
            tag: LoneSession.tag, refusal)
        for _ in 0..<8 {
            let effects = lone.give(.received(message), &planner)
            #expect(effects.messages == (answer ? [.tips(1, own, final: true)] : []))
            #expect(effects.violation == nil)
        }
        let ninth = lone.give(.received(message), &planner)
        #expect(ninth.violation == (row.standing == .removed ? nil : .tooMany))
    }

    @Test(arguments: rows)
    func `decides which pushes are taken`(_ row: Row) {
        var (lone, planner) = opened(row.standing)
        let runs = [0, 1].map { document in
            LoneSession.run(
                LogName(
                    document: SyncWorld.document(document), device: LoneSession.peer,
                    incarnation: 1))
        }
        let push = SyncMessage.operations(4, request: 0, runs, isComplete: true)
        let effects = lone.give(.received(push), &planner)
        let wanted = (row.asks.authority ? [runs[0]] : []) + (row.asks.other ? [runs[1]] : [])
        let expected: [SyncSession.Effect] =
            wanted.isEmpty ? [] : [.ingest(wanted, answering: 0)]
        #expect(effects.filter { if case .ingest = $0 { true } else { false } } == expected)
        #expect(effects.violation == nil)
    }

    @Test(arguments: rows)
    func `decides whether own writing is told`(_ row: Row) throws {
        var (lone, planner) = opened(row.standing)
        let run = lone.replica.write(Self.own(2), behind: nil, payload: [7])
        let tip = try #require(lone.replica.tips(of: SyncWorld.document(2)).first)
        let told = lone.give(.appended(run, tip: tip), &planner).messages
        #expect(told.map(\.type) == (row.standing == .full ? [0x15] : []))
    }

    // MARK: Changes

    static let steps: [(SyncSession.Standing, SyncSession.Standing)] = {
        let all: [SyncSession.Standing] = [.full, .authorityOnly, .joining, .removed]
        return all.flatMap { from in all.map { (from, $0) } }
    }()

    @Test(arguments: steps.indices)
    func `is sent again when it changes, and only then`(_ index: Int) {
        let (from, to) = Self.steps[index]
        var (lone, planner) = opened(from)
        let messages = lone.give(.standingChanged(to), &planner).messages
        let row = Self.rows.first { $0.standing == to }
        #expect(messages.map(\.type) == (from == to ? [] : row?.says))
    }

    @Test func `that is lost frees what was being pulled for others`() {
        for lost: SyncSession.Standing in [.authorityOnly, .joining, .removed] {
            var (lone, planner) = opened(.full)
            let tips = [0, 1].map { LoneSession.tip(5, document: $0) }
            _ = lone.give(.received(.tips(4, tips, final: true)), &planner)
            #expect(planner.count == 2)
            _ = lone.give(.standingChanged(lost), &planner)
            #expect(planner.count == 0 && lone.session.behind == 0, "\(lost)")
        }
    }

    /// An answer that was under way when the standing was lost is no offence.
    @Test func `that is lost does not make an answer unasked`() throws {
        var (lone, planner) = opened(.full)
        let tip = LoneSession.tip(5)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        _ = lone.give(.standingChanged(.joining), &planner)
        let answer = SyncMessage.operations(
            4, request: request, [LoneSession.run(tip.log)], isComplete: true)
        #expect(lone.give(.received(answer), &planner).violation == nil)
        #expect(lone.give(.received(answer), &planner).violation == .unasked, "but only once")
    }

    @Test func `given back lets everything be asked for again`() {
        var (lone, planner) = opened(.full)
        let tips = SyncMessage.tips(4, [LoneSession.tip(5)], final: true)
        #expect(lone.give(.received(tips), &planner).pulls.count == 1)
        _ = lone.give(.standingChanged(.removed), &planner)
        #expect(lone.give(.received(tips), &planner).isEmpty, "a removed peer is not heard")
        _ = lone.give(.standingChanged(.full), &planner)
        #expect(lone.give(.received(tips), &planner).pulls.count == 1)
    }

    // MARK: Openings that cross

    private func history() -> SyncWorld {
        let world = SyncWorld(count: 2)
        for number in 0..<12 {
            world.write(
                at: number % 2, SyncWorld.document(number % 5), payload: [UInt8(number)])
        }
        return world
    }

    private func expectEqual(_ world: SyncWorld, _ note: String) {
        #expect(world.nodes[0].replica.root == world.nodes[1].replica.root, "\(note)")
        for (node, peer) in [(0, 1), (1, 0)] {
            #expect(world.nodes[node].links[peer]?.violation == nil, "\(note)")
            #expect(world.nodes[node].links[peer]?.session.behind == 0, "\(note)")
            #expect(world.nodes[node].planner.count == 0, "\(note)")
        }
    }

    static let beginnings: [(SyncSession.Standing, SyncSession.Standing)] = {
        let all: [SyncSession.Standing] = [.full, .authorityOnly, .joining]
        return all.flatMap { left in all.map { (left, $0) } }
    }()

    /// Both sides learn at the same moment that the other may see everything, after so many
    /// frames of the first opening.
    @Test(arguments: beginnings.indices)
    func `may become full on both sides at once, at any moment`(_ index: Int) {
        let (left, right) = Self.beginnings[index]
        for frames in 0..<8 {
            let world = history()
            world.connect(0, 1, as: left, and: right)
            for frame in 0..<frames {
                let sender = frame % 2
                world.deliver(from: sender, to: 1 - sender)
            }
            world.give(.standingChanged(.full), to: 0, from: 1)
            world.give(.standingChanged(.full), to: 1, from: 0)
            world.pass(100_000)
            expectEqual(world, "\(left) \(right) after \(frames)")
        }
    }

    /// One side knows earlier than the other; whatever crosses, both end with the same.
    @Test(arguments: Seeds.explore(25))
    func `may change on either side in any order`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let standings: [SyncSession.Standing] = [.full, .authorityOnly, .joining]
        let world = history()
        world.connect(
            0, 1, as: standings[random.below(3)], and: standings[random.below(3)])
        // Few enough changes for the openings that a peer may send at once.
        for _ in 0..<4 {
            for _ in 0..<random.below(6) {
                let sender = random.below(2)
                world.deliver(
                    from: sender, to: 1 - sender,
                    maxPlaintext: random.oneIn(2) ? 65_519 : 100 + random.below(500))
            }
            let node = random.below(2)
            world.give(.standingChanged(standings[random.below(3)]), to: node, from: 1 - node)
            if random.oneIn(3) {
                world.write(at: node, SyncWorld.document(random.below(5)), payload: [99])
            }
            world.pass(UInt64(random.below(3)) * 15_000)
        }
        world.pass(100_000)
        world.give(.standingChanged(.full), to: 0, from: 1)
        world.pass(UInt64(random.below(2)) * 20_000)
        world.give(.standingChanged(.full), to: 1, from: 0)
        world.pass(2_000_000)
        expectEqual(world, "WSX_SEED=\(seed)")
    }

    @Test func `becomes full for one who joined, and everything is there`() {
        let world = history()
        world.connect(0, 1, as: .joining, and: .authorityOnly)
        world.pass(1_000)
        world.give(.standingChanged(.full), to: 0, from: 1)
        world.pass(1_000)
        #expect(world.nodes[0].replica.root != world.nodes[1].replica.root)
        #expect(
            world.nodes[0].replica.operations.values.allSatisfy {
                $0.log.device == world.nodes[0].device || $0.log.document == SyncWorld.authority
            }, "it has not shown its own documents before it knows the other")
        world.give(.standingChanged(.full), to: 1, from: 0)
        world.pass(100_000)
        expectEqual(world, "joined")
    }
}

struct `The answer to a pull` {
    private func covers(target: UInt64, first: UInt64, count: Int) -> Bool {
        let tip = LoneSession.tip(1, sequence: target)
        let pull = Outstanding(
            request: 1, logs: [tip.log], highest: [tip.log: target], deadline: 0)
        return pull.covers([LoneSession.run(tip.log, first: first, count: count)])
    }

    /// A run ends on a verified signature, which the target need not have; the next one is in
    /// the target's segment.
    @Test func `ends in the segment of its target at the latest`() {
        let rows: [(target: UInt64, first: UInt64, count: Int, isCovered: Bool)] = [
            (0, 0, 1, true), (0, 0, 1_024, true), (0, 0, 1_025, false), (5, 0, 7, true),
            (5, 3, 1_021, true), (5, 3, 1_022, false), (5, 5, 1, true), (5, 6, 1, false),
            (1_024, 0, 2_048, true), (1_024, 0, 2_049, false),
            (.max, 0, 1, true), (.max, 0, 1_000, true), (.max, .max, 1, true),
            (.max, .max, 2, false), (.max - 1, .max, 1, false),
        ]
        for row in rows {
            let isCovered = covers(target: row.target, first: row.first, count: row.count)
            #expect(isCovered == row.isCovered, "\(row)")
        }
    }

    /// A target that is announced at the last sequence number must not overflow anything when it
    /// is answered from the first.
    @Test func `may begin at 0 when the last number was announced`() throws {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        let tip = LoneSession.tip(1, sequence: .max)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let run = LoneSession.run(tip.log, first: 0, count: 3)
        let effects = lone.give(
            .received(.operations(4, request: request, [run], isComplete: false)), &planner)
        #expect(effects.violation == nil)
        #expect(effects.contains(.ingest([run], answering: request)))
    }

    @Test func `is of the logs that were asked for`() {
        let tip = LoneSession.tip(1, sequence: 9)
        let pull = Outstanding(request: 1, logs: [tip.log], highest: [tip.log: 9], deadline: 0)
        #expect(pull.covers([]))
        #expect(!pull.covers([LoneSession.run(LoneSession.tip(2).log)]))
        #expect(
            !pull.covers([
                LoneSession.run(tip.log), LoneSession.run(LoneSession.tip(2).log),
            ]))
    }
}
