import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Two sessions back to back` {
    @Test(arguments: Seeds.explore(8))
    func `prove each other and name the session alike, however the bytes are cut`(
        seed: UInt64
    ) throws {
        let random = SeededRandom(seed: seed &+ 1)
        let ours = InMemoryLink.identity(random)
        let theirs = InMemoryLink.identity(random)
        let link = try InMemoryLink(seed: seed, dialler: ours, answerer: theirs)
        link.run()

        let seenByDialler = try #require(link.dialler.identity)
        let seenByAnswerer = try #require(link.answerer.identity)
        #expect(seenByDialler.device == theirs.device)
        #expect(seenByAnswerer.device == ours.device)
        #expect(seenByDialler.store == theirs.store)
        #expect(seenByAnswerer.staticKey == ours.staticKey.publicKey)
        #expect(seenByDialler.handshakeHash == seenByAnswerer.handshakeHash)
        #expect(seenByDialler.handshakeHash.count == 64)
        #expect(seenByAnswerer.version == 3)
        #expect(seenByAnswerer.labels == [InMemoryLink.label])
        #expect(seenByAnswerer.wallMilliseconds == InMemoryLink.wall)
    }

    @Test(arguments: Seeds.explore(8))
    func `carry messages of all classes whole and in the order of their class`(
        seed: UInt64
    ) throws {
        let link = try InMemoryLink(seed: seed)
        link.run()
        var random = SeededGenerator(seed: seed)
        var sent: [MessageClass: [SyncMessage]] = [:]
        for number in 0..<60 {
            let messageClass = MessageClass.allCases[random.below(4)]
            let buckets = random.oneIn(2)
            let message =
                buckets
                ? SyncMessage.workspaceDigest(
                    UInt32(number), buckets: random.bytes(4_096))
                : SyncMessage.error(code: "test.\(number)", retryAfterMilliseconds: random.next())
            sent[messageClass, default: []].append(message)
            link.dialler.session.send(message, in: messageClass)
            if random.oneIn(8) {
                link.perform(link.dialler.session.flush(now: link.now), \.dialler)
            }
        }
        link.perform(link.dialler.session.flush(now: link.now), \.dialler)
        link.run()

        #expect(link.answerer.messages.count == 60)
        for (_, messages) in sent {
            let received = link.answerer.messages.filter { messages.contains($0) }
            #expect(received == messages)
        }
        #expect(link.answerer.ending == nil)
        #expect(link.dialler.session.unsentBytes == 0)
    }

    @Test func `make few frames of many small messages`() throws {
        let link = try InMemoryLink(seed: 1)
        link.run()
        let before = link.dialler.written.count
        let messages = (0..<200).map { SyncMessage.error(code: "x", retryAfterMilliseconds: $0) }
        link.send(messages, from: \.dialler)
        let encoded = messages.reduce(0) { $0 + $1.encoded().count + 3 }
        // One frame: one length and one tag.
        #expect(link.dialler.written.count - before == encoded + 18)
    }

    @Test func `seal no more than the transport should hold, so urgent messages overtake`() throws {
        let link = try InMemoryLink(seed: 2)
        link.run()
        link.drains = false
        let large = SyncMessage.workspaceDigest(1, buckets: [UInt8](repeating: 1, count: 4_096))
        link.send([SyncMessage](repeating: large, count: 100), from: \.dialler, in: .bulk)
        let sealed = link.dialler.outbox.count
        #expect(sealed <= Limits.sealedUnsentBytesMax + Limits.frameBytesMax + 2)
        #expect(link.dialler.session.unsentBytes > 300_000)

        let urgent = SyncMessage.error(code: "urgent", retryAfterMilliseconds: 0)
        link.send([urgent], from: \.dialler)
        #expect(link.dialler.outbox.count == sealed)
        link.drains = true
        link.perform(link.dialler.session.writeQueueLevel(0, now: link.now), \.dialler)
        link.run()
        #expect(link.answerer.messages.count == 101)
        let place = try #require(link.answerer.messages.firstIndex(of: urgent))
        #expect(place <= 2 * sealed / 4_096)
    }

    @Test func `wait for the budget before they answer`() throws {
        let link = try InMemoryLink(seed: 3)
        link.grants = false
        link.run()
        #expect(link.answerer.written.isEmpty)
        #expect(link.answerer.session.nextDeadline == link.now + 5_000)
        link.perform(link.answerer.session.agreementGranted(now: link.now), \.answerer)
        link.run()
        #expect(link.dialler.identity != nil && link.answerer.identity != nil)
    }

    @Test func `find the right one of many secrets`() throws {
        let random = SeededRandom(seed: 9)
        let others = (0..<20).map { _ in SymmetricKey(using: random) }
        let link = try InMemoryLink(seed: 4, answererPSKs: others + [InMemoryLink.psk])
        link.run()
        #expect(link.answerer.identity != nil)
    }
}

struct `The clock of a session` {
    @Test func `gives a handshake five seconds`() throws {
        let link = try InMemoryLink(seed: 1)
        #expect(link.dialler.session.nextDeadline == link.now + 5_000)
        link.tick(to: link.now + 4_999)
        #expect(link.dialler.ending == nil)
        link.tick(to: link.now + 1)
        #expect(link.dialler.ending == .handshakeTimeout)
        #expect(link.answerer.ending == .handshakeTimeout)
        #expect(link.dialler.session.nextDeadline == nil)
    }

    @Test func `pings after 30 s of silence, and the answer is a sign of life`() throws {
        let link = try InMemoryLink(seed: 2)
        link.run()
        let start = link.now
        #expect(link.dialler.session.nextDeadline == start + 30_000)
        link.tick(to: start + 29_999)
        #expect(link.dialler.outbox.isEmpty)
        link.tick(to: start + 30_000)
        #expect(!link.dialler.outbox.isEmpty)
        link.run()
        #expect(link.dialler.pongs == [1])
        #expect(link.dialler.session.heard == start + 30_000)
        #expect(link.dialler.session.nextDeadline == start + 60_000)
    }

    @Test func `gives up a peer that does not answer a probe in two seconds`() throws {
        let link = try InMemoryLink(seed: 5)
        link.run()
        let start = link.now
        link.perform(link.dialler.session.demandSign(now: start), \.dialler)
        #expect(link.dialler.session.nextDeadline == start + LinkRule.answerMilliseconds)
        // The answer comes within the same millisecond, and the link stays.
        link.run()
        #expect(link.dialler.session.nextDeadline == start + 30_000)
        link.tick(to: start + 2_000)
        #expect(link.dialler.ending == nil)
        link.perform(link.dialler.session.demandSign(now: link.now), \.dialler)
        link.tick(to: start + 3_999)
        #expect(link.dialler.ending == nil)
        link.tick(to: start + 4_000)
        #expect(link.dialler.ending == .dead)
    }

    @Test func `buries a peer that is silent for 90 s`() throws {
        let link = try InMemoryLink(seed: 3)
        link.run()
        let start = link.now
        for time in stride(from: start, to: start + 90_000, by: 10_000) { link.tick(to: time) }
        #expect(link.dialler.ending == nil)
        link.tick(to: start + 90_000)
        #expect(link.dialler.ending == .dead)
    }

    @Test func `closes on a peer that takes nothing for 30 s (N16)`() throws {
        let link = try InMemoryLink(seed: 4)
        link.run()
        link.drains = false
        link.send([.error(code: "x", retryAfterMilliseconds: 0)], from: \.dialler)
        let level = link.dialler.session.unsentBytes
        link.now += 20_000
        // Progress, however small, starts the time again.
        link.perform(link.dialler.session.writeQueueLevel(level - 1, now: link.now), \.dialler)
        link.tick(to: link.now + 29_999)
        #expect(link.dialler.ending == nil)
        link.tick(to: link.now + 1)
        #expect(link.dialler.ending == .stalled)
    }

    @Test func `notes in passing that all has left, unless more is to come`() throws {
        let link = try InMemoryLink(seed: 6)
        #expect(!link.dialler.session.noteAllSent(now: link.now), "the handshake goes on")
        link.run()
        link.drains = false
        let session = link.dialler.session
        link.send([.error(code: "x", retryAfterMilliseconds: 0)], from: \.dialler)
        #expect(session.unsentBytes > 0)
        link.now += 20_000
        #expect(session.noteAllSent(now: link.now))
        #expect(session.unsentBytes == 0)
        #expect(session.writeQueueLevel(0, now: link.now).isEmpty, "there is no more to it")
        // Somebody may have seen so much, and wait.
        let large = SyncMessage.workspaceDigest(1, buckets: [UInt8](repeating: 1, count: 4_096))
        for count in [5, 100] {
            link.send([SyncMessage](repeating: large, count: count), from: \.dialler)
            let unsent = session.unsentBytes
            #expect(!session.noteAllSent(now: link.now))
            #expect(session.unsentBytes == unsent)
        }
    }

    @Test func `seals pieces of files without a turn, while many wait and nothing else`() throws {
        let link = try InMemoryLink(seed: 7)
        let pieces = (0..<4).map { [UInt8](repeating: UInt8($0) | 0x80, count: 256 * 1024) }
        #expect(link.dialler.session.sealPieces(unsent: 0, now: link.now) == nil, "no session yet")
        link.run()
        link.drains = false
        let session = link.dialler.session
        #expect(session.sealPieces(unsent: 0, now: link.now) == nil, "nothing waits")
        for piece in pieces { session.send(raw: piece, in: .blob) }
        var frames = 0
        while let bytes = session.sealPieces(unsent: 0, now: link.now) {
            frames += 1
            #expect(bytes.count >= Limits.sealedUnsentBytesMax - 1_024)
            link.dialler.outbox += bytes
            // What has not left is enough for now.
            let left = session.sealPieces(unsent: Limits.sealedUnsentBytesMax, now: link.now)
            #expect(left?.isEmpty != false)
        }
        #expect((8...10).contains(frames) && session.unsentBlobBytes < Limits.piecesUnsentMin)
        // A message that is to overtake them is a matter of turns.
        session.send(raw: pieces[0], in: .blob)
        session.send(raw: pieces[1], in: .blob)
        #expect(session.unsentBlobBytes >= Limits.piecesUnsentMin)
        session.send(.error(code: "x", retryAfterMilliseconds: 0), in: .control)
        #expect(session.sealPieces(unsent: 0, now: link.now) == nil)
        link.drains = true
        link.perform(session.writeQueueLevel(0, now: link.now), \.dialler)
        link.run()
        #expect(link.answerer.blobs == pieces + pieces[..<2])
        #expect(link.answerer.messages == [.error(code: "x", retryAfterMilliseconds: 0)])
    }

    @Test func `keeps a bounded queue for a peer that does not read (N16)`() throws {
        let link = try InMemoryLink(seed: 5)
        link.run()
        link.drains = false
        let large = SyncMessage.workspaceDigest(1, buckets: [UInt8](repeating: 1, count: 4_096))
        var largest = 0
        for _ in 0..<1_000 where link.dialler.ending == nil {
            link.send([large], from: \.dialler, in: .bulk)
            largest = max(largest, link.dialler.session.unsentBytes)
        }
        #expect(link.dialler.ending == .stalled)
        #expect(largest <= 4 * 1024 * 1024)
    }

    @Test func `does not collect answers for a peer that pings and never reads`() throws {
        let link = try InMemoryLink(seed: 6)
        link.run()
        let pings = (0..<20_000).map { SyncMessage.ping(number: $0, isAnswer: false) }
        link.send(pings, from: \.dialler)
        link.drains = false
        let bytes = link.dialler.outbox
        link.dialler.outbox = []
        link.give(bytes, to: \.answerer)
        #expect(link.answerer.session.unsentBytes <= 200_000)
        #expect(link.answerer.ending == nil)
    }
}
