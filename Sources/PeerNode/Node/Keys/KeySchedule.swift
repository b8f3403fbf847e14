import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Keys of epochs and documents: who gets which, when they change, and what is missing.
final class KeySchedule: Component {
    /// When this device changes a workspace's key, on the monotonic clock.
    var keyChanges = KeyChangePlan()

    /// What was opened in this turn.
    var fresh = FreshContents()

    override var nextDeadline: UInt64? { keyChanges.nextDeadline }

    override func tick() throws(StorageError) { try changeKeysWhenDue() }

    override func forgetSecrets() {
        keyChanges.cancelAll()
        fresh.forget()
    }
}
