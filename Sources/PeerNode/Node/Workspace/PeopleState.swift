import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What members of one workspace say of themselves and of their devices.
final class PeopleState {
    /// What members said of themselves, by operation.
    var registers = ProfileRegisters()
    /// What some of them were called before, once it was opened.
    var formerNames = OpenedFormerNames()
    /// What else they say of themselves.
    var fields: [MemberID: [ProfileChange.Field: String]] = [:]
    /// How often another picture may have come to be shown, of a member or a channel.
    var pictureEdits: UInt64 = 0
    /// What verifiers say that they have proved, and what follows from it once that was worked out.
    var attestations = AttestationBook() { didSet { attested = nil } }
    var attested: AttestationFindings?
    /// Which attestations counted when that was told last.
    var toldAttestations: [AttestationBook.Place: OperationID]?
    /// What people call devices.
    var deviceNames: [ProfileRegisters.Place: String] = [:]
    /// What names are compared by.
    var foldedNames = FoldedNames()
    /// Names that were opened already.
    var openedNames: [Workspace.NamePlace: String] = [:]
}
