import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Who is in a workspace and as what: operations of the authority document, what follows from them,
/// and what this device does about it by itself.
final class Memberships: Component {
    /// When it confirms what members have made.
    var confirmations = ConfirmationPlan()
    /// When this device adds the guests that were let in for a private channel, on the monotonic
    /// clock, by workspace and document.
    var guestsDue: [Int64: [DocumentID: UInt64]] = [:]
    /// The workspaces in which this turn has changed who may be missing in a private channel.
    var guestPlansDue: Set<Int64> = []

    override var deadlines: [UInt64] {
        confirmations.deadlines + guestsDue.values.flatMap(\.values)
    }

    override func tick() throws(StorageError) {
        try confirmWhenDue()
        try addGuestsWhenDue()
    }

    override func forgetSecrets() {
        confirmations.cancelAll()
        guestsDue = [:]
    }
}

extension CoreMember {
    /// By short number.
    var workspaces: [Int64: Workspace] { core.workspaces }
}
