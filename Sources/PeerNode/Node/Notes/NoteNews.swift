import CRDTStore
import WorkspaceModel

/// Reports changes of notes: by events, in the transaction of what they report, to the owner, and
/// to search.
final class NoteNews: NotePart {
    /// Which author's edits of which note were reported in this turn.
    private var told: Set<Telling> = []
    /// Notes whose title or text is another one since search took them, and whether what they said has to
    /// go.
    private var changed: [ViewStore.NotePlace: Bool] = [:]
    /// Operations that created notes and may no longer count, by arrival number.
    private var madeAnew: Set<Int64> = []
    /// Edits of this turn that mention the owner, the latest last.
    private var mentioned: [NoteMention] = []

    /// Somebody who has changed a note.
    private struct Telling: Hashable {
        let place: ViewStore.NotePlace
        let member: MemberID
        let isBackfill: Bool
    }

    func forget() { (told, changed, madeAnew, mentioned) = ([], [:], [], []) }

    func endTurn() { told = [] }

    // MARK: Events

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
        guard before != after, room.facts.isTold(of: register.document, in: workspace) else {
            return
        }
        let place = changed
        guard let type = type(register.kind, before, after), let word = after ?? before else {
            return
        }
        // The title of a missing or deleted note is not told.
        if register.kind != .note, try store.view.current(place.register(.note)) == nil { return }
        if register.kind == .noteTitle, try room.facts.isDeleted(place) { return }
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
        _ place: ViewStore.NotePlace, _ operation: AssertionSource, in workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard room.facts.isTold(of: place.document, in: workspace),
            let member = workspace.judged.subject(ofGrant: operation.grant),
            told.insert(
                .init(place: place, member: member, isBackfill: source.isBackfill)
            ).inserted,
            try store.view.current(place.register(.note)) != nil, try !room.facts.isDeleted(place)
        else { return }
        try turn.record(
            .noteEdited, workspace: workspace.number, document: place.document,
            arrival: operation.arrival, isBackfill: source.isBackfill)
    }

    // MARK: Mentions

    /// Tells the owner that an edit of somebody else mentions them. If it counts again later, that
    /// is not told a second time.
    func hear(
        _ mentions: Mentions, in operation: AssertionSource, of place: ViewStore.NotePlace,
        _ workspace: Workspace, _ source: OperationSource
    ) throws(StorageError) {
        guard mentions.includes(workspace.member),
            room.facts.isTold(of: place.document, in: workspace),
            let author = workspace.judged.subject(ofGrant: operation.grant),
            author != workspace.member, try !room.facts.isDeleted(place)
        else { return }
        try turn.record(
            .mentionReceived, workspace: workspace.number, document: place.document,
            arrival: operation.arrival, isBackfill: source.isBackfill)
        guard source != .ourselves, !source.isBackfill, !turn.session.lock.isLocked else { return }
        if mentioned.count >= Limits.noticesWaitingMax { mentioned.removeFirst() }
        mentioned.append(
            NoteMention(
                workspace: workspace.number, document: place.document,
                arrival: operation.arrival))
    }

    /// The edits that mention the owner and came since this was asked last.
    func takeMentions() -> [NoteMention] {
        defer { mentioned = [] }
        return mentioned
    }

    // MARK: Search

    /// Records that the search index of a note is outdated.
    ///
    /// - Parameter isGone: whether the old text must no longer be found anywhere.
    func noteChanged(_ place: ViewStore.NotePlace, isGone: Bool = false) {
        changed[place] = (changed[place] ?? false) || isGone
    }

    /// The same for the words by which a note was made.
    func noteMadeAnew(_ words: ViewStore.Annotation?...) {
        for word in words { if let word { madeAnew.insert(word.arrival) } }
    }

    /// The notes that search has to index again, each once.
    func takeChanged() -> (
        notes: [(place: ViewStore.NotePlace, isGone: Bool)], words: [Int64]
    ) {
        defer { (changed, madeAnew) = ([:], []) }
        let notes = changed.sorted { $0.key < $1.key }.map { (place: $0.key, isGone: $0.value) }
        return (notes, madeAnew.sorted())
    }
}
