/// A reminder: content of an own document (PROTOCOL.md, 3.2).
public struct Reminder: Hashable, Sendable {
    /// When it is due, milliseconds since 1970.
    public let due: UInt64
    /// Its conversation.
    public let conversation: ConversationName
    /// The message that it is about; `nil` where it is about the conversation.
    public let message: MessageKey?
    /// Its text, 1 to `Limits.reminderTextBytesMax` bytes without NUL; `nil` for none.
    public let text: String?

    /// A reminder with the given parts.
    public init(
        due: UInt64, conversation: ConversationName, message: MessageKey? = nil,
        text: String? = nil
    ) {
        self.due = due
        self.conversation = conversation
        self.message = message
        self.text = text
    }
}

/// A reminder's name: 16 random bytes.
public typealias ReminderName = Identifier16<Reminder>

extension OwnRegister {
    /// The types of content that are stars and reminders. Earlier versions skip them.
    static let markTypes: ClosedRange<UInt64> = 13...14

    /// The value stored beside such a register in the view: a star's message, or a reminder's due
    /// time. `nil` once it is cleared, and for every other register.
    public var mark: MessageKey? {
        switch self {
        case .star(let message, let isOn): isOn ? message : nil
        case .reminder(_, let reminder):
            reminder.map {
                MessageKey(timestamp: HybridTimestamp(rawValue: $0.due), idPrefix: 0)
            }
        case .read, .preference, .mute, .level: nil
        }
    }

    /// The plaintext of a star.
    static func encoded(star message: MessageKey, isOn: Bool) -> [UInt8] {
        var fields = FieldWriter(type: 13)
        fields.field(1) { message.encode(to: &$0) }
        fields.field(2) { $0.bool(isOn) }
        return fields.bytes
    }

    /// The plaintext of a reminder; `nil` clears the one of this name.
    static func encoded(_ reminder: Reminder?, as name: ReminderName) -> [UInt8] {
        var fields = FieldWriter(type: 14)
        fields.field(1) { $0.byteString(name) }
        guard let reminder else { return fields.bytes }
        fields.field(2) { $0.uint(reminder.due) }
        fields.field(3) { $0.byteString(reminder.conversation.bytes) }
        fields.optional(4, reminder.message) { $1.encode(to: &$0) }
        fields.optional(5, reminder.text) { $0.text($1) }
        return fields.bytes
    }

    /// - Precondition: `type` is one of `markTypes`.
    init(mark type: UInt64, _ fields: inout FieldReader) throws(Malformed) {
        guard type == 14 else {
            let message = try fields.required(1) { (d) throws(Malformed) in try MessageKey(&d) }
            let isOn = try fields.required(2) { (d) throws(Malformed) in try d.bool() }
            self = .star(message, isOn: isOn)
            return
        }
        let name = try fields.required(1) { (d) throws(Malformed) -> ReminderName in
            try d.identifier16()
        }
        self = .reminder(name, try Self.reminder(&fields))
    }

    /// Without a due time, no other field may be present.
    private static func reminder(_ fields: inout FieldReader) throws(Malformed) -> Reminder? {
        let start = fields.decoder.position
        let due = try fields.optional(2) { (d) throws(Malformed) in try d.uint() }
        guard let due else { return nil }
        let bytes = try fields.required(3) { (d) throws(Malformed) in
            try d.byteString(exactly: ConversationName.byteCount)
        }
        guard let conversation = ConversationName(bytes) else {
            throw Malformed(.outOfRange, at: start)
        }
        let message = try fields.optional(4) { (d) throws(Malformed) in try MessageKey(&d) }
        let text = try fields.optional(5) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.reminderTextBytesMax)
        }
        guard text?.isEmpty != true, text?.hasNUL != true else {
            throw Malformed(.badText, at: start)
        }
        return Reminder(due: due, conversation: conversation, message: message, text: text)
    }
}

extension MessageKey {
    /// The 16 bytes that its shown id spells: timestamp and beginning of the id, big endian.
    public var bytes: [UInt8] {
        bigEndianBytes(of: timestamp.rawValue) + bigEndianBytes(of: idPrefix)
    }
}
