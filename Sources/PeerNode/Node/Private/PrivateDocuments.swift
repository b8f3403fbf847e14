import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Private documents: who is in them, by which keys, and what of them is shown.
final class PrivateDocuments: Component {
    /// Who may do what in the private documents that were asked about last.
    private(set) lazy var privateShelf = PrivateShelf(most: environment.privateJudgementsMax)
    /// What goes into the mailbox of a workspace as soon as nothing is being taken in.
    var mailDue: [Int64: [MailboxDelivery]] = [:]
    /// Private documents in which something came that was not judged yet.
    var judgings = JudgingQueue()
    /// Private documents that are to be folded anew.
    var wholeFolds = WholeFolds()

    override var deadlines: [UInt64] { judgingDue.map { [$0] } ?? [] }

    override func tick() throws(StorageError) {
        try answerDeparturesWhenDue()
        try mailWhenDue()
    }

    override func forgetSecrets() { mailDue = [:] }

    override func forgetWorkspaces() {
        judgings = JudgingQueue()
        wholeFolds = WholeFolds()
    }
}
