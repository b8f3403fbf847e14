import CRDTStore
import NoteText
import WorkspaceModel

/// A change of the text of a note that somebody watches.
struct NoteMove {
    let place: ViewStore.NotePlace
    /// The versions before and after, and the changes; `nil` where the text was rebuilt from its
    /// edits, so that it has to be read again.
    var change: (from: NoteVersion, to: NoteVersion, patches: [NotePatch])?
    /// Who wrote it, as far as that is known.
    var member: MemberID?
}
