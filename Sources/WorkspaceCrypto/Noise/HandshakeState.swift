public import WorkspaceModel

/// One side of a Noise handshake: bytes in, bytes out, no sockets.
///
/// ```
/// let initiator = HandshakeState(.xxPSK0, as: .initiator, prologue: …, staticKey: …, psks: [psk])
/// send(try initiator.writeMessage(using: random))
/// let payload = try initiator.readMessage(received)
/// send(try initiator.writeMessage(ours, using: random))
/// let transport = try initiator.transport()
/// ```
/// An error ends the handshake and zeroes its secrets; every later call throws `wrongTurn`.
/// The caller decides whether it accepts the static key.
///
/// - Source: Noise specification, section 5.3, with 25519 and ChaChaPoly.
public final class HandshakeState {
    /// Which side this is.
    public enum Role: Sendable {
        /// Sends the first message.
        case initiator
        /// Waits for the first message.
        case responder
    }

    /// The longest Noise message, in bytes.
    public static var messageByteCountMax: Int { 65_535 }

    /// The other side's static key: known before, or as it came in a message that verified.
    public private(set) var remoteStatic: AgreementPublicKey?
    /// Whether all messages have passed.
    public private(set) var isFinished = false

    private let pattern: HandshakePattern
    private let role: Role
    private let usesPSKs: Bool
    private var psks: ArraySlice<SymmetricKey>
    private var symmetric: SymmetricState
    private var staticKey: AgreementKey?
    private var ephemeralKey: AgreementKey?
    private var remoteEphemeral: AgreementPublicKey?
    private var messageIndex = 0
    private var isClosed = false

    /// Starts a handshake.
    ///
    /// - Parameters:
    ///   - pattern: who sends what.
    ///   - hash: the hash function; both sides must use the same.
    ///   - role: which side this is.
    ///   - prologue: what both sides must agree on without sending it.
    ///   - staticKey: our static key, where the pattern sends or knows it.
    ///   - remoteStatic: the other side's static key, where the pattern knows it before.
    ///   - psks: the pre-shared keys in the order of the pattern.
    /// - Precondition: exactly the keys that the pattern names for this role are given.
    public init(
        _ pattern: HandshakePattern, hash: HashFunction = .blake2b, as role: Role,
        prologue: [UInt8], staticKey: AgreementKey? = nil,
        remoteStatic: AgreementPublicKey? = nil, psks: [SymmetricKey] = []
    ) {
        precondition(psks.count == pattern.pskCount, "a handshake with other pre-shared keys")
        precondition(
            staticKey != nil || !pattern.usesStaticKey(of: role), "a handshake without a static key"
        )
        self.pattern = pattern
        self.role = role
        self.staticKey = staticKey
        self.remoteStatic = remoteStatic
        self.psks = psks[...]
        usesPSKs = !psks.isEmpty
        symmetric = SymmetricState(protocolName: pattern.protocolName(hash), hash: hash)
        symmetric.mixHash(prologue)
        if pattern.knowsInitiator { mixKnownStatic(of: .initiator) }
        if pattern.knowsResponder { mixKnownStatic(of: .responder) }
    }

    private func mixKnownStatic(of owner: Role) {
        guard let key = owner == role ? staticKey?.publicKey : remoteStatic else {
            preconditionFailure("the pattern \(pattern.name) needs a static key before it starts")
        }
        symmetric.mixHash(key.bytes)
    }

    /// The hash of the whole conversation so far. After the last message it names this one
    /// session on both sides: sign it to bind something to the session.
    public var handshakeHash: [UInt8] { symmetric.handshakeHash }

    /// Whether the next message is ours to write.
    public var isOurTurn: Bool {
        !isFinished && !isClosed && (messageIndex % 2 == 0) == (role == .initiator)
    }

    /// The next message, with `payload` in it, encrypted as well as the pattern allows by then.
    ///
    /// - Throws: `wrongTurn`, `messageTooLong`, `badKey`.
    public func writeMessage(
        _ payload: [UInt8] = [], using random: any RandomSource
    ) throws(NoiseError) -> [UInt8] {
        guard isOurTurn else { throw .wrongTurn }
        do throws(NoiseError) {
            var message: [UInt8] = []
            for token in pattern.messages[messageIndex] {
                try write(token, to: &message, using: random)
            }
            message += try symmetric.encryptAndHash(payload)
            guard message.count <= Self.messageByteCountMax else { throw .messageTooLong }
            passMessage()
            return message
        } catch {
            close()
            throw error
        }
    }

    /// The payload of the other side's next message. Takes any bytes.
    ///
    /// - Throws: any `NoiseError` but `exhausted`.
    public func readMessage(_ message: [UInt8]) throws(NoiseError) -> [UInt8] {
        guard !isOurTurn, !isFinished, !isClosed else { throw .wrongTurn }
        do throws(NoiseError) {
            guard message.count <= Self.messageByteCountMax else { throw .messageTooLong }
            var rest = message[...]
            for token in pattern.messages[messageIndex] { try read(token, from: &rest) }
            let payload = try symmetric.decryptAndHash(rest)
            passMessage()
            return payload
        } catch {
            close()
            throw error
        }
    }

    /// The two ciphers of the finished handshake, once.
    ///
    /// - Throws: `wrongTurn`.
    public func split() throws(NoiseError) -> (send: CipherState, receive: CipherState) {
        guard isFinished, !isClosed else { throw .wrongTurn }
        let ciphers = symmetric.split()
        close()
        return role == .initiator
            ? (ciphers.fromInitiator, ciphers.fromResponder)
            : (ciphers.fromResponder, ciphers.fromInitiator)
    }

    /// The encrypted connection that the finished handshake leads to, once.
    ///
    /// - Throws: `wrongTurn`.
    public func transport() throws(NoiseError) -> NoiseTransport {
        let ciphers = try split()
        return NoiseTransport(send: ciphers.send, receive: ciphers.receive)
    }

    private func passMessage() {
        messageIndex += 1
        isFinished = messageIndex == pattern.messages.count
    }

    private func close() {
        isClosed = true
        symmetric.forget()
        staticKey = nil
        ephemeralKey = nil
        psks = []
    }
}

// MARK: Tokens

extension HandshakeState {
    private func write(
        _ token: HandshakeToken, to message: inout [UInt8], using random: any RandomSource
    ) throws(NoiseError) {
        switch token {
        case .e:
            let key = AgreementKey(using: random, lifetime: .brief)
            ephemeralKey = key
            message += key.publicKey.bytes
            mixEphemeral(key.publicKey)
        case .s:
            guard let staticKey else { preconditionFailure("no static key to send") }
            message += try symmetric.encryptAndHash(staticKey.publicKey.bytes)
        case .ee, .es, .se, .ss, .psk:
            try mix(token)
        }
    }

    private func read(
        _ token: HandshakeToken, from message: inout ArraySlice<UInt8>
    ) throws(NoiseError) {
        switch token {
        case .e:
            let key = try publicKey(take(AgreementPublicKey.byteCount, from: &message))
            remoteEphemeral = key
            mixEphemeral(key)
        case .s:
            let tagByteCount = symmetric.hasKey ? CipherState.tagByteCount : 0
            let sealed = try take(AgreementPublicKey.byteCount + tagByteCount, from: &message)
            remoteStatic = try publicKey(symmetric.decryptAndHash(sealed)[...])
        case .ee, .es, .se, .ss, .psk:
            try mix(token)
        }
    }

    /// With pre-shared keys an ephemeral key is mixed into the keys too, so that no two sessions
    /// with the same pre-shared key encrypt alike.
    private func mixEphemeral(_ key: AgreementPublicKey) {
        symmetric.mixHash(key.bytes)
        if usesPSKs { symmetric.mixKey(key.bytes) }
    }

    private func mix(_ token: HandshakeToken) throws(NoiseError) {
        let isInitiator = role == .initiator
        switch token {
        case .ee: try mixAgreement(ephemeralKey, remoteEphemeral)
        case .ss: try mixAgreement(staticKey, remoteStatic)
        case .es:
            try isInitiator
                ? mixAgreement(ephemeralKey, remoteStatic)
                : mixAgreement(staticKey, remoteEphemeral)
        case .se:
            try isInitiator
                ? mixAgreement(staticKey, remoteEphemeral)
                : mixAgreement(ephemeralKey, remoteStatic)
        case .psk:
            guard let psk = psks.popFirst() else { preconditionFailure("no pre-shared key left") }
            var bytes = psk.exposedCopy()
            symmetric.mixKeyAndHash(bytes)
            SecretBytes.wipe(&bytes)
        case .e, .s: preconditionFailure("a key is sent, not mixed")
        }
    }

    private func mixAgreement(
        _ ours: AgreementKey?, _ theirs: AgreementPublicKey?
    ) throws(NoiseError) {
        guard let ours, let theirs else {
            preconditionFailure("the pattern \(pattern.name) needs a key that was not given")
        }
        guard let shared = try? ours.sharedSecret(with: theirs) else { throw .badKey }
        var bytes = shared.exposedCopy()
        symmetric.mixKey(bytes)
        SecretBytes.wipe(&bytes)
    }

    private func take(
        _ byteCount: Int, from message: inout ArraySlice<UInt8>
    ) throws(NoiseError) -> ArraySlice<UInt8> {
        guard message.count >= byteCount else { throw .truncated }
        let taken = message.prefix(byteCount)
        message = message.dropFirst(byteCount)
        return taken
    }

    private func publicKey(_ bytes: ArraySlice<UInt8>) throws(NoiseError) -> AgreementPublicKey {
        guard let key = AgreementPublicKey(untrusted: [UInt8](bytes)) else { throw .truncated }
        return key
    }
}
