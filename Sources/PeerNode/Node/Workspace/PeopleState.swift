import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// What members of one workspace say about themselves and their devices.
final class PeopleState {
    /// What members said about themselves, by operation.
    var registers = ProfileRegisters()
    /// The opened former names of some of them.
    var formerNames = OpenedFormerNames()
    /// The names from members' profiles.
    var profileNames: [MemberID: String] = [:] { didSet { judged.forgetDerived() } }
    /// The local member's name, where no operation has told this node.
    var ownName: String? { didSet { judged.derived.names = [:] } }
    /// What else members say about themselves.
    var fields: [MemberID: [ProfileChange.Field: String]] = [:]
    /// How often the displayed picture of a member or a channel may have changed.
    var pictureEdits: UInt64 = 0
    /// What verifiers attest about members.
    var attestations = AttestationBook() { didSet { judged.attested = nil } }
    /// Which attestations counted when that was told last.
    var toldAttestations: [AttestationBook.Place: AttestationBook.Assertion]?
    /// The names of devices.
    var deviceNames: [ProfileRegisters.Place: String] = [:]
    /// The compared forms of names.
    var foldedNames = FoldedNames()
    /// Names that were opened already.
    var openedNames: [Workspace.NamePlace: String] = [:]

    private let judged: JudgedState

    /// - Parameter judged: the values derived from names and attestations, which are cleared when
    ///   these change.
    init(_ judged: JudgedState) { self.judged = judged }
}
