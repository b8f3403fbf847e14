import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Private documents: who is in them, by which keys, and what of them is shown.
final class PrivateDocuments: Component {
    /// Who may do what in the private documents that were asked about last.
    private(set) lazy var privateShelf = PrivateShelf(most: environment.privateJudgementsMax)
    /// Private documents in which something came that was not judged yet.
    var judgings = JudgingQueue()
    /// Private documents that are to be folded anew.
    var wholeFolds = WholeFolds()

    /// Guests who are to be added.
    private(set) lazy var guests = PrivateGuests(core)
    /// What another device of the own person is to get.
    private(set) lazy var handover = PrivateHandover(core)
    /// Writing, and the keys to write under.
    var authoring: PrivateAuthoring { PrivateAuthoring(core) }
    /// Keys that are asked for, and given.
    var asking: PrivateAsking { PrivateAsking(core) }
    /// Words that the own member is out of one.
    var notices: PrivateNotices { PrivateNotices(core) }
    /// Their first operations, which are kept.
    var roots: RootKeeping { RootKeeping(core) }
    /// Erasing those that were deleted.
    var erasing: PrivateErasing { PrivateErasing(core) }
    /// Why somebody is in one.
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
