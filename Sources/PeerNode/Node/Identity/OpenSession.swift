import CRDTStore
import WorkspaceModel

/// Whose home this is, and whether it is open: what every room may ask about the session. Only
/// `HomeSession` opens and closes it.
final class OpenSession {
    /// `nil` until `identity.create` or the first `up`, and while the keys are dropped.
    var home: HomeIdentity? { didSet { vault.use(home) } }
    /// The epoch keys, as far as they are in memory.
    let vault: KeyVault
    var storeIdentity: StoreIdentity?
    /// Whether people are answered, and what opens the node.
    var lock = LockState()

    /// Operations that were stored unopened and wait to be folded, by arrival number.
    var folding: (first: Int64, last: Int64)?

    /// - Parameter registry: where keys are stored, sealed.
    init(_ registry: RegistryStore) { vault = KeyVault(registry) }

    /// This device's name, whether its keys are at hand or not.
    var ownDevice: DeviceID? {
        home?.device ?? lock.certified?.identity.device ?? lock.sealed?.device
    }
}
