public import WorkspaceModel

/// What an operation's place in the document says for ever, and the verdict, which may change.
///
/// An end has a record under each grant where it counts. Others decide how many these are, so they share all
/// that they have in common: with the first one what the operation says, and with the records of other ends
/// in the same place what the grant says. Each has but 56 bytes of its own.
struct AuthRecord: Sendable {
    /// What the operation says, and as what it counts under the grant that it cites.
    var facts: SharedValue<AuthFacts>
    /// Of an end that counts again, as what it does so.
    private(set) var elsewhere: SharedValue<AuthStanding>?
    /// The operations that this one supports.
    var dependants: [Int] = []
    /// What it ends again, when it is such an end.
    var again = AuthAgain()
    var isValid = false
    /// Whether it is valid only because it is confirmed.
    var isKept = false
    /// Whether what is confirmed may rest on it: it is valid, or an addition of devices that nobody
    /// but its own author's member has ended.
    var stands = false
    /// Whether it stands no more but as what has put in a device whose own place was taken (V-6).
    var isDisplaced = false

    init(
        _ operation: AuthOperation, lamport: UInt64, place: AuthPlace, past: CausalPast
    ) {
        facts = SharedValue(
            AuthFacts(operation: operation, lamport: lamport, place: place, past: past))
    }

    /// A further record of an end, as what it counts somewhere else.
    init(again end: AuthRecord, as standing: SharedValue<AuthStanding>) {
        facts = end.facts
        elsewhere = standing
        again.isFinalEnd = end.again.isFinalEnd
    }

    /// Whether the author gives up a role by it.
    var givesUpRole: Bool { operation.action.drops != nil && !isOwnPart }

    /// Whether it stands for an operation that has an earlier record.
    var isFurther: Bool { isOwnPart || again.original != nil }

    /// Whether the operation has effect by this or another record of it.
    var hasEffect: Bool { isValid || again.isValidElsewhere }

    /// The place of a device among all that the grant lists: who stands first is stronger.
    func place(of device: DeviceID) -> Int? {
        gives.devices.firstIndex(of: device).map { $0 + gives.firstPlace }
    }

    /// Whether what lies there is among the ancestors.
    func knows(_ other: AuthPlace) -> Bool {
        past.contains(branch: other.branch, position: other.position)
    }
}

/// What there is to know of an end that may count again, under other grants.
struct AuthAgain: Sendable {
    /// Where its device stands behind another one, in whose place it counts again.
    var behind: AuthBehind?
    /// What it undoes under its grant, where it counts again. There are few, so it lies elsewhere.
    var undoing: AuthUndoing?
    /// Of an end that counts again, under another grant than the one that it cites, its first record.
    var original: Int?
    /// Whether a recovery phrase, which knows that another one took its place, ends itself by it.
    var isFinalEnd = false
    /// Whether an end has effect under another grant than the one that it cites.
    var isValidElsewhere = false

    /// Whether it counts in the place of another device, though its phrase stands behind none.
    var isUnlisted: Bool { behind.map { $0.generation < 0 } ?? false }
}

/// Where an addition that takes its author's place puts the device that it lists.
final class AuthSuccession: Sendable {
    /// How strong the device is by it: right behind its author.
    let rank: DeviceRank

    init(rank: DeviceRank) { self.rank = rank }
}

/// What an end that counts again undoes of what binds devices.
final class AuthUndoing: Sendable {
    /// What its grant knows, or is, and it does not: in the order of arrival.
    let additions: [Int]
    /// The devices to which these lead.
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

/// Where a phrase stands behind one that a grant lists, whose place it took; or in whose place an end counts
/// where its phrase is not listed.
final class AuthBehind: Hashable, Sendable {
    /// The device that is listed.
    let root: DeviceID
    /// How many phrases behind that one; less than 0 where it stands behind none. Never 0.
    let generation: Int8

    init(_ root: DeviceID, generation: Int8) {
        self.root = root
        self.generation = generation
    }

    static func == (left: AuthBehind, right: AuthBehind) -> Bool {
        left.root == right.root && left.generation == right.generation
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(root)
        hasher.combine(generation)
    }
}

/// Where an operation lies; see `CausalPast`.
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
    /// It binds a device that its past binds to another member, or makes a phrase of one that it binds.
    case deviceTaken
    /// It admits a member, or a device, that its past has bound already.
    case memberBound
    /// It lists a device that an older one of the same member has revoked.
    case deviceBarred
    /// It hands devices a key that nothing in its past introduces.
    case unknownKey
    /// It hands the workspace to somebody whom nothing in its past let in, or keeps no device.
    case badTransfer
    /// A root that cites something, or that none of its daily devices wrote.
    case rootCites
    /// The cited grant is not in its past, is no grant, or does not list the device.
    case noGrant
    /// The author's role is too weak for it.
    case roleTooWeak
    /// A role given that the author may not give.
    case roleTooStrong
    /// Removing yourself, or giving yourself a role.
    case ownSubject
    /// The invite, policy or revocation it names is not in its past, or is something else.
    case noReference
    /// All uses of the invite are in its past.
    case inviteUsedUp
    /// Written after the invite ended.
    case inviteExpired
    /// The invite wants a request, and none is in its past.
    case notRequested
    /// The member was rejected or removed, and the author is no admin.
    case returnNeedsAdmin
    /// It takes the place of a device that is no recovery phrase of its member's.
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
    /// A kind this version does not know.
    case unknownKind
}

/// The verdict on an operation, with its cause.
public enum AuthVerdict: Hashable, Sendable {
    /// It has effect.
    case valid
    /// It never can have.
    case faulty(AuthFault)
    /// A feature that this version does not know is in its past.
    case opaque
    /// The grant, invite or policy it rests on is not valid.
    case unsupported(by: OperationID)
    /// The strongest valid revocation that reaches it, or the stronger of two operations that
    /// bind one device to different members.
    case revoked(by: OperationID)
}

/// The effect of one new operation. The lists are in ascending order.
public struct AuthChange: Hashable, Sendable {
    /// Operations that have effect from now on; the new one among them, if it has.
    public var becameValid: [OperationID] = []
    /// Operations that lost their effect.
    public var becameInvalid: [OperationID] = []
    /// Ends of devices that have effect as before, but under other grants.
    public var moved: [OperationID] = []
    /// How many times more than once an end is judged from now on, each under a further grant.
    public var furtherGrants = 0
    /// How many others were looked at to see whose the devices are that it lists, and what binds those that
    /// ends take along.
    public var looksAtRolls = 0

    /// What somebody pays for besides verdicts: ends judged again, and looks as many as make one.
    public var furtherWork: Int { furtherGrants + looksAtRolls / FurtherEnds.looksPerRecord }

    /// No change.
    public init() {}

    /// Whether nothing changed.
    public var isEmpty: Bool { becameValid.isEmpty && becameInvalid.isEmpty && moved.isEmpty }

    /// All operations that it lists.
    public var all: [OperationID] { becameValid + becameInvalid + moved }

    /// Whether the only change is that an operation has effect.
    public func isOnly(_ id: OperationID) -> Bool {
        becameInvalid.isEmpty && moved.isEmpty && becameValid == [id]
    }
}

/// Why an operation cannot be placed in the document at all. Nothing was changed.
public enum AuthError: Error, Hashable {
    /// It cites something that was not added before it.
    case unknownReference(OperationID)
    /// `previous` is not the operation before it on the same log.
    case brokenChain
    /// A second `create`: a document has one root, whose hash is its name.
    case secondRoot
    /// It can never be valid, so there is no place for it.
    case faulty(AuthFault)
}
