public import SyncProtocol
public import WorkspaceCrypto
import WorkspaceModel

/// One link to one peer, from its first byte to its last, without a socket or a clock.
///
/// The owner gives it inputs and carries out the effects, in order. Times are monotonic
/// milliseconds. `send` only queues; a `flush` at the end of the owner's turn combines many small
/// messages into few large frames.
///
///     handshaking ──3 messages, 5 s──▶ established ──▶ closed
///          └──── violation, deadline, end of stream ──────┘
///
/// Frames are sealed only while the transport holds little, because a sealed frame can no longer be
/// overtaken by something more urgent. A class, because the ciphers have counters: a session must
/// not be copied. For one thread.
///
/// - Source: PROTOCOL.md, 5.1, 5.2.
public final class PeerSession {
    /// What `wantsAgreement` costs.
    public static let agreementsPerAnswer = LinkHandshake.agreementsPerAnswer
    /// A frame holds at least one byte of one fragment, and its tag.
    private static let frameByteCountMin = 16 + 3 + 1
    /// More answers to pings than this are not kept for a peer that reads nothing.
    private static let unsentBytesBesidesAnswersMax = 64 * 1024
    /// So much is handed over and sent without anybody waiting for room: far below all bounds.
    private static let unsentBytesInPassingMax = 16 * 1024

    private enum State {
        case handshaking(LinkHandshake, deadline: UInt64)
        case established(NoiseTransport)
        case closed
    }

    /// Who the peer is, as soon as it is established.
    public private(set) var peer: PeerIdentity?
    /// When the handshake finished.
    public private(set) var established: UInt64?
    /// When the last frame came, `nil` before the first.
    public private(set) var heard: UInt64?
    /// Whether this side dialled.
    public let isInitiator: Bool

    private let random: any RandomSource
    private var state: State
    private var buffer: [UInt8] = []
    private var decoder = FrameDecoder()
    private var scheduler = FrameScheduler()

    /// Sealed bytes that the transport has not sent, as far as is known.
    private var sealedUnsentBytes = 0
    private var progress: UInt64 = 0
    private var pinged: UInt64 = 0
    /// The ping that has to be answered, or anything said after it, and until when; `nil` while the peer
    /// is not in doubt.
    private var probe: (number: UInt64, sent: UInt64, due: UInt64)?
    private var lastPing: UInt64 = 0

    private init(
        _ handshake: LinkHandshake, isInitiator: Bool, now: UInt64, random: any RandomSource
    ) {
        self.isInitiator = isInitiator
        self.random = random
        state = .handshaking(handshake, deadline: now + Limits.handshakeMilliseconds)
    }

    /// Dials under one secret: the session, and the first bytes to send.
    public static func dialling(
        as identity: LocalIdentity, under candidate: PSKCandidate, now: UInt64,
        wallMilliseconds: UInt64, using random: any RandomSource
    ) throws(LinkEnding) -> (session: PeerSession, effects: [Effect]) {
        let (handshake, bytes) = try LinkHandshake.begin(
            identity, under: candidate, wall: wallMilliseconds, using: random)
        let session = PeerSession(handshake, isInitiator: true, now: now, random: random)
        return (session, session.writing(bytes, now: now))
    }

    /// Answers a peer that knows one of the secrets.
    public static func answering(
        as identity: LocalIdentity, candidates: [PSKCandidate], now: UInt64,
        wallMilliseconds: UInt64, using random: any RandomSource
    ) -> PeerSession {
        PeerSession(
            LinkHandshake(identity, answering: candidates, wall: wallMilliseconds),
            isInitiator: false, now: now, random: random)
    }

    /// Whether the session is over.
    public var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Who can know the secret of the handshake, and of which workspace it is, as far as is known.
    var share: SecretShare {
        guard case .handshaking(let handshake, _) = state else { return SecretShare(.endedInvite) }
        return handshake.share
    }

    /// Bytes that wait to be sent, sealed or not.
    public var unsentBytes: Int { scheduler.unsentBytes + sealedUnsentBytes }

    /// Bytes of messages whose rest has not come, and when the oldest of them began.
    public var unfinished: (byteCount: Int, since: UInt64?) {
        (decoder.bufferedBytes, decoder.unfinishedSince)
    }

    /// Bytes of unasked pushes that wait; above `Limits.unaskedUnsentBytesMax` the peer gets
    /// `tips` instead.
    public var unaskedUnsentBytes: Int { scheduler.unaskedUnsentBytes }
}

// MARK: Receiving

extension PeerSession {
    /// Takes bytes of the peer, cut anyhow.
    public func received(_ bytes: [UInt8], now: UInt64) -> [Effect] {
        guard !isClosed else { return [] }
        var effects: [Effect] = []
        do throws(LinkEnding) {
            var bytes = bytes
            if case .handshaking(let handshake, _) = state {
                buffer.append(contentsOf: bytes)
                try shakeHands(handshake, now: now, &effects)
                // Frames may have come with the end of the handshake.
                if case .established = state { (bytes, buffer) = (buffer, []) }
            }
            if case .established(let transport) = state {
                try readFrames(bytes, transport, now: now, &effects)
            }
        } catch {
            return effects + end(error, now: now)
        }
        return effects + flush(now: now)
    }

    /// The budget has room: answers the first message.
    public func agreementGranted(now: UInt64) -> [Effect] {
        guard case .handshaking(var handshake, let deadline) = state else { return [] }
        do throws(LinkEnding) {
            let bytes = try handshake.answer(using: random)
            state = .handshaking(handshake, deadline: deadline)
            return writing(bytes, now: now)
        } catch {
            return end(error, now: now)
        }
    }

    /// The peer sends nothing more, or the connection broke. An unfinished frame is dropped.
    public func endOfStream(now: UInt64) -> [Effect] {
        switch state {
        case .handshaking: end(.short, now: now)
        case .established: end(.closedByPeer, now: now)
        case .closed: []
        }
    }

    private func shakeHands(
        _ unfinished: LinkHandshake, now: UInt64, _ effects: inout [Effect]
    ) throws(LinkEnding) {
        guard case .handshaking(_, let deadline) = state else { return }
        // Time counts even if the owner's timer is late.
        guard now < deadline else { throw .handshakeTimeout }
        var handshake = unfinished
        let step = try handshake.read(from: &buffer, using: random)
        state = .handshaking(handshake, deadline: deadline)
        switch step {
        case .more: break
        case .wantsAnswer: effects.append(.wantsAgreement)
        case .finished(let bytes, let transport, let identity):
            effects += writing(bytes, now: now)
            effects.append(.established(identity))
            peer = identity
            established = now
            heard = now
            pinged = now
            state = .established(transport)
        }
    }

    /// Opens frames where they are. Only one that comes in parts is gathered first.
    private func readFrames(
        _ bytes: [UInt8], _ transport: NoiseTransport, now: UInt64, _ effects: inout [Effect]
    ) throws(LinkEnding) {
        var rest = bytes[...]
        while !buffer.isEmpty {
            let byteCount = try Self.frameByteCount(buffer[...])
            rest = gather(byteCount ?? 2, from: rest)
            guard let byteCount, byteCount <= buffer.count else {
                if rest.isEmpty { return }
                continue
            }
            try readFrame(buffer[2..<byteCount], transport, now: now, &effects)
            buffer.removeFirst(byteCount)
        }
        while let byteCount = try Self.frameByteCount(rest), byteCount <= rest.count {
            let start = rest.startIndex
            try readFrame(rest[start + 2..<start + byteCount], transport, now: now, &effects)
            rest.removeFirst(byteCount)
        }
        buffer = [UInt8](rest)
    }

    /// Puts bytes behind the frame that has begun until there are so many, and gives the rest.
    private func gather(_ byteCount: Int, from bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let missing = max(0, byteCount - buffer.count)
        buffer.append(contentsOf: bytes.prefix(missing))
        return bytes.dropFirst(missing)
    }

    /// The length of the first frame with its head of 2 bytes, `nil` before those are there.
    private static func frameByteCount(_ bytes: ArraySlice<UInt8>) throws(LinkEnding) -> Int? {
        guard bytes.count >= 2 else { return nil }
        let length = Int(bytes[bytes.startIndex]) << 8 | Int(bytes[bytes.startIndex + 1])
        guard length >= frameByteCountMin else { throw .badLength }
        return 2 + length
    }

    private func readFrame(
        _ frame: ArraySlice<UInt8>, _ transport: NoiseTransport, now: UInt64,
        _ effects: inout [Effect]
    ) throws(LinkEnding) {
        let plaintext: [UInt8]
        do {
            plaintext = try transport.open(frame)
        } catch {
            throw LinkEnding(transport: error)
        }
        heard = now
        // Bytes that were in the socket before the ping prove nothing, and arrive in the same turn.
        if let sent = probe?.sent, now > sent { probe = nil }
        try readMessages(plaintext, now: now, &effects)
    }

    private func readMessages(
        _ plaintext: [UInt8], now: UInt64, _ effects: inout [Effect]
    ) throws(LinkEnding) {
        do {
            for message in try decoder.messages(in: plaintext, at: now) {
                if let type = message.bytes.first, SyncMessage.blobTypes.contains(type) {
                    effects.append(.blob(message.bytes))
                    continue
                }
                guard let decoded = try SyncMessage.decoded(message.bytes) else { continue }
                take(decoded, message.messageClass, &effects)
            }
        } catch {
            throw LinkEnding(error)
        }
    }

    private func take(
        _ message: SyncMessage, _ messageClass: MessageClass, _ effects: inout [Effect]
    ) {
        guard case .ping(let number, let isAnswer) = message else {
            effects.append(.message(message, messageClass))
            return
        }
        if isAnswer {
            if let asked = probe?.number, number >= asked { probe = nil }
            effects.append(.pong(number: number))
        } else if unsentBytes <= Self.unsentBytesBesidesAnswersMax {
            scheduler.enqueue(
                SyncMessage.ping(number: number, isAnswer: true).encoded(), in: .control)
        }
    }
}

// MARK: Sending

extension PeerSession {
    /// Queues a message; `flush` sends it. Does nothing on a link that is not established.
    ///
    /// - Parameter isUnasked: a live push, see `unaskedUnsentBytes`.
    public func send(_ message: SyncMessage, in messageClass: MessageClass, isUnasked: Bool = false)
    {
        guard case .established = state else { return }
        scheduler.enqueue(message.encoded(), in: messageClass, isUnasked: isUnasked)
    }

    /// Queues an encoded message about blobs, in the array in which its piece was read.
    public func send(raw message: [UInt8], in messageClass: MessageClass) {
        guard case .established = state, !message.isEmpty else { return }
        scheduler.enqueue(message, in: messageClass)
    }

    /// Bytes of a piece that the peer has begun to send.
    public var unfinishedBlobBytes: Int { decoder.bufferedBytes(of: .blob) }

    /// Bytes of pieces that wait to be sealed.
    public var unsentBlobBytes: Int { scheduler.unsentBytes(of: .blob) }

    /// Queues a ping and returns its number; a `pong` effect brings it back.
    public func ping(now: UInt64) -> UInt64 {
        lastPing += 1
        pinged = now
        send(.ping(number: lastPing, isAnswer: false), in: .control)
        return lastPing
    }

    /// Asks for a sign of life, because the way to the peer may be another one by now. Without any the
    /// session ends in two seconds.
    public func demandSign(now: UInt64) -> [Effect] {
        guard case .established = state else { return [] }
        probe = (ping(now: now), now, now &+ LinkRule.answerMilliseconds)
        return flush(now: now)
    }

    /// Seals what is queued, as much as the transport should hold.
    public func flush(now: UInt64) -> [Effect] {
        guard case .established(let transport) = state else { return [] }
        guard unsentBytes <= Limits.unsentBytesMax + Limits.operationsMessageBytesMax else {
            return end(.stalled, now: now)
        }
        let (bytes, failure) = sealFrames(with: transport)
        let effects = writing(bytes, now: now)
        return failure.map { effects + end(LinkEnding(transport: $0), now: now) } ?? effects
    }

    /// Seals more pieces of files for a transport that has sent some of what it had. Nothing but pieces
    /// waits, and so many that a turn would do no more than this.
    ///
    /// - Parameter unsent: as `writeQueueLevel` takes it.
    /// - Returns: frames for the transport, none while it has enough; `nil` where `writeQueueLevel` has to
    ///   be told.
    public func sealPieces(unsent: Int, now: UInt64) -> [UInt8]? {
        guard case .established(let transport) = state,
            unsentBlobBytes >= Limits.piecesUnsentMin, unsentBlobBytes == scheduler.unsentBytes
        else { return nil }
        noteUnsent(unsent, now: now)
        let (bytes, failure) = sealFrames(with: transport)
        // The next `flush` meets the failure again, and ends the link.
        guard failure == nil else { return nil }
        noteWritten(bytes, now: now)
        return bytes
    }

    private func sealFrames(with transport: NoiseTransport) -> ([UInt8], failure: NoiseError?) {
        var bytes: [UInt8] = []
        do {
            while sealedUnsentBytes + bytes.count < Limits.sealedUnsentBytesMax,
                let frame = scheduler.nextFrame()
            {
                try Self.seal(frame, with: transport, to: &bytes)
            }
        } catch { return (bytes, error) }
        return (bytes, nil)
    }

    /// How many of the bytes that were handed to the transport it has not sent yet. Reported
    /// after every write, so that the next frames are sealed in time and no earlier.
    public func writeQueueLevel(_ unsent: Int, now: UInt64) -> [Effect] {
        guard !isClosed else { return [] }
        noteUnsent(unsent, now: now)
        return flush(now: now)
    }

    private func noteUnsent(_ unsent: Int, now: UInt64) {
        if unsent < sealedUnsentBytes { progress = now }
        sealedUnsentBytes = unsent
    }

    /// Whether messages wait for the next `flush`, or for room.
    public var hasMoreToSeal: Bool { !scheduler.isEmpty }

    /// The transport has sent all that was handed to it. Notes that, where nothing is left to seal.
    ///
    /// - Returns: `false` where something is, or where so much waited that others may have put off
    ///   what they had to say: then `writeQueueLevel` says it.
    public func noteAllSent(now: UInt64) -> Bool {
        guard case .established = state, scheduler.isEmpty,
            sealedUnsentBytes <= Self.unsentBytesInPassingMax
        else { return false }
        if sealedUnsentBytes > 0 { progress = now }
        sealedUnsentBytes = 0
        return true
    }

    private static func seal(
        _ plaintext: [UInt8], with transport: NoiseTransport, to bytes: inout [UInt8]
    ) throws(NoiseError) {
        let length = plaintext.count + CipherState.tagByteCount
        bytes.reserveCapacity(bytes.count + 2 + length)
        bytes.append(UInt8(truncatingIfNeeded: length >> 8))
        bytes.append(UInt8(truncatingIfNeeded: length))
        try transport.seal(plaintext, appendingTo: &bytes)
    }

    private func writing(_ bytes: [UInt8], now: UInt64) -> [Effect] {
        noteWritten(bytes, now: now)
        return bytes.isEmpty ? [] : [.write(bytes)]
    }

    private func noteWritten(_ bytes: [UInt8], now: UInt64) {
        if sealedUnsentBytes == 0, !bytes.isEmpty { progress = now }
        sealedUnsentBytes += bytes.count
    }
}

// MARK: Time and ending

extension PeerSession {
    /// When `tick` must be called at the latest, in monotonic milliseconds.
    public var nextDeadline: UInt64? {
        switch state {
        case .closed: return nil
        case .handshaking(_, let deadline): return deadline
        case .established:
            let heard = heard ?? 0
            let ping = max(heard, pinged) + Limits.pingMilliseconds
            let next = min(ping, heard + Limits.deadMilliseconds, probe?.due ?? .max)
            return sealedUnsentBytes > 0 ? min(next, progress + Limits.stalledMilliseconds) : next
        }
    }

    /// Does what is due at `now`: pings, or ends the session.
    public func tick(now: UInt64) -> [Effect] {
        switch state {
        case .closed: return []
        case .handshaking(_, let deadline):
            return now >= deadline ? end(.handshakeTimeout, now: now) : []
        case .established:
            let heard = heard ?? 0
            if now >= min(heard + Limits.deadMilliseconds, probe?.due ?? .max) {
                return end(.dead, now: now)
            }
            if sealedUnsentBytes > 0, now >= progress + Limits.stalledMilliseconds {
                return end(.stalled, now: now)
            }
            if now >= max(heard, pinged) + Limits.pingMilliseconds { _ = ping(now: now) }
            return flush(now: now)
        }
    }

    /// Ends the session by our own will.
    ///
    /// - Parameter telling: whether the peer gets an `error` with the ending's word and the time
    ///   after which it may reconnect, in milliseconds.
    public func close(
        _ ending: LinkEnding, telling: Bool = false, retryAfterMilliseconds: UInt64 = 0,
        now: UInt64
    ) -> [Effect] {
        guard !isClosed else { return [] }
        guard telling else { return closing(ending) }
        return lastWords(ending, retryAfterMilliseconds, now: now) + closing(ending)
    }

    /// Ends the session because of the peer. It is told where it broke a rule of the messages;
    /// below them an answer would only help a scanner.
    private func end(_ ending: LinkEnding, now: UInt64) -> [Effect] {
        let words = ending.word.hasPrefix("sync.") ? lastWords(ending, 0, now: now) : []
        return words + closing(ending)
    }

    private func lastWords(_ ending: LinkEnding, _ retry: UInt64, now: UInt64) -> [Effect] {
        guard case .established(let transport) = state,
            sealedUnsentBytes < Limits.sealedUnsentBytesMax
        else { return [] }
        var last = FrameScheduler()
        let message = SyncMessage.error(code: ending.word, retryAfterMilliseconds: retry)
        last.enqueue(message.encoded(), in: .control)
        var bytes: [UInt8] = []
        guard let frame = last.nextFrame(),
            (try? Self.seal(frame, with: transport, to: &bytes)) != nil
        else { return [] }
        return writing(bytes, now: now)
    }

    private func closing(_ ending: LinkEnding) -> [Effect] {
        state = .closed
        buffer = []
        scheduler = FrameScheduler()
        decoder = FrameDecoder()
        return [.close(ending)]
    }
}
