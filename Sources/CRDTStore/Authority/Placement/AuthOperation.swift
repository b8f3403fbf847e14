public import WorkspaceModel

/// What the evaluator needs to know of one operation of the authority document.
///
/// The caller has checked the form, the signature and the hash; the evaluator decides authority.
/// It reads no name and no wrap, so that its verdicts can depend on none of them.
///
/// A class, so that it lies in memory once: the tables of an evaluator are copied whenever a question
/// is tried out on a copy, and take up to twice their room while they grow.
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
    /// The author's hybrid timestamp, 48 bits of milliseconds and 16 of counter. Compared with
    /// the expiry of invites and with nothing else.
    public let timestamp: UInt64
    /// The grant under which the author acts; `nil` in `create`.
    public let grant: OperationID?
    /// Whether it keeps the rules about signatures, proofs, member ids and box
    /// keys. Checked by the layer that knows keys, from the operation and its past alone.
    public let isWellBound: Bool
    /// The epoch key that it makes: of create, rekey, remove and rmdev, 16 bytes.
    public let introducedKey: KeyID?
    /// The epoch key that it hands to devices: of admit and adddev, 16 bytes.
    public let namedKey: KeyID?
    /// Of an addition of devices, whether it takes the place of its author: a new recovery phrase,
    /// which stands right behind the one that wrote it. Never so of anything else.
    public let takesPlace: Bool
    /// The action.
    public let action: AuthAction
    /// The content that stays when this revocation takes effect, parts in `cutpart` operations
    /// included. Empty in everything that revokes nothing, parts too: who may remove somebody decides how
    /// many they are, and they stay in memory.
    public let cuts: CutTable
    /// Whether it is a further part of the operation before it, at that one's depth: in a private
    /// document one operation gives seats to several.
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
    /// Whether its device gives itself up by it: leaves, or revokes itself.
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
    /// Opens a door for `InviteTerms.uses` people.
    case invite(InviteTerms)
    /// Asks, for somebody who holds an invite, to be let in; or back in, where it answers the end
    /// of a membership, or an admission without effect.
    case request(
        invite: OperationID, member: MemberID, devices: [DeviceID], answering: OperationID? = nil)
    /// Lets the holder of an invite in, who may have asked before by a request.
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
    /// Closes an invite for admissions that have not seen this.
    case revokeInvite(OperationID)
    /// The author leaves.
    case leave
    /// Widens the cuts of a revocation.
    case recut(revocation: OperationID)
    /// Carries cuts for a revocation that comes later.
    case cutPart
    /// Makes a public channel.
    case createDocument
    /// Changes a channel. Which of several wins is decided per document, after the evaluation.
    case setDocument
    /// Deletes a channel; decided per document like `setDocument`.
    case deleteDocument
    /// Changes the workspace; may say who is allowed to invite.
    case setWorkspace(mayInvite: InviteRight?)
    /// Deletes the workspace.
    case deleteWorkspace
    /// Changes the group key.
    case rekey
    /// Switches a later format on, which this version may know.
    case feature(isKnown: Bool)
    /// Says of operations that others build on that their author found them valid.
    case confirm([OperationID])
    /// A kind that this version does not know. Never valid: unknown is closed for authority.
    case unknown
}

/// Who may invite: what `setWorkspace` says about it.
///
/// - Wire form: uint, 0 owner, 1 admins, 2 members.
public enum InviteRight: UInt64, CaseIterable, Sendable {
    /// Owners alone.
    case owner = 0
    /// Admins and owners, which is the rule where nothing was said.
    case admins = 1
    /// Members too, but they invite plain members only.
    case members = 2
}

/// The conditions of an invite.
public struct InviteTerms: Hashable, Sendable {
    /// What those who are let in become.
    public var role: Role
    /// How many may come in, counted in the past of each admission.
    public var uses: UInt64
    /// The last timestamp at which somebody may come in; `nil` for never ending.
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
    /// Whether it takes the place of everything granted to the member before.
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

    /// The devices that the operation makes its subject's, each with its signature.
    var boundDevices: [DeviceID]? {
        switch self {
        case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices):
            devices
        default: nil
        }
    }
}

extension AuthAction {
    /// Whether its cuts are those of an operation that comes later.
    fileprivate var carriesCuts: Bool { if case .cutPart = self { true } else { false } }
}
