import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Keys of a private document that answer membership ends that have not arrived here.
struct UnreceivedEnds {
    /// When the newest of these keys came, by arrival number.
    let arrival: Int64
    /// To whom every one of them was given when it was made, and who was never out.
    let holders: Set<MemberID>
}
