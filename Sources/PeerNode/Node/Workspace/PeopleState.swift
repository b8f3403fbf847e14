import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What members of one workspace say about themselves and their devices.
final class PeopleState {
    /// What members said about themselves, by operation.
    var registers = ProfileRegisters()
    /// What some of them were called before, once it was opened.
    var formerNames = OpenedFormerNames()
    /// What members say they are called.
    var profileNames: [MemberID: String] = [:] { didSet { judged.forgetDerived() } }
    /// The local member's name, where no operation has told this node.
    var ownName: String? { didSet { judged.derived.names = [:] } }
    /// What else members say about themselves.
    var fields: [MemberID: [ProfileChange.Field: String]] = [:]
    /// How often another picture may have come to be shown, of a member or a channel.
    var pictureEdits: UInt64 = 0
    /// What verifiers say that they have proved.
    var attestations = AttestationBook() { didSet { judged.attested = nil } }
    /// Which attestations counted when that was told last.
    var toldAttestations: [AttestationBook.Place: AttestationBook.Word]?
    /// What people call devices.
    var deviceNames: [ProfileRegisters.Place: String] = [:]
    /// What names are compared by.
    var foldedNames = FoldedNames()
    /// Names that were opened already.
    var openedNames: [Workspace.NamePlace: String] = [:]

    private let judged: JudgedState

    /// - Parameter judged: what was worked out from names and attestations, which it forgets when
    ///   they change.
    init(_ judged: JudgedState) { self.judged = judged }
}
