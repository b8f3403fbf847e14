import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What the own devices say and ask for themselves in one workspace.
final class OwnState {
    /// Read markers that wait to be written.
    var readMarks = Workspace.ReadMarks()
    /// The own choice of how reachable one looks here.
    var presenceChoice = PresenceChoice()
    /// How one looks: the choice, until its time is over.
    var shownPresence = PresenceChoice()
}
