import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What people and programs ask: each command of the table, in terms of the rooms.
final class CommandDesk: Component {
}
