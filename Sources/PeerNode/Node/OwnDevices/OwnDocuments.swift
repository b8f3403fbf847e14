import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What a person keeps for all of their devices: read markers, settings, stars and reminders.
final class OwnDocuments: Component {
    override var deadlines: [UInt64] { [nextMarker, nextReminder].compactMap { $0 } }

    override func tick() throws(StorageError) { try writeMarkers() }
}
