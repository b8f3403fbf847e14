import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Whose home this is and whether it is open: identity, lock, and the end of a session.
final class HomeSession: Component {
    /// What is known where the disk does not give the store back.
    var unreadable: UnreadableStore?
    /// `nil` until `identity.create` or the first `up`.
    var home: HomeIdentity? { didSet { vault.use(home) } }
    /// The epoch keys, as far as they are in memory.
    let vault: KeyVault
    /// Whether people are answered, and what opens the node.
    var lock = LockState()
    /// Operations that were stored unopened and wait to be folded, by arrival number.
    var folding: (first: Int64, last: Int64)?
    var storeIdentity: StoreIdentity?
    var isStopping = false
    /// Whether the process should end after the answers of this turn.
    var stopEffects = false

    /// Nothing is read yet.
    override init(_ core: NodeCore) {
        vault = KeyVault(core.turn.store.registry)
        super.init(core)
    }

    override func forgetSecrets() {
        home = nil
        lock.passcode = nil
        lock.wrongCodes = 0
    }

    override func forgetWorkspaces() {
        storeIdentity = nil
        lock.certified = nil
    }
}
