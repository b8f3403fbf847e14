import PeerNode
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `A hostile frame` {
    /// How the frames of two messages are spoiled on their way.
    enum Damage: String, CaseIterable, Sendable {
        case flipped, dropped, doubled, swapped
    }

    static func framesOfTwoMessages(_ link: InMemoryLink) -> [[UInt8]] {
        ["one", "two"].map { text in
            link.send([.error(code: text, retryAfterMilliseconds: 0)], from: \.dialler)
            defer { link.dialler.outbox = [] }
            return link.dialler.outbox
        }
    }

    @Test(arguments: Damage.allCases)
    func `ends the link, and nothing behind it is read (N10)`(damage: Damage) throws {
        let link = try InMemoryLink(seed: 1)
        link.run()
        var frames = Self.framesOfTwoMessages(link)
        switch damage {
        case .flipped: frames[0][5] ^= 1
        case .dropped: frames.removeFirst()
        case .doubled: frames.insert(frames[0], at: 0)
        case .swapped: frames.swapAt(0, 1)
        }
        for frame in frames { link.give(frame, to: \.answerer) }
        #expect(link.answerer.ending == .badFrameMAC)
        #expect(link.answerer.messages.count == (damage == .doubled ? 1 : 0))
        // The violator gets no answer.
        #expect(link.answerer.outbox.isEmpty)
    }

    @Test func `flipped at any byte is never read`() throws {
        let length = Self.framesOfTwoMessages(try established(seed: 2))[0].count
        for position in 2..<length {
            let link = try established(seed: 2)
            var frame = Self.framesOfTwoMessages(link)[0]
            frame[position] ^= 0x10
            link.give(frame, to: \.answerer)
            #expect(link.answerer.ending == .badFrameMAC)
            #expect(link.answerer.messages.isEmpty)
        }
    }

    func established(seed: UInt64) throws -> InMemoryLink {
        let link = try InMemoryLink(seed: seed)
        link.run()
        return link
    }

    @Test(arguments: [0, 1, 15, 16, 19])
    func `too short to say anything closes at its length (N12)`(length: UInt8) throws {
        let link = try established(seed: 3)
        link.perform(link.answerer.session.received([0, length], now: link.now), \.answerer)
        #expect(link.answerer.ending == .badLength)
    }

    @Test func `cut off by the end of the stream is dropped (N17)`() throws {
        let link = try established(seed: 4)
        let frame = Self.framesOfTwoMessages(link)[0]
        link.give(Array(frame.dropLast()), to: \.answerer)
        link.perform(link.answerer.session.endOfStream(now: link.now), \.answerer)
        #expect(link.answerer.messages.isEmpty)
        #expect(link.answerer.ending == .closedByPeer)
        #expect(link.answerer.session.received(frame, now: link.now) == [])
        #expect(link.answerer.session.nextDeadline == nil)
    }

    /// A peer that has the keys and says what no honest one says.
    struct Liar {
        let session: PeerSession
        let transport: NoiseTransport

        init() throws {
            let random = SeededRandom(seed: 5)
            session = PeerSession.answering(
                as: InMemoryLink.identity(random),
                candidates: [PSKCandidate(InMemoryLink.label, psk: InMemoryLink.psk)], now: 0,
                wallMilliseconds: InMemoryLink.wall, using: random)
            let identity = InMemoryLink.identity(random)
            let noise = HandshakeState(
                .xxPSK0, as: .initiator, prologue: Array("wsx/1".utf8),
                staticKey: identity.staticKey, psks: [InMemoryLink.psk])
            let first = try noise.writeMessage(using: random)
            _ = session.received(`A hostile handshake`.dressed(first), now: 1)
            let effects = session.agreementGranted(now: 1)
            guard case .write(let second)? = effects.first else { throw LinkEnding("test") }
            _ = try noise.readMessage(Array(second.dropFirst(2)))
            let payload = ByHand.payload(identity)
            let third = try noise.writeMessage(payload, using: random)
            _ = session.received(Self.framed(third), now: 1)
            transport = try noise.transport()
            guard session.peer != nil else { throw LinkEnding("test") }
        }

        func say(_ plaintext: [UInt8]) throws -> [PeerSession.Effect] {
            session.received(Self.framed(try transport.seal(plaintext)), now: 2)
        }

        private static func framed(_ bytes: [UInt8]) -> [UInt8] {
            [UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes
        }
    }

    static let lies: [(plaintext: [UInt8], word: String)] = [
        ([0b1000, 0, 1, 0x30], "frame.bad_fragment"),
        ([4, 0, 9, 0x30], "frame.bad_fragment"),
        ([4, 0, 1, 0x30], "sync.malformed"),
        ([4, 0, 2, 0x7f, 0xa0], "sync.unsupported"),
    ]

    @Test(arguments: lies.indices)
    func `with contents that are none is answered by an error and closed`(index: Int) throws {
        let lie = Self.lies[index]
        let liar = try Liar()
        let effects = try liar.say(lie.plaintext)
        guard case .close(let ending)? = effects.last else {
            Issue.record("not closed")
            return
        }
        #expect(ending.word == lie.word)
        #expect(effects.count == (lie.word.hasPrefix("sync.") ? 2 : 1))
    }

    @Test func `of an unknown type that may be skipped is skipped`() throws {
        let liar = try Liar()
        #expect(try liar.say([4, 0, 2, 0xf0, 0xa0]) == [])
        #expect(try liar.say([]) == [.close(.badLength)])
    }

    @Test func `that never ends its message is stopped at the limit`() throws {
        let liar = try Liar()
        let piece = [UInt8](repeating: 0x31, count: 16 * 1024)
        let plaintext = [2, 0x40, 0x00] + piece
        var effects: [PeerSession.Effect] = []
        var count = 0
        while effects.isEmpty, count < 100 {
            effects = try liar.say(plaintext)
            count += 1
        }
        #expect(count == 17)
        guard case .close(let ending)? = effects.last else { return }
        #expect(ending.word == "sync.too_large")
    }

    @Test func `is told why and for how long when we close`() throws {
        let link = try established(seed: 6)
        let ending = LinkEnding("auth.unknown")
        let effects = link.dialler.session.close(
            ending, telling: true, retryAfterMilliseconds: 5_000, now: link.now)
        link.perform(effects, \.dialler)
        link.run()
        #expect(
            link.answerer.messages == [.error(code: "auth.unknown", retryAfterMilliseconds: 5_000)])
        #expect(link.dialler.ending == ending)
        #expect(link.dialler.session.close(ending, now: link.now) == [])
    }
}
