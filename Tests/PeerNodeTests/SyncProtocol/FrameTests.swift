import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Frames` {
    @Test(arguments: Seeds.explore(15))
    func `carry messages whole and in order within each class`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var scheduler = FrameScheduler()
        var decoder = FrameDecoder()
        var sent = [[[UInt8]]](repeating: [], count: 4)
        var received = sent
        for _ in 0..<120 {
            if random.oneIn(2) {
                let messageClass = MessageClass.allCases[random.below(4)]
                let size = 1 + random.below([3, 200, 20_000, 200_000][random.below(4)])
                let message = [0x12] + random.bytes(size)
                sent[Int(messageClass.rawValue)].append(message)
                scheduler.enqueue(message, in: messageClass, isUnasked: messageClass == .live)
            } else if let frame = scheduler.nextFrame(maxPlaintext: 4 + random.below(65_516)) {
                for message in try decoder.messages(in: frame, at: 0) {
                    received[Int(message.messageClass.rawValue)].append(message.bytes)
                }
            }
        }
        while let frame = scheduler.nextFrame() {
            #expect(frame.count <= 65_519)
            for message in try decoder.messages(in: frame, at: 0) {
                received[Int(message.messageClass.rawValue)].append(message.bytes)
            }
        }
        #expect(received == sent)
        #expect(scheduler.unsentBytes == 0 && scheduler.unaskedUnsentBytes == 0)
        #expect(decoder.bufferedBytes == 0)
    }

    @Test func `let what is urgent overtake what is large`() throws {
        var scheduler = FrameScheduler()
        scheduler.enqueue([UInt8](repeating: 0x15, count: 500_000), in: .bulk)
        _ = scheduler.nextFrame()
        scheduler.enqueue([0x15, 1], in: .live, isUnasked: true)
        scheduler.enqueue([0x30, 1], in: .control)
        #expect(scheduler.unaskedUnsentBytes == 2)
        let next = scheduler.nextFrame()
        let frame = try #require(next)
        #expect([UInt8](frame.prefix(10)) == [0x04, 0, 2, 0x30, 1, 0x05, 0, 2, 0x15, 1])
        #expect(scheduler.unaskedUnsentBytes == 0)
    }

    @Test func `give pieces of files one frame of eight while bulk does not end`() throws {
        var scheduler = FrameScheduler()
        for _ in 0..<60 {
            scheduler.enqueue([UInt8](repeating: 7, count: 60_000), in: .bulk)
        }
        scheduler.enqueue([UInt8](repeating: 8, count: 200_000), in: .blob)
        #expect(scheduler.unsentBytes(of: .blob) == 200_000)
        var firsts: [UInt8] = []
        for _ in 0..<24 {
            let frame = scheduler.nextFrame()
            firsts.append(try #require(frame)[0] & 3)
        }
        #expect(firsts.count { $0 == MessageClass.blob.rawValue } == 3)
        // What is urgent still comes before both.
        scheduler.enqueue([1, 2, 3], in: .live)
        let urgent = scheduler.nextFrame()
        #expect(try #require(urgent)[0] & 3 == MessageClass.live.rawValue)
        var rest = 0
        while scheduler.nextFrame() != nil { rest += 1 }
        #expect(scheduler.unsentBytes(of: .blob) == 0 && scheduler.isEmpty && rest > 0)
    }

    @Test func `never hold a fragment above 16 KiB`() throws {
        var scheduler = FrameScheduler()
        scheduler.enqueue([UInt8](repeating: 0x15, count: 40_000), in: .bulk)
        let next = scheduler.nextFrame()
        let frame = try #require(next)
        #expect([UInt8](frame.prefix(3)) == [0x02, 0x40, 0x00])
        #expect([UInt8](frame[16_387..<16_390]) == [0x02, 0x40, 0x00])
        #expect([UInt8](frame[32_774..<32_777]) == [0x06, 0x1c, 0x40])
    }

    static let bad: [[UInt8]] = [
        [0], [0, 0], [0, 0, 0], [0x04, 0, 0], [0x04, 0, 2, 1], [0x08, 0, 1, 1], [0x80, 0, 1, 1],
        [0x04, 0x40, 0x01] + [UInt8](repeating: 1, count: 16_385), [0x04, 0, 1, 1, 0x04],
    ]

    @Test(arguments: bad)
    func `with an impossible fragment are refused`(_ plaintext: [UInt8]) {
        var decoder = FrameDecoder()
        #expect(throws: SyncViolation.badFragment) { try decoder.messages(in: plaintext, at: 0) }
    }

    @Test func `may be empty`() throws {
        var decoder = FrameDecoder()
        #expect(try decoder.messages(in: [], at: 0).isEmpty)
    }

    /// Each class is filled to its limit, and the next byte is one too many.
    @Test(arguments: [(UInt8(0x13), 262_144), (UInt8(0x15), 1_048_576)])
    func `fill the room for unfinished messages and no more`(_ type: UInt8, _ limit: Int) throws {
        for messageClass in MessageClass.allCases {
            var decoder = FrameDecoder()
            let head: [UInt8] = [messageClass.rawValue, 0x40, 0x00]
            for _ in 0..<limit / 16_384 {
                let piece = head + [UInt8](repeating: type, count: 16_384)
                #expect(try decoder.messages(in: piece, at: 0).isEmpty)
            }
            #expect(decoder.bufferedBytes == limit)
            #expect(throws: SyncViolation.messageTooLarge) {
                try decoder.messages(in: [messageClass.rawValue, 0, 1, 1], at: 0)
            }
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `of garbage never trap and never grow`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var decoder = FrameDecoder()
        for _ in 0..<200 {
            _ = try? decoder.messages(in: random.bytes(random.below(400)), at: 0)
            #expect(decoder.bufferedBytes <= 4 * Limits.operationsMessageBytesMax)
        }
    }
}

struct `A retry schedule` {
    @Test func `doubles from a second to five minutes`() {
        var schedule = RetrySchedule()
        let longest = (0..<12).map { _ in schedule.delayAfterFailure(random: 150_000) }
        var again = RetrySchedule()
        let shortest = (0..<12).map { _ in again.delayAfterFailure(random: 0) }
        #expect(
            shortest == [
                500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 150_000, 150_000,
                150_000,
            ])
        #expect(longest.last == 300_000)
    }

    @Test(arguments: Seeds.explore(10))
    func `stays between half a step and a step for every random number`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var schedule = RetrySchedule()
        var step: UInt64 = 1_000
        for _ in 0..<40 {
            let delay = schedule.delayAfterFailure(random: random.next())
            #expect(delay >= step / 2 && delay <= step)
            step = min(step * 2, 300_000)
        }
    }

    @Test func `begins again after a success or a change of network`() {
        var schedule = RetrySchedule()
        for _ in 0..<20 { _ = schedule.delayAfterFailure(random: 0) }
        schedule.succeeded()
        #expect(schedule.delayAfterFailure(random: 0) == 500)
        #expect(schedule.networkChanged() == 0)
        #expect(schedule.delayAfterFailure(random: 0) == 500)
    }
}
