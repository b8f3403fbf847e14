import CRDTStore
import WorkspaceModel

/// Events of notes, in the transaction of what they tell.
extension Notes {
    func follow(
        _ register: ViewStore.Annotation.Register, from before: ViewStore.Annotation?,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        let after = try store.view.current(register)
        let changed = ViewStore.NotePlace(document: register.document, key: register.target)
        switch register.kind {
        case .note where before != after: noteMadeAnew(before, after)
        case .noteTitle where before != after: noteChanged(changed)
        case .noteDeletion where before != after: noteChanged(changed, isGone: true)
        default: break
        }
        guard before != after, isTold(of: register.document, in: workspace) else { return }
        let place = changed
        guard let type = type(register.kind, before, after), let word = after ?? before else {
            return
        }
        // Of what is not there, or deleted, nobody is told what it is called.
        if register.kind != .note, try store.view.current(place.register(.note)) == nil { return }
        if register.kind == .noteTitle, try isDeleted(place) { return }
        try turn.record(
            type, workspace: workspace.number, document: register.document, arrival: word.arrival,
            isBackfill: source.isBackfill)
    }

    private func type(
        _ kind: ViewStore.Annotation.Kind, _ before: ViewStore.Annotation?,
        _ after: ViewStore.Annotation?
    ) -> EventType? {
        let (was, now) = (before?.isOn ?? false, after?.isOn ?? false)
        switch kind {
        case .note where was != now: return now ? .noteCreated : .noteDeleted
        case .noteTitle: return .noteRenamed
        case .noteDeletion where was != now: return now ? .noteDeleted : .noteRestored
        default: return nil
        }
    }

    /// Tells that somebody has changed a text: of one who does it often in a turn, once.
    func tellEdited(
        _ place: ViewStore.NotePlace, _ operation: WordSource, in workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard isTold(of: place.document, in: workspace),
            let member = workspace.judged.evaluator.subject(ofGrant: operation.grant),
            told.insert(
                .init(place: place, member: member, isBackfill: source.isBackfill)
            ).inserted,
            try store.view.current(place.register(.note)) != nil, try !isDeleted(place)
        else { return }
        try turn.record(
            .noteEdited, workspace: workspace.number, document: place.document,
            arrival: operation.arrival, isBackfill: source.isBackfill)
    }

    /// Whether people are told of what happens in a document.
    func isTold(of document: Int64, in workspace: Workspace) -> Bool {
        guard let row = store.operations.document(numbered: document) else { return false }
        return row.kind == .privateDocument
            ? workspace.channelIndex.channel(document) != nil
            : workspace.book.deleted[row.id] == nil
    }

    /// Whether a note was deleted, and can come back.
    func isDeleted(_ place: ViewStore.NotePlace) throws(StorageError) -> Bool {
        try store.view.current(place.register(.noteDeletion))?.isOn ?? false
    }
}
