import Foundation
import PeerNode
import Testing
import WorkspaceTestKit

struct `A stream link` {
    private let buffer = ReadBuffer()

    @Test func `carries bytes both ways and tells each end's address`() throws {
        let (left, right) = try makeLinks()
        for (sender, receiver) in [(left, right), (right, left)] {
            sender.write([1, 2, 3], now: 0)
            #expect(sender.flush(now: 0) == nil)
            var patience = try Patience()
            try patience.wait(for: receiver.descriptor)
            let received = receiver.receive(byteCountMax: 100, into: buffer)
            #expect(received == StreamLink.Received(bytes: [1, 2, 3], end: nil))
            #expect(sender.remoteAddress == receiver.localAddress)
        }
        #expect(left.receive(byteCountMax: 100, into: buffer) == StreamLink.Received())
    }

    @Test func `reads no more than its budget and leaves the rest ready`() throws {
        let (left, right) = try makeLinks()
        left.write(Array(0..<100), now: 0)
        left.finishWriting(now: 0)
        var bytes: [UInt8] = []
        var patience = try Patience()
        var end: StreamLink.End?
        while end == nil {
            try patience.wait(for: right.descriptor)
            let received = right.receive(byteCountMax: 7, into: buffer)
            #expect(received.bytes.count <= 7)
            bytes += received.bytes
            end = received.end
        }
        #expect(bytes == Array(0..<100))
        #expect(end == .finished)
    }

    @Test func `delivers half a frame before FIN, and goes on sending after it`() throws {
        let (left, right) = try makeLinks()
        left.write([0, 9, 1], now: 0)
        left.finishWriting(now: 0)
        let received = try right.receiveAll(buffer)
        #expect(received == StreamLink.Received(bytes: [0, 9, 1], end: .finished))
        // Without this a half-closed link would always be reported as readable.
        #expect(right.interest == [])

        right.write([5], now: 0)
        #expect(right.flush(now: 0) == nil)
        right.finishWriting(now: 0)
        #expect(try left.receiveAll(buffer).bytes == [5])
    }

    @Test func `tells a reset in the middle of a frame, and then takes nothing more`() throws {
        let listener = try TCPListener(anyLoopbackPort)
        var left: TCPLink? = try dialedLink(listener.address)
        let right = try #require(try acceptLinks(1, from: listener).first)
        left?.write([0, 9, 1], now: 0)
        left?.flush(now: 0)
        left?.abandon()
        left = nil
        let end = try #require(try right.receiveAll(buffer).end)
        guard case .failed(let error) = end else {
            Issue.record("ended with \(end)")
            return
        }
        #expect(error.number == ECONNRESET)
        #expect(right.write([1], now: 0) == 0)
        #expect(right.flush(now: 0) == end)
        #expect(right.interest == [])
    }

    @Test func `keeps what a reader does not take, and knows since when`() throws {
        let (left, right) = try makeLinks()
        let bytes = [UInt8](repeating: 7, count: 64 << 20)
        #expect(left.write(bytes, now: 5) == bytes.count)
        #expect(left.stalledSince == 5)
        #expect(left.flush(now: 6) == nil)
        #expect(left.unsentByteCount > 0)
        #expect(left.unsentByteCount < bytes.count)
        #expect(left.interest == [.readable, .writable])
        #expect(left.stalledSince == 6)

        var patience = try Patience()
        var count = 0
        while count < bytes.count {
            try patience.wait(for: right.descriptor)
            count += right.receive(byteCountMax: 1 << 20, into: buffer).bytes.count
            left.flush(now: 7)
        }
        #expect(count == bytes.count)
        #expect(left.unsentByteCount == 0)
        #expect(left.stalledSince == nil)
        #expect(left.interest == [.readable])
    }

    @Test func `hands the kernel little more than the other side has room for`() throws {
        let (left, right) = try makeLinks()
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        // What was dialled and what was accepted: neither reads.
        for sender in [left, right] {
            sender.write(bytes, now: 0)
            #expect(sender.flush(now: 0) == nil)
            // 128 KiB, and what a reader has room for who has not read yet.
            #expect(sender.unsentByteCount > bytes.count - (1 << 20))
        }
    }

    @Test func `reads much in few calls, in order and within its budget`() throws {
        let (left, right) = try makeLinks()
        let sent = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var patience = try Patience()
        let small = ReadBuffer(byteCount: 16)
        left.write(sent, now: 0)
        var received: [UInt8] = []
        while received.count < sent.count {
            left.flush(now: 0)
            try patience.wait(for: right.descriptor)
            let budget = 1 + received.count % 333
            let part = right.receive(byteCountMax: budget, into: small)
            #expect(part.end == nil && part.bytes.count <= budget)
            received += part.bytes
        }
        #expect(received == sent)
        left.finishWriting(now: 0)
        try patience.wait(for: right.descriptor)
        #expect(right.receive(byteCountMax: 100, into: small).end == .finished)
    }

    @Test func `asks for no bytes while reading is paused`() throws {
        let (left, _) = try makeLinks()
        left.isReadingPaused = true
        #expect(left.interest == [])
        left.isReadingPaused = false
        #expect(left.interest == [.readable])
    }

    @Test func `takes nothing more once it was told to finish`() throws {
        let (left, right) = try makeLinks()
        left.write([1], now: 0)
        left.finishWriting(now: 0)
        #expect(left.write([2], now: 0) == 0)
        #expect(try right.receiveAll(buffer).bytes == [1])
    }

    @Test(arguments: Seeds.explore(20))
    func `delivers the same bytes however they are cut`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (left, right) = try makeLinks()
        var (sent, received): ([UInt8], [UInt8]) = ([], [])
        var end: StreamLink.End?
        var patience = try Patience()
        for step in 0..<200 {
            let count = Int.random(
                in: 0..<(1 << Int.random(in: 0..<18, using: &random)), using: &random)
            let piece = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ step) }
            sent += piece
            left.write(piece, now: 0)
            if Bool.random(using: &random) { left.flush(now: 0) }
            let budget = Int.random(in: 1..<200_000, using: &random)
            received += right.receive(byteCountMax: budget, into: buffer).bytes
            #expect(left.unsentByteCount <= sent.count - received.count, "WSX_SEED=\(seed)")
        }
        left.finishWriting(now: 0)
        while end == nil {
            try patience.wait(for: right.descriptor)
            let last = right.receive(byteCountMax: 50_000, into: buffer)
            received += last.bytes
            end = last.end
            left.flush(now: 0)
        }
        #expect(received == sent, "WSX_SEED=\(seed)")
    }
}
