import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Whose home this is and whether it is open: identity, lock, and log-out.
final class HomeSession: Component, SessionCommands {
    /// What is known when the store cannot be read.
    var unreadable: UnreadableStore?
    /// The passphrase that is being worked on.
    var pendingDerivation: PendingKeyDerivation?
    var isStopping = false
    /// Whether the process should end after the answers of this turn.
    var stopEffects = false

    // Queries by other rooms go to the turn's session; here it is changed.

    var home: HomeIdentity? {
        get { turn.session.home }
        set { turn.session.home = newValue }
    }
    var storeIdentity: StoreIdentity? {
        get { turn.session.storeIdentity }
        set { turn.session.storeIdentity = newValue }
    }
    var lock: LockState {
        get { turn.session.lock }
        _modify { yield &turn.session.lock }
    }
    var folding: (first: Int64, last: Int64)? {
        get { turn.session.folding }
        set { turn.session.folding = newValue }
    }
    var vault: KeyVault { turn.session.vault }
    var ownDevice: DeviceID? { turn.session.ownDevice }

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
