import CRDTStore
import NoteText
import WorkspaceModel

/// A note whose text is in memory.
final class OpenNote {
    /// Where it is.
    let place: ViewStore.NotePlace
    /// Its text.
    var note: Note
    /// Its replayed history, as long as the text was not needed; `note` is empty then.
    private var history: NoteReplay?
    /// The sums over its edits.
    var sums: ViewStore.NoteSums
    /// The largest arrival number among them.
    var last: Int64
    /// What it was before.
    var past = NotePast()
    /// Edits that no snapshot has.
    var unsaved = 0
    /// Whether all of its edits could be opened.
    var isWhole = true
    /// When it was used last, as `Notes` counts.
    var usedAt: UInt64 = 0
    /// Whether it is outdated.
    var isDropped = false
    /// A number for this version of its draft; 0 without one.
    var drafted: UInt64 = 0
    /// The log that it belongs to.
    var draftAuthor: NoteOperation.Author?
    /// When the draft was begun and last changed, on the monotonic clock.
    var draftBegun: UInt64?
    var draftChanged: UInt64 = 0
    /// When publishing it is tried again.
    var retryAt: UInt64?
    /// A draft that was kept and could not be taken into the text.
    var strandedDraft: NoteEdit?
    /// Bytes that it takes, about.
    private(set) var bytes = 0

    init(
        _ place: ViewStore.NotePlace, _ note: Note = Note(),
        _ sums: ViewStore.NoteSums = .init(), upTo last: Int64 = 0
    ) {
        self.place = place
        self.note = note
        self.sums = sums
        self.last = last
        weigh()
    }

    /// The version of its text; without a draft equal on every node that has the same edits with
    /// the same verdicts.
    var version: NoteVersion { NoteVersion(sums: sums, drafted: drafted) }

    /// Whether it contains text that is not an operation yet.
    var hasDraft: Bool { strandedDraft != nil || note.draft != nil }

    /// When the draft becomes an operation: after a pause, and at the latest some time after it was begun.
    var draftDue: UInt64? {
        guard let begun = draftBegun else { return nil }
        return retryAt
            ?? min(
                draftChanged &+ Limits.noteDraftPauseMilliseconds,
                begun &+ Limits.noteDraftMillisecondsMax)
    }

    /// Whether everything that it is made of is here.
    var isComplete: Bool { isWhole && note.isComplete }

    /// Whether a snapshot is worth its price: so many edits arrived that writing it costs little
    /// per edit.
    var isSnapshotDue: Bool {
        unsaved >= max(Limits.noteTailMax, note.operationCount / 16) && isComplete
    }

    // MARK: Its history

    /// All that it is made of comes now, and most of it is told to nobody.
    func beginHistory() { history = NoteReplay() }

    /// Makes the text of what was read.
    func endHistory() {
        guard let read = history.take() else { return }
        note = read.finished()
    }

    /// Takes in an edit of its history.
    func apply(_ operation: NoteOperation, isValid: Bool, isTold: Bool) -> NoteOutcome {
        if isTold { endHistory() }
        return history?.apply(operation, isValid: isValid)
            ?? note.apply(operation, isValid: isValid, isTold: isTold)
    }

    /// Takes in that an edit of its history was erased.
    func erase(_ key: MessageKey, isTold: Bool) -> NoteOutcome {
        if isTold { endHistory() }
        return history?.erase(key) ?? note.erase(key, isTold: isTold)
    }

    /// Notes an edit that was taken in.
    ///
    /// - Parameters:
    ///   - id: of its operation.
    ///   - patches: what it changed in the text, and of each what went; `nil` where nobody asked.
    func took(
        _ id: OperationID, _ state: ViewStore.NoteEditRow.State, at arrival: Int64,
        _ patches: (made: [NotePatch], removed: [String])?
    ) {
        let before = version
        sums.add(id, state)
        last = max(last, arrival)
        unsaved += 1
        if unsaved % 256 == 0 { weigh() }
        if let patches { past.append(before, patches.made, removed: patches.removed) }
    }

    /// Recomputes its size in memory: the text, its runs and operations.
    func weigh() {
        bytes = 2 * note.byteCount + 48 * note.runCount + 64 * note.operationCount
    }
}

extension NoteOutcome {
    /// The insertions and removals; `nil` where the note has to be built again.
    var patches: (made: [NotePatch], removed: [String])? {
        switch self {
        case .applied(let changes): (changes.flatMap(\.patches), changes.flatMap(\.removed))
        case .waits, .known, .full: ([], [])
        case .mustBeMadeAnew: nil
        }
    }
}
