import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What people see: objects of the interface, name lookup, and search.
final class Queries: Component {
    var search = SearchState()

    override var nextDeadline: UInt64? {
        search.quietAfter > time.monotonic ? search.quietAfter : nil
    }

    override func forgetSecrets() { search.prepared = [:] }
}
