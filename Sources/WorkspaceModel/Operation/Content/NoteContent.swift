/// What somebody says of a note: that there is one, what it is called, what changes in it, and
/// whether it is deleted (PROTOCOL.md, 3.2).
///
/// A note is named by the operation that makes it. Its title and whether it is deleted are
/// registers, as what is said about messages. Its text follows from all edits in any order.
public enum NoteContent: Hashable, Sendable {
    /// A new note, with what it is called at first.
    case creation(title: String)
    /// What a note is called from now on.
    case title(String, of: MessageKey)
    /// A change of its text: 1 to `Limits.noteEditBytesMax` bytes, which `NoteText` reads, and whom it
    /// mentions.
    case edit([UInt8], of: MessageKey, mentions: Mentions)
    /// Whether it is deleted. It comes back as it was.
    case deletion(isOn: Bool, of: MessageKey)
}

extension NoteContent {
    /// The types of content that are about notes.
    static let types: ClosedRange<UInt64> = 15...18

    /// The note that it is about; `nil` of one that it makes.
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
