public import WorkspaceModel

/// Builds a note from its whole history, when nobody reads the text before the end: a fraction of
/// the work of applying each operation separately.
///
///     var replay = NoteReplay()
///     for operation in history { replay.apply(operation) }
///     let note = replay.finished()
public struct NoteReplay: Sendable {
    private var note: Note

    /// An empty history.
    public init() {
        note = Note()
        note.chain = ScalarChain()
    }

    /// Applies an operation, as `Note.apply` without a list of changes.
    @discardableResult
    public mutating func apply(_ operation: NoteOperation, isValid: Bool = true) -> NoteOutcome {
        note.apply(operation, isValid: isValid, isTold: false)
    }

    /// An operation whose payload was erased, as in `Note.erase`.
    @discardableResult
    public mutating func erase(_ key: MessageKey) -> NoteOutcome {
        note.erase(key, isTold: false)
    }

    /// The note with all operations.
    public consuming func finished() -> Note {
        note.settle()
        return note
    }
}
