import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Private documents: their members, their keys, and what of them is shown.
final class PrivateDocuments: Component {
    /// Who may do what in the recently used private documents.
    private(set) lazy var privateShelf = PrivateShelf(most: environment.privateJudgementsMax)
    /// Private documents in which something came that was not judged yet.
    var judgings = JudgingQueue()
    /// Private documents that have to be refolded.
    var wholeFolds = WholeFolds()

    /// Adds pending guests.
    private(set) lazy var guests = PrivateGuests(core)
    /// Keys for other devices of this person.
    private(set) lazy var handover = PrivateHandover(core)
    /// Writes operations, and provides the keys to write under.
    var authoring: PrivateAuthoring { PrivateAuthoring(core) }
    /// Asks peers for keys, and gives keys to them.
    var asking: PrivateAsking { PrivateAsking(core) }
    /// Notices that the local member was removed from a document.
    var notices: PrivateNotices { PrivateNotices(core) }
    /// Retains the root operations.
    var roots: RootKeeping { RootKeeping(core) }
    /// Erases deleted documents.
    var erasing: PrivateErasing { PrivateErasing(core) }
    /// Explains why someone is in a document.
    var why: PrivateWhy { PrivateWhy(core) }

    override var nextDeadline: UInt64? {
        var first = Earliest(judgingDue)
        for channels in guests.guestsDue.values { for due in channels.values { first.take(due) } }
        return first.moment
    }

    override func tick() throws(StorageError) {
        try guests.addGuestsWhenDue()
        try authoring.answerDeparturesWhenDue()
        try handover.mailWhenDue()
    }

    override func forgetSecrets() {
        handover.mailDue = [:]
        guests.guestsDue = [:]
    }

    override func forgetWorkspaces() {
        judgings = JudgingQueue()
        wholeFolds = WholeFolds()
    }
}
