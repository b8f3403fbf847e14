/// A note or a change to one: creation, title, edit, deletion (PROTOCOL.md, 3.2).
///
/// A note is named by the operation that creates it. Its title and its deletion are registers, like
/// annotations of messages. Its text results from all edits, in whatever order they arrive.
public enum NoteContent: Hashable, Sendable {
    /// A new note, with its first title.
    case creation(title: String)
    /// A note's new title.
    case title(String, of: MessageKey)
    /// An edit of its text, 1 to `Limits.noteEditBytesMax` bytes, which `NoteText` decodes, and the
    /// people it mentions.
    case edit([UInt8], of: MessageKey, mentions: Mentions)
    /// Deletes a note, or restores it unchanged.
    case deletion(isOn: Bool, of: MessageKey)
}

extension NoteContent {
    /// The types of content that are about notes.
    static let types: ClosedRange<UInt64> = 15...18

    /// The note that it changes; `nil` for a creation.
    public var note: MessageKey? {
        switch self {
        case .creation: nil
        case .title(_, let note), .edit(_, let note, _), .deletion(_, let note): note
        }
    }

    var encoded: [UInt8] {
        switch self {
        case .creation(let title):
            var fields = FieldWriter(type: 15)
            fields.field(1) { $0.text(title) }
            return fields.bytes
        case .title(let title, let note):
            var fields = FieldWriter(type: 16)
            fields.field(1) { note.encode(to: &$0) }
            fields.field(2) { $0.text(title) }
            return fields.bytes
        case .edit(let body, let note, let mentions):
            var fields = FieldWriter(type: 17)
            fields.field(1) { note.encode(to: &$0) }
            fields.field(2) { $0.byteString(body) }
            mentions.encode(to: &fields, members: 3, everybody: 4)
            return fields.bytes
        case .deletion(let isOn, let note):
            var fields = FieldWriter(type: 18)
            fields.field(1) { note.encode(to: &$0) }
            fields.field(2) { $0.bool(isOn) }
            return fields.bytes
        }
    }

    /// - Precondition: `type` is one of `types`.
    init(_ type: UInt64, _ fields: inout FieldReader) throws(Malformed) {
        guard type != Self.types.lowerBound else {
            self = .creation(title: try Self.title(1, &fields))
            return
        }
        let note = try fields.required(1) { (d) throws(Malformed) in try MessageKey(&d) }
        switch type {
        case 16: self = .title(try Self.title(2, &fields), of: note)
        case 17:
            let start = fields.decoder.position
            let body = try fields.required(2) { (d) throws(Malformed) in
                try d.byteString(maxCount: Limits.noteEditBytesMax)
            }
            guard !body.isEmpty else { throw Malformed(.outOfRange, at: start) }
            self = .edit(
                body, of: note, mentions: try Mentions(members: 3, everybody: 4, &fields))
        default:
            self = .deletion(
                isOn: try fields.required(2) { (d) throws(Malformed) in try d.bool() }, of: note)
        }
    }

    private static func title(
        _ key: UInt64, _ fields: inout FieldReader
    ) throws(Malformed) -> String {
        let start = fields.decoder.position
        let title = try fields.required(key) { (d) throws(Malformed) in
            try d.text(maxBytes: Limits.noteTitleBytesMax)
        }
        guard !title.isEmpty, !title.hasNUL else { throw Malformed(.badText, at: start) }
        return title
    }
}
