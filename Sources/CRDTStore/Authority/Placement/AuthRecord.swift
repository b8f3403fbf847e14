public import WorkspaceModel

/// What follows permanently from an operation's place in the document, and the verdict, which may
/// change.
///
/// An end has a record under each grant where it counts. Others decide how many these are, so
/// records share all that they have in common: with the first record the content of the operation,
/// and with the records of other ends in the same place the standing under the grant. Each has only
/// 56 bytes of its own.
struct AuthRecord: Sendable {
    /// The operation's content, and its standing under the grant that it cites.
    var facts: SharedValue<AuthFacts>
    /// For an end that counts again, its standing there.
    private(set) var elsewhere: SharedValue<AuthStanding>?
    /// The operations that rest on this one.
    var dependants: [Int] = []
    /// What it undoes and where it stands, if it is an end that counts again.
    var again = AuthReinstatement()
    var isValid = false
    /// Whether it is valid only because it is confirmed.
    var isKept = false
    /// Whether a confirmed operation may rest on it: it is valid, or an adddev that only its own
    /// author's member has ended.
    var stands = false
    /// Whether it stands only as an adddev that is displaced (V-6).
    var isDisplaced = false

    init(
        _ operation: AuthOperation, lamport: UInt64, place: AuthPlace, past: CausalPast
    ) {
        facts = SharedValue(
            AuthFacts(operation: operation, lamport: lamport, place: place, past: past))
    }

    /// A further record of an end, with its standing in another place.
    init(again end: AuthRecord, as standing: SharedValue<AuthStanding>) {
        facts = end.facts
        elsewhere = standing
        again.isFinalEnd = end.again.isFinalEnd
    }

    /// Whether the author gives up a role by it.
    var givesUpRole: Bool { operation.action.drops != nil && !isOwnPart }

    /// Whether the same operation has an earlier record.
    var isFurther: Bool { isOwnPart || again.original != nil }

    /// Whether the operation has effect by this or another record of it.
    var hasEffect: Bool { isValid || again.isValidElsewhere }

    /// The place of a device among all that the grant lists: the first is the strongest.
    func place(of device: DeviceID) -> Int? {
        gives.devices.firstIndex(of: device).map { $0 + gives.firstPlace }
    }

    /// Whether the operation at that place is in the past.
    func knows(_ other: AuthPlace) -> Bool {
        past.contains(branch: other.branch, position: other.position)
    }
}

/// What concerns an end that may count again under other grants.
struct AuthReinstatement: Sendable {
    /// Where its device stands behind another one, in whose place the end counts again.
    var behind: AuthSuccessorPlace?
    /// The bindings that it undoes under its grant, if it counts again. There are few, so they are
    /// stored elsewhere.
    var undoing: AuthUndoneBindings?
    /// For a record under another grant than the one that the end cites: its first record.
    var original: Int?
    /// Whether it is a final end: a recovery phrase that knows its replacement revokes itself by
    /// it.
    var isFinalEnd = false
    /// Whether an end has effect under another grant than the one that it cites.
    var isValidElsewhere = false

    /// Whether it counts in the place of another device by V-13, without standing behind a phrase.
    var isUnlisted: Bool { behind.map { $0.generation < 0 } ?? false }
}

/// The place that an adddev gives its device, if that takes its author's place.
final class AuthSuccession: Sendable {
    /// The rank of the device: right behind its author.
    let rank: DeviceRank

    init(rank: DeviceRank) { self.rank = rank }
}

/// The bindings that an end that counts again undoes.
final class AuthUndoneBindings: Sendable {
    /// Those that its grant knows, or is, and the end does not: in order of arrival.
    let additions: [Int]
    /// The devices that these bind.
    let devices: [DeviceID]

    init(_ additions: [Int], devices: [DeviceID]) {
        self.additions = additions
        self.devices = devices
    }

    /// Whether it undoes a binding.
    func contains(_ binding: Int) -> Bool {
        var (low, high) = (0, additions.count)
        while low < high {
            let middle = (low + high) / 2
            if additions[middle] < binding { low = middle + 1 } else { high = middle }
        }
        return low < additions.count && additions[low] == binding
    }
}

/// The position of a phrase behind a listed one that it replaced; or the device in whose place an
/// end counts if its phrase is not listed.
final class AuthSuccessorPlace: Hashable, Sendable {
    /// The device that is listed.
    let root: DeviceID
    /// How many phrases behind that one; less than 0 if it stands behind none. Never 0.
    let generation: Int8

    init(_ root: DeviceID, generation: Int8) {
        self.root = root
        self.generation = generation
    }

    static func == (left: AuthSuccessorPlace, right: AuthSuccessorPlace) -> Bool {
        left.root == right.root && left.generation == right.generation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(root)
        hasher.combine(generation)
    }
}

/// Branch and position of an operation; see `CausalPast`.
struct AuthPlace: Hashable, Sendable {
    let branch: Int
    let position: UInt32
}

/// Why an operation can never be valid: a function of itself and its past alone.
///
/// - Source: PROTOCOL.md, 4.0.2.
public enum AuthFault: String, Hashable, Sendable {
    /// A signature of a device, a proof or a member id in it is wrong.
    case notBound
    /// It lists a device that nothing in its past binds to its member.
    case foreignDevice
    /// It binds a device that its past binds to another member, or makes a bound device a recovery
    /// phrase.
    case deviceTaken
    /// It admits a member or a device that its past has bound already.
    case memberBound
    /// It lists a device that an older one of the same member has revoked.
    case deviceBarred
    /// It gives devices a key that nothing in its past introduces.
    case unknownKey
    /// It hands the workspace to a member whom nothing in its past let in, or keeps no device.
    case badTransfer
    /// A root that cites something, or that none of its everyday devices wrote.
    case rootCites
    /// The cited grant is not in its past, is no grant, or does not list the device.
    case noGrant
    /// The author's role is too weak for it.
    case roleTooWeak
    /// It gives a role that the author may not give.
    case roleTooStrong
    /// Its author removes themselves, or gives themselves a role.
    case ownSubject
    /// The invite, policy or revocation that it names is not in its past, or is something else.
    case noReference
    /// All uses of the invite are in its past.
    case inviteUsedUp
    /// Written after the invite expired.
    case inviteExpired
    /// The invite needs a request, and none is in its past.
    case notRequested
    /// The member was rejected or removed, and the author is no admin.
    case returnNeedsAdmin
    /// It takes the place of a device that is not a recovery phrase of its member.
    case noPlaceToTake
    /// More devices than allowed.
    case tooManyDevices
    /// More requests on an invite than allowed.
    case tooManyRequests
    /// It confirms an operation that is not in its past, or cannot be confirmed.
    case badConfirmation
    /// An owner leaves without handing the workspace over first.
    case ownerLeaves
    /// A member is seated or removed in a private document more often than allowed.
    case repeated
    /// A kind that this version does not know.
    case unknownKind
}

/// The verdict on an operation, with its cause.
public enum AuthVerdict: Hashable, Sendable {
    /// It has effect.
    case valid
    /// It has a fault and never has effect.
    case faulty(AuthFault)
    /// A feature that this version does not know is in its past.
    case opaque
    /// The grant, invite or policy that it rests on is not valid.
    case unsupported(by: OperationID)
    /// The strongest valid revocation that hits it, or the stronger of two operations that bind one
    /// device to different members.
    case revoked(by: OperationID)
}

/// The effect of one new operation. The lists are in ascending order.
public struct AuthChange: Hashable, Sendable {
    /// Operations that have effect from now on, including the new one if it has.
    public var becameValid: [OperationID] = []
    /// Operations that lost their effect.
    public var becameInvalid: [OperationID] = []
    /// Ends of devices that still have effect, but under other grants.
    public var moved: [OperationID] = []
    /// How many more times ends are judged from now on, each time under a further grant.
    public var furtherGrants = 0
    /// How many others were examined to find the members of the devices that it lists, and the
    /// bindings that ends undo.
    public var looksAtRolls = 0

    /// What has to be paid for besides verdicts: ends judged again, and looks,
    /// `FurtherEnds.looksPerRecord` of which count as one end.
    public var furtherWork: Int { furtherGrants + looksAtRolls / FurtherEnds.looksPerRecord }

    /// No change.
    public init() {}

    /// Whether nothing changed.
    public var isEmpty: Bool { becameValid.isEmpty && becameInvalid.isEmpty && moved.isEmpty }

    /// All operations that it lists.
    public var all: [OperationID] { becameValid + becameInvalid + moved }

    /// Whether the only change is that this operation has effect.
    public func isOnly(_ id: OperationID) -> Bool {
        becameInvalid.isEmpty && moved.isEmpty && becameValid == [id]
    }
}

/// Why an operation cannot be placed in the document at all. Nothing changes then.
public enum AuthError: Error, Hashable {
    /// It cites something that was not added before.
    case unknownReference(OperationID)
    /// `previous` is not the operation before it on the same log.
    case brokenChain
    /// A second `create`: a document has one root, whose hash is its name.
    case secondRoot
    /// It can never be valid, so it has no place.
    case faulty(AuthFault)
}
