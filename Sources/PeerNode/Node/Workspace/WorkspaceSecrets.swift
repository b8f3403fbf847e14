import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What this node holds of the secrets of one workspace, and what it knows about keys.
final class WorkspaceSecrets {
    /// Epoch keys that are held.
    var keys: EpochKeyring {
        didSet {
            judged.forgetDerived()
            index.forgetSealing()
        }
    }
    /// What operations of the authority document say about keys.
    var index = KeyIndex()
    /// How often this person's devices change the key by themselves.
    var changePace = KeyChangePace()
    /// Secrets of invites, while the keys that seal them are dropped.
    var invitePSKs: [OperationID: SymmetricKey] = [:]
    /// Discovery secrets that are held.
    var discovery = DiscoverySecrets()
    /// The secrets that this device shares with authors of the mailbox, until authority changes.
    var mailbox: [DeviceID: [MailboxSecret]] = [:]
    /// The recovery phrase's box key, for a while after somebody came back by it.
    var recoveryBox: AgreementKey?
    /// Keys under which members wrote and that are not held.
    var lacked = LackedKeys()
    /// Keys whose content waits to be shown.
    var unfolded: [KeyID] = []

    private let judged: JudgedState

    /// - Parameters:
    ///   - keys: the epoch keys, of which none is known yet.
    ///   - judged: what was worked out from what they open, which it forgets when they change.
    init(_ keys: EpochKeyring, _ judged: JudgedState) {
        self.keys = keys
        self.judged = judged
    }
}
