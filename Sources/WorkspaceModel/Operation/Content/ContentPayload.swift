/// The decrypted content of a content operation: the closed list of PROTOCOL.md, 3.2.
///
/// A plaintext of an unknown type, or one that does not parse, is a no-op for everybody who holds
/// the key: it is chained and relayed, and shows nothing.
public enum ContentPayload: Hashable, Sendable {
    /// One message of a channel.
    public struct Message: Hashable, Sendable {
        /// How the text is formatted.
        public enum Format: UInt64, Sendable {
            case text = 0
            case code = 1
        }

        /// At most `Limits.messageTextBytesMax` bytes of UTF-8, no NUL.
        public let text: String
        /// Its format.
        public let format: Format
        /// The message it replies to.
        public let thread: MessageKey?
        /// The place that it refers to.
        public let location: MessageLocation?
        /// The people it mentions.
        public let mentions: Mentions
        /// Whether a bot wrote it, as its author states: other bots do not react to it.
        public let isBot: Bool
        /// Its files: one item of CBOR, decoded by the modules that handle files. An edit does not
        /// change them.
        public let manifest: [UInt8]?

        /// A message with the given parts.
        ///
        /// - Parameter manifest: exactly one item of `Enc`.
        public init(
            text: String, format: Format = .text, thread: MessageKey? = nil,
            location: MessageLocation? = nil, mentions: Mentions = .none, isBot: Bool = false,
            manifest: [UInt8]? = nil
        ) {
            self.text = text
            self.format = format
            self.thread = thread
            self.location = location
            self.mentions = mentions
            self.isBot = isBot
            self.manifest = manifest
        }
    }

    /// How somebody's subscription to a public channel changes.
    public enum MembershipAction: UInt64, Sendable {
        case join = 0
        case leave = 1
        case add = 2
        case remove = 3
    }

    case message(Message)
    /// The author's display name; in the profile document.
    case profile(name: String)
    /// The name of one of the author's devices; in the profile document.
    case device(DeviceID, name: String)
    /// Empty `members` means the author.
    case membership(MembershipAction, members: [MemberID])
    /// The author's private settings and marks; in an own document.
    case own(OwnRegister)
    /// A change to an existing message; in its channel.
    case annotation(MessageAnnotation)
    /// A field of the author's profile besides the name; in the profile document.
    case profileField(ProfileChange)
    /// A note or a change to one; in its channel.
    case note(NoteContent)
    /// A verifier's attestation; in the profile document.
    case attestation(Attestation)
    /// An entry of a ledger.
    case ledger(LedgerContent)
}

/// The name of a message inside a channel: when, and the start of its id.
///
/// - Wire form: `Enc` array [hlc, bytes 8]. Shown as `m_` and base32 of the same 16 bytes.
public struct MessageKey: Hashable, Comparable, Sendable {
    /// The operation's hybrid timestamp.
    public let timestamp: HybridTimestamp
    /// The first 8 bytes of the operation's id, big endian.
    public let idPrefix: UInt64

    /// The message written at `timestamp` whose id starts with `idPrefix`.
    public init(timestamp: HybridTimestamp, idPrefix: UInt64) {
        self.timestamp = timestamp
        self.idPrefix = idPrefix
    }

    /// By time, then by id.
    public static func < (left: Self, right: Self) -> Bool {
        (left.timestamp.rawValue, left.idPrefix) < (right.timestamp.rawValue, right.idPrefix)
    }
}

extension ContentPayload {
    /// The plaintext before padding and sealing.
    public var encoded: [UInt8] {
        switch self {
        case .message(let message):
            var fields = FieldWriter(type: 1)
            fields.field(1) { $0.text(message.text) }
            if message.format != .text { fields.field(2) { $0.uint(message.format.rawValue) } }
            fields.optional(3, message.thread) { $1.encode(to: &$0) }
            fields.optional(4, message.location) { $1.encode(to: &$0) }
            message.mentions.encode(to: &fields, members: 5, everybody: 6)
            if message.isBot { fields.field(7) { $0.bool(true) } }
            fields.optional(32, message.manifest) { $0.item(raw: $1[...]) }
            return fields.bytes
        case .membership(let action, let members):
            var fields = FieldWriter(type: 2)
            fields.field(1) { $0.uint(action.rawValue) }
            fields.field(2) { $0.list(members) { $0.byteString($1) } }
            return fields.bytes
        case .profile(let name):
            var fields = FieldWriter(type: 3)
            fields.field(1) { $0.text(name) }
            return fields.bytes
        case .device(let device, let name):
            var fields = FieldWriter(type: 4)
            fields.field(1) { $0.byteString(device) }
            fields.field(2) { $0.text(name) }
            return fields.bytes
        case .own(let register):
            return register.encoded
        case .annotation(let annotation):
            return annotation.encoded
        case .profileField(let change):
            return change.encoded
        case .note(let content):
            return content.encoded
        case .attestation(let attestation):
            return attestation.encoded
        case .ledger(let content):
            return content.encoded
        }
    }

    /// Reads a plaintext.
    ///
    /// - Throws: `Malformed`, also for a type of a later version (`unsupported`).
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        let type = try decoder.uint()
        guard (1...LedgerContent.types.upperBound).contains(type) else {
            throw Malformed(.unsupported, at: 1)
        }
        var fields = try FieldReader(decoder)
        switch type {
        case 1: self = .message(try Message(&fields))
        case 2: self = try Self.membership(&fields)
        case OwnRegister.types: self = .own(try OwnRegister(type, &fields))
        case OwnRegister.markTypes: self = .own(try OwnRegister(mark: type, &fields))
        case MessageAnnotation.types:
            self = .annotation(try MessageAnnotation(type, &fields))
        case ProfileChange.type: self = .profileField(try ProfileChange(&fields))
        case NoteContent.types: self = .note(try NoteContent(type, &fields))
        case Attestation.type: self = .attestation(try Attestation(&fields))
        case LedgerContent.types: self = .ledger(try LedgerContent(type, &fields))
        case 4:
            let device = try fields.required(1) { (d) throws(Malformed) -> DeviceID in
                try d.identifier32()
            }
            self = .device(
                device,
                name: try fields.required(2) { (d) throws(Malformed) in
                    try d.text(maxBytes: Limits.nameBytesMax)
                })
        default:
            self = .profile(
                name: try fields.required(1) { (d) throws(Malformed) in
                    try d.text(maxBytes: Limits.nameBytesMax)
                })
        }
        try fields.finishContent()
    }

    private static func membership(_ fields: inout FieldReader) throws(Malformed) -> Self {
        let start = fields.decoder.position
        let number = try fields.required(1) { (d) throws(Malformed) in try d.uint() }
        guard let action = MembershipAction(rawValue: number) else {
            throw Malformed(.outOfRange, at: start)
        }
        let members = try fields.required(2) { (d) throws(Malformed) in
            try d.list(max: 4_096) { (d) throws(Malformed) -> MemberID in try d.identifier16() }
        }
        return .membership(action, members: members)
    }
}

extension ContentPayload.Message {
    fileprivate init(_ fields: inout FieldReader) throws(Malformed) {
        text = try Self.text(1, &fields)
        format = try Self.format(2, &fields)
        thread = try fields.optional(3) { (d) throws(Malformed) in try MessageKey(&d) }
        location = try fields.optional(4) { (d) throws(Malformed) in try MessageLocation(&d) }
        mentions = try Mentions(members: 5, everybody: 6, &fields)
        let start = fields.decoder.position
        let bot = try fields.optional(7) { (d) throws(Malformed) in try d.bool() }
        // A person's message has one encoding: absent.
        guard bot != false else { throw Malformed(.outOfRange, at: start) }
        isBot = bot == true
        manifest = try fields.optional(32) { (d) throws(Malformed) in
            let start = d.position
            try d.skipItem()
            return [UInt8](d.bytes[start..<d.position])
        }
    }

    static func text(_ key: UInt64, _ fields: inout FieldReader) throws(Malformed) -> String {
        let start = fields.decoder.position
        let text = try fields.required(key) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.messageTextBytesMax)
        }
        guard !text.hasNUL else { throw Malformed(.badText, at: start) }
        return text
    }

    static func format(_ key: UInt64, _ fields: inout FieldReader) throws(Malformed) -> Format {
        let start = fields.decoder.position
        let number = try fields.optional(key) { (d) throws(Malformed) in try d.uint() }
        // The default has one encoding: absent.
        guard number != 0, let format = Format(rawValue: number ?? 0) else {
            throw Malformed(.outOfRange, at: start)
        }
        return format
    }
}

/// The 8 bytes of `number`, most significant first.
public func bigEndianBytes(of number: UInt64) -> [UInt8] {
    stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
}
