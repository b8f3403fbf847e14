import CRDTStore
import WorkspaceModel

/// What the store contains about notes.
final class NoteFacts: NotePart {
    /// The title of a note since it was renamed; `nil` where it was not.
    func title(
        of place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> String? {
        guard let word = try store.view.current(place.register(.noteTitle)),
            let stored = try store.operations.operation(word.arrival),
            case .note(.title(let title, _))? = try core.keys.content(of: stored, in: workspace)
        else { return nil }
        return title
    }

    /// The title of a note.
    func name(
        of place: ViewStore.NotePlace, in workspace: Workspace
    ) throws(StorageError) -> String? {
        if let title = try title(of: place, in: workspace) { return title }
        guard let word = try store.view.current(place.register(.note)),
            let made = try store.operations.operation(word.arrival),
            case .note(.creation(let title))? = try core.keys.content(of: made, in: workspace)
        else { return nil }
        return title
    }

    /// Whether activity in a document is reported to people.
    func isTold(of document: Int64, in workspace: Workspace) -> Bool {
        store.operations.document(numbered: document).map(workspace.isTold) ?? false
    }

    /// Whether a note was deleted, and can be restored.
    func isDeleted(_ place: ViewStore.NotePlace) throws(StorageError) -> Bool {
        try store.view.current(place.register(.noteDeletion))?.isOn ?? false
    }
}
