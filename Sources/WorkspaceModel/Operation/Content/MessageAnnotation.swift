/// A change to an existing message: an edit, a reaction, a pin (PROTOCOL.md, 3.2).
///
/// Each belongs to a register. An operation cites as dependencies the register's operations that it
/// overwrites. Those that no valid operation overwrites are the heads; of several heads the largest
/// (hlc, id) wins.
public struct MessageAnnotation: Hashable, Sendable {
    /// The change.
    public enum Change: Hashable, Sendable {
        /// The message's new text; valid from its author only.
        case edit(text: String, format: ContentPayload.Message.Format, mentions: Mentions)
        /// Adds or removes a reaction: 1 to `Limits.emojiBytesMax` bytes, no NUL.
        case reaction(String, isOn: Bool)
        /// Whether it is pinned to its channel.
        case pin(isOn: Bool)
    }

    /// The message it refers to. The message may arrive after it.
    public let target: MessageKey
    /// The change.
    public let change: Change

    /// The change `change` of `target`.
    public init(_ change: Change, of target: MessageKey) {
        self.target = target
        self.change = change
    }
}

/// The people whom a text mentions.
public struct Mentions: Hashable, Sendable {
    /// Ascending, each once, at most `Limits.mentionsMax`.
    public let members: [MemberID]
    /// Whether it mentions everybody in the channel.
    public let isEverybody: Bool

    /// Nobody.
    public static let none = Mentions([])

    /// These members, the first `Limits.mentionsMax` of them by id.
    public init(_ members: some Sequence<MemberID>, everybody: Bool = false) {
        self.members = Array(Set(members).sorted().prefix(Limits.mentionsMax))
        isEverybody = everybody
    }

    /// Whether it mentions `member`.
    public func includes(_ member: MemberID) -> Bool { isEverybody || members.contains(member) }
}

extension MessageAnnotation {
    /// The types of content that are annotations.
    static let types: ClosedRange<UInt64> = 9...11

    var encoded: [UInt8] {
        switch change {
        case .edit(let text, let format, let mentions):
            var fields = FieldWriter(type: 9)
            fields.field(1) { target.encode(to: &$0) }
            fields.field(2) { $0.text(text) }
            if format != .text { fields.field(3) { $0.uint(format.rawValue) } }
            mentions.encode(to: &fields, members: 4, everybody: 5)
            return fields.bytes
        case .reaction(let emoji, let isOn):
            var fields = FieldWriter(type: 10)
            fields.field(1) { target.encode(to: &$0) }
            fields.field(2) { $0.text(emoji) }
            fields.field(3) { $0.bool(isOn) }
            return fields.bytes
        case .pin(let isOn):
            var fields = FieldWriter(type: 11)
            fields.field(1) { target.encode(to: &$0) }
            fields.field(2) { $0.bool(isOn) }
            return fields.bytes
        }
    }

    /// - Precondition: `type` is one of `types`.
    init(_ type: UInt64, _ fields: inout FieldReader) throws(Malformed) {
        target = try fields.required(1) { (d) throws(Malformed) in try MessageKey(&d) }
        switch type {
        case 9:
            let text = try ContentPayload.Message.text(2, &fields)
            let format = try ContentPayload.Message.format(3, &fields)
            change = .edit(
                text: text, format: format,
                mentions: try Mentions(members: 4, everybody: 5, &fields))
        case 10:
            let start = fields.decoder.position
            let emoji = try fields.required(2) { (d) throws(Malformed) in
                try d.text(maxBytes: Limits.emojiBytesMax)
            }
            guard !emoji.isEmpty, !emoji.hasNUL else {
                throw Malformed(.badText, at: start)
            }
            change = .reaction(
                emoji, isOn: try fields.required(3) { (d) throws(Malformed) in try d.bool() })
        default:
            change = .pin(
                isOn: try fields.required(2) { (d) throws(Malformed) in try d.bool() })
        }
    }
}

extension Mentions {
    /// Writes the fields that are not empty.
    func encode(to fields: inout FieldWriter, members first: UInt64, everybody second: UInt64) {
        if !members.isEmpty {
            fields.field(first) { $0.list(members) { $0.byteString($1) } }
        }
        if isEverybody { fields.field(second) { $0.bool(true) } }
    }

    init(
        members first: UInt64, everybody second: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) {
        let start = fields.decoder.position
        let members = try fields.optional(first) { (d) throws(Malformed) in
            try d.list(max: Limits.mentionsMax) { (d) throws(Malformed) -> MemberID in
                try d.identifier16()
            }
        }
        // Neither "no members" nor "not everybody" is encoded: both are absent.
        let isAscending = zip(members ?? [], (members ?? []).dropFirst()).allSatisfy { $0 < $1 }
        guard members?.isEmpty != true, isAscending else {
            throw Malformed(.keysOutOfOrder, at: start)
        }
        let everybody = try fields.optional(second) { (d) throws(Malformed) in try d.bool() }
        guard everybody != false else { throw Malformed(.outOfRange, at: start) }
        self.init(members ?? [], everybody: everybody == true)
    }
}

extension MessageKey {
    /// Writes `Enc` array [hlc, bytes 8].
    public func encode(to encoder: inout CBOREncoder) {
        encoder.array(count: 2)
        encoder.uint(timestamp.rawValue)
        encoder.byteString(bigEndianBytes(of: idPrefix))
    }
}
