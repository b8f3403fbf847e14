import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// How reachable the own person looks in one workspace.
final class ReachState {
    /// The own choice of how reachable one looks here.
    var choice = PresenceChoice()
    /// How one looks: the choice, until its time is over.
    var shown = PresenceChoice()
}
