import CRDTStore
import NoteText
import WorkspaceModel

/// Notes as people and scripts see them.
final class NotePresenting: NotePart {
    /// A note with who made it and who changed it last; `nil` where it is not there, or cannot be
    /// opened.
    func object(
        of place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> NoteObject? {
        guard let word = try store.view.current(place.register(.note)),
            let made = try store.operations.operation(word.arrival),
            case .note(.creation(let first))? = try core.keys.content(of: made, in: workspace),
            let author = workspace.judged.subject(ofGrant: made.entry.grant)
        else { return nil }
        var object = NoteObject(
            id: PublicID.note(place.key), workspace: PublicID.workspace(workspace.id),
            channel: core.channels.publicID(ofChannel: made.log.document, in: workspace),
            title: try room.facts.title(of: place, in: workspace) ?? first,
            author: core.membership.person(author, in: workspace),
            createdAt: Int64(clamping: place.key.timestamp.milliseconds))
        object.isDeleted = try room.facts.isDeleted(place)
        for edit in try store.view.notes.latestNoteEdits(of: place, limit: Self.looksForLast)
        where edit.state == .valid {
            guard
                let stored = try store.operations.operation(edit.arrival, hasPayload: false),
                let editor = workspace.judged.subject(ofGrant: stored.entry.grant)
            else { continue }
            object.editedAt = Int64(clamping: stored.entry.timestamp.milliseconds)
            object.editedBy = core.membership.person(editor, in: workspace)
            break
        }
        return object
    }

    /// How many of the latest edits are searched for one that counts.
    private static let looksForLast = 16

    // MARK: Events

    /// An event's data about the note of an operation, as it is now, and who did what.
    func data(
        arrival: Int64?, in workspace: Workspace
    ) throws(StorageError) -> NoteEventData? {
        guard let arrival, let stored = try store.operations.operation(arrival),
            case .note(let said)? = try core.keys.content(of: stored, in: workspace),
            let author = workspace.judged.subject(ofGrant: stored.entry.grant),
            workspace.channel(numbered: stored.document) != nil
        else { return nil }
        let place = ViewStore.NotePlace(
            document: stored.document, key: said.note ?? stored.messageKey)
        return try object(of: place, in: workspace).map {
            NoteEventData(
                note: $0, by: core.membership.person(author, in: workspace),
                at: Int64(clamping: stored.entry.timestamp.milliseconds))
        }
    }

    // MARK: History

    /// One entry of the history of a note; `nil` for one that can no longer be opened.
    func entry(
        arrival: Int64, in workspace: Workspace
    ) throws(StorageError) -> NoteEventObject? {
        guard let stored = try store.operations.operation(arrival),
            let author = workspace.judged.subject(ofGrant: stored.entry.grant),
            case .note(let said)? = try core.keys.content(of: stored, in: workspace)
        else { return nil }
        let action: NoteEventObject.Action
        switch said {
        case .creation: action = .created
        case .title: action = .renamed
        case .edit: action = .edited
        case .deletion(let isOn, _): action = isOn ? .deleted : .restored
        }
        var object = NoteEventObject(
            id: PublicID.operation(stored.place.link.id), action: action,
            by: core.membership.person(author, in: workspace),
            at: Int64(clamping: stored.entry.timestamp.milliseconds))
        switch said {
        case .creation(let title), .title(let title, _): object.title = title
        case .edit(let body, _, _):
            object.added = (try? NoteEdit(decoding: body)).map { Int64($0.insertedCount) }
        case .deletion: break
        }
        object.isValid = try core.privates.visibility(of: stored, in: workspace) == .shown
        return object
    }
}

/// The data of a note's event: the note without its text, and who did it when.
struct NoteEventData: ControlObject {
    let note: NoteObject
    let by: PersonObject
    let at: Int64

    var json: JSONValue {
        guard var fields = note.json.objectValue else { return note.json }
        fields.append("by", by.json)
        fields.append("at", .integer(at))
        return .object(fields)
    }
}
