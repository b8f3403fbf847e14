import CRDTStore
import NoteText
import WorkspaceCrypto
import WorkspaceModel

/// Edits the text of a note: first the open text, then by an operation with the same change.
final class NoteWriter: NotePart {
    /// The note whose edit is being stored; the edit is in its text already.
    private(set) var publishing: OpenNote?

    /// Writes what somebody wants of a note, merged with what happened since the version that they saw.
    ///
    /// - Parameters:
    ///   - base: `v_…`; `nil` for the text as it is.
    ///   - document: the channel of the note, in which the caller may write.
    func edit(
        _ note: OpenNote, _ request: NoteChangeRequest, base: String?, in document: DocumentID,
        of workspace: Workspace
    ) throws(NodeError) {
        let since = try steps(since: base, of: note)
        var others = since.flatMap(\.patches)
        let changes = try changes(request, of: note, since: since, &others)
        try check(changes, of: note)
        // Single changes come one after the other from an editor; a whole text is complete.
        var isPublished = true
        if case .steps = request { isPublished = false }
        var isWritten = try make(
            changes, in: note, document, of: workspace, isPublished: isPublished)
        if case .lines(let lines) = request, isWritten, !note.isDropped {
            let looks = NoteLookChanges(of: note.note.lines()).steps(to: lines, past: others)
            isWritten = try make(looks, in: note, document, of: workspace, isPublished: true)
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }

    private func steps(
        since base: String?, of note: OpenNote
    ) throws(NodeError) -> ArraySlice<NotePast.Step> {
        guard let base else { return [] }
        if let steps = note.past.steps(since: base, now: note.version) { return steps }
        throw .noteUnknownBase(note.place)
    }

    /// - Parameter others: what others changed meanwhile; afterwards, what they changed relative to
    ///   the requested text.
    private func changes(
        _ request: NoteChangeRequest, of note: OpenNote, since: ArraySlice<NotePast.Step>,
        _ others: inout [NotePatch]
    ) throws(NodeError) -> [NoteStep] {
        switch request {
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
                .badRequest, "\(NodeError.quoted(address)) is not a link address",
                hint: "1 to \(NoteLimits.linkBytesMax) bytes without spaces", reason: "note.link",
                fields: [.init(name: "ops", reason: "form")])
        }
        guard bytes <= NoteLimits.textBytesMax else { throw .noteTooLarge }
    }

    // MARK: Making it

    /// - Parameter isPublished: whether it becomes an operation at once; else it becomes part of the draft.
    /// - Returns: whether this device may write there.
    private func make(
        _ changes: [NoteStep], in note: OpenNote, _ document: DocumentID, of workspace: Workspace,
        isPublished: Bool
    ) throws(NodeError) -> Bool {
        guard !changes.isEmpty || isPublished && note.hasDraft else { return true }
        return try stored { () throws(StorageError) in
            // Where the clock stepped back a new log begins, which the edits name.
            _ = try core.log.nextTimestamp()
            guard let home, let identity = storeIdentity else { return false }
            if !note.hasDraft || note.draftAuthor == nil {
                note.draftAuthor = .init(device: home.device, incarnation: identity.incarnation)
            }
            var writing = NoteWriting(
                document: document, workspace: workspace, before: note.version)
            for change in changes {
                guard make(change, in: note, &writing), !note.isDropped else { break }
            }
            if let failure = writing.failure { throw failure }
            if !writing.isRefused, !note.isDropped {
                try finish(note, &writing, isPublished: isPublished)
            }
            guard !writing.isRefused else {
                room.texts.drop(note)
                return writing.hasPublished
            }
            note.past.append(writing.before, writing.patches, removed: writing.removed)
            if !note.isDropped {
                room.attendance.noteMove(
                    of: note, from: writing.before, writing.patches, by: workspace.member)
                // The cursor of a person who types follows the typed text, until they move it.
                if !isPublished, let last = writing.patches.last {
                    room.attendance.select((last.at + last.insertedCount, 0), in: note.place)
                }
                room.attendance.noteWord(in: note.place)
            }
            return true
        }
    }

    private func finish(
        _ note: OpenNote, _ writing: inout NoteWriting, isPublished: Bool
    ) throws(StorageError) {
        guard isPublished || note.note.draft?.isLarge == true else {
            note.drafted = environment.random.number() | 1
            return try room.drafts.keepDraft(of: note)
        }
        writing.isRefused = try !publish(note, to: writing.document, of: writing.workspace)
    }

    /// - Returns: whether the next one can be made.
    private func make(
        _ change: NoteStep, in note: OpenNote, _ writing: inout NoteWriting
    ) -> Bool {
        guard let author = note.draftAuthor else { return false }
        do throws(NoteProblem) {
            switch change {
            case .patch(let patch):
                writing.note(
                    patch, removing: note.note.text(in: patch.at..<patch.at + patch.deleted))
                var rest = try note.note.edit(patch, as: author)
                while let left = rest {
                    guard published(note, &writing) else { return false }
                    rest = try note.note.edit(left, as: author)
                }
            case .format(let range, let mark):
                while try !note.note.format(range, mark, as: author) {
                    guard published(note, &writing) else { return false }
                }
            case .line(let at, let kind):
                while try !note.note.setLine(at: at, kind, as: author) {
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
            writing.isRefused = try !publish(
                note, to: writing.document, of: writing.workspace)
            writing.hasPublished = writing.hasPublished || !writing.isRefused
            return !writing.isRefused && !note.isDropped
        } catch {
            writing.failure = error
            return false
        }
    }

    /// Makes what is being written in a note an operation.
    ///
    /// - Returns: whether this device may write there.
    func publish(
        _ note: OpenNote, to document: DocumentID, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard let edit = note.strandedDraft ?? note.note.draft?.edit else {
            try room.drafts.forgetDraft(of: note)
            return true
        }
        publishing = note
        defer { publishing = nil }
        let before = note.version
        let mentions = newMentions(in: note, of: workspace)
        let cited = try room.citing.citations(of: edit, in: note, of: document, workspace)
        let made = try core.privates.authorContent(
            .note(.edit(edit.encoded, of: note.place.key, mentions: mentions)), to: document,
            in: workspace, overwriting: cited)
        guard let made else { return false }
        room.citing.noteCited(cited, in: document)
        let author = note.draftAuthor
        try room.drafts.forgetDraft(of: note)
        guard !note.isDropped else { return true }
        guard note.strandedDraft == nil,
            let stored = try store.operations.operation(made.arrival, hasPayload: false),
            stored.log.incarnation == author?.incarnation,
            note.note.publishDraft(
                as: made.id, timestamp: stored.entry.timestamp, sequence: stored.place.sequence)
        else {
            room.texts.drop(note)
            return true
        }
        note.past.append(before, [], removed: [])
        return true
    }
}

/// An edit between the request and its operations.
struct NoteWriting {
    let document: DocumentID
    let workspace: Workspace
    /// The version that it changes.
    let before: NoteVersion
    /// The changes so far, and for each patch the removed text.
    private(set) var patches: [NotePatch] = []
    private(set) var removed: [String] = []
    var hasPublished = false
    /// Whether this device may not write, or the note is full.
    var isRefused = false
    var failure: StorageError?

    mutating func note(_ patch: NotePatch, removing text: String) {
        patches.append(patch)
        removed.append(text)
    }
}

extension NodeError {
    static func noteUnknownBase(_ place: ViewStore.NotePlace) -> NodeError {
        NodeError(
            .conflict, "that version of the note is no longer known",
            hint: "wsx-node note show \(PublicID.note(place.key))",
            reason: KnownReason.unknownNoteBase.rawValue,
            fields: [.init(name: "base", reason: "not_found")])
    }

    static func noteOutOfRange(_ index: Int) -> NodeError {
        NodeError(
            .badRequest, "change \(index + 1) reaches beyond the text of the note",
            hint: "places count Unicode characters of the version in 'base'",
            reason: "note.range", fields: [.init(name: "ops", reason: "range")])
    }

    static let noteTooFarApart = NodeError(
        .conflict, "too much has changed in the note since that version",
        hint: "read it with wsx-node note show, then make your change again",
        reason: "note.apart")

    static let noteBadText = NodeError(
        .badRequest, "the text contains a character that a note cannot hold",
        hint: "remove control characters other than tabs and line breaks", reason: "bad_text",
        fields: [.init(name: "text", reason: "form")])
}
