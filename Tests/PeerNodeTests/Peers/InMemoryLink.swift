import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Two sessions joined by two byte queues that are cut at random, on a clock
/// that the test controls.
final class InMemoryLink {
    /// One end with everything it did.
    struct Side {
        var session: PeerSession
        /// Bytes that it wrote and the other side has not been given yet.
        var outbox: [UInt8] = []
        /// Everything that it ever wrote.
        var written: [UInt8] = []
        var messages: [SyncMessage] = []
        var pongs: [UInt64] = []
        var blobs: [[UInt8]] = []
        var identity: PeerIdentity?
        var ending: LinkEnding?
    }

    static let psk = SymmetricKey([UInt8](repeating: 7, count: 32))
    static let label = PSKLabel.workspace(DocumentID.zero, discovery: 0)
    static let wall: UInt64 = 1_795_000_000_000

    let random: SeededRandom
    var cuts: SeededGenerator
    var now: UInt64
    var dialler: Side
    var answerer: Side
    /// Whether first messages are answered as soon as they ask.
    var grants = true
    /// Whether written bytes count as sent at once.
    var drains = true

    init(
        seed: UInt64, now: UInt64 = 1_000_000,
        dialler: LocalIdentity? = nil, answerer: LocalIdentity? = nil,
        diallerPSK: SymmetricKey = psk, answererPSKs: [SymmetricKey] = [psk]
    ) throws {
        let random = SeededRandom(seed: seed)
        self.random = random
        cuts = SeededGenerator(seed: seed)
        self.now = now
        let (session, effects) = try PeerSession.dialling(
            as: dialler ?? Self.identity(random), under: PSKCandidate(Self.label, psk: diallerPSK),
            now: now, wallMilliseconds: Self.wall, using: random)
        self.dialler = Side(session: session)
        let candidates = answererPSKs.map { PSKCandidate(Self.label, psk: $0) }
        self.answerer = Side(
            session: PeerSession.answering(
                as: answerer ?? Self.identity(random), candidates: candidates, now: now,
                wallMilliseconds: Self.wall, using: random))
        perform(effects, \.dialler)
    }

    static func identity(_ random: any RandomSource) -> LocalIdentity {
        LocalIdentity(
            certifiedBy: SigningKey(using: random), staticKey: AgreementKey(using: random),
            store: StoreID(random.bytes(16)))
    }

    func perform(
        _ effects: [PeerSession.Effect], _ side: ReferenceWritableKeyPath<InMemoryLink, Side>
    ) {
        for effect in effects {
            switch effect {
            case .write(let bytes):
                self[keyPath: side].outbox += bytes
                self[keyPath: side].written += bytes
                if drains {
                    perform(self[keyPath: side].session.writeQueueLevel(0, now: now), side)
                }
            case .wantsAgreement:
                guard grants else { continue }
                perform(self[keyPath: side].session.agreementGranted(now: now), side)
            case .established(let identity): self[keyPath: side].identity = identity
            case .message(let message, _): self[keyPath: side].messages.append(message)
            case .blob(let bytes): self[keyPath: side].blobs.append(bytes)
            case .pong(let number): self[keyPath: side].pongs.append(number)
            case .close(let ending): self[keyPath: side].ending = ending
            }
        }
    }

    /// Gives `bytes` to one side in pieces of random lengths.
    func give(_ bytes: [UInt8], to side: ReferenceWritableKeyPath<InMemoryLink, Side>) {
        let pieces = RandomCuts.parts(
            of: bytes, upTo: [4, 70_000, 70_000], from: 1, using: &cuts)
        for piece in pieces {
            perform(self[keyPath: side].session.received(Array(piece), now: now), side)
        }
    }

    /// Hands over what was written until both are silent.
    func run() {
        while !dialler.outbox.isEmpty || !answerer.outbox.isEmpty {
            let fromDialler = dialler.outbox
            dialler.outbox = []
            give(fromDialler, to: \.answerer)
            let fromAnswerer = answerer.outbox
            answerer.outbox = []
            give(fromAnswerer, to: \.dialler)
        }
    }

    /// Sends at once.
    func send(
        _ messages: [SyncMessage], from side: ReferenceWritableKeyPath<InMemoryLink, Side>,
        in messageClass: MessageClass = .control
    ) {
        for message in messages { self[keyPath: side].session.send(message, in: messageClass) }
        perform(self[keyPath: side].session.flush(now: now), side)
    }

    /// Moves the clock and lets both sides do what is due.
    func tick(to time: UInt64) {
        now = time
        perform(dialler.session.tick(now: now), \.dialler)
        perform(answerer.session.tick(now: now), \.answerer)
    }
}
