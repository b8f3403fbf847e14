import CRDTStore
import WorkspaceModel

/// Who this home's person is in one workspace, and this node's state in it.
struct WorkspaceSeat {
    var standing: RegistryStore.Standing
    /// A readmitted person learns it from the authority document.
    var member: MemberID
    /// Since when, milliseconds.
    var joined: UInt64
    /// When this node first saw that its owner has ended the workspace, milliseconds.
    var ended: UInt64?

    init(_ row: RegistryStore.WorkspaceRow) {
        standing = row.standing
        member = row.member
        joined = UInt64(max(row.joined, 0))
    }
}
