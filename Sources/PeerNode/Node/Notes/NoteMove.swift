import CRDTStore
import NoteText
import WorkspaceModel

/// A change of the text of a note that somebody watches.
struct NoteMove {
    let place: ViewStore.NotePlace
    /// From which version to which one, and what changed; `nil` where it was made of its edits again, so
    /// that it has to be read again.
    var change: (from: NoteVersion, to: NoteVersion, patches: [NotePatch])?
    /// Who wrote it, as far as that is known.
    var member: MemberID?
}
