import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Who is in a workspace and in which role: operations of the authority document, what follows from
/// them, and what this device does about it automatically.
final class Memberships: Component {
    /// When it confirms operations of other members.
    var confirmations = ConfirmationPlan()

    override var nextDeadline: UInt64? { confirmations.nextDeadline }

    override func tick() throws(StorageError) {
        try confirmWhenDue()
    }

    override func forgetSecrets() {
        confirmations.cancelAll()
    }
}
