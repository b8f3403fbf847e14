import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What this person's devices say and ask for themselves in one workspace.
final class OwnState {
    /// Read markers that wait to be written.
    var readMarks = Workspace.ReadMarks()
    /// The presence that this person has chosen here.
    var presenceChoice = PresenceChoice()
    /// The presence that others see: the choice, until it expires.
    var shownPresence = PresenceChoice()
}
