import CRDTStore
import NoteText
import WorkspaceModel

/// Changing the text of a note here: in the open text first, then as an operation that says the same.
extension Notes {
    /// Writes what somebody wants of a note, merged with what happened since the version that they saw.
    ///
    /// - Parameters:
    ///   - base: `v_…`; `nil` for the text as it is.
    ///   - document: the channel of the note, in which the caller may write.
    func edit(
        _ note: OpenNote, _ wish: NoteWish, base: String?, in document: DocumentID,
        of workspace: Workspace, mentioning mentions: Mentions
    ) throws(NodeError) {
        let since = try steps(since: base, of: note)
        var others = since.flatMap(\.patches)
        let changes = try changes(wish, of: note, since: since, &others)
        try check(changes, of: note)
        var isWritten = try make(
            changes, in: note, document, of: workspace, mentioning: mentions)
        if case .lines(let lines) = wish, isWritten, !note.isDropped {
            let looks = NoteLookChanges(of: note.note.lines()).steps(to: lines, past: others)
            isWritten = try make(looks, in: note, document, of: workspace, mentioning: .none)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    private func steps(
        since base: String?, of note: OpenNote
    ) throws(NodeError) -> ArraySlice<NotePast.Step> {
        guard let base else { return [] }
        if let steps = note.past.steps(since: base, now: note.sums) { return steps }
        throw NodeError(
            .conflict, "that version of the note is not known any more",
            hint: "wsx-node note show \(PublicID.note(note.place.key))", reason: "note.base",
            fields: [.init(name: "base", reason: "not_found")])
    }

    /// - Parameter others: what others changed meanwhile; afterwards, what they changed of the text as
    ///   it is wanted.
    private func changes(
        _ wish: NoteWish, of note: OpenNote, since: ArraySlice<NotePast.Step>,
        _ others: inout [NotePatch]
    ) throws(NodeError) -> [NoteStep] {
        switch wish {
        case .text(let text): return try changes(to: text, of: note, since: since, &others)
        case .lines(let lines):
            let text = lines.map(\.text).joined(separator: "\n")
            return try changes(to: text, of: note, since: since, &others)
        case .steps(let steps):
            var count = note.note.scalarCount
            for patch in others { count += patch.deleted - patch.insertedCount }
            var changes: [NoteStep] = []
            for (index, step) in steps.enumerated() {
                guard step.fits(&count) else { throw .noteOutOfRange(index) }
                guard let carried = step.carried(past: &others) else { throw .noteTooFarApart }
                changes += carried
            }
            return changes
        }
    }

    private func changes(
        to text: String, of note: OpenNote, since: ArraySlice<NotePast.Step>,
        _ others: inout [NotePatch]
    ) throws(NodeError) -> [NoteStep] {
        guard let before = NotePast.text(before: since, from: note.note.text),
            let met = NotePatch.carried(
                TextDifference.patches(from: before, to: text), past: others)
        else { throw .noteTooFarApart }
        others = met.theirs
        return met.ours.map(NoteStep.patch)
    }

    /// Refuses what no note takes, before anything is written.
    private func check(_ changes: [NoteStep], of note: OpenNote) throws(NodeError) {
        var bytes = note.note.byteCount
        for case .patch(let patch) in changes {
            bytes += patch.inserted.utf8.count
            guard patch.inserted.unicodeScalars.allSatisfy(NoteCharacters.isAllowed) else {
                throw .noteBadText
            }
        }
        for case .format(_, .link(let address?)) in changes where !NoteMark.isAddress(address) {
            throw NodeError(
                .badRequest, "\(NodeError.quoted(address)) is no address of a link",
                hint: "1 to \(NoteLimits.linkBytesMax) bytes without spaces", reason: "note.link",
                fields: [.init(name: "ops", reason: "form")])
        }
        guard bytes <= NoteLimits.textBytesMax else { throw .noteTooLarge }
    }

    // MARK: Making it

    /// - Returns: whether this device may write there.
    private func make(
        _ changes: [NoteStep], in note: OpenNote, _ document: DocumentID, of workspace: Workspace,
        mentioning mentions: Mentions
    ) throws(NodeError) -> Bool {
        guard !changes.isEmpty else { return true }
        return try stored { () throws(StorageError) in
            // Where the clock stepped back a new log begins, which the edits name.
            _ = try core.log.nextTimestamp()
            guard let home, let identity = storeIdentity else { return false }
            var writing = NoteWriting(
                author: .init(device: home.device, incarnation: identity.incarnation),
                document: document, workspace: workspace, mentions: mentions, before: note.sums)
            for change in changes {
                guard make(change, in: note, &writing), !note.isDropped else { break }
            }
            if let failure = writing.failure { throw failure }
            if !writing.isRefused, !note.isDropped { try publish(note, &writing) }
            guard !writing.isRefused else {
                drop(note)
                return writing.hasPublished
            }
            note.past.append(writing.before, writing.patches, removed: writing.removed)
            return true
        }
    }

    /// - Returns: whether the next one can be made.
    private func make(
        _ change: NoteStep, in note: OpenNote, _ writing: inout NoteWriting
    ) -> Bool {
        do throws(NoteProblem) {
            switch change {
            case .patch(let patch):
                writing.note(
                    patch, removing: note.note.text(in: patch.at..<patch.at + patch.deleted))
                var rest = try note.note.edit(patch, as: writing.author)
                while let left = rest {
                    guard published(note, &writing) else { return false }
                    rest = try note.note.edit(left, as: writing.author)
                }
            case .format(let range, let mark):
                while try !note.note.format(range, mark, as: writing.author) {
                    guard published(note, &writing) else { return false }
                }
            case .line(let at, let kind):
                while try !note.note.setLine(at: at, kind, as: writing.author) {
                    guard published(note, &writing) else { return false }
                }
            }
        } catch {
            // It was checked before; only a history that is full is left.
            writing.isRefused = true
            return false
        }
        return true
    }

    /// Publishes in the middle of a change, where a failure of the store is kept for later.
    private func published(_ note: OpenNote, _ writing: inout NoteWriting) -> Bool {
        do throws(StorageError) {
            try publish(note, &writing)
            return !writing.isRefused && !note.isDropped
        } catch {
            writing.failure = error
            return false
        }
    }

    /// Makes what is being written an operation.
    private func publish(
        _ note: OpenNote, _ writing: inout NoteWriting
    ) throws(StorageError) {
        guard let draft = note.note.draft else { return }
        publishing = note
        defer { publishing = nil }
        let edit = draft.edit
        let cited = try citations(of: edit, in: note, of: writing.document, writing.workspace)
        let made = try core.privates.authorContent(
            .note(.edit(edit.encoded, of: note.place.key, mentions: writing.mentions)),
            to: writing.document, in: writing.workspace, overwriting: cited)
        guard let made else {
            writing.isRefused = true
            return
        }
        noteCited(cited, in: writing.document)
        writing.hasPublished = true
        guard !note.isDropped else { return }
        guard let stored = try store.operations.operation(made.arrival, hasPayload: false),
            stored.log.incarnation == writing.author.incarnation,
            note.note.publishDraft(
                as: made.id, timestamp: stored.entry.timestamp, sequence: stored.place.sequence)
        else { return drop(note) }
    }
}

/// An edit on its way from what somebody wants to operations.
struct NoteWriting {
    let author: NoteOperation.Author
    let document: DocumentID
    let workspace: Workspace
    let mentions: Mentions
    /// The version that it changes.
    let before: ViewStore.NoteSums
    /// What it has changed so far, and of each patch the text that went.
    private(set) var patches: [NotePatch] = []
    private(set) var removed: [String] = []
    var hasPublished = false
    /// Whether this device may not write, or the note takes no more.
    var isRefused = false
    var failure: StorageError?

    init(
        author: NoteOperation.Author, document: DocumentID, workspace: Workspace,
        mentions: Mentions, before: ViewStore.NoteSums
    ) {
        self.author = author
        self.document = document
        self.workspace = workspace
        self.mentions = mentions
        self.before = before
    }

    mutating func note(_ patch: NotePatch, removing text: String) {
        patches.append(patch)
        removed.append(text)
    }
}

extension NodeError {
    static func noteOutOfRange(_ index: Int) -> NodeError {
        NodeError(
            .badRequest, "change \(index + 1) reaches beyond the text of the note",
            hint: "places count Unicode characters of the version in 'base'",
            reason: "note.range", fields: [.init(name: "ops", reason: "range")])
    }

    static let noteTooFarApart = NodeError(
        .conflict, "too much has changed in the note since that version",
        hint: "read it again with wsx-node note show, and make your change anew",
        reason: "note.apart")

    static let noteBadText = NodeError(
        .badRequest, "the text contains a character that a note cannot hold",
        hint: "remove control characters other than tabs and line breaks", reason: "bad_text",
        fields: [.init(name: "text", reason: "form")])

    static let noteTooLarge = NodeError(
        .tooLarge, "a note holds at most 16 MiB of text", hint: "divide it into several notes",
        reason: "note.size")
}
