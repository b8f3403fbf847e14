import CRDTStore
import WorkspaceModel

/// A name that a member had before.
struct FormerName: Equatable {
    let name: String
    /// When another one took its place, milliseconds since 1970, by the clock of who wrote that.
    let until: UInt64
}

/// The decrypted former names, so that each operation is opened once.
struct OpenedFormerNames {
    /// By the operation that says them; of each member as many as former names are taken.
    var words: [MemberID: [OperationID: String]] = [:]
    /// The names of people at their admission.
    var admitted: [MemberID: String] = [:]
}
