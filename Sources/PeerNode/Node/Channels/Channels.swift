import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Public channels: their fields, who follows them, and the assertions about that.
final class Channels: Component {
    /// Words about who follows a channel that count and were not read.
    var pendingAssertions = PendingAssertions()

    override var nextDeadline: UInt64? { erasureDue }

    override func tick() throws(StorageError) { try eraseDeleted() }
}
