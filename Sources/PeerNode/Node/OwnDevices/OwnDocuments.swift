import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What a person keeps for all of their devices: read markers, settings, stars and reminders.
final class OwnDocuments: Component {
    override var nextDeadline: UInt64? { Earliest(nextMarker, nextReminder).moment }

    override func tick() throws(StorageError) { try writeMarkers() }
}
