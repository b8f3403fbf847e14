import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The private documents of one workspace to which a key is held, and what is known of others.
final class SealedState {
    /// The private documents to which a key is held.
    ///
    /// A new one shows nothing before it is judged. Code that removes one has to call
    /// `forgetChannelIndex`.
    var documents: [DocumentID: PrivateDocument] = [:]
    /// `memberEnds` as all of `privateDocuments` are judged by; `nil` where some may be judged by others.
    var settledEnds: [MemberID: Set<OperationID>]?
    /// The cached list of documents that this device names as a guest.
    var named: [DocumentID]?
    /// How often the name of a document in an invite was computed.
    var hashedNames = 0
    /// Notices that came before their documents; `nil` before they were read.
    var earlyNotices: EarlyNotices?
    /// Where the roots of private documents are.
    var roots = RootBranches()
}
