import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The three messages of the handshake, with the fuzzer as the other side.
///
/// Bytes that are made up never pass the hint, nor a message authentication. So the first byte of an
/// input says how far the other side does everything right, and the rest is what comes instead.
extension FuzzTarget {
    static let handshake = FuzzTarget(
        "handshake",
        "both sides of a handshake with a stranger and with somebody who has the secret",
        bytesMax: 1_024
    ) { bytes in
        var input = FuzzBytes(bytes)
        let (way, cut) = (input.byte() % 6, input.byte())
        let content = input.all()
        // However the bytes are cut, what follows is the same.
        let whole = try HandshakeScene().ended(way, [content])
        let pieces = try HandshakeScene().ended(way, FuzzBytes.pieces(of: content, by: cut))
        if way != 4, way != 5 {
            try hold(whole == pieces, "cutting decides: \(whole) and \(pieces)")
        }
    }
}

/// One session, and the other side's keys.
private struct HandshakeScene {
    private static let psk = SymmetricKey([UInt8](repeating: 5, count: 32))
    private let random = SeededRandom(seed: 11)
    private let ours: LocalIdentity
    private let theirs: LocalIdentity
    private let candidate = PSKCandidate(.joining, psk: Self.psk)

    init() {
        ours = Self.identity(random)
        theirs = Self.identity(random)
    }

    private static func identity(_ random: SeededRandom) -> LocalIdentity {
        LocalIdentity(
            certifiedBy: SigningKey(using: random), staticKey: AgreementKey(using: random),
            store: StoreID(random.bytes(16)))
    }

    /// What the session wrote and how it ended.
    func ended(_ way: UInt8, _ pieces: [[UInt8]]) throws -> String {
        switch way {
        case 0: return told(answering(), pieces)
        case 1: return told(try dialling().session, pieces)
        case 2: return try answered(pieces)
        case 3: return try dialled(pieces)
        case 4: return try established(pieces, isInitiator: false)
        default: return try established(pieces, isInitiator: true)
        }
    }

    private func answering() -> PeerSession {
        PeerSession.answering(
            as: ours, candidates: [candidate], now: 0, wallMilliseconds: 1_000, using: random)
    }

    private func dialling() throws -> (session: PeerSession, effects: [PeerSession.Effect]) {
        try PeerSession.dialling(
            as: ours, under: candidate, now: 0, wallMilliseconds: 1_000, using: random)
    }

    /// Gives the session everything, grants what it asks for, and says what came of it.
    private func told(_ session: PeerSession, _ pieces: [[UInt8]]) -> String {
        var effects: [PeerSession.Effect] = []
        for piece in pieces {
            effects += session.received(piece, now: 1)
        }
        if effects.contains(.wantsAgreement) { effects += session.agreementGranted(now: 1) }
        effects += session.endOfStream(now: 2)
        return "\(effects)"
    }

    private func written(_ effects: [PeerSession.Effect]) -> [UInt8] {
        effects.flatMap { if case .write(let bytes) = $0 { bytes } else { [UInt8]() } }
    }

    private func noise(_ role: HandshakeState.Role) -> HandshakeState {
        HandshakeState(
            .xxPSK0, as: role, prologue: Array("wsx/1".utf8), staticKey: theirs.staticKey,
            psks: [Self.psk])
    }

    private func framed(_ message: [UInt8]) -> [UInt8] {
        [UInt8(message.count >> 8 & 255), UInt8(message.count & 255)] + message
    }

    /// A valid first message; the content is the third one's payload.
    private func answered(_ pieces: [[UInt8]]) throws -> String {
        let (session, state) = (answering(), noise(.initiator))
        let first = try state.writeMessage(using: random)
        _ = session.received(
            candidate.hint(of: PSKCandidate.hintInput(ephemeral: first.prefix(32))) + framed(first),
            now: 1)
        _ = try state.readMessage(Array(written(session.agreementGranted(now: 1)).dropFirst(2)))
        return told(session, [framed(try state.writeMessage(pieces.flatMap { $0 }, using: random))])
    }

    /// A right answer; the content is its payload.
    private func dialled(_ pieces: [[UInt8]]) throws -> String {
        let ((session, effects), state) = (try dialling(), noise(.responder))
        _ = try state.readMessage(Array(written(effects).dropFirst(18)))
        return told(session, [framed(try state.writeMessage(pieces.flatMap { $0 }, using: random))])
    }

    /// A right handshake; each piece is a frame's plaintext.
    private func established(_ pieces: [[UInt8]], isInitiator: Bool) throws -> String {
        let state = noise(isInitiator ? .responder : .initiator)
        let payload = HandshakePayload(theirs, wallMilliseconds: 1_000).encoded
        let session: PeerSession
        if isInitiator {
            let dialling = try dialling()
            session = dialling.session
            _ = try state.readMessage(Array(written(dialling.effects).dropFirst(18)))
            let second = framed(try state.writeMessage(payload, using: random))
            let third = written(session.received(second, now: 1))
            _ = try state.readMessage(Array(third.dropFirst(2)))
        } else {
            session = answering()
            let first = try state.writeMessage(using: random)
            let hint = candidate.hint(of: PSKCandidate.hintInput(ephemeral: first.prefix(32)))
            _ = session.received(hint + framed(first), now: 1)
            let second = written(session.agreementGranted(now: 1))
            _ = try state.readMessage(Array(second.dropFirst(2)))
            _ = session.received(framed(try state.writeMessage(payload, using: random)), now: 1)
        }
        try hold(session.peer != nil, "a right handshake fails")
        let transport = try state.transport()
        let frames = try pieces.map { framed(try transport.seal($0)) }
        return told(session, frames)
    }
}
