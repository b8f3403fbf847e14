import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

struct `Announcing` {
    private func log(_ document: Int) -> LogName {
        LogName(
            document: SyncWorld.document(document), device: LoneSession.own, incarnation: 1)
    }

    private func opened() -> (LoneSession, PullPlanner) {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.open(&planner)
        return (lone, planner)
    }

    private func write(
        _ lone: inout LoneSession, _ planner: inout PullPlanner, _ document: Int,
        bytes: Int = 1
    ) throws -> [SyncSession.Effect] {
        let previous = lone.replica.heads(of: log(document)).last?.id
        let run = lone.replica.write(
            log(document), behind: previous, payload: [UInt8](repeating: 1, count: bytes))
        let tip = try #require(lone.replica.tips(of: SyncWorld.document(document)).last)
        return lone.give(.appended(run, tip: tip), &planner)
    }

    @Test func `waits for the peer's opening`() throws {
        var lone = LoneSession()
        var planner = PullPlanner()
        _ = lone.give(.opened(.full, agreed: nil), &planner)
        #expect(try write(&lone, &planner, 1).messages.isEmpty)
        #expect(lone.session.ahead == 0)
        _ = lone.give(.received(LoneSession.opening(root: 0x99)), &planner)
        // What was written meanwhile comes with the descent, not with a push in its middle.
        let second = try write(&lone, &planner, 1).messages
        #expect(second.isEmpty, "the peer could not chain it")
        #expect(try write(&lone, &planner, 2).messages.map(\.type) == [0x15])
    }

    @Test func `gathers what is stored for 100 ms and says each log once`() throws {
        var (lone, planner) = opened()
        lone.now = 5_000
        var deadlines: [UInt64?] = []
        for number in 0..<5 {
            lone.replica.write(
                log(7), behind: lone.replica.heads(of: log(7)).last?.id, payload: [UInt8(number)])
            let tips = lone.replica.tips(of: SyncWorld.document(7))
            let effects = lone.give(.stored(tips, waiting: [], answering: nil), &planner)
            #expect(effects.messages.isEmpty)
            if let deadline = effects.deadline { deadlines.append(deadline) }
            lone.now += 10
        }
        #expect(deadlines == [5_100], "the first one sets the time")
        lone.now = 5_099
        #expect(lone.give(.deadline, &planner).messages.isEmpty)
        lone.now = 5_100
        let messages = lone.give(.deadline, &planner).messages
        #expect(messages == [.tips(1, lone.replica.tips(of: SyncWorld.document(7)), final: false)])
        lone.now = 6_000
        #expect(lone.give(.deadline, &planner).messages.isEmpty, "once")
    }

    @Test func `puts off what the peer has not even taken`() throws {
        var (lone, planner) = opened()
        lone.replica.write(log(7), behind: nil, payload: [1])
        let tips = lone.replica.tips(of: SyncWorld.document(7))
        _ = lone.give(.stored(tips, waiting: [], answering: nil), &planner)
        _ = lone.give(
            .sendQueueLevel(unasked: Limits.unaskedUnsentBytesMax, asked: 0), &planner)
        lone.now = 100
        let put = lone.give(.deadline, &planner)
        #expect(put.messages.isEmpty)
        #expect(put.deadline == .some(200))
        lone.now = 150
        #expect(lone.give(.sendQueueLevel(unasked: 0, asked: 0), &planner).messages.isEmpty)
        lone.now = 200
        #expect(lone.give(.deadline, &planner).messages.map(\.type) == [0x12])
    }

    @Test func `pushes up to 256 KiB unasked and then only tells`() throws {
        var (lone, planner) = opened()
        var pushed = 0
        for document in 1...12 {
            for message in try write(&lone, &planner, document, bytes: 40_000).messages {
                #expect(message.type == 0x15)
                pushed += message.encoded().count
            }
        }
        #expect(pushed <= Limits.unaskedUnsentBytesMax)
        #expect(pushed > Limits.unaskedUnsentBytesMax - 2 * 40_000)
        #expect(lone.session.ahead == 12, "told or not, the peer lacks them all")
        lone.now = 100
        let told = lone.give(.sendQueueLevel(unasked: 0, asked: 0), &planner).messages
        guard case .tips(_, let tips, false) = told.first else {
            Issue.record("nothing was told")
            return
        }
        #expect(tips.count == 12 - pushed / 40_000)
    }

    /// Who sends one message after the other never waits for room, and is not told of it each time.
    @Test func `pushes on where all has left in passing`() throws {
        var (lone, planner) = opened()
        for document in 1...12 {
            let messages = try write(&lone, &planner, document, bytes: 40_000).messages
            #expect(messages.map(\.type) == [0x15])
            let isNoted = lone.session.noteAllSent(at: lone.now)
            #expect(isNoted)
        }
    }

    @Test func `is told that all has left where something waits for that`() throws {
        var (lone, planner) = opened()
        _ = lone.give(.sendQueueLevel(unasked: 0, asked: Limits.unsentBytesMax), &planner)
        let pull = PullRequest(request: 1, items: [], maxBytes: 1_000)
        _ = lone.give(.received(.pull(4, pull)), &planner)
        var noted = [lone.session.noteAllSent(at: lone.now)]
        _ = lone.give(.sendQueueLevel(unasked: 0, asked: 0), &planner)
        noted.append(lone.session.noteAllSent(at: lone.now))
        #expect(noted == [false, true])
        // What is gathered is announced when it is due.
        lone.replica.write(log(7), behind: nil, payload: [1])
        let tips = lone.replica.tips(of: SyncWorld.document(7))
        let due = lone.give(.stored(tips, waiting: [], answering: nil), &planner).deadline
        let moment = try #require(due ?? nil)
        noted = [
            lone.session.noteAllSent(at: lone.now), lone.session.noteAllSent(at: moment),
        ]
        _ = lone.give(.closed, &planner)
        noted.append(lone.session.noteAllSent(at: lone.now))
        #expect(noted == [true, false, false])
    }

    @Test func `counts what the peer lacks until it says that it holds it`() throws {
        var (lone, planner) = opened()
        for _ in 0..<3 { _ = try write(&lone, &planner, 2) }
        #expect(lone.session.ahead == 3)
        let operations = lone.replica.operations.values.sorted { $0.sequence < $1.sequence }
        let tips = operations.map {
            LogTip(log: $0.log, sequence: $0.sequence, id: Identifier16(prefixOf: $0.id))
        }
        _ = lone.give(.received(.tips(4, [tips[0]], final: false)), &planner)
        #expect(lone.session.ahead == 2)
        _ = lone.give(.received(.tips(4, [tips[2]], final: false)), &planner)
        #expect(lone.session.ahead == 0)
        // An old receipt takes nothing back.
        _ = lone.give(.received(.tips(4, [tips[1]], final: false)), &planner)
        #expect(lone.session.ahead == 0)
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `counts nothing that the peer announced first`(_ more: UInt64) throws {
        var (lone, planner) = opened()
        lone.replica.write(log(7), behind: nil, payload: [1])
        let own = try #require(lone.replica.tips(of: SyncWorld.document(7)).last)
        // As much of the log as is here, or an operation more that this device lacks.
        let id = more == 0 ? own.id : Identifier16([UInt8](repeating: 7, count: 16))
        let theirs = LogTip(log: own.log, sequence: own.sequence + more, id: id)
        _ = lone.give(.received(.tips(4, [theirs], final: true)), &planner)
        let effects = lone.give(
            .received(.documentDigests(4, [BucketDigests(bucket: bucket(own), documents: [])])),
            &planner)
        #expect(effects.messages.contains { $0.type == 0x12 }, "it is announced all the same")
        #expect(lone.session.ahead == 0)
    }

    @Test(arguments: [0, 1] as [UInt64])
    func `counts no more what the peer announces afterwards`(_ more: UInt64) throws {
        var (lone, planner) = opened()
        lone.replica.write(log(7), behind: nil, payload: [1])
        let own = try #require(lone.replica.tips(of: SyncWorld.document(7)).last)
        _ = lone.give(
            .received(.documentDigests(4, [BucketDigests(bucket: bucket(own), documents: [])])),
            &planner)
        #expect(lone.session.ahead == 1)
        let id = more == 0 ? own.id : Identifier16([UInt8](repeating: 7, count: 16))
        let theirs = LogTip(log: own.log, sequence: own.sequence + more, id: id)
        _ = lone.give(.received(.tips(4, [theirs], final: true)), &planner)
        #expect(lone.session.ahead == 0)
    }

    @Test func `counts nothing that the peer was given before it was announced`() throws {
        var (lone, planner) = opened()
        lone.replica.write(log(7), behind: nil, payload: [1])
        let own = try #require(lone.replica.tips(of: SyncWorld.document(7)).last)
        let pull = PullRequest(
            request: 1, items: [PullItem(target: own, have: [])], maxBytes: 100_000)
        _ = lone.give(.received(.pull(4, pull)), &planner)
        _ = lone.give(
            .received(.documentDigests(4, [BucketDigests(bucket: bucket(own), documents: [])])),
            &planner)
        #expect(lone.session.ahead == 0)
    }

    private func bucket(_ tip: LogTip) -> UInt8 { tip.log.document.bytes[0] }

    @Test func `believes a pull about what the peer has`() throws {
        var (lone, planner) = opened()
        for _ in 0..<5 { _ = try write(&lone, &planner, 2) }
        let target = try #require(lone.replica.tips(of: SyncWorld.document(2)).last)
        let have = LogPoint(sequence: 1, id: target.id)
        for (points, ahead) in [
            ([have], 3), ([], 5), ([LogPoint(target)], 0),
        ] as [([LogPoint], UInt64)] {
            let pull = PullRequest(
                request: 1, items: [PullItem(target: target, have: points)], maxBytes: 0)
            _ = lone.give(.received(.pull(4, pull)), &planner)
            #expect(lone.session.ahead == ahead)
        }
    }

    @Test func `is over when the roots are equal`() throws {
        var (lone, planner) = opened()
        _ = try write(&lone, &planner, 2)
        #expect(lone.session.ahead == 1)
        let opening = SyncMessage.workspaceOpen(
            WorkspaceOpening(
                workspace: 4, tag: LoneSession.tag, root: lone.replica.root, agreedRoot: nil,
                mine: .zero))
        let effects = lone.give(.received(opening), &planner)
        #expect(lone.session.ahead == 0)
        let agreement = SyncSession.Agreement(
            root: lone.replica.root, arrival: lone.replica.arrival)
        #expect(effects.contains(.remember(agreement)))
        #expect(effects.contains(.caughtUp))
        let again = lone.give(.received(opening), &planner)
        #expect(!again.contains(.remember(agreement)), "it is remembered already")
    }

    @Test(arguments: Seeds.explore(10))
    func `never counts below zero nor more than was written`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (lone, planner) = opened()
        var written: UInt64 = 0
        for _ in 0..<80 {
            let document = 1 + random.below(4)
            let tips = lone.replica.tips(of: SyncWorld.document(document))
            switch random.below(4) {
            case 0...1:
                _ = try write(&lone, &planner, document)
                written += 1
            case 2: _ = lone.give(.received(.tips(4, tips, final: false)), &planner)
            default:
                let items = tips.map { tip in
                    PullItem(
                        target: tip,
                        have: random.oneIn(2)
                            ? [] : [LogPoint(sequence: random.next() >> 60, id: tip.id)])
                }
                let pull = PullRequest(request: 1, items: items, maxBytes: 10_000)
                _ = lone.give(.sendQueueLevel(unasked: 0, asked: 0), &planner)
                _ = lone.give(.received(.pull(4, pull)), &planner)
            }
            #expect(lone.session.ahead <= written, "WSX_SEED=\(seed)")
        }
    }

    /// A document of more logs than one descent announces, and another one behind it.
    @Test func `goes on where the last descent stopped`() throws {
        var (lone, planner) = opened()
        let count = SyncSession.announcedTipsMax * 2 + 10
        for number in 0..<count {
            let log = LogName(
                document: SyncWorld.document(number == count - 1 ? 2 : 1),
                device: LoneSession.own, incarnation: UInt32(number))
            lone.replica.write(
                log, behind: nil, payload: [UInt8(number >> 8), UInt8(number & 0xff)])
        }
        _ = lone.give(.received(LoneSession.opening(root: 0x99)), &planner)
        let all = [1, 2].map { SyncWorld.document($0).bytes[0] }.sorted()
        var announced: Set<LogName> = []
        for descent in 1...3 {
            let answer = lone.give(
                .received(
                    .documentDigests(4, all.map { BucketDigests(bucket: $0, documents: []) })),
                &planner)
            for case .tips(_, let tips, _) in answer.messages {
                announced.formUnion(tips.map(\.log))
            }
            #expect(announced.count == min(descent * SyncSession.announcedTipsMax, count))
        }
    }
}
