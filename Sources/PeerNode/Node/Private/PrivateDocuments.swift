import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Private documents: who is in them, by which keys, and what of them is shown.
final class PrivateDocuments: Component {
    /// Who may do what in the private documents that were asked about last.
    private(set) lazy var privateShelf = PrivateShelf(most: environment.privateJudgementsMax)
    /// When this device adds the guests that were let in for a private channel, on the monotonic
    /// clock, by workspace and document.
    var guestsDue: [Int64: [DocumentID: UInt64]] = [:]
    /// The workspaces in which this turn has changed who may be missing in a private channel.
    var guestPlansDue: Set<Int64> = []
    /// What goes into the mailbox of a workspace as soon as nothing is being taken in.
    var mailDue: [Int64: [MailboxDelivery]] = [:]
    /// Private documents in which something came that was not judged yet.
    var judgings = JudgingQueue()
    /// Private documents that are to be folded anew.
    var wholeFolds = WholeFolds()

    override var deadlines: [UInt64] {
        (judgingDue.map { [$0] } ?? []) + guestsDue.values.flatMap(\.values)
    }

    override func tick() throws(StorageError) {
        try addGuestsWhenDue()
        try answerDeparturesWhenDue()
        try mailWhenDue()
    }

    override func forgetSecrets() {
        mailDue = [:]
        guestsDue = [:]
    }

    override func forgetWorkspaces() {
        judgings = JudgingQueue()
        wholeFolds = WholeFolds()
    }
}
