import CRDTStore
import WorkspaceModel

/// Who may delete in a document what others wrote (PROTOCOL.md, 4.6).
enum Moderation {
    /// Owners and admins of the workspace, and those of the channel.
    case byRoles
    /// Owners and admins of the private channel; `nil` as long as nothing of it is opened.
    case bySeats(PrivateDocument?)
    /// Nobody: there everybody speaks of themselves.
    case byNobody

    /// - Parameter row: `nil` for a document of which nothing is stored.
    init(of row: OperationStore.DocumentRow?, in workspace: Workspace) {
        guard let row else {
            self = .byRoles
            return
        }
        guard !row.kind.holds(.profiles) else {
            self = .byNobody
            return
        }
        switch row.kind.access {
        case .insiders: self = .bySeats(workspace.sealed.documents[row.id])
        case .unsealed, .workspace, .boxes, .undecided: self = .byRoles
        }
    }

    /// Whether this node can tell who may.
    var isKnown: Bool {
        switch self {
        case .bySeats(let document): document?.root != nil
        case .byRoles, .byNobody: true
        }
    }
}
