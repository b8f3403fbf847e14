public import WorkspaceModel

/// A note that is made of its whole history, where nobody looks at the text before the end: a
/// fraction of the work of taking in each operation by itself.
///
///     var replay = NoteReplay()
///     for operation in history { replay.apply(operation) }
///     let note = replay.finished()
public struct NoteReplay: Sendable {
    private var note: Note

    /// Nothing was read yet.
    public init() {
        note = Note()
        note.chain = ScalarChain()
    }

    /// Takes in an operation, as `Note.apply` does that tells nothing.
    @discardableResult
    public mutating func apply(_ operation: NoteOperation, isValid: Bool = true) -> NoteOutcome {
        note.apply(operation, isValid: isValid, isTold: false)
    }

    /// An operation whose payload is gone, as for `Note.erase`.
    @discardableResult
    public mutating func erase(_ key: MessageKey) -> NoteOutcome {
        note.erase(key, isTold: false)
    }

    /// The note of all that was taken in.
    public consuming func finished() -> Note {
        note.settle()
        return note
    }
}
