import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

struct `A hostile handshake` {
    /// The parts of one honest handshake, and the sides that made it.
    struct Recording {
        let first: [UInt8]
        let second: [UInt8]
        let third: [UInt8]
    }

    static func recording(seed: UInt64) throws -> Recording {
        let link = try InMemoryLink(seed: seed)
        let first = link.dialler.outbox
        link.dialler.outbox = []
        link.give(first, to: \.answerer)
        let second = link.answerer.outbox
        link.answerer.outbox = []
        link.give(second, to: \.dialler)
        return Recording(first: first, second: second, third: link.dialler.outbox)
    }

    static func answerer(
        seed: UInt64 = 1
    ) -> PeerSession {
        let random = SeededRandom(seed: seed)
        return PeerSession.answering(
            as: InMemoryLink.identity(random),
            candidates: [PSKCandidate(InMemoryLink.label, psk: InMemoryLink.psk)], now: 0,
            wallMilliseconds: InMemoryLink.wall, using: random)
    }

    /// A right hint and length before any message that begins with `ephemeral`.
    static func dressed(_ message: [UInt8]) -> [UInt8] {
        let candidate = PSKCandidate(InMemoryLink.label, psk: InMemoryLink.psk)
        return candidate.hint(of: PSKCandidate.hintInput(ephemeral: message.prefix(32)))
            + [UInt8(message.count >> 8), UInt8(message.count & 255)] + message
    }

    @Test(arguments: [0, 1, 31])
    func `is too short when it ends before message 1 does (N01)`(count: Int) {
        let session = Self.answerer()
        let message = [UInt8](repeating: 9, count: 48)
        var effects = session.received(Array(Self.dressed(message).prefix(18 + count)), now: 1)
        effects += session.endOfStream(now: 2)
        #expect(effects == [.close(.short)])
    }

    @Test(arguments: [1, 31, 47])
    func `is too short when message 1 says so itself (N01)`(count: Int) {
        let effects = Self.answerer().received(
            Self.dressed([UInt8](repeating: 9, count: count)), now: 1)
        #expect(effects == [.close(.short)])
    }

    @Test func `of random bytes hears nothing (N02)`() {
        var random = SeededGenerator(seed: 2)
        let noise = [UInt8](repeating: 0, count: 16) + [0xff, 0xff] + random.bytes(65_535)
        #expect(Self.answerer().received(noise, now: 1) == [.close(.unknownHint)])
        let hinted = Self.dressed(random.bytes(65_535))
        #expect(Self.answerer().received(hinted, now: 1) == [.close(.bad)])
        let sized = Self.dressed(random.bytes(48))
        #expect(Self.answerer().received(sized, now: 1) == [.close(.badHandshakeMAC)])
    }

    @Test func `of random bytes is refused as message 2 and 3 too (N02)`() throws {
        var random = SeededGenerator(seed: 3)
        let noise = [0xff, 0xff] + random.bytes(65_535)
        let dialler = try InMemoryLink(seed: 3)
        dialler.give(noise, to: \.dialler)
        #expect(dialler.dialler.ending == .badHandshakeMAC)
        #expect(dialler.dialler.written.count == 66)

        let answerer = try InMemoryLink(seed: 4)
        let first = answerer.dialler.outbox
        answerer.give(first, to: \.answerer)
        let written = answerer.answerer.written.count
        answerer.give(noise, to: \.answerer)
        #expect(answerer.answerer.ending == .badHandshakeMAC)
        #expect(answerer.answerer.written.count == written)
    }

    @Test func `with length 0 is refused, with silence after 65 535 it times out (N03)`() {
        let empty = [UInt8](repeating: 1, count: 16) + [0, 0]
        #expect(Self.answerer().received(empty, now: 1) == [.close(.badLength)])
        let session = Self.answerer()
        let silent = [UInt8](repeating: 1, count: 16) + [0xff, 0xff, 1]
        #expect(session.received(silent, now: 1) == [])
        #expect(session.tick(now: 4_999) == [])
        #expect(session.tick(now: 5_000) == [.close(.handshakeTimeout)])
    }

    @Test func `that drips bytes is closed at five seconds even before a timer fires (N14)`() {
        let session = Self.answerer()
        #expect(session.received([1], now: 2_000) == [])
        #expect(session.received([1], now: 4_000) == [])
        #expect(session.received([1], now: 6_000) == [.close(.handshakeTimeout)])
    }

    /// Points of small order on Curve25519 and its twist, and encodings of them above the prime.
    static let weakKeys: [[UInt8]] = {
        let prime = [UInt8]([0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f])
        func changed(_ first: UInt8, _ last: UInt8 = 0x7f) -> [UInt8] {
            var key = prime
            key[0] = first
            key[31] = last
            return key
        }
        let zero = [UInt8](repeating: 0, count: 32)
        var one = zero
        one[0] = 1
        let order8a: [UInt8] = [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f,
            0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16,
            0x5f, 0x49, 0xb8, 0x00,
        ]
        let order8b: [UInt8] = [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83,
            0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd,
            0xd0, 0x9f, 0x11, 0x57,
        ]
        return [zero, one, order8a, order8b, changed(0xec), changed(0xed), changed(0xee)]
    }()

    @Test(arguments: weakKeys)
    func `with an ephemeral key of low order is refused (N04)`(key: [UInt8]) throws {
        // Made as an initiator would make it, so that only the key itself is wrong.
        let message = try FirstMessage.make(ephemeral: key)
        let session = Self.answerer()
        #expect(session.received(Self.dressed(message), now: 1) == [.wantsAgreement])
        #expect(session.agreementGranted(now: 1) == [.close(.badKey)])
    }

    @Test(arguments: 0..<3)
    func `with one flipped bit anywhere leads nowhere (N05)`(message: Int) throws {
        let honest = try Self.recording(seed: 5)
        let length = [honest.first, honest.second, honest.third][message].count
        for position in 0..<length {
            // The top bit too: X25519 ignores it at the end of a key, the transcript does not.
            for bit in Set([position % 8, 7]) {
                try Self.flip(InMemoryLink(seed: 5), message: message, at: position, bit: bit)
            }
        }
    }

    /// Runs a handshake in which one bit of one message is changed on its way.
    static func flip(_ link: InMemoryLink, message: Int, at position: Int, bit: Int) throws {
        var first = link.dialler.outbox
        if message == 0 { first[position] ^= 1 << UInt8(bit) }
        link.dialler.outbox = []
        link.give(first, to: \.answerer)
        var second = link.answerer.outbox
        if message == 1 { second[position] ^= 1 << UInt8(bit) }
        link.answerer.outbox = []
        link.give(second, to: \.dialler)
        var third = link.dialler.outbox
        if message == 2 { third[position] ^= 1 << UInt8(bit) }
        link.give(third, to: \.answerer)
        link.tick(to: link.now + 5_000)
        #expect(link.answerer.identity == nil, "message \(message) byte \(position) bit \(bit)")
        #expect(link.answerer.ending != nil)
        if message < 2 { #expect(link.dialler.identity == nil) }
        let expected: Set = [
            "handshake.unknown", "handshake.bad_mac", "handshake.timeout", "handshake.bad_key",
            "handshake.short", "handshake.bad", "frame.bad_length",
        ]
        #expect(expected.contains(link.answerer.ending?.word ?? ""))
    }

    @Test func `under another secret is not known and not answered`() throws {
        let link = try InMemoryLink(
            seed: 6, answererPSKs: [SymmetricKey([UInt8](repeating: 8, count: 32))])
        link.run()
        #expect(link.answerer.ending == .unknownHint)
        #expect(link.answerer.written.isEmpty)
    }

    @Test func `with another prologue fails (N06)`() throws {
        let message = try FirstMessage.make(prologue: "wsx/2")
        #expect(
            Self.answerer().received(Self.dressed(message), now: 1)
                == [.close(.badHandshakeMAC)])
    }

    @Test(arguments: [(1, 1), (2, 2), (4, 5), (0, 0), (4, 1)] as [(UInt64, UInt64)])
    func `without a common version names both (N06)`(versions: (UInt64, UInt64)) throws {
        let random = SeededRandom(seed: 7)
        var payload = HandshakePayload(InMemoryLink.identity(random), wallMilliseconds: 0)
        payload.versionMin = versions.0
        payload.versionMax = versions.1
        let ending = try ByHand.endingAfterThird(payload: payload.encoded, random: random)
        #expect(ending?.word == "handshake.version")
        #expect(ending?.detail == "we speak 3 to 3, they \(versions.0) to \(versions.1)")
    }

    @Test func `with somebody else's certificate binds nobody (N08)`() throws {
        let random = SeededRandom(seed: 8)
        let other = HandshakePayload(InMemoryLink.identity(random), wallMilliseconds: 0)
        let ending = try ByHand.endingAfterThird(payload: other.encoded, random: random)
        #expect(ending == .unbound)
        var empty = other
        empty.certificate = Signature([UInt8](repeating: 0, count: 64))
        #expect(try ByHand.endingAfterThird(payload: empty.encoded, random: random) == .unbound)
    }

    @Test(arguments: [[], [0xa0], [UInt8](repeating: 0xff, count: 100)] as [[UInt8]])
    func `with a payload that is none is bad`(payload: [UInt8]) throws {
        let random = SeededRandom(seed: 9)
        #expect(try ByHand.endingAfterThird(payload: payload, random: random) == .bad)
    }

    @Test func `that was recorded and is replayed whole brings nothing (N09)`() throws {
        let link = try InMemoryLink(seed: 10)
        link.run()
        link.send([.error(code: "secret", retryAfterMilliseconds: 0)], from: \.dialler)
        link.run()
        #expect(link.answerer.messages.count == 1)

        let fresh = try InMemoryLink(seed: 11)
        fresh.give(link.dialler.written, to: \.answerer)
        #expect(fresh.answerer.identity == nil)
        #expect(fresh.answerer.messages.isEmpty)
        // More bytes before the answer went out, or a third message for another session.
        let endings: [LinkEnding?] = [.bad, .badHandshakeMAC]
        #expect(endings.contains(fresh.answerer.ending))
    }

    @Test func `with its own node is dropped`() throws {
        let random = SeededRandom(seed: 12)
        let me = InMemoryLink.identity(random)
        let link = try InMemoryLink(seed: 12, dialler: me, answerer: me)
        link.run()
        #expect(link.dialler.ending == .ourselves)
        #expect(link.dialler.identity == nil && link.answerer.identity == nil)
    }
}

/// An initiator that lies in its third message.
enum ByHand {
    /// What an honest third message carries.
    static func payload(_ identity: LocalIdentity) -> [UInt8] {
        HandshakePayload(identity, wallMilliseconds: InMemoryLink.wall).encoded
    }

    static func endingAfterThird(
        payload: [UInt8], random: SeededRandom
    ) throws -> LinkEnding? {
        let session = PeerSession.answering(
            as: InMemoryLink.identity(random),
            candidates: [PSKCandidate(InMemoryLink.label, psk: InMemoryLink.psk)], now: 0,
            wallMilliseconds: InMemoryLink.wall, using: random)
        let noise = HandshakeState(
            .xxPSK0, as: .initiator, prologue: Array("wsx/1".utf8),
            staticKey: AgreementKey(using: random), psks: [InMemoryLink.psk])
        let first = try noise.writeMessage(using: random)
        _ = session.received(`A hostile handshake`.dressed(first), now: 1)
        guard case .write(let second) = session.agreementGranted(now: 1).first else { return nil }
        _ = try noise.readMessage(Array(second.dropFirst(2)))
        let third = try noise.writeMessage(payload, using: random)
        let length = [UInt8(third.count >> 8), UInt8(third.count & 255)]
        guard case .close(let ending) = session.received(length + third, now: 1).last else {
            return nil
        }
        return ending
    }
}

/// The first message of an initiator with a chosen ephemeral public key, computed from the
/// specification's own objects: no secret key leads to a weak public one.
enum FirstMessage {
    static func make(
        ephemeral: [UInt8] = [UInt8](repeating: 9, count: 32), prologue: String = "wsx/1"
    ) throws -> [UInt8] {
        var symmetric = SymmetricState(
            protocolName: "Noise_XXpsk0_25519_ChaChaPoly_BLAKE2b", hash: .blake2b)
        symmetric.mixHash(Array(prologue.utf8))
        symmetric.mixKeyAndHash(InMemoryLink.psk.exposedCopy())
        symmetric.mixHash(ephemeral)
        symmetric.mixKey(ephemeral)
        return try ephemeral + symmetric.encryptAndHash([])
    }
}
