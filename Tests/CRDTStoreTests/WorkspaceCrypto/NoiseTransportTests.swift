import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import WorkspaceCrypto

/// Cases N10 and N11 of the list of hostile inputs.
struct `A Noise transport` {
    @Test(arguments: Seeds.explore(5))
    func `carries frames both ways in order`(seed: UInt64) throws {
        let (left, right) = try NoisePair(seed: seed).transports()
        let random = SeededRandom(seed: seed)
        for byteCount in [0, 1, 15, 16, 17, 1_000, NoiseTransport.plaintextByteCountMax] {
            let frame = random.bytes(byteCount)
            var buffer: [UInt8] = [9, 9]
            try left.seal(frame, appendingTo: &buffer)
            #expect(buffer.count == 2 + byteCount + CipherState.tagByteCount)
            #expect(buffer.starts(with: [9, 9]))
            #expect(try right.open(buffer[2...]) == frame)
            #expect(try left.open(right.seal(frame)) == frame)
        }
    }

    @Test func `N10: ends at a frame with one bit turned over`() throws {
        for bit in 0..<(5 + 16) * 8 {
            let (left, right) = try NoisePair().transports()
            let frame = try left.seal([1, 2, 3, 4, 5])
            #expect(throws: NoiseError.badMAC) { try right.open(frame.flippingBit(bit)) }
            #expect(throws: NoiseError.badMAC) { try right.open(frame) }
        }
    }

    @Test(arguments: [[0, 0], [1], [0, 2], [1, 0]])
    func `N10: ends at a repeated, lost or swapped frame`(order: [Int]) throws {
        let (left, right) = try NoisePair().transports()
        let frames = try (0..<3).map { try left.seal([UInt8($0)]) }
        #expect(throws: NoiseError.badMAC) {
            for index in order { _ = try right.open(frames[index]) }
        }
        #expect(throws: NoiseError.badMAC) { try right.open(frames[2]) }
    }

    @Test func `N10: does not open its own frames`() throws {
        let (left, _) = try NoisePair().transports()
        let frame = try left.seal([1])
        #expect(throws: NoiseError.badMAC) { try left.open(frame) }
    }

    @Test func `refuses frames of a wrong length`() throws {
        for byteCount in 0..<16 {
            let (left, _) = try NoisePair().transports()
            let frame = [UInt8](repeating: 0, count: byteCount)
            #expect(throws: NoiseError.truncated) { try left.open(frame) }
        }
        let (left, right) = try NoisePair().transports()
        #expect(throws: NoiseError.messageTooLong) {
            try left.open([UInt8](repeating: 0, count: 65_536))
        }
        var buffer: [UInt8] = [7]
        #expect(throws: NoiseError.messageTooLong) {
            try right.seal([UInt8](repeating: 0, count: 65_520), appendingTo: &buffer)
        }
        #expect(buffer == [7])
    }

    @Test func `N11: never uses its last nonce`() throws {
        let key = SymmetricKey([UInt8](repeating: 3, count: 32))
        let (sending, receiving) = (CipherState(key), CipherState(key))
        sending.setCounterForTest(.max - 1)
        receiving.setCounterForTest(.max - 1)
        let last = try sending.encrypt([1])
        #expect(try receiving.decrypt(last[...]) == [1])
        for _ in 0..<3 {
            #expect(throws: NoiseError.exhausted) { try sending.encrypt([1]) }
            #expect(throws: NoiseError.exhausted) { try receiving.decrypt(last[...]) }
        }
    }

    @Test func `passes bytes on unchanged before there is a key`() throws {
        let cipher = CipherState(nil)
        #expect(!cipher.hasKey)
        #expect(try cipher.encrypt([1, 2]) == [1, 2])
        #expect(try cipher.decrypt([1, 2][...]) == [1, 2])
    }

    @Test func `takes this long`() throws {
        let (left, right) = try NoisePair().transports()
        for byteCount in [100, 65_519] {
            let frame = SystemRandom().bytes(byteCount)
            var buffer: [UInt8] = []
            CryptoVectors.printTime("sealing a frame", runs: 2_000, bytes: byteCount) {
                buffer.removeAll(keepingCapacity: true)
                try? left.seal(frame, appendingTo: &buffer)
            }
            var sealed: [[UInt8]] = []
            for _ in 0..<2_000 { sealed.append(try right.seal(frame)) }
            var next = 0
            CryptoVectors.printTime("opening a frame", runs: 1_999, bytes: byteCount) {
                _ = try? left.open(sealed[next])
                next += 1
            }
        }
        CryptoVectors.printTime("a whole handshake, both sides", runs: 50, bytes: 0) {
            _ = try? NoisePair().deliver(3)
        }
    }
}
