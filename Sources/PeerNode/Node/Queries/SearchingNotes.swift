import CRDTStore
import NoteText
import WorkspaceModel

/// Notes in the search index: each is indexed under the operation that created it, with its title
/// in the first line and its current text below.
extension Queries {
    /// The index row for a note; `nil` where it was deleted, or another operation created it.
    ///
    /// - Parameter stored: the operation that made it.
    func noteRow(
        of stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> SearchRow? {
        guard let found = try foundNote(stored, in: workspace) else { return nil }
        return SearchRow(
            position: position(of: stored), text: found.title + "\n" + found.text,
            document: stored.document, grant: stored.grantNumber, workspace: workspace.number,
            isNote: true)
    }

    /// The note that an operation made, as people read it.
    private func foundNote(
        _ stored: StoredOperation, in workspace: Workspace
    ) throws(StorageError) -> (place: ViewStore.NotePlace, title: String, text: String)? {
        let place = ViewStore.NotePlace(document: stored.document, key: stored.messageKey)
        guard let word = try store.view.current(place.register(.note)),
            word.arrival == stored.place.arrival, try !core.notes.facts.isDeleted(place),
            let title = try core.notes.facts.name(of: place, in: workspace)
        else { return nil }
        return (place, title, try core.notes.texts.currentText(of: place, in: workspace))
    }

    private func position(of stored: StoredOperation) -> SearchPosition {
        SearchPosition(
            written: stored.entry.timestamp, sort: stored.place.sort,
            arrival: stored.place.arrival)
    }

    // MARK: What changes later

    /// Schedules notes that have changed in this turn to be indexed again. New text is indexed with
    /// the next query; deleted text is dropped at once.
    func followNotes() throws(StorageError) {
        let changed = core.notes.news.takeChanged()
        guard search.standing != .off else { return }
        for (place, isGone) in changed.notes {
            guard let word = try store.view.current(place.register(.note)) else { continue }
            try followNote(madeAt: word.arrival, isGone: isGone)
        }
        for arrival in changed.words { try followNote(madeAt: arrival, isGone: true) }
    }

    private func followNote(madeAt arrival: Int64, isGone: Bool) throws(StorageError) {
        guard arrival <= search.reached,
            let stored = try store.operations.operation(arrival, hasPayload: false)
        else { return }
        let position = position(of: stored)
        if isGone { return reindex(position) }
        guard !search.notesAgain.contains(position), noteUnsettled(position) else { return }
        if search.notesAgain.isEmpty {
            search.notesDue = time.monotonic &+ Limits.searchNoteMilliseconds
        }
        search.notesAgain.insert(position)
    }

    /// Indexes the notes that have waited.
    func takeNotesAgain() {
        search.again += search.notesAgain.sorted()
        search.notesAgain = []
    }

    /// For an operation of a note that goes: the note is looked at again.
    func reindexNote(of stored: StoredOperation) throws(StorageError) {
        guard search.standing != .off else { return }
        if let said = try store.view.annotation(arrival: stored.place.arrival),
            said.register.kind == .note
        {
            return reindex(position(of: stored))
        }
        guard let (place, _) = try store.view.notes.noteEdit(at: stored.place.arrival),
            let word = try store.view.current(place.register(.note))
        else { return }
        try followNote(madeAt: word.arrival, isGone: true)
    }

    // MARK: Answering

    /// The note at a position, if it matches and the caller may see it.
    ///
    /// - Parameter room: bytes of text; less by what was opened.
    func noteHit(
        _ stored: StoredOperation, at position: SearchPosition, _ call: SearchCall,
        in workspace: Workspace, _ room: inout Int
    ) throws(StorageError) -> SearchHit? {
        guard call.wantsNotes, position == self.position(of: stored),
            call.author == nil
                || core.membership.author(ofGrant: stored.grantNumber, in: workspace)
                    == call.author,
            let found = try foundNote(stored, in: workspace)
        else { return nil }
        let whole = found.title + "\n" + found.text
        room -= whole.utf8.count
        guard !call.hasFile, !call.hasLink || SearchRow.hasLink(whole),
            let places = call.query.matches(in: SearchText(whole)),
            let object = try core.notes.objects.object(of: found.place, in: workspace)
        else { return nil }
        let (matches, excerpt) = Self.shown(places, title: found.title, text: found.text)
        return SearchHit(.note(object, excerpt), matches: matches)
    }

    /// Where title and text say what was looked for, and the part of the text around the first of these
    /// places.
    ///
    /// - Parameter places: of the title, a line break and the text, in scalars.
    static func shown(
        _ places: [Range<Int>], title: String, text: String
    ) -> ([SearchHit.Match], SearchHit.NoteExcerpt) {
        let titleCount = title.unicodeScalars.count
        let begin = titleCount + 1
        var matches: [SearchHit.Match] = []
        var first: Int?
        for range in places {
            let inTitle = range.clamped(to: 0..<titleCount)
            if !inTitle.isEmpty { matches.append(.init("title", inTitle)) }
            guard range.upperBound > begin else { continue }
            let start = max(range.lowerBound, begin) - begin
            matches.append(.init("text", start..<range.upperBound - begin))
            first = first ?? start
        }
        let bytes = title.utf8.count + text.utf8.count
        guard let first else { return (matches, .init(start: 0, text: "", byteCount: bytes)) }
        // The line in which it stands, or what is before it there, and what follows.
        let scalars = text.unicodeScalars
        let hit = scalars.index(scalars.startIndex, offsetBy: first, limitedBy: scalars.endIndex)
        var (from, start) = (hit ?? scalars.endIndex, first)
        while from > scalars.startIndex, first - start < Limits.searchExcerptMax / 4 {
            let before = scalars.index(before: from)
            guard scalars[before] != "\n" else { break }
            (from, start) = (before, start - 1)
        }
        let part = String(scalars[from...].prefix(Limits.searchExcerptMax))
        return (matches, .init(start: Int64(start), text: part, byteCount: bytes))
    }
}
