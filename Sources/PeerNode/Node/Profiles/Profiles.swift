import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What people say about themselves, and names that they had before.
final class Profiles: Component {
    /// The workspaces in which the local member may have a value in a hidden field.
    var hiddenProfiles: Set<Int64> = []
    /// The workspaces whose profile document has to be read at the end of the turn.
    var due: Set<Int64> = []
    /// Whose profiles have changed in this turn: the first operation, and whether all is backfill.
    var profileEdits: [ProfileEdit: (arrival: Int64, isBackfill: Bool)] = [:]
    /// The workspaces in which an attestation arrived, or one may count differently: whether all is
    /// backfill.
    var attestationEdits: [Int64: Bool] = [:]
    /// The former names by which the call that is answered has meant somebody.
    var formerNamesTaken: [FormerNameTaken] = []

    override func forgetWorkspaces() { (due, attestationEdits) = ([], [:]) }

    /// Schedules reading the profile document again: a verdict in it has changed.
    func reloadProfilesLater(
        of workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        // The rest of the same call depends on it.
        if source == .ourselves { return try reloadProfiles(of: workspace) }
        due.insert(workspace.number)
    }

    /// The workspaces with a scheduled read; clears the list.
    func takeDue() -> Set<Int64> {
        let taken = due
        due = []
        return taken
    }
}
