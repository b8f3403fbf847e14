import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

/// Cases N01 to N06 of the list of hostile inputs, at the level of the handshake.
struct `A handshake under attack` {
    @Test func `works when nobody attacks`() throws {
        let pair = NoisePair()
        #expect(try pair.deliver(3) == [UInt8]("payload 2".utf8))
        #expect(pair.initiator.isFinished && pair.responder.isFinished)
        #expect(pair.initiator.handshakeHash == pair.responder.handshakeHash)
        #expect(pair.initiator.handshakeHash.count == 64)
    }

    @Test(arguments: 1...3)
    func `N01: refuses a message cut anywhere`(number: Int) throws {
        var byteCount = 0
        _ = try NoisePair().deliver(number) { message in
            byteCount = message.count
            return message
        }
        for count in 0..<byteCount {
            let pair = NoisePair()
            let error = #expect(throws: NoiseError.self) {
                try pair.deliver(number) { [UInt8]($0.prefix(count)) }
            }
            #expect(error == .truncated || error == .badMAC)
            if number == 1, count < 48 { #expect(error == .truncated) }
            expectDead(pair.receiver(of: number))
        }
    }

    @Test(arguments: 1...3, Seeds.explore(3))
    func `N02: refuses random bytes`(number: Int, seed: UInt64) {
        for byteCount in [96, 65_535] {
            let pair = NoisePair()
            let noise = SeededRandom(seed: seed).bytes(byteCount)
            #expect(throws: NoiseError.badMAC) { try pair.deliver(number) { _ in noise } }
            expectDead(pair.receiver(of: number))
        }
        #expect(throws: NoiseError.messageTooLong) {
            try NoisePair().deliver(number) { _ in [UInt8](repeating: 0, count: 65_536) }
        }
    }

    /// With a pre-shared key the first message is encrypted before the first agreement, so an
    /// ephemeral key of low order shows when the agreement is made: in the answer to it.
    @Test(arguments: lowOrderPublicKeys)
    func `N04: refuses a key of low order`(key: String) throws {
        let weak = CryptoVectors.hex(key)
        let open = try #require(HandshakePattern(name: "XX"))
        let asEphemeral = NoisePair(pattern: open)
        _ = try asEphemeral.deliver(1) { weak + $0.dropFirst(32) }
        #expect(throws: NoiseError.badKey) {
            try asEphemeral.responder.writeMessage(using: asEphemeral.randoms[1])
        }
        expectDead(asEphemeral.responder)

        let inAnswer = NoisePair(pattern: open)
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
        _ = try NoisePair().deliver(number) { message in
            bitCount = message.count * 8
            return message
        }
        for bit in 0..<bitCount {
            let pair = NoisePair()
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
            try NoisePair(prologues: ["wsx/1", "wsx/2"]).deliver(1)
        }
        #expect(throws: NoiseError.badMAC) { try NoisePair(psks: [1, 2]).deliver(1) }
        let (blake, sha) = (NoisePair(), HashFunction.sha512)
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
            _ = try NoisePair().deliver(number) { message in
                recorded.append(message)
                return message
            }
        }
        let fresh = NoisePair(seed: 1)
        _ = try fresh.responder.readMessage(recorded[0])
        _ = try fresh.responder.writeMessage(using: SeededRandom(seed: 99))
        #expect(throws: NoiseError.badMAC) { try fresh.responder.readMessage(recorded[1]) }
    }

    @Test func `refuses to speak out of turn`() throws {
        let pair = NoisePair()
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
        let fits = NoisePair()
        let message = try fits.initiator.writeMessage(
            [UInt8](repeating: 5, count: longest), using: fits.randoms[0])
        #expect(message.count == 65_535)
        #expect(try fits.responder.readMessage(message).count == longest)
        #expect(throws: NoiseError.messageTooLong) {
            try NoisePair().initiator.writeMessage(
                [UInt8](repeating: 5, count: longest + 1), using: SystemRandom())
        }
    }

    private func expectDead(_ side: HandshakeState) {
        #expect(throws: NoiseError.wrongTurn) { try side.readMessage([]) }
        #expect(throws: NoiseError.wrongTurn) { try side.writeMessage(using: SystemRandom()) }
        #expect(throws: NoiseError.wrongTurn) { try side.split() }
    }
}
