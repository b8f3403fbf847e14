import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

/// Each bound of the framing, reached exactly and exceeded by one.
struct `The bounds of frames` {
    private func fragment(_ head: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [head, UInt8(contents.count >> 8), UInt8(contents.count & 255)] + contents
    }

    @Test func `a fragment has 1 to 16 384 bytes`() throws {
        for (count, isTaken) in [(0, false), (1, true), (16_384, true), (16_385, false)] {
            var decoder = FrameDecoder()
            let bytes = fragment(0x04, [UInt8](repeating: 0x15, count: count))
            let messages = try? decoder.messages(in: bytes, at: 0)
            #expect((messages != nil) == isTaken, "\(count)")
            if isTaken { #expect(messages?.first?.bytes.count == count) }
        }
    }

    @Test func `a head has three bits and no more`() {
        for head in UInt8.min...UInt8.max {
            var decoder = FrameDecoder()
            let messages = try? decoder.messages(in: fragment(head, [0x30]), at: 0)
            #expect((messages != nil) == (head < 8), "\(head)")
            if head & 4 != 0, head < 8 {
                #expect(messages?.map(\.messageClass.rawValue) == [head & 3])
            }
        }
    }

    @Test(
        arguments: [
            (0x12, Limits.messageBytesMax), (0x13, Limits.messageBytesMax),
            (0x15, Limits.operationsMessageBytesMax), (0x80, Limits.blobMessageBytesMax),
            (0xFF, Limits.messageBytesMax),
        ] as [(UInt8, Int)])
    func `a message has as many bytes as its type may`(_ type: UInt8, _ limit: Int) throws {
        for (count, isTaken) in [(limit, true), (limit + 1, false)] {
            var scheduler = FrameScheduler()
            var decoder = FrameDecoder()
            scheduler.enqueue([UInt8](repeating: type, count: count), in: .bulk)
            var received: [Int] = []
            var violation: SyncViolation?
            while violation == nil, let frame = scheduler.nextFrame() {
                do throws(SyncViolation) {
                    received += try decoder.messages(in: frame, at: 0).map(\.bytes.count)
                } catch { violation = error }
            }
            #expect(received == (isTaken ? [count] : []))
            #expect(violation == (isTaken ? nil : .messageTooLarge))
        }
    }

    @Test func `what is unfinished of all classes has a bound of its own`() throws {
        let piece = [UInt8](repeating: 0x15, count: 16_384)
        var decoder = FrameDecoder()
        var count = 0
        // No class has as much as it may.
        while count < Limits.unfinishedPerLinkBytesMax {
            _ = try decoder.messages(in: fragment(UInt8(count / 16_384 % 4), piece), at: 5)
            count += piece.count
        }
        #expect(decoder.bufferedBytes == Limits.unfinishedPerLinkBytesMax)
        #expect(throws: SyncViolation.messageTooLarge) {
            try decoder.messages(in: fragment(0, [1]), at: 5)
        }
    }

    @Test(arguments: [0x15, 0x83, 0x12] as [UInt8])
    func `an unfinished message takes four times the memory of what has come, at most`(
        _ type: UInt8
    ) throws {
        var decoder = FrameDecoder()
        var count = 0
        while count + 999 < SyncMessage.bytesMax(type: type) {
            _ = try decoder.messages(
                in: fragment(1, [UInt8](repeating: type, count: 999)), at: 0)
            count += 999
            // An allocator rounds up.
            #expect(decoder.allocatedBytes <= 4 * count + 4_096)
        }
    }

    @Test func `the oldest of what is unfinished says since when`() throws {
        var decoder = FrameDecoder()
        #expect(decoder.unfinishedSince == nil)
        _ = try decoder.messages(in: fragment(2, [0x12, 1]), at: 10)
        _ = try decoder.messages(in: fragment(1, [0x12, 1]), at: 20)
        _ = try decoder.messages(in: fragment(2, [2]), at: 30)
        #expect(decoder.unfinishedSince == 10)
        _ = try decoder.messages(in: fragment(6, [3]), at: 40)
        #expect(decoder.unfinishedSince == 20)
        _ = try decoder.messages(in: fragment(5, [3]), at: 50)
        #expect(decoder.unfinishedSince == nil)
    }

    /// The first byte of the message decides, not the first byte of the last fragment.
    @Test func `a message cannot change its type half way`() throws {
        var decoder = FrameDecoder()
        let piece = [UInt8](repeating: 0x15, count: 16_384)
        _ = try decoder.messages(in: fragment(0x02, [0x12] + piece.dropLast()), at: 0)
        for _ in 1..<16 { _ = try decoder.messages(in: fragment(0x02, piece), at: 0) }
        #expect(decoder.bufferedBytes == Limits.messageBytesMax)
        #expect(throws: SyncViolation.messageTooLarge) {
            try decoder.messages(in: fragment(0x06, [0x15]), at: 0)
        }
    }

    @Test func `messages of four classes interleave without touching each other`() throws {
        var decoder = FrameDecoder()
        var frame: [UInt8] = []
        for round in 0..<3 {
            for messageClass in MessageClass.allCases {
                let isLast = round == 2
                let head = messageClass.rawValue | (isLast ? 0x04 : 0)
                frame += fragment(head, [messageClass.rawValue + 0x10, UInt8(round)])
            }
        }
        let messages = try decoder.messages(in: frame, at: 0)
        #expect(messages.map(\.messageClass) == MessageClass.allCases)
        for message in messages {
            let byte = message.messageClass.rawValue + 0x10
            #expect(message.bytes == [byte, 0, byte, 1, byte, 2])
        }
        #expect(decoder.bufferedBytes == 0)
    }

    @Test(arguments: [4, 5, 100, 515, 516, 16_386, 16_387, 16_388, 65_518, 65_519, 1_000_000])
    func `a frame is never larger than asked for`(_ limit: Int) throws {
        var scheduler = FrameScheduler()
        var decoder = FrameDecoder()
        let message = [UInt8](repeating: 0x15, count: 40_000)
        scheduler.enqueue(message, in: .bulk)
        scheduler.enqueue([0x30, 1, 2], in: .control)
        var received: [[UInt8]] = []
        while let frame = scheduler.nextFrame(maxPlaintext: limit) {
            #expect(frame.count <= min(limit, Frame.plaintextBytesMax))
            #expect(!frame.isEmpty)
            received += try decoder.messages(in: frame, at: 0).map(\.bytes)
        }
        #expect(received == [[0x30, 1, 2], message])
    }

    @Test func `what is unsent is counted to the byte, by kind`() {
        var scheduler = FrameScheduler()
        #expect(scheduler.isEmpty && scheduler.nextFrame() == nil)
        scheduler.enqueue([UInt8](repeating: 1, count: 100), in: .live, isUnasked: true)
        scheduler.enqueue([UInt8](repeating: 2, count: 50), in: .bulk)
        #expect(scheduler.unsentBytes == 150 && scheduler.unaskedUnsentBytes == 100)
        _ = scheduler.nextFrame(maxPlaintext: 43)
        #expect(scheduler.unsentBytes == 110 && scheduler.unaskedUnsentBytes == 60)
        _ = scheduler.nextFrame(maxPlaintext: 63)
        #expect(scheduler.unsentBytes == 50 && scheduler.unaskedUnsentBytes == 0)
        _ = scheduler.nextFrame()
        #expect(scheduler.isEmpty && scheduler.unsentBytes == 0)
    }

    /// Its list of what is sent is tidied up now and then, which nobody may notice.
    @Test(arguments: Seeds.explore(5))
    func `a thousand small messages stay in order`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var scheduler = FrameScheduler()
        var decoder = FrameDecoder()
        var received: [UInt16] = []
        var sent: UInt16 = 0
        while received.count < 1_000 {
            if sent < 1_000, random.below(5) < 3 {
                scheduler.enqueue([UInt8(sent >> 8), UInt8(sent & 255)], in: .live)
                sent += 1
            } else if let frame = scheduler.nextFrame(maxPlaintext: 8 + random.below(60)) {
                for message in try decoder.messages(in: frame, at: 0) {
                    received.append(UInt16(message.bytes[0]) << 8 | UInt16(message.bytes[1]))
                }
            }
        }
        #expect(received == (0..<1_000).map { UInt16($0) }, "WSX_SEED=\(seed)")
        #expect(scheduler.isEmpty)
    }
}
