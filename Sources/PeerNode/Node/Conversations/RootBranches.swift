import CRDTStore
import WorkspaceModel

/// The root of a private document stays valid while anything in the document is: everyone else has
/// built on it. Otherwise a member who revokes the device that wrote it, or has it revoked, would
/// void what all others have said (PROTOCOL.md, 4.3 and 5.4).
///
/// Whether an operation counts is decided by the workspace alone, so relays keep the same.
struct RootBranches {
    /// The branch that begins with the root, by document; the inner `nil` where it is not here.
    private var known: [DocumentID: Int64?] = [:]

    subscript(document: DocumentID) -> Int64?? { known[document] }

    mutating func note(_ branch: Int64?, of document: DocumentID) {
        known[document] = .some(branch)
    }

    /// A root came, or a branch went.
    mutating func forget(_ document: DocumentID) { known[document] = nil }
}
