/// A setting or mark that a member shares with their other devices: content of an own document
/// (PROTOCOL.md, 3.2).
///
/// Each is a register: the latest value counts. In any other document it has no effect.
public enum OwnRegister: Hashable, Sendable {
    /// A conversation is read up to this message; the largest key counts. `frontier` says how many
    /// operations of each log had arrived by then: later arrivals are unread, wherever they sort.
    case read(ConversationName, upTo: MessageKey, frontier: ReadFrontier = ReadFrontier())
    /// A setting of a program; `nil` clears it. At most `Limits.preferenceNameBytesMax` and
    /// `Limits.preferenceBytesMax` bytes.
    case preference(String, value: String?)
    /// A conversation is muted until then, milliseconds; `nil` means permanently.
    case mute(ConversationName, until: UInt64?)
    /// The notification level of a conversation; `nil` means the workspace's level.
    case level(ConversationName, NoticeLevel?)
    /// Whether a message is starred.
    case star(MessageKey, isOn: Bool)
    /// A reminder; `nil` once dismissed.
    case reminder(ReminderName, Reminder?)

    /// The messages that somebody is notified about.
    public enum NoticeLevel: UInt64, Sendable, CaseIterable {
        case all = 0
        case mentions = 1
        case none = 2
    }
}

/// The 16 bytes that the shown id of a channel or a direct conversation spells.
public struct ConversationName: Hashable, Sendable {
    /// 16 bytes.
    public let bytes: [UInt8]
    /// Bytes of every name.
    public static let byteCount = 16

    /// The name with these bytes, or `nil` where they are not 16.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}

extension OwnRegister {
    /// The types of content that are registers, but for `markTypes`.
    static let types: ClosedRange<UInt64> = 5...8

    var encoded: [UInt8] {
        switch self {
        case .read(let conversation, let key, let frontier):
            var fields = FieldWriter(type: 5)
            fields.field(1) { $0.byteString(conversation.bytes) }
            fields.field(2) { key.encode(to: &$0) }
            if !frontier.isEmpty { fields.field(3) { frontier.encode(to: &$0) } }
            return fields.bytes
        case .preference(let name, let value):
            var fields = FieldWriter(type: 6)
            fields.field(1) { $0.text(name) }
            fields.optional(2, value) { $0.text($1) }
            return fields.bytes
        case .mute(let conversation, let until):
            var fields = FieldWriter(type: 7)
            fields.field(1) { $0.byteString(conversation.bytes) }
            fields.optional(2, until) { $0.uint($1) }
            return fields.bytes
        case .level(let conversation, let level):
            var fields = FieldWriter(type: 8)
            fields.field(1) { $0.byteString(conversation.bytes) }
            fields.optional(2, level) { $0.uint($1.rawValue) }
            return fields.bytes
        case .star(let message, let isOn): return Self.encoded(star: message, isOn: isOn)
        case .reminder(let name, let reminder): return Self.encoded(reminder, as: name)
        }
    }

    /// - Precondition: `type` is one of `types`.
    init(_ type: UInt64, _ fields: inout FieldReader) throws(Malformed) {
        if type == 6 {
            self = try Self.preference(&fields)
            return
        }
        let name = try fields.required(1) { (d) throws(Malformed) in
            try d.byteString(exactly: ConversationName.byteCount)
        }
        let start = fields.decoder.position
        guard let conversation = ConversationName(Array(name)) else {
            throw Malformed(.outOfRange, at: start)
        }
        switch type {
        case 5:
            let key = try fields.required(2) { (d) throws(Malformed) in try MessageKey(&d) }
            let frontier = try fields.optional(3) { (d) throws(Malformed) in
                try ReadFrontier(&d)
            }
            self = .read(conversation, upTo: key, frontier: frontier ?? ReadFrontier())
        case 7:
            self = .mute(
                conversation,
                until: try fields.optional(2) { (d) throws(Malformed) in try d.uint() })
        default:
            let level = try fields.optional(2) { (d) throws(Malformed) in
                guard let level = NoticeLevel(rawValue: try d.uint()) else {
                    throw Malformed(.outOfRange, at: start)
                }
                return level
            }
            self = .level(conversation, level)
        }
    }

    private static func preference(_ fields: inout FieldReader) throws(Malformed) -> Self {
        let start = fields.decoder.position
        let name = try fields.required(1) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.preferenceNameBytesMax)
        }
        let value = try fields.optional(2) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.preferenceBytesMax)
        }
        guard !name.isEmpty, !name.hasNUL, value?.hasNUL != true else {
            throw Malformed(.badText, at: start)
        }
        return .preference(name, value: value)
    }
}

extension MessageKey {
    /// Reads `Enc` array [hlc, bytes 8].
    public init(_ decoder: inout CBORDecoder) throws(Malformed) {
        try decoder.arrayCount(exactly: 2)
        let timestamp = HybridTimestamp(rawValue: try decoder.uint())
        let prefix = try decoder.byteString(exactly: 8)
        self.init(timestamp: timestamp, idPrefix: prefix.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
