import CRDTStore
import WorkspaceModel

/// A name that somebody had and has no more.
struct FormerName: Equatable {
    let name: String
    /// When another one took its place, milliseconds since 1970, by the clock of who wrote that.
    let until: UInt64
}

/// The texts of former names that were opened, so that each operation is read once.
struct OpenedFormerNames {
    /// By the operation that says them; of each member as many as former names are taken.
    var words: [MemberID: [OperationID: String]] = [:]
    /// What people were called as they came in.
    var admitted: [MemberID: String] = [:]
}
