import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What people say of themselves, and names that they gave up.
final class Profiles: Component {
    /// The workspaces in which the own member may say something in a hidden field.
    var hiddenProfiles: Set<Int64> = []
    /// Whose profiles have changed in this turn: the first operation, and whether all is backfill.
    var profileEdits: [ProfileEdit: (arrival: Int64, isBackfill: Bool)] = [:]
    /// The former names by which the call that is answered has meant somebody.
    var formerNamesTaken: [FormerNameTaken] = []
}
