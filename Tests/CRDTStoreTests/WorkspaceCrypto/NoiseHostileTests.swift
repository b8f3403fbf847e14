import Testing
import WorkspaceModel

@testable import WorkspaceCrypto

/// Two sides of one handshake whose every byte is a function of a seed.
private struct Pair {
    let initiator, responder: HandshakeState
    let randoms: [SeededRandom]

    init(
        seed: UInt64 = 1, pattern: HandshakePattern = .xxPSK0,
        prologues: [String] = ["wsx/1", "wsx/1"], psks: [UInt8] = [1, 1]
    ) {
        let random = SeededRandom(seed: seed)
        func side(_ role: HandshakeState.Role, _ index: Int) -> HandshakeState {
            HandshakeState(
                pattern, as: role, prologue: [UInt8](prologues[index].utf8),
                staticKey: AgreementKey(using: random, lifetime: .brief),
                psks: pattern.pskCount == 0
                    ? [] : [SymmetricKey([UInt8](repeating: psks[index], count: 32))])
        }
        initiator = side(.initiator, 0)
        responder = side(.responder, 1)
        randoms = [SeededRandom(seed: seed &+ 1), SeededRandom(seed: seed &+ 2)]
    }

    /// Sends the given messages over, the last one changed by `change`, and hands on what the
    /// receiver of that one says.
    func deliver(
        _ count: Int, change: ([UInt8]) -> [UInt8] = { $0 }
    ) throws(NoiseError) -> [UInt8] {
        var payload: [UInt8] = []
        for index in 0..<count {
            let (from, to) =
                index % 2 == 0 ? (initiator, responder) : (responder, initiator)
            let message = try from.writeMessage(
                [UInt8]("payload \(index)".utf8), using: randoms[index % 2])
            payload = try to.readMessage(index == count - 1 ? change(message) : message)
        }
        return payload
    }

    func receiver(of number: Int) -> HandshakeState { number % 2 == 1 ? responder : initiator }

    func transports() throws -> (NoiseTransport, NoiseTransport) {
        _ = try deliver(3)
        return (try initiator.transport(), try responder.transport())
    }
}

/// Cases N01 to N06 of the list of hostile inputs, at the level of the handshake.
@Suite struct `A handshake under attack` {
    @Test func `works when nobody attacks`() throws {
        let pair = Pair()
        #expect(try pair.deliver(3) == [UInt8]("payload 2".utf8))
        #expect(pair.initiator.isFinished && pair.responder.isFinished)
        #expect(pair.initiator.handshakeHash == pair.responder.handshakeHash)
        #expect(pair.initiator.handshakeHash.count == 64)
    }

    @Test(arguments: 1...3)
    func `N01: refuses a message cut anywhere`(number: Int) throws {
        var byteCount = 0
        _ = try Pair().deliver(number) { message in
            byteCount = message.count
            return message
        }
        for count in 0..<byteCount {
            let pair = Pair()
            let error = #expect(throws: NoiseError.self) {
                try pair.deliver(number) { [UInt8]($0.prefix(count)) }
            }
            #expect(error == .truncated || error == .badMAC)
            if number == 1, count < 48 { #expect(error == .truncated) }
            expectDead(pair.receiver(of: number))
        }
    }

    @Test(arguments: 1...3, CryptoVectors.seeds(3))
    func `N02: refuses random bytes`(number: Int, seed: UInt64) {
        for byteCount in [96, 65_535] {
            let pair = Pair()
            let noise = SeededRandom(seed: seed).bytes(byteCount)
            #expect(throws: NoiseError.badMAC) { try pair.deliver(number) { _ in noise } }
            expectDead(pair.receiver(of: number))
        }
        #expect(throws: NoiseError.messageTooLong) {
            try Pair().deliver(number) { _ in [UInt8](repeating: 0, count: 65_536) }
        }
    }

    /// With a pre-shared key the first message is encrypted before the first agreement, so an
    /// ephemeral key of low order shows when the agreement is made: in the answer to it.
    @Test(arguments: lowOrderPublicKeys)
    func `N04: refuses a key of low order`(key: String) throws {
        let weak = CryptoVectors.hex(key)
        let open = try #require(HandshakePattern(name: "XX"))
        let asEphemeral = Pair(pattern: open)
        _ = try asEphemeral.deliver(1) { weak + $0.dropFirst(32) }
        #expect(throws: NoiseError.badKey) {
            try asEphemeral.responder.writeMessage(using: asEphemeral.randoms[1])
        }
        expectDead(asEphemeral.responder)

        let inAnswer = Pair(pattern: open)
        #expect(throws: NoiseError.badKey) {
            try inAnswer.deliver(2) { weak + $0.dropFirst(32) }
        }
        expectDead(inAnswer.initiator)

        let asStatic = HandshakeState(
            try #require(HandshakePattern(name: "IN")), as: .responder, prologue: [])
        let ephemeral = AgreementKey(using: SeededRandom(seed: 3)).publicKey
        _ = try asStatic.readMessage(ephemeral.bytes + weak)
        #expect(throws: NoiseError.badKey) {
            try asStatic.writeMessage(using: SeededRandom(seed: 4))
        }

        let asKnown = HandshakeState(
            try #require(HandshakePattern(name: "NK")), as: .initiator, prologue: [],
            remoteStatic: AgreementPublicKey(weak))
        #expect(throws: NoiseError.badKey) {
            try asKnown.writeMessage(using: SeededRandom(seed: 4))
        }
    }

    @Test(arguments: 1...3)
    func `N05: refuses a message with one bit turned over`(number: Int) throws {
        var bitCount = 0
        _ = try Pair().deliver(number) { message in
            bitCount = message.count * 8
            return message
        }
        for bit in 0..<bitCount {
            let pair = Pair()
            // In the second message a changed ephemeral key can also have become a weak one, but
            // no single bit of this one makes it so.
            #expect(throws: NoiseError.badMAC, "bit \(bit)") {
                try pair.deliver(number) { $0.flippingBit(bit) }
            }
            expectDead(pair.receiver(of: number))
        }
    }

    @Test func `N06: refuses another prologue, key or protocol name`() throws {
        #expect(throws: NoiseError.badMAC) {
            try Pair(prologues: ["wsx/1", "wsx/2"]).deliver(1)
        }
        #expect(throws: NoiseError.badMAC) { try Pair(psks: [1, 2]).deliver(1) }
        let (blake, sha) = (Pair(), HashFunction.sha512)
        let other = HandshakeState(
            .xxPSK0, hash: sha, as: .responder, prologue: [UInt8]("wsx/1".utf8),
            staticKey: AgreementKey(using: SeededRandom(seed: 9)),
            psks: [SymmetricKey([UInt8](repeating: 1, count: 32))])
        let first = try blake.initiator.writeMessage(using: blake.randoms[0])
        #expect(throws: NoiseError.badMAC) { try other.readMessage(first) }
    }

    @Test func `N09: refuses a recorded session`() throws {
        var recorded: [[UInt8]] = []
        for number in [1, 3] {
            _ = try Pair().deliver(number) { message in
                recorded.append(message)
                return message
            }
        }
        let fresh = Pair(seed: 1)
        _ = try fresh.responder.readMessage(recorded[0])
        _ = try fresh.responder.writeMessage(using: SeededRandom(seed: 99))
        #expect(throws: NoiseError.badMAC) { try fresh.responder.readMessage(recorded[1]) }
    }

    @Test func `refuses to speak out of turn`() throws {
        let pair = Pair()
        let random = SystemRandom()
        #expect(throws: NoiseError.wrongTurn) { try pair.responder.writeMessage(using: random) }
        #expect(throws: NoiseError.wrongTurn) { try pair.initiator.readMessage([1]) }
        #expect(throws: NoiseError.wrongTurn) { try pair.initiator.split() }
        _ = try pair.deliver(3)
        #expect(throws: NoiseError.wrongTurn) { try pair.initiator.writeMessage(using: random) }
        #expect(throws: NoiseError.wrongTurn) { try pair.responder.readMessage([1]) }
        _ = try pair.initiator.transport()
        #expect(throws: NoiseError.wrongTurn) { try pair.initiator.transport() }
    }

    @Test func `refuses a payload that does not fit`() throws {
        let longest = HandshakeState.messageByteCountMax - 32 - 16
        let fits = Pair()
        let message = try fits.initiator.writeMessage(
            [UInt8](repeating: 5, count: longest), using: fits.randoms[0])
        #expect(message.count == 65_535)
        #expect(try fits.responder.readMessage(message).count == longest)
        #expect(throws: NoiseError.messageTooLong) {
            try Pair().initiator.writeMessage(
                [UInt8](repeating: 5, count: longest + 1), using: SystemRandom())
        }
    }

    private func expectDead(_ side: HandshakeState) {
        #expect(throws: NoiseError.wrongTurn) { try side.readMessage([]) }
        #expect(throws: NoiseError.wrongTurn) { try side.writeMessage(using: SystemRandom()) }
        #expect(throws: NoiseError.wrongTurn) { try side.split() }
    }
}

/// Cases N10 and N11 of the list of hostile inputs.
@Suite struct `A Noise transport` {
    @Test(arguments: CryptoVectors.seeds(5))
    func `carries frames both ways in order`(seed: UInt64) throws {
        let (left, right) = try Pair(seed: seed).transports()
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
            let (left, right) = try Pair().transports()
            let frame = try left.seal([1, 2, 3, 4, 5])
            #expect(throws: NoiseError.badMAC) { try right.open(frame.flippingBit(bit)) }
            #expect(throws: NoiseError.badMAC) { try right.open(frame) }
        }
    }

    @Test(arguments: [[0, 0], [1], [0, 2], [1, 0]])
    func `N10: ends at a repeated, lost or swapped frame`(order: [Int]) throws {
        let (left, right) = try Pair().transports()
        let frames = try (0..<3).map { try left.seal([UInt8($0)]) }
        #expect(throws: NoiseError.badMAC) {
            for index in order { _ = try right.open(frames[index]) }
        }
        #expect(throws: NoiseError.badMAC) { try right.open(frames[2]) }
    }

    @Test func `N10: does not open its own frames`() throws {
        let (left, _) = try Pair().transports()
        let frame = try left.seal([1])
        #expect(throws: NoiseError.badMAC) { try left.open(frame) }
    }

    @Test func `refuses frames of a wrong length`() throws {
        for byteCount in 0..<16 {
            let (left, _) = try Pair().transports()
            let frame = [UInt8](repeating: 0, count: byteCount)
            #expect(throws: NoiseError.truncated) { try left.open(frame) }
        }
        let (left, right) = try Pair().transports()
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
        let (left, right) = try Pair().transports()
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
            _ = try? Pair().deliver(3)
        }
    }
}
