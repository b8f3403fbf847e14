import WorkspaceCrypto
import WorkspaceModel

/// The three handshake messages between two peers, without a socket or a clock.
///
/// ```
/// initiator → responder   hint 16 || u16be length || message 1
/// responder → initiator   u16be length || message 2
/// initiator → responder   u16be length || message 3
/// ```
/// Message 1 has exactly 48 bytes. A message with an unknown hint gets no reply, so a scanner
/// cannot tell this port from one that never answers.
///
/// - Source: PROTOCOL.md, 5.1; Noise specification, section 7.
struct LinkHandshake {
    static let hintByteCount = 16
    static let firstMessageByteCount = 48
    /// Key agreements that a responder spends on a stranger: ee and es to answer, and a new key.
    static let agreementsPerAnswer = 3

    /// The result of the bytes so far.
    enum Step {
        /// More bytes are needed.
        case more
        /// A first message under this secret is complete; `answer` may spend on it.
        case wantsAnswer
        /// Both sides are authenticated; send these bytes (none for the responder) and continue.
        case finished([UInt8], NoiseTransport, PeerIdentity)
    }

    private enum State {
        case awaitingFirst([PSKCandidate])
        case holdingFirst
        case awaitingSecond
        case awaitingThird
        case over
    }

    private let identity: LocalIdentity
    private let wallMilliseconds: UInt64
    private var state: State
    private var labels: [PSKLabel] = []
    /// Who can know the secret of the first message; before it arrives, the weakest rank.
    private(set) var share = SecretShare(.endedInvite)
    private var noise: HandshakeState?

    /// A responder that accepts any of `candidates`.
    init(_ identity: LocalIdentity, answering candidates: [PSKCandidate], wall: UInt64) {
        self.identity = identity
        wallMilliseconds = wall
        state = .awaitingFirst(candidates)
    }

    /// An initiator, and the first bytes that it sends.
    static func begin(
        _ identity: LocalIdentity, under candidate: PSKCandidate, wall: UInt64,
        using random: any RandomSource
    ) throws(LinkEnding) -> (LinkHandshake, [UInt8]) {
        var handshake = LinkHandshake(identity, answering: [], wall: wall)
        let noise = handshake.noise(.initiator, candidate)
        let message = try mapped { () throws(NoiseError) in
            try noise.writeMessage(using: random)
        }
        handshake.state = .awaitingSecond
        let ephemeral = message.prefix(AgreementPublicKey.byteCount)
        let hint = candidate.hint(of: PSKCandidate.hintInput(ephemeral: ephemeral))
        return (handshake, hint + framed(message))
    }

    private mutating func noise(
        _ role: HandshakeState.Role, _ candidate: PSKCandidate
    ) -> HandshakeState {
        let noise = HandshakeState(
            .xxPSK0, as: role, prologue: Array("wsx/1".utf8), staticKey: identity.staticKey,
            psks: [candidate.psk])
        self.noise = noise
        labels = [candidate.label]
        share = candidate.share
        return noise
    }

    /// Takes one handshake message off the front of `buffer`, if it is whole.
    mutating func read(
        from buffer: inout [UInt8], using random: any RandomSource
    ) throws(LinkEnding) -> Step {
        switch state {
        case .awaitingFirst(let candidates): return try readFirst(candidates, from: &buffer)
        case .holdingFirst:
            guard buffer.isEmpty else { throw .bad }
            return .more
        case .awaitingSecond:
            guard let message = try Self.message(from: &buffer, after: 0) else { return .more }
            return try readSecond(message, using: random)
        case .awaitingThird:
            guard let message = try Self.message(from: &buffer, after: 0) else { return .more }
            return try readThird(message)
        case .over: return .more
        }
    }

    // MARK: Responder

    /// Whether these first bytes of a connection are enough to tell whether it knows a secret: the
    /// hint and message 1, 66 bytes, or fewer where its length says so.
    static func hasWholeFirst(_ bytes: [UInt8]) -> Bool {
        let start = hintByteCount + 2
        return bytes.count >= start
            && bytes.count >= start
                + min(length(in: bytes, at: hintByteCount), firstMessageByteCount)
    }

    private mutating func readFirst(
        _ candidates: [PSKCandidate], from buffer: inout [UInt8]
    ) throws(LinkEnding) -> Step {
        guard Self.hasWholeFirst(buffer) else { return .more }
        let hint = Array(buffer.prefix(Self.hintByteCount))
        let length = Self.length(in: buffer, at: Self.hintByteCount)
        guard length > 0 else { throw .badLength }
        // Waits for no more bytes than a correct message has: a peer that announces more is treated
        // like any other, and only fails at the end.
        let start = Self.hintByteCount + 2
        let message = Array(buffer[start..<start + min(length, Self.firstMessageByteCount)])
        buffer.removeFirst(start + message.count)
        guard message.count >= AgreementPublicKey.byteCount else { throw .short }
        let ephemeral = message.prefix(AgreementPublicKey.byteCount)
        // All candidates are tried, so that the time does not reveal which one matched.
        let input = PSKCandidate.hintInput(ephemeral: ephemeral)
        let found = candidates.filter { $0.hint(of: input) == hint }
        guard let candidate = found.first(where: { !$0.rank.isOfInvite }) ?? found.first else {
            throw .unknownHint
        }
        guard length == Self.firstMessageByteCount else {
            throw length < Self.firstMessageByteCount ? .short : .bad
        }
        // Nobody has anything to say before the answer.
        guard buffer.isEmpty else { throw .bad }
        let noise = noise(.responder, candidate)
        labels = found.map(\.label)
        _ = try Self.mapped { () throws(NoiseError) in try noise.readMessage(message) }
        state = .holdingFirst
        return .wantsAnswer
    }

    /// Answers the first message: three key agreements.
    mutating func answer(using random: any RandomSource) throws(LinkEnding) -> [UInt8] {
        guard case .holdingFirst = state, let noise else { return [] }
        let payload = HandshakePayload(identity, wallMilliseconds: wallMilliseconds).encoded
        let message = try Self.mapped { () throws(NoiseError) in
            try noise.writeMessage(payload, using: random)
        }
        state = .awaitingThird
        return Self.framed(message)
    }

    private mutating func readThird(_ message: [UInt8]) throws(LinkEnding) -> Step {
        guard let noise else { throw .bad }
        let payload = try Self.mapped { () throws(NoiseError) in try noise.readMessage(message) }
        let peer = try checked(payload)
        return try finish(sending: [], peer)
    }

    // MARK: Initiator

    private mutating func readSecond(
        _ message: [UInt8], using random: any RandomSource
    ) throws(LinkEnding) -> Step {
        guard let noise else { throw .bad }
        let payload = try Self.mapped { () throws(NoiseError) in try noise.readMessage(message) }
        // Before our own identity goes out: it is told only to whom the certificate fits.
        let peer = try checked(payload)
        let ours = HandshakePayload(identity, wallMilliseconds: wallMilliseconds).encoded
        let answer = try Self.mapped { () throws(NoiseError) in
            try noise.writeMessage(ours, using: random)
        }
        return try finish(sending: Self.framed(answer), peer)
    }

    // MARK: Both

    private func checked(
        _ bytes: [UInt8]
    ) throws(LinkEnding) -> (HandshakePayload, UInt64, AgreementPublicKey) {
        guard let payload = try? HandshakePayload(decoding: bytes),
            let staticKey = noise?.remoteStatic
        else { throw .bad }
        guard payload.device != identity.device || payload.store != identity.store else {
            throw .ourselves
        }
        guard let version = payload.commonVersion else {
            throw .version(
                ours: HandshakePayload.versions, theirs: (payload.versionMin, payload.versionMax))
        }
        guard payload.isBound(to: staticKey) else { throw .unbound }
        return (payload, version, staticKey)
    }

    private mutating func finish(
        sending bytes: [UInt8], _ peer: (HandshakePayload, UInt64, AgreementPublicKey)
    ) throws(LinkEnding) -> Step {
        guard let noise else { throw .bad }
        let (payload, version, staticKey) = peer
        let identity = PeerIdentity(
            device: payload.device, store: payload.store,
            wallMilliseconds: payload.wallMilliseconds, features: payload.features,
            version: version, labels: labels, handshakeHash: noise.handshakeHash,
            staticKey: staticKey)
        let transport = try Self.mapped { () throws(NoiseError) in try noise.transport() }
        state = .over
        self.noise = nil
        return .finished(bytes, transport, identity)
    }

    /// The message behind `offset` bytes and its length, removed with them; `nil` until it is whole.
    private static func message(
        from buffer: inout [UInt8], after offset: Int
    ) throws(LinkEnding) -> [UInt8]? {
        let start = offset + 2
        guard buffer.count >= start else { return nil }
        let length = Self.length(in: buffer, at: offset)
        guard length > 0 else { throw .badLength }
        guard buffer.count >= start + length else { return nil }
        let message = Array(buffer[start..<start + length])
        buffer.removeFirst(start + length)
        return message
    }

    /// The u16be at `offset`.
    ///
    /// - Precondition: both of its bytes are there.
    private static func length(in buffer: [UInt8], at offset: Int) -> Int {
        Int(buffer[offset]) << 8 | Int(buffer[offset + 1])
    }

    private static func framed(_ message: [UInt8]) -> [UInt8] {
        [UInt8(message.count >> 8 & 255), UInt8(message.count & 255)] + message
    }

    private static func mapped<Value>(
        _ body: () throws(NoiseError) -> Value
    ) throws(LinkEnding) -> Value {
        do {
            return try body()
        } catch {
            throw LinkEnding(handshake: error)
        }
    }
}
