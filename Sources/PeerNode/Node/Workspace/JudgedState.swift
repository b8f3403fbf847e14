import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The judged authority document of one workspace, what derives from it, and what is retained of
/// it.
final class JudgedState {
    /// Who may do what. Changed only by the functions below.
    private(set) var evaluator = AuthEvaluator() {
        didSet {
            derived = Derived()
            attested = nil
        }
    }
    /// Values derived from that, from the stored operations, and from the keys and names that open;
    /// any change of those clears it.
    var derived = Derived()
    /// The cached findings from attestations.
    var attested: AttestationFindings?
    /// How often membership was computed; for tests.
    var standingsMade = Standings.Made()

    /// Whether others may write operations that depend on something that only a later version can
    /// judge, as of the last computation of what is retained. Until then this node only reads and
    /// relays.
    var awaitsLaterVersion = false
    /// The retained operations of the authority document.
    var kept = KeptOperations()
    /// The grants without effect that kept operations of a document cite. They are kept with those.
    var grants: [DocumentID: Set<OperationID>] = [:]
    /// How far the content of a log is valid, until authority changes.
    var contentLimits: [Workspace.LimitPlace: ContentLimit] = [:]
    /// How far a log has a right over other people's messages, until authority changes.
    var deletionLimits: [Workspace.LimitPlace: [ContentLimit]] = [:]
    /// The roles that events have reported.
    var toldRoles: [MemberID: Role] = [:]
    /// The member behind the grant with this number.
    var grantSubjects: [Int64: MemberID] = [:]
    /// Whether anybody ever asked to be let in, so that admissions need not look for it.
    var hasRequests = false
    /// Admitted members with assertions that arrived before the admission.
    var unheardNewcomers: Set<MemberID> = []

    /// Values derived from the whole workspace. Each is linear in its size and needed for every
    /// message.
    struct Derived {
        var standings = Standings()
        var names: [MemberID: String] = [:]
        /// Members whose names look like another's.
        var twins: Set<MemberID>?
        /// The folded names of former members.
        var goneNames: Set<String>?
        var channels: ChannelIndex?
        /// What is known of each of them.
        var overview = ConversationOverview()
        /// The deleted private documents, and when they have to be erased, milliseconds.
        var privateErasures: [(document: PrivateDocument, at: UInt64)]?
        var fields: WorkspaceFields?
        var invites: InviteIndex?
        var privateKeys: [DocumentID: (id: KeyID, key: SymmetricKey)?] = [:]
        /// The ends that keys of private documents answer and that are not here.
        var unheard: [DocumentID: UnreceivedEnds?] = [:]
        /// Whether devices are those of guests.
        var guests: [DeviceID: Bool] = [:]
        /// The devices that were asked about first: this device and the first peers, which are
        /// asked about again and again.
        var firstGuests: [(device: DeviceID, isGuest: Bool)] = []
        var told: Workspace.ToldNames?
        /// Who is in private documents with somebody.
        var visiblePeople: [MemberID: Set<MemberID>] = [:]
        /// The operations that ended memberships, by member.
        var memberEnds: [MemberID: Set<OperationID>]?
        /// The valid revocations of invites.
        var revokedInvites: [OperationID]?
        /// The last admission of a member; the inner `nil` for none.
        var admissions: [MemberID: Workspace.AuthorityRecord?] = [:]
        /// The tips that devices whose membership has ended may see.
        var farewells: [DeviceID: [LogTip]] = [:]

        /// Keeps what does not change while nobody comes, goes, or gets another role or name.
        mutating func keepPeople(of known: Self) {
            standings = known.standings
            names = known.names
            twins = known.twins
            goneNames = known.goneNames
            told = known.told
            visiblePeople = known.visiblePeople
            (channels, overview) = (known.channels, known.overview)
            privateErasures = known.privateErasures
        }
    }

    /// Judges an operation, and drops what no longer follows.
    func add(_ operation: AuthOperation) throws(AuthError) -> AuthChange {
        let known = derived
        let change = try evaluator.add(operation)
        if !evaluator.changesStanding(change) { derived.keepPeople(of: known) }
        if change.becameInvalid.isEmpty, change.becameValid.allSatisfy({ $0 == operation.id }) {
            (derived.fields, derived.invites) = (known.fields, known.invites)
        }
        return change
    }

    /// Takes out an operation that nothing rests on.
    ///
    /// - Returns: whether it was taken out; see `AuthEvaluator.withdraw`.
    func withdraw(_ id: OperationID) -> Bool { evaluator.withdraw(id) }

    /// Forgets every verdict, before the whole document is judged again.
    ///
    /// - Parameter evaluator: its replacement; only tests pass one that is not empty.
    func startOver(with evaluator: AuthEvaluator = AuthEvaluator()) { self.evaluator = evaluator }

    /// Called when keys or names changed: everybody stays in.
    func forgetDerived() {
        let known = derived.standings
        derived = Derived()
        derived.standings = known
    }
}
