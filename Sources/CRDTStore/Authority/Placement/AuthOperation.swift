public import WorkspaceModel

/// What the evaluator needs to know of one operation of the authority document.
///
/// The caller has checked the form, the signature and the hash; the evaluator decides authority. It
/// reads no names and no wraps, so that its verdicts can depend on none of them.
///
/// A class, so that it is in memory once: the tables of an evaluator are copied whenever a question
/// is tried out on a copy, and take up to twice their size while they grow.
public final class AuthOperation: Sendable {
    /// The hash of the header. Breaks ties between ranks.
    public let id: OperationID
    /// The signing device.
    public let device: DeviceID
    /// The incarnation of the device's store. With `device` it names the log.
    public let incarnation: UInt32
    /// The position on the log, counted from 0.
    public let sequence: UInt64
    /// The operation at `sequence - 1` of the same log; `nil` exactly when `sequence` is 0.
    public let previous: OperationID?
    /// The heads that the author cites, without `previous`.
    public let dependencies: [OperationID]
    /// The author's hybrid timestamp, 48 bits of milliseconds and 16 of counter. Compared only with
    /// the expiry of invites.
    public let timestamp: UInt64
    /// The grant under which the author acts; `nil` in `create`.
    public let grant: OperationID?
    /// Whether it satisfies the rules about signatures, proofs, member ids and
    /// box keys. Checked by the layer that handles keys, from the operation and its past alone.
    public let isWellBound: Bool
    /// The epoch key that it introduces: in create, rekey, remove and rmdev, 16 bytes.
    public let introducedKey: KeyID?
    /// The epoch key that it gives to devices: in admit and adddev, 16 bytes.
    public let namedKey: KeyID?
    /// For an adddev, whether its device takes the place of its author: a new recovery phrase,
    /// which ranks right behind the one that wrote it. `false` for everything else.
    public let takesPlace: Bool
    /// The action.
    public let action: AuthAction
    /// The content that stays when this revocation takes effect, including that in its `cutpart`
    /// operations. Empty in everything that revokes nothing, `cutpart` too: the author of a
    /// removal decides how many cuts there are, and they stay in memory.
    public let cuts: CutTable
    /// Whether it is a further part of the operation before it, at the same depth: in a private
    /// document one operation gives seats to several members.
    let isContinuation: Bool

    /// Takes over the checked fields.
    public init(
        id: OperationID, device: DeviceID, incarnation: UInt32, sequence: UInt64,
        previous: OperationID?, dependencies: [OperationID], timestamp: UInt64 = 0,
        grant: OperationID?, isWellBound: Bool = true, action: AuthAction, cuts: CutTable = .none,
        introducedKey: KeyID? = nil, namedKey: KeyID? = nil, takesPlace: Bool = false,
        isContinuation: Bool = false
    ) {
        self.id = id
        self.device = device
        self.incarnation = incarnation
        self.sequence = sequence
        self.previous = previous
        self.dependencies = dependencies
        self.timestamp = timestamp
        self.grant = grant
        self.isWellBound = isWellBound
        self.introducedKey = introducedKey
        self.namedKey = namedKey
        self.takesPlace = takesPlace && action.isAddition
        self.action = action
        self.cuts = action.carriesCuts ? .none : cuts
        self.isContinuation = isContinuation
    }
}

extension AuthOperation {
    /// Whether its author leaves by it, or its device revokes itself.
    public var isOwnEnd: Bool {
        switch action {
        case .leave: true
        case .removeDevice(let revoked): revoked == device
        default: false
        }
    }
}

/// What an operation of the authority document does, as far as authority is concerned.
public enum AuthAction: Sendable {
    /// Makes the workspace; its devices are the first owner's.
    case create(member: MemberID, devices: [DeviceID])
    /// Invites up to `InviteTerms.uses` people.
    case invite(InviteTerms)
    /// Asks on behalf of the holder of an invite for admission; or for readmission, if it answers
    /// the end of a membership or an admission without effect.
    case request(
        invite: OperationID, member: MemberID, devices: [DeviceID], answering: OperationID? = nil)
    /// Admits the holder of an invite, for whom a request may have been written before.
    case admit(
        invite: OperationID, member: MemberID, devices: [DeviceID], request: OperationID? = nil)
    /// Gives the author's own role to another of the author's devices.
    case addDevices([DeviceID])
    /// Gives a role to a member.
    case grant(RoleGrant)
    /// Removes a member.
    case remove(member: MemberID)
    /// Revokes a device: the author's own, or any when the author is an admin.
    case removeDevice(DeviceID)
    /// Revokes an invite for admissions that do not know this.
    case revokeInvite(OperationID)
    /// The author leaves.
    case leave
    /// Widens the cuts of a revocation.
    case recut(revocation: OperationID)
    /// Carries cuts for a revocation that comes later.
    case cutPart
    /// Makes a public channel.
    case createDocument
    /// Changes a channel. Which of several counts is decided per document, after the evaluation.
    case setDocument
    /// Deletes a channel; decided per document like `setDocument`.
    case deleteDocument
    /// Changes the workspace; may set who is allowed to invite.
    case setWorkspace(mayInvite: InviteRight?)
    /// Deletes the workspace.
    case deleteWorkspace
    /// Changes the group key.
    case rekey
    /// Activates a later format, which this version may know.
    case feature(isKnown: Bool)
    /// States that its author found operations valid on which others build.
    case confirm([OperationID])
    /// A kind that this version does not know. Never valid: unknown kinds have no authority.
    case unknown
}

/// Who may invite, as set by `setWorkspace`.
///
/// - Wire form: uint, 0 owner, 1 admins, 2 members.
public enum InviteRight: UInt64, CaseIterable, Sendable {
    /// Owners only.
    case owner = 0
    /// Admins and owners; the default.
    case admins = 1
    /// Members too, but these invite only plain members.
    case members = 2
}

/// The conditions of an invite.
public struct InviteTerms: Hashable, Sendable {
    /// The role of those who are admitted.
    public var role: Role
    /// How many people it admits, counted in the past of each admission.
    public var uses: UInt64
    /// The last timestamp at which an admission is possible; `nil` if it does not expire.
    public var expires: UInt64?
    /// Whether an admin has to admit, after a request.
    public var needsApproval: Bool
    /// The `setWorkspace` that allows a plain member to write this invite.
    public var policy: OperationID?

    /// One use, without expiry and approval, by default.
    public init(
        role: Role, uses: UInt64 = 1, expires: UInt64? = nil, needsApproval: Bool = false,
        policy: OperationID? = nil
    ) {
        self.role = role
        self.uses = uses
        self.expires = expires
        self.needsApproval = needsApproval
        self.policy = policy
    }
}

/// A role given to an existing member.
public struct RoleGrant: Hashable, Sendable {
    /// The member.
    public var member: MemberID
    /// The devices that may use it. All of them must be the member's.
    public var devices: [DeviceID]
    /// The new role.
    public var role: Role
    /// Whether it replaces everything granted to the member before.
    public var replaces: Bool
    /// If the author gives up a role for the next weaker one (a transfer), the author's devices
    /// that keep the weaker role; `nil` if nothing is given up.
    public var drops: [DeviceID]?

    /// An additional role by default.
    public init(
        member: MemberID, devices: [DeviceID], role: Role, replaces: Bool = false,
        drops: [DeviceID]? = nil
    ) {
        self.member = member
        self.devices = devices
        self.role = role
        self.replaces = replaces
        self.drops = drops
    }
}

extension AuthAction {
    /// The devices that may act under this operation, or `nil` when it is no grant.
    var grantedDevices: [DeviceID]? {
        switch self {
        case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices):
            devices
        case .grant(let grant): grant.devices
        default: nil
        }
    }

    /// The devices that the operation binds to its subject, each with its signature.
    var boundDevices: [DeviceID]? {
        switch self {
        case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices):
            devices
        default: nil
        }
    }
}

extension AuthAction {
    /// Whether its cuts belong to an operation that comes later.
    fileprivate var carriesCuts: Bool { if case .cutPart = self { true } else { false } }
}
