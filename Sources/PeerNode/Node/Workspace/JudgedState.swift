import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What follows from the judged authority document of one workspace, and what is kept of it.
final class JudgedState {
    /// Whether what others write may stand behind something that only a later version can judge, as
    /// it was when it was last worked out what is kept. Until then this node reads and passes on.
    var awaitsLaterVersion = false
    /// What is kept of the authority document.
    var kept = KeptOperations()
    /// The grants without effect that kept operations of a document cite. They are kept with those.
    var grants: [DocumentID: Set<OperationID>] = [:]
    /// How far the content of a log is valid, until authority changes.
    var contentLimits: [Workspace.LimitPlace: ContentLimit] = [:]
    /// How far a log has a right over what others wrote, until authority changes.
    var deletionLimits: [Workspace.LimitPlace: [ContentLimit]] = [:]
    /// The roles that events have told of.
    var toldRoles: [MemberID: Role] = [:]
    /// Who is behind the grant with this number.
    var grantSubjects: [Int64: MemberID] = [:]
    /// Whether anybody ever asked to be let in, so that admissions need not look for it.
    var hasRequests = false
    /// Who was admitted, of whom words came before that.
    var unheardNewcomers: Set<MemberID> = []
}
