import CRDTStore
import NoteText
import WorkspaceModel

/// Folds operations about notes. A pure fold, like all content: any order gives the same.
extension Notes: ContentFamily {
    func fold(
        _ content: ContentPayload, _ operation: AssertionSource, isValid: Bool,
        in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) {
        guard case .note(let said) = content else { return }
        let isDeleted = try core.messages.isDeleted(operation.arrival)
        switch said {
        case .creation:
            let key = MessageKey(
                timestamp: operation.timestamp, idPrefix: operation.id.messagePrefix)
            try fold(
                .note, of: key, operation, isValid: isValid && !isDeleted, in: workspace, source)
        case .title(_, let key):
            try fold(
                .noteTitle, of: key, operation, isValid: isValid && !isDeleted, in: workspace,
                source)
        case .deletion(let isOn, let key):
            try fold(
                .noteDeletion, of: key, isOn: isOn, operation, isValid: isValid && !isDeleted,
                in: workspace, source)
        case .edit(let body, let key, let mentions):
            let state: ViewStore.NoteEditRow.State =
                isDeleted ? .erased : isValid ? .valid : .invalid
            let place = ViewStore.NotePlace(document: operation.document, key: key)
            let isNew = try fold(body, of: place, operation, state, in: workspace, source)
            if isNew, isValid, !isDeleted {
                try news.hear(mentions, in: operation, of: place, workspace, source)
            }
        }
    }

    /// Takes over a word of one of the registers of a note.
    private func fold(
        _ kind: ViewStore.Annotation.Kind, of key: MessageKey, isOn: Bool = true,
        _ operation: AssertionSource, isValid: Bool, in workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard try store.view.isValid(annotationAt: operation.arrival) != isValid else { return }
        let register = ViewStore.NotePlace(document: operation.document, key: key).register(kind)
        try write()
        let before = try store.view.current(register)
        try store.view.fold(
            ViewStore.Annotation(
                register, id: operation.id, at: operation.timestamp, arrival: operation.arrival,
                isOn: isOn), citing: operation.cited, isValid: isValid)
        try news.follow(register, from: before, in: workspace, source)
    }

    func follow(
        _ register: ViewStore.Annotation.Register, from before: ViewStore.Annotation?,
        in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        try news.follow(register, from: before, in: workspace, source)
    }

    // MARK: Edits

    /// - Returns: whether it was not known before.
    private func fold(
        _ body: [UInt8], of place: ViewStore.NotePlace, _ operation: AssertionSource,
        _ state: ViewStore.NoteEditRow.State, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) -> Bool {
        if let known = try store.view.notes.noteEdit(at: operation.arrival) {
            guard known.edit.state == state else {
                try change(known.edit, of: known.place, to: state, in: workspace)
                return false
            }
            // Its payload was not here, or came again.
            if let note = texts.known(known.place), !note.isWhole { texts.drop(note) }
            news.noteChanged(known.place)
            return false
        }
        guard let edit = try? NoteEdit(decoding: body) else { return false }
        try write()
        try store.view.notes.put(.init(arrival: operation.arrival, state: state), of: place)
        if state == .valid { news.noteChanged(place) }
        // Edits after the end of a snapshot are read in addition to it.
        if let end = try store.view.notes.noteSnapshotEnd(of: place), end >= operation.arrival {
            try store.view.notes.removeNoteSnapshot(of: place)
        }
        if let note = texts.known(place) {
            try take(edit, operation, state, into: note, of: workspace)
        } else {
            texts.noteTail(place)
        }
        if state == .valid { try news.tellEdited(place, operation, in: workspace, source) }
        return true
    }

    private func take(
        _ edit: NoteEdit, _ operation: AssertionSource, _ state: ViewStore.NoteEditRow.State,
        into note: OpenNote, of workspace: Workspace
    ) throws(StorageError) {
        // A draft of this home is in the text; its author already knows how it changed the text.
        if writing.publishing === note, operation.arrival > note.last {
            note.took(operation.id, state, at: operation.arrival, nil)
            if state != .valid { texts.drop(note) }
            return
        }
        guard let stored = try store.operations.operation(operation.arrival, hasPayload: false)
        else { return }
        let outcome =
            state == .erased
            ? note.note.erase(stored.messageKey)
            : note.note.apply(NoteOperation(stored, edit), isValid: state == .valid)
        guard let patches = outcome.patches else { return texts.drop(note) }
        let before = note.version
        note.took(operation.id, state, at: operation.arrival, patches)
        attendance.published(by: stored.log.device, in: note.place)
        attendance.noteMove(
            of: note, from: before, patches.made,
            by: workspace.judged.subject(ofGrant: operation.grant))
        if outcome == .waits { try texts.takeDeleted(into: note) }
    }

    /// Changes what an edit is for the text.
    private func change(
        _ edit: ViewStore.NoteEditRow, of place: ViewStore.NotePlace,
        to state: ViewStore.NoteEditRow.State, in workspace: Workspace
    ) throws(StorageError) {
        try write()
        try store.view.notes.put(.init(arrival: edit.arrival, state: state), of: place)
        try store.view.notes.removeNoteSnapshot(of: place)
        news.noteChanged(place, isGone: state == .erased)
        guard let note = texts.known(place) else { return }
        guard writing.publishing !== note, edit.state != .erased, state != .erased,
            let stored = try store.operations.operation(edit.arrival),
            let operation = try texts.operation(stored, in: workspace),
            let patches = note.note.judge(operation, isValid: state == .valid).patches
        else { return texts.drop(note) }
        let before = note.version
        note.sums.remove(operation.id, edit.state)
        note.sums.add(operation.id, state)
        note.past.append(before, patches.made, removed: patches.removed)
        attendance.noteMove(of: note, from: before, patches.made, by: nil)
    }

    func judge(
        _ arrivals: [Int64], isValid: Bool, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        let state: ViewStore.NoteEditRow.State = isValid ? .valid : .invalid
        for arrival in arrivals {
            guard let (place, edit) = try store.view.notes.noteEdit(at: arrival),
                edit.state != .erased,
                edit.state != state
            else { continue }
            try change(edit, of: place, to: state, in: workspace)
        }
    }

    // MARK: Deletion

    func noteDeleted(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        for arrival in arrivals {
            if let (place, edit) = try store.view.notes.noteEdit(at: arrival) {
                guard edit.state != .erased else { continue }
                try change(edit, of: place, to: .erased, in: workspace)
                continue
            }
            guard texts.open.values.contains(where: { !$0.note.isComplete }),
                let stored = try store.operations.operation(arrival, hasPayload: false)
            else { continue }
            // It may be what an edit has waited for.
            for note in texts.open.values where note.place.document == stored.document {
                guard note.note.missing.contains(stored.messageKey) else { continue }
                texts.drop(note)
            }
        }
    }

    func noteRestored(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        for arrival in arrivals {
            guard let (place, edit) = try store.view.notes.noteEdit(at: arrival),
                edit.state == .erased,
                let stored = try store.operations.operation(arrival, hasPayload: false)
            else { continue }
            let isValid = try core.privates.visibility(of: stored, in: workspace) == .shown
            try change(edit, of: place, to: isValid ? .valid : .invalid, in: workspace)
        }
    }
}
