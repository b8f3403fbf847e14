import CRDTStore
import WorkspaceModel

/// Finding notes.
final class NoteFinding: NotePart {
    /// Where a note is that the caller may see; `nil` where no note has this name.
    func place(
        of key: MessageKey, in workspace: Workspace
    ) throws(StorageError) -> ViewStore.NotePlace? {
        // A person who types asks for the same open note again and again.
        let known = room.texts.orderedOpen.first {
            $0.place.key == key && workspace.channel(numbered: $0.place.document) != nil
        }
        if let known, try store.view.current(known.place.register(.note)) != nil {
            return known.place
        }
        for channel in workspace.channelIndex.all {
            for document in [channel.number] + channel.others {
                let place = ViewStore.NotePlace(document: document, key: key)
                if try store.view.current(place.register(.note)) != nil { return place }
            }
        }
        return nil
    }

    /// The notes of some channels, those made last first, of each channel at most `limit`.
    func places(
        in channels: [Workspace.Channel], limit: Int
    ) throws(StorageError) -> [ViewStore.NotePlace] {
        var places: [ViewStore.NotePlace] = []
        for channel in channels {
            for document in [channel.number] + channel.others where document != 0 {
                places += try store.view.notes.notes(in: document, limit: limit)
            }
        }
        return places.sorted { ($1.key, $1.document) < ($0.key, $0.document) }
    }

    /// The arrival numbers of what was said of a note, valid or not, the latest first.
    ///
    /// - Parameter end: only those before this one.
    func arrivals(
        of place: ViewStore.NotePlace, before end: Int64 = .max, limit: Int
    ) throws(StorageError) -> [Int64] {
        var found = try store.view.notes.latestNoteEdits(of: place, before: end, limit: limit)
            .map(\.arrival)
        for kind in [ViewStore.Annotation.Kind.note, .noteTitle, .noteDeletion] {
            found += try store.view.arrivals(
                in: place.register(kind), before: end, limit: limit)
        }
        return Array(found.sorted(by: >).prefix(limit))
    }

    /// The notes with a title, ignoring case, that were not deleted, with their titles. If there is
    /// none, those that were.
    func places(
        named title: String, in channels: [Workspace.Channel], of workspace: Workspace
    ) throws(StorageError) -> [(place: ViewStore.NotePlace, title: String)] {
        var found: [(place: ViewStore.NotePlace, title: String)] = []
        var deleted: [(place: ViewStore.NotePlace, title: String)] = []
        let places = try places(in: channels, limit: Limits.notesNamedMax)
        for place in places.prefix(Limits.notesNamedMax) {
            guard let name = try room.facts.name(of: place, in: workspace),
                NameFolding.matches(name, title)
            else { continue }
            if try room.facts.isDeleted(place) {
                deleted.append((place, name))
            } else {
                found.append((place, name))
            }
        }
        return found.isEmpty ? deleted : found
    }
}
