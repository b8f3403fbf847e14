private import CSodium
public import WorkspaceModel

/// One message in a mailbox, for one device.
///
/// - Wire form: `Enc` array [type, …] (PROTOCOL.md, 3.5), padded to 128 bytes.
public enum MailboxMessage: Sendable {
    /// 1: an epoch key of a private document.
    case key(SymmetricKey, of: DocumentID)
    /// 2: the operation that removed the receiver from a document, so that a person is told.
    case notice(OperationID, in: DocumentID)

    /// How many bytes every plaintext has, whatever it says.
    public static var plaintextByteCount: Int { 128 }

    /// The padded plaintext: 128 bytes.
    var padded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: Self.plaintextByteCount)
        encoder.array(count: 3)
        switch self {
        case .key(_, let document):
            encoder.uint(1)
            encoder.byteString(document)
            // Written in place below: the encoder moves its bytes as they grow, and the copies it
            // leaves behind cannot be wiped.
            encoder.byteString([UInt8](repeating: 0, count: SymmetricKey.byteCount))
        case .notice(let operation, let document):
            encoder.uint(2)
            encoder.byteString(document)
            encoder.byteString(operation)
        }
        var text = encoder.bytes
        let end = text.count
        text += [0x80]
        text += [UInt8](repeating: 0, count: Self.plaintextByteCount - text.count)
        if case .key(let key, _) = self {
            key.secret.withBytes { secret in
                for place in 0..<SymmetricKey.byteCount {
                    text[end - SymmetricKey.byteCount + place] = secret[place]
                }
            }
        }
        return text
    }

    /// Reads a plaintext; `nil` for everything that `padded` cannot have made, a type of a later
    /// version included. Takes any bytes.
    init?(padded: [UInt8]) {
        guard padded.count == Self.plaintextByteCount,
            let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80
        else { return nil }
        var text = [UInt8](padded[..<end])
        defer { SecretBytes.wipe(&text) }
        guard let message = try? Self.read(text) else { return nil }
        self = message
    }

    private static func read(_ text: [UInt8]) throws(Malformed) -> MailboxMessage {
        var decoder = CBORDecoder(text)
        try decoder.arrayCount(exactly: 3)
        let type = try decoder.uint()
        let document: DocumentID = try decoder.identifier32()
        var bytes = try decoder.byteString(exactly: 32)
        defer { SecretBytes.wipe(&bytes) }
        try decoder.finish()
        switch type {
        case 1: return .key(SymmetricKey(bytes), of: document)
        case 2: return .notice(OperationID(bytes), in: document)
        default: throw Malformed(.unsupported, at: 1)
        }
    }
}

/// Where a mailbox operation stands: a box opens there and nowhere else.
public struct MailboxPlace: Hashable, Sendable {
    /// The mailbox document of the workspace, H("wsx-mbox", workspace).
    public let mailbox: DocumentID
    /// Who sends.
    public let sender: DeviceID
    /// The sender's incarnation.
    public let incarnation: UInt32
    /// The place in the sender's log.
    public let sequence: UInt64

    /// The place `sequence` of the sender's log in `mailbox`.
    public init(mailbox: DocumentID, sender: DeviceID, incarnation: UInt32, sequence: UInt64) {
        self.mailbox = mailbox
        self.sender = sender
        self.incarnation = incarnation
        self.sequence = sequence
    }

    /// The place of the operation with this header.
    public init(of header: OperationHeader) {
        self.init(
            mailbox: header.document, sender: header.device, incarnation: header.incarnation,
            sequence: header.sequence)
    }

    /// The mailbox document of a workspace.
    public static func mailbox(of workspace: WorkspaceID) -> DocumentID {
        Hash.name("wsx-mbox", workspace.bytes)
    }

    /// `Enc` array [mailbox, sender, incarnation, sequence].
    fileprivate var associatedData: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 96)
        encoder.array(count: 4)
        encoder.byteString(mailbox)
        encoder.byteString(sender)
        encoder.uint(UInt64(incarnation))
        encoder.uint(sequence)
        return encoder.bytes
    }
}

/// The secret that exactly two devices share: S = X25519 of their bound box keys, through HSalsa20.
/// Either of them makes tags and boxes with it, each under the sender's name.
///
/// - Source: libsodium's `crypto_box_beforenm`; PROTOCOL.md, 3.5.
public struct MailboxSecret: Sendable {
    private let shared: SymmetricKey

    /// The secret of this device and of the one whose bound box key is `other`.
    ///
    /// - Throws: `weakPublicKey` when anybody could know it.
    public init(
        own: AgreementKey, other: AgreementPublicKey
    ) throws(AgreementError) {
        var status: Int32 = -1
        shared = SymmetricKey { result in
            status = own.secret.withBytes { secret in
                crypto_box_beforenm(result, other.bytes, secret)
            }
        }
        guard status == 0 else { throw .weakPublicKey }
    }

    /// Hk(S, "wsx-tag" || sender || nonce)[0..7]: where to look in an operation of `sender`.
    public func tag(from sender: DeviceID, nonce: [UInt8]) -> [UInt8] {
        let hash = Hash.keyed(shared, Array("wsx-tag".utf8), sender.bytes, nonce)
        return [UInt8](hash.prefix(MailboxPayload.tagByteCount))
    }

    /// The box of `message` for the other device.
    ///
    /// - Precondition: there is no other box under this secret with this nonce: the key of a box
    ///   is used once.
    func seal(
        _ message: MailboxMessage, nonce: [UInt8], at place: MailboxPlace
    ) -> MailboxPayload.Box {
        var text = message.padded
        defer { SecretBytes.wipe(&text) }
        let sealed = XChaCha20Poly1305.seal(
            text, under: boxKey(from: place.sender, nonce: nonce), nonce: Self.zeros,
            associatedData: place.associatedData)
        return MailboxPayload.Box(tag: tag(from: place.sender, nonce: nonce), sealed: sealed)
    }

    /// The message for this device in an operation, or `nil` when there is none, it does not open
    /// at this place, or its type is unknown. Takes any bytes.
    public func open(_ payload: MailboxPayload, at place: MailboxPlace) -> MailboxMessage? {
        guard let box = payload.box(tagged: tag(from: place.sender, nonce: payload.nonce)),
            var text = XChaCha20Poly1305.open(
                box.sealed, under: boxKey(from: place.sender, nonce: payload.nonce),
                nonce: Self.zeros, associatedData: place.associatedData)
        else { return nil }
        defer { SecretBytes.wipe(&text) }
        return MailboxMessage(padded: text)
    }

    private func boxKey(from sender: DeviceID, nonce: [UInt8]) -> SymmetricKey {
        shared.derived(Array("wsx-box".utf8), sender.bytes, nonce)
    }

    private static let zeros = [UInt8](
        repeating: 0, count: XChaCha20Poly1305.nonceByteCount)
}
