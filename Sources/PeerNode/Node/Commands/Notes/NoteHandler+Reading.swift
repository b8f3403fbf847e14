import CRDTStore
import NoteText
import WorkspaceModel

/// Showing notes.
extension NoteHandler {
    func list(
        in channel: ChannelReference?, deleted: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<NoteObject> {
        let workspace: Workspace = try core.queries.shownWorkspace(scope)
        let channels: [Workspace.Channel]
        if let channel {
            channels = [try core.queries.channel(channel, in: workspace)]
        } else {
            channels = workspace.channelIndex.all
        }
        let places = try stored { () throws(StorageError) -> [ViewStore.NotePlace] in
            var places: [ViewStore.NotePlace] = []
            for place in try core.notes.finding.places(in: channels, limit: Limits.notesListedMax)
            where try core.notes.facts.isDeleted(place) == deleted { places.append(place) }
            return places
        }
        let (items, end) = try core.queries.page(places, request)
        let objects = try stored { () throws(StorageError) -> [NoteObject] in
            var objects: [NoteObject] = []
            for place in items {
                guard let object = try core.notes.objects.object(of: place, in: workspace) else {
                    continue
                }
                objects.append(object)
            }
            return objects
        }
        return Page(objects, next: end)
    }

    func show(
        _ note: NoteReference, _ request: NoteViewRequest, _ scope: CallScope
    ) throws(NodeError) -> NoteObject {
        try shown(try aim(note, scope), request)
    }

    /// A note with its text, or the part of it that a call asks for.
    func shown(_ aim: Aim, _ request: NoteViewRequest) throws(NodeError) -> NoteObject {
        var object = try object(of: aim)
        let open = try opened(aim)
        let lines = request.isMarkdown || request.hasBlocks ? open.note.lines() : []
        let text = request.isMarkdown ? NoteMarkdown.text(of: lines) : open.note.text
        let start =
            try request.cursor.map { (cursor) throws(NodeError) in
                try Self.place(of: cursor)
            } ?? 0
        let (part, next) = Self.part(of: text, from: start)
        var content = NoteObject.Content(
            version: open.version.text, text: part, length: Int64(open.note.scalarCount),
            isComplete: open.isComplete)
        content.participants = core.notes.presenceSender.participants(
            of: aim.place, in: aim.workspace)
        object.lock = core.notes.presenceSender.lockObject(of: aim.place, in: aim.workspace)
        content.next = next.map(PageEnd.cursor)
        // If the note does not fit into one answer, only the text is returned.
        let isWhole = start == 0 && next == nil
        if request.hasBlocks { content.blocks = isWhole ? NoteLooks.blocks(lines) : .null }
        if request.hasBlame { content.blame = isWhole ? blame(open, aim.workspace) : .null }
        object.content = content
        guard object.json.bytes.count <= Limits.controlLineBytesMax - 4_096 else {
            throw NodeError(
                .tooLarge, "the note does not fit into one answer with lines, marks and authors",
                hint: "ask for only its text", reason: "note.answer")
        }
        return object
    }

    private static func place(of cursor: String) throws(NodeError) -> Int {
        guard cursor.utf8.first == UInt8(ascii: "n"), let place = Int(cursor.dropFirst()),
            place >= 0
        else {
            throw NodeError(
                .badRequest, "'cursor' did not come from a note",
                hint: "leave it out for the beginning", reason: "bad_cursor",
                fields: [.init(name: "cursor", reason: "form")])
        }
        return place
    }

    /// The part of a text from a byte on that fits into an answer, and where the next one begins.
    static func part(of text: String, from start: Int) -> (text: String, next: Int?) {
        let bytes = Array(text.utf8)
        guard start < bytes.count else { return ("", nil) }
        var (end, room) = (start, Limits.noteTextPerAnswerBytesMax)
        while end < bytes.count {
            room -= AnswerRoom.bytes(of: bytes[end])
            guard room >= 0 else { break }
            end += 1
        }
        // No scalar is divided.
        while end < bytes.count, end > start, bytes[end] & 0xc0 == 0x80 { end -= 1 }
        return (String(decoding: bytes[start..<end], as: UTF8.self), end < bytes.count ? end : nil)
    }

    /// `[{at, length, by, edited_at}]`, in the order of the text; places count scalars.
    private func blame(_ open: OpenNote, _ workspace: Workspace) -> JSONValue {
        .array(
            open.note.authorship().map { part in
                let member = workspace.owner(of: part.author.device)
                return [
                    "at": .integer(Int64(part.range.lowerBound)),
                    "length": .integer(Int64(part.range.count)),
                    "by": member.map { core.membership.person($0, in: workspace).json } ?? .null,
                    "edited_at": JSONValue(
                        orNull: part.key.map { Int64(clamping: $0.timestamp.milliseconds) }),
                ]
            })
    }

    // MARK: History

    func history(
        _ note: NoteReference, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<NoteEventObject> {
        let aim = try aim(note, scope)
        let before =
            try request.cursor.map { (cursor) throws(NodeError) in
                Int64(try Self.place(of: cursor))
            } ?? .max
        let arrivals = try stored { () throws(StorageError) in
            try core.notes.finding.arrivals(of: aim.place, before: before, limit: request.limit + 1)
        }
        let objects = try stored { () throws(StorageError) -> [NoteEventObject] in
            var objects: [NoteEventObject] = []
            for arrival in arrivals.prefix(request.limit) {
                guard let object = try core.notes.objects.entry(arrival: arrival, in: aim.workspace)
                else {
                    continue
                }
                objects.append(object)
            }
            return objects
        }
        let next = arrivals.count > request.limit ? arrivals[request.limit - 1] : nil
        return Page(
            objects, next: PageEnd(start: 0, text: next.map { PageEnd.cursor(Int($0)) }))
    }
}
