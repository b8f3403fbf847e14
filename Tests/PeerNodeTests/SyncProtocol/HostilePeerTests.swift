import Testing
import WorkspaceModel

@testable import SyncProtocol

struct `A peer that breaks the rules` {
    private func opened() -> (LoneSession, PullPlanner) {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        return (lone, planner)
    }

    @Test func `is closed for an answer that nobody asked for (S02)`() {
        var (lone, planner) = opened()
        let run = LoneSession.run(LoneSession.tip(1).log)
        let effects = lone.give(
            .received(.operations(4, request: 1, [run], isComplete: true)), &planner)
        #expect(effects.violation == .unasked)
        #expect(lone.give(.deadline, &planner).isEmpty, "a closed session says nothing")
    }

    static let answers: [(name: String, run: OperationRun)] = [
        ("another log", LoneSession.run(LoneSession.tip(2).log)),
        ("past the target", LoneSession.run(LoneSession.tip(1).log, first: 0, count: 1_025)),
        ("behind the target", LoneSession.run(LoneSession.tip(1).log, first: 4)),
    ]

    @Test(arguments: answers.indices)
    func `is closed for more than was asked for (S02)`(_ index: Int) throws {
        var (lone, planner) = opened()
        let tip = LoneSession.tip(1, sequence: 3)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let effects = lone.give(
            .received(
                .operations(4, request: request, [Self.answers[index].run], isComplete: true)),
            &planner)
        #expect(effects.violation == .unasked, "\(Self.answers[index].name)")
        #expect(planner.count == 0, "its logs are free for others")
    }

    // A kept tip need not have a signature that the sender verified; its run then ends behind it.
    @Test func `may go on to the next verified signature of the target's segment`() throws {
        var (lone, planner) = opened()
        let tip = LoneSession.tip(1, sequence: 3)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let run = LoneSession.run(tip.log, first: 0, count: 9)
        let effects = lone.give(
            .received(.operations(4, request: request, [run], isComplete: true)), &planner)
        #expect(effects.violation == nil)
        #expect(effects.contains(.ingest([run], answering: request)))
    }

    @Test func `is asked again when it announces more of a log that it did not deliver`() throws {
        var (lone, planner) = opened()
        let asked = lone.give(
            .received(.tips(4, [LoneSession.tip(1, sequence: 3)], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let empty = SyncMessage.operations(4, request: request, [], isComplete: true)
        #expect(lone.give(.received(empty), &planner).pulls.isEmpty)
        let more = LoneSession.tip(1, sequence: 4)
        #expect(lone.give(.received(.tips(4, [more], final: false)), &planner).pulls.count == 1)
    }

    @Test func `is not told what came before its grant ended`() throws {
        var (lone, planner) = opened()
        _ = lone.give(
            .stored([LoneSession.tip(7)], waiting: [], answering: nil), &planner)
        _ = lone.give(.standingChanged(.removed), &planner)
        lone.now += 10_000
        let said = lone.give(.deadline, &planner).messages
        #expect(said.isEmpty, "\(said)")
    }

    @Test func `is closed when it answers twice`() throws {
        var (lone, planner) = opened()
        let tip = LoneSession.tip(1)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        let answer = SyncMessage.operations(
            4, request: request, [LoneSession.run(tip.log)], isComplete: true)
        #expect(lone.give(.received(answer), &planner).violation == nil)
        #expect(lone.give(.received(answer), &planner).violation == .unasked)
    }

    @Test func `is closed when it pushes what others wrote`() {
        var (lone, planner) = opened()
        let push = SyncMessage.operations(
            4, request: 0, [LoneSession.run(LoneSession.tip(1).log)], isComplete: true)
        #expect(lone.give(.received(push), &planner).violation == .unasked)
    }

    @Test func `is closed for a digest without an opening`() {
        var (lone, planner) = opened()
        let digest = SyncMessage.workspaceDigest(4, buckets: [UInt8](repeating: 1, count: 4_096))
        #expect(lone.give(.received(digest), &planner).violation == nil)
        #expect(lone.give(.received(digest), &planner).violation == .outOfTurn)
    }

    @Test func `is none that answers an opening after our standing changed`() {
        var lone = LoneSession()
        var planner = PullPlanner()
        // The admitting peer says its root before we know that we are admitted.
        _ = lone.open(&planner, as: .authorityOnly)
        _ = lone.give(.standingChanged(.full), &planner)
        let digest = SyncMessage.workspaceDigest(4, buckets: [UInt8](repeating: 1, count: 4_096))
        #expect(lone.give(.received(digest), &planner).violation == nil)
    }

    @Test func `is closed for endless answers to one digest`() {
        var (lone, planner) = opened()
        let answer = SyncMessage.documentDigests(4, [])
        var taken = 0
        while taken < 1_000, lone.give(.received(answer), &planner).violation == nil { taken += 1 }
        #expect(taken == 64)
    }

    @Test func `is closed when it compares all the time`() {
        var (lone, planner) = opened()
        var taken = 0
        while taken < 100,
            lone.give(.received(LoneSession.opening(root: 0x99)), &planner).violation == nil
        {
            taken += 1
        }
        #expect(taken == 7)
    }

    @Test func `is closed when it pulls without taking the answers`() {
        var (lone, planner) = opened()
        _ = lone.give(.sendQueueLevel(unasked: 0, asked: Limits.unsentBytesMax), &planner)
        let item = PullItem(target: LoneSession.tip(1), have: [])
        for request: UInt32 in 1...4 {
            let pull = PullRequest(request: request, items: [item], maxBytes: 1_000)
            let effects = lone.give(.received(.pull(4, pull)), &planner)
            #expect(effects.messages.isEmpty && effects.violation == nil)
        }
        let last = PullRequest(request: 5, items: [item], maxBytes: 1_000)
        #expect(lone.give(.received(.pull(4, last)), &planner).violation == .tooMany)
    }

    @Test func `gets its answers in order as soon as the link has room`() {
        var (lone, planner) = opened()
        _ = lone.give(.sendQueueLevel(unasked: 0, asked: Limits.unsentBytesMax), &planner)
        for request: UInt32 in 1...2 {
            let pull = PullRequest(request: request, items: [], maxBytes: 1_000)
            _ = lone.give(.received(.pull(4, pull)), &planner)
        }
        let effects = lone.give(.sendQueueLevel(unasked: 0, asked: 0), &planner)
        #expect(
            effects.messages == [
                .operations(1, request: 1, [], isComplete: true),
                .operations(1, request: 2, [], isComplete: true),
            ])
    }

    @Test func `loses its claim on a log after five seconds without an answer`() throws {
        var planner = PullPlanner()
        var first = LoneSession(source: 1)
        var second = LoneSession(source: 2)
        _ = first.open(&planner)
        _ = second.open(&planner)
        let tips = SyncMessage.tips(4, [LoneSession.tip(1)], final: true)
        #expect(first.give(.received(tips), &planner).pulls.count == 1)
        #expect(second.give(.received(tips), &planner).pulls.isEmpty, "one source at a time")
        first.now = 4_000
        _ = first.give(.receiving, &planner)
        first.now = 8_999
        #expect(!first.give(.deadline, &planner).contains(.replanOthers), "it was sending")
        first.now = 9_000
        #expect(first.give(.deadline, &planner).contains(.replanOthers))
        #expect(second.give(.replan, &planner).pulls.count == 1)
        #expect(first.give(.received(tips), &planner).pulls.isEmpty, "ignored from now on")
        #expect(first.session.behind == 1)
    }

    @Test func `may be late`() throws {
        var (lone, planner) = opened()
        let tip = LoneSession.tip(1)
        let asked = lone.give(.received(.tips(4, [tip], final: true)), &planner)
        let request = try #require(asked.pulls.first).request
        lone.now = 5_000
        _ = lone.give(.deadline, &planner)
        let late = SyncMessage.operations(
            4, request: request, [LoneSession.run(tip.log)], isComplete: true)
        let effects = lone.give(.received(late), &planner)
        #expect(effects.violation == nil)
        #expect(effects.contains(.ingest([LoneSession.run(tip.log)], answering: request)))
    }

    @Test func `is closed when it leaves nine pulls unanswered`() {
        var (lone, planner) = opened()
        var closed = 0
        for number in 1...20 where closed == 0 {
            _ = lone.give(
                .received(.tips(4, [LoneSession.tip(number)], final: true)), &planner)
            lone.now += 5_000
            if lone.give(.deadline, &planner).violation == .unresponsive { closed = number }
        }
        #expect(closed == 9)
        #expect(planner.count == 0)
    }

    /// A useless answer that claims to be truncated must not be requested endlessly.
    @Test func `cannot keep a log busy with empty answers`() {
        var (lone, planner) = opened()
        let tips = (1...3).map { LoneSession.tip($0) }
        var pulls = lone.give(.received(.tips(4, tips, final: true)), &planner).pulls
        var rounds = 0
        while let pull = pulls.first, rounds < 10 {
            rounds += 1
            pulls =
                lone.give(
                    .received(.operations(4, request: pull.request, [], isComplete: false)),
                    &planner
                ).pulls
        }
        #expect(rounds == 3)
    }

    @Test func `cannot make the session remember more than its share`() {
        var (lone, planner) = opened()
        var pulled = 0
        for part in 0..<40 {
            let tips = (0..<2_048).map { LoneSession.tip(part * 2_048 + $0) }
            let effects = lone.give(.received(.tips(4, tips, final: false)), &planner)
            pulled += effects.pulls.count
            #expect(effects.violation == nil)
        }
        #expect(lone.session.behind == UInt64(Limits.rememberedTipsMax))
        #expect(pulled == 1, "nothing is known of who announces so much")
        #expect(planner.count <= 2 * SyncMessage.pullItemsMax)
    }

    @Test func `cannot overflow a count`() {
        var (lone, planner) = opened()
        let tips = (0..<2_000).map { LoneSession.tip($0, sequence: .max) }
        for message in lone.give(.received(.tips(4, tips, final: true)), &planner).messages {
            #expect(message.encoded().count <= Limits.messageBytesMax)
        }
        #expect(lone.session.behind == 2_000 << 40)
        let item = PullItem(
            target: LoneSession.tip(1, sequence: .max),
            have: [LogPoint(LoneSession.tip(1, sequence: .max))])
        let pull = PullRequest(request: 1, items: [item], maxBytes: 0)
        #expect(lone.give(.received(.pull(4, pull)), &planner).violation == nil)
    }
}
