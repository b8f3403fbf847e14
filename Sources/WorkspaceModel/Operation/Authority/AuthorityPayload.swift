/// What an authority operation says: the closed list of PROTOCOL.md, 3.1.
///
/// Each case is one type of operation in the authority document. The evaluator decides whether it
/// has an effect, from this and its place in the graph alone.
public enum AuthorityPayload: Hashable, Sendable {
    /// The founding of a workspace.
    public struct Create: Hashable, Sendable {
        /// 16 random bytes, the salt of the founder's member id.
        public let nonce: [UInt8]
        /// The founder.
        public let member: MemberID
        /// The founder's devices, strongest first.
        public let devices: [DeviceEntry]
        /// The first epoch key.
        public let keyID: KeyID
        /// The first epoch key and the discovery secret for each device.
        public let wraps: [WrappedKey]
        /// The workspace's name.
        public let name: SealedField
        /// The discovery secret's name, 16 bytes.
        public let discoveryID: [UInt8]

        /// The founding of a workspace with the given fields.
        public init(
            nonce: [UInt8], member: MemberID, devices: [DeviceEntry], keyID: KeyID,
            wraps: [WrappedKey], name: SealedField, discoveryID: [UInt8]
        ) {
            self.nonce = nonce
            self.member = member
            self.devices = devices
            self.keyID = keyID
            self.wraps = wraps
            self.name = name
            self.discoveryID = discoveryID
        }
    }

    /// An offer of membership to anyone who holds the seed of `publicKey`.
    public struct Invite: Hashable, Sendable {
        /// The role of those admitted.
        public let role: Role
        /// How many may be admitted.
        public let maximum: UInt64
        /// Admissions after this are void, milliseconds since 1970.
        public let expires: UInt64
        /// The Ed25519 key of the seed, 32 bytes.
        public let publicKey: [UInt8]
        /// Whether an admin has to approve each request.
        public let approve: Bool
        /// Private documents that a guest is to be added to.
        public let documents: [OperationID]
        /// The psk of the seed, for members who answer the joiner.
        public let psk: SealedField
        /// The `wsset` operation that lets a plain member invite.
        public let policy: OperationID?

        /// An offer with the given fields.
        public init(
            role: Role, maximum: UInt64, expires: UInt64, publicKey: [UInt8], approve: Bool,
            documents: [OperationID], psk: SealedField, policy: OperationID?
        ) {
            self.role = role
            self.maximum = maximum
            self.expires = expires
            self.publicKey = publicKey
            self.approve = approve
            self.documents = documents
            self.psk = psk
            self.policy = policy
        }
    }

    /// A joiner, with the proof of holding an invite.
    public struct Joiner: Hashable, Sendable {
        /// The invite.
        public let invite: OperationID
        /// The newcomer.
        public let member: MemberID
        /// The newcomer's devices, strongest first. A returning member lists devices that are
        /// bound.
        public let devices: [DeviceEntry]
        /// By the invite key, over workspace, invite, member and devices.
        public let proof: Signature
        /// The newcomer's name.
        public let name: SealedField
        /// The removal or departure that a returning member answers; never in an admission.
        public let answering: OperationID?

        /// A newcomer with the given fields.
        public init(
            invite: OperationID, member: MemberID, devices: [DeviceEntry], proof: Signature,
            name: SealedField, answering: OperationID? = nil
        ) {
            self.invite = invite
            self.member = member
            self.devices = devices
            self.proof = proof
            self.name = name
            self.answering = answering
        }
    }

    /// A member's changed role, or changed devices.
    public struct Grant: Hashable, Sendable {
        /// The member.
        public let member: MemberID
        /// The member's devices that the grant covers.
        public let devices: [DeviceID]
        /// The new role.
        public let role: Role
        /// Whether the member's other grants end.
        public let replaces: Bool
        /// In a transfer, the author's devices that keep the next weaker role; else `nil`.
        public let drops: [DeviceID]?
        /// The operations under ended grants that are kept.
        public let cuts: [CutEntry]

        /// A grant with the given fields.
        public init(
            member: MemberID, devices: [DeviceID], role: Role, replaces: Bool,
            drops: [DeviceID]?, cuts: [CutEntry]
        ) {
            self.member = member
            self.devices = devices
            self.role = role
            self.replaces = replaces
            self.drops = drops
            self.cuts = cuts
        }
    }

    /// The end of a membership.
    public struct Remove: Hashable, Sendable {
        /// The removed member.
        public let member: MemberID
        /// The removed member's operations that are kept.
        public let cuts: [CutEntry]
        /// The epoch key for the time after.
        public let rekey: Rekey?
        /// Invites of the removed that end as well.
        public let revokedInvites: [OperationID]
        /// How many `cutpart` operations in its past belong to it.
        public let cutPartCount: UInt64
        /// Their hash, 32 bytes, or empty.
        public let cutPartHash: [UInt8]

        /// A removal with the given fields.
        public init(
            member: MemberID, cuts: [CutEntry], rekey: Rekey?, revokedInvites: [OperationID],
            cutPartCount: UInt64, cutPartHash: [UInt8]
        ) {
            self.member = member
            self.cuts = cuts
            self.rekey = rekey
            self.revokedInvites = revokedInvites
            self.cutPartCount = cutPartCount
            self.cutPartHash = cutPartHash
        }
    }

    /// New values of a channel's fields; absent ones stay as they are.
    public struct DocumentSettings: Hashable, Sendable {
        /// The channel document.
        public var document: DocumentID
        /// The operation of the owner chain that this one replaces.
        public var replaces: OperationID?
        /// The new owner.
        public var owner: MemberID?
        /// The new roles.
        public var roles: [MemberRole]?
        /// The new name.
        public var name: SealedField?
        /// The new topic.
        public var topic: SealedField?
        /// The new description.
        public var description: SealedField?
        /// 0 all, 1 from joining on.
        public var history: UInt64?
        /// Whether the channel is archived: nothing more may be written.
        public var archived: Bool?
        /// Set when members lose the right to delete others' messages here: how far into their logs
        /// their earlier deletions still count. `nil` in operations of earlier versions, too.
        public var cuts: [CutEntry]?
        /// The new picture; empty for none.
        public var image: SealedField?
        /// How many devices keep each of the channel's files, at most `Limits.fileCopiesMax`; 0
        /// asks for none.
        public var copies: UInt64?

        /// Settings of `document` that change nothing yet.
        public init(document: DocumentID) { self.document = document }
    }

    /// A member's role in one channel.
    public struct MemberRole: Hashable, Sendable {
        /// The member.
        public let member: MemberID
        /// The role.
        public let role: Role

        /// The role of `member`.
        public init(member: MemberID, role: Role) {
            self.member = member
            self.role = role
        }
    }

    /// New values of the workspace's fields; absent ones stay as they are.
    public struct WorkspaceSettings: Hashable, Sendable {
        /// The new name.
        public var name: SealedField?
        /// The new description.
        public var description: SealedField?
        /// The new image.
        public var image: SealedField?
        /// 0 owner, 1 admins, 2 members.
        public var whoMayInvite: UInt64?
        /// 0 closed, 1 request, 2 open.
        public var join: UInt64?
        /// Who becomes owner when the owner is gone; empty for nobody.
        public var successor: [UInt8]?
        /// Files that one message may have, 1 to `Limits.filesPerMessageMax`.
        public var attachments: UInt64?
        /// Who may write attestations: 0 owner, 1 admins, 2 members.
        public var whoMayAttest: UInt64?

        /// Settings that change nothing yet.
        public init() {}
    }

    /// A new epoch key without a revocation, or a new discovery secret.
    public struct KeyChange: Hashable, Sendable {
        /// The new key.
        public let rekey: Rekey
        /// The new discovery secret's name, 16 bytes.
        public let discoveryID: [UInt8]?
        /// Older discovery secrets under the new key.
        public let olderDiscovery: [SealedSecret]?
        /// Removals and departures from the workspace that a private document's rekey answers.
        public let answers: [OperationID]?

        /// A change with the given fields.
        public init(
            rekey: Rekey, discoveryID: [UInt8]?, olderDiscovery: [SealedSecret]?,
            answers: [OperationID]?
        ) {
            self.rekey = rekey
            self.discoveryID = discoveryID
            self.olderDiscovery = olderDiscovery
            self.answers = answers
        }
    }

    case create(Create)
    case invite(Invite)
    case request(Joiner)
    case admit(Joiner, keyID: KeyID, wraps: [WrappedKey], request: OperationID?)
    /// One further device. With `takesPlace` it is a new recovery phrase, which is ranked right
    /// behind its author, the phrase it replaces.
    case addDevices(
        [DeviceEntry], keyID: KeyID, wraps: [WrappedKey], takesPlace: Bool = false)
    case grant(Grant)
    case remove(Remove)
    case removeDevice(DeviceID, cuts: [CutEntry], rekey: Rekey?)
    case revokeInvite(OperationID)
    case leave(cuts: [CutEntry])
    case recut(revocation: OperationID, cuts: [CutEntry])
    case cutPart([CutEntry])
    case createDocument(type: UInt64, nonce: [UInt8])
    case setDocument(DocumentSettings)
    case deleteDocument(DocumentID, chainLink: OperationID)
    case setWorkspace(WorkspaceSettings)
    case deleteWorkspace
    case rekey(KeyChange)
    case feature(UInt64)
    /// Confirms that its author found these operations valid: 1 to `Limits.confirmedMax`.
    case confirm([OperationID])
    /// A type of a later version: chained, relayed, without effect.
    case unknown(type: UInt64)
}
