public import WorkspaceModel

/// What peers say to each other inside an encrypted link. This list is closed.
///
/// A workspace is meant by the number under which the *sender* opened it on this link, so that 32
/// bytes are said once.
///
/// - Source: PROTOCOL.md, 5.3.
public enum SyncMessage: Sendable, Equatable {
    /// 01: opens a workspace, or says its root once more.
    case workspaceOpen(WorkspaceOpening)
    /// 02: why the sender does not (yet) serve a workspace.
    case workspaceResult(tag: WorkspaceTag, WorkspaceRefusal)
    /// 03: asks to be let in by an invite. `invite` is the hash of its public key.
    case joinHello(invite: InviteHash, proof: Signature)
    /// 04: names the newcomer who asks for an `admit`.
    case joinRequest(JoinRequest)
    /// 05: what became of a join.
    case joinResult(JoinResult)
    /// 06: who the holder of a device link becomes a device of.
    case linkOffer(LinkOffer)
    /// 07: the new device's proofs, for each workspace that it wants to be added to.
    case linkRequest([LinkConsent])
    /// 08: what became of a device link.
    case linkResult(LinkResult)
    /// 10: the 256 bucket digests of a workspace, 16 bytes each, joined: 4,096 bytes.
    case workspaceDigest(WorkspaceNumber, buckets: [UInt8])
    /// 11: the document digests of some buckets.
    case documentDigests(WorkspaceNumber, [BucketDigests])
    /// 12: what the sender holds: an announcement, and a receipt for everything below.
    case tips(WorkspaceNumber, [LogTip], final: Bool)
    /// 13: asks for operations.
    case pull(WorkspaceNumber, PullRequest)
    /// 15: operations: the answer to a pull, or a live push (`request` 0).
    ///
    /// `isComplete` says that nothing that was asked for and can be served was left out for size.
    case operations(
        WorkspaceNumber, request: RequestNumber, [OperationRun], isComplete: Bool)
    /// 17: the asker's tip and the target lie on no common branch: ask again with samples.
    case forkProbe(WorkspaceNumber, LogTip)
    /// 20: asks for keys of a private document.
    case keyWant(KeyWant)
    /// 21: one key, in a box for the device that asked.
    case keyHave(KeyHave)
    /// 88: asks a verifier to see that an address is the sender's. Who does not know it ignores it.
    case proofAsk(WorkspaceNumber, ProofAsk)
    /// 89: what a verifier answers.
    case proofAnswer(WorkspaceNumber, ProofAnswer)
    /// 8a: has a verifier check a token of the sender's. Who does not know it ignores it.
    case accountAsk(WorkspaceNumber, AccountAsk)
    /// 8b: what a verifier answers.
    case accountAnswer(WorkspaceNumber, AccountAnswer)
    /// 90: asks for payloads that are missing. Who does not know it ignores it.
    case payloadWant(PayloadWant)
    /// 91: one payload that was asked for.
    case payloadHave(PayloadHave)
    /// 92: how reachable the sender is. Not stored, not passed on. Who does not know it ignores it.
    case presence(WorkspaceNumber, PresenceWord)
    /// 93: the sender writes something in this document. Not stored, not passed on.
    case typing(WorkspaceNumber, DocumentID)
    /// 94: up to where the sender's person read a conversation, for a device of the same person.
    /// Not passed on.
    case reading(WorkspaceNumber, ReadWord)
    /// 95: which address records the sender has, or wants. Who does not know it ignores it.
    case book(WorkspaceNumber, BookWord)
    /// 96: whom the sender reaches with what it writes. Who does not know it ignores it.
    case reach(WorkspaceNumber, ReachWord)
    /// 97: what the sender's person does in a note right now. Not stored, not passed on. Who does not
    /// know it ignores it.
    case note(WorkspaceNumber, NoteWord)
    /// 98: has a device of an issuer check a receipt. Who does not know it ignores it.
    case receipt(WorkspaceNumber, ReceiptWord)
    /// 99: what became of that.
    case receiptResult(WorkspaceNumber, ReceiptResult)
    /// 30: a sign of life. One that is no answer wants one.
    case ping(number: UInt64, isAnswer: Bool)
    /// 31: where devices of the workspace listen.
    case peers(WorkspaceNumber, [AddressRecord])
    /// 3f: why the sender closes, or for how long it wants to be left alone.
    case error(code: String, retryAfterMilliseconds: UInt64)
}

/// The number under which one side of a link opened a workspace.
public typealias WorkspaceNumber = UInt32
/// The number of a pull, chosen by the asker; 0 marks what nobody asked for.
public typealias RequestNumber = UInt32

/// What the 16-byte names that only messages have name. No value of these types exists.
public enum NamedInMessage {
    /// A workspace on one link, known only to those who know the workspace.
    public enum WorkspaceTag {}
    /// An invite, by the hash of its public key.
    public enum Invite {}
    /// A secret of a workspace that somebody shows to hold.
    public enum ShownSecret {}
}

/// `H16("wsx-wstag1", workspace || handshake hash)`: tells a stranger nothing.
public typealias WorkspaceTag = Identifier16<NamedInMessage.WorkspaceTag>
/// `H16("wsx-invpub", invite public key)`.
public typealias InviteHash = Identifier16<NamedInMessage.Invite>
/// The first 16 bytes of `Hk(psk, "wsx-show1" || workspace tag || device)`: of use to its maker, in one
/// session.
public typealias ShownSecret = Identifier16<NamedInMessage.ShownSecret>

/// The first message about a workspace, and the one by which roots are compared again.
public struct WorkspaceOpening: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// Which workspace.
    public var tag: WorkspaceTag
    /// The digest of everything that the sender keeps; zeros when it does not say.
    public var root: SetDigest
    /// The root that both sides had when they last agreed, as the sender remembers it.
    public var agreedRoot: SetDigest?
    /// The digest of the receiving device's own log tips as the sender knows them.
    public var mine: SetDigest
    /// The private documents that a guest asks for, strictly ascending, at most
    /// `Limits.scopeDocumentsMax`; `nil` from everybody else.
    public var documents: [DocumentID]?
    /// To a peer that names documents: how many of its openings on this link the sender had
    /// received, so that it knows which of its lists the root is over.
    public var seen: UInt64?
    /// A secret of the workspace, from who was refused as unknown on a link that showed none.
    public var shown: ShownSecret?

    /// An opening with the given fields.
    public init(
        workspace: WorkspaceNumber, tag: WorkspaceTag, root: SetDigest, agreedRoot: SetDigest?,
        mine: SetDigest, documents: [DocumentID]? = nil, seen: UInt64? = nil,
        shown: ShownSecret? = nil
    ) {
        self.workspace = workspace
        self.tag = tag
        self.root = root
        self.agreedRoot = agreedRoot
        self.mine = mine
        self.documents = documents
        self.seen = seen
        self.shown = shown
    }
}

/// Why a peer does not serve a workspace.
public enum WorkspaceRefusal: UInt64, CaseIterable, Sendable {
    /// The tag belongs to no workspace that the sender has.
    case unknown = 1
    /// The sender holds a valid removal of the receiving device.
    case removed = 2
    /// The sender knows no valid grant of the receiving device (yet): it only asks for the
    /// authority document, whose tips the receiver should announce.
    case authorityOnly = 3
}

/// What became of a join.
public struct JoinResult: Sendable, Equatable {
    /// How far it came.
    public enum Code: UInt64, CaseIterable, Sendable {
        /// The invite is open: pull the authority document.
        case open = 0
        /// The `admit` is written and stored.
        case admitted = 1
        /// Somebody has to approve.
        case pending = 2
        /// There is no such invite, or the proof is wrong.
        case invalid = 3
        /// The invite's time is over.
        case expired = 4
        /// The invite admitted as many as it may.
        case used = 5
        /// Try again later, or with another member.
        case busy = 6
    }

    /// How far it came.
    public var code: Code
    /// The workspace's whole name, of which the link has only a half.
    public var workspace: WorkspaceID?
    /// The tips of the authority document.
    public var tips: [LogTip]?
    /// The id of the `admit`.
    public var admission: OperationID?

    /// A result with the given fields.
    public init(
        code: Code, workspace: WorkspaceID? = nil, tips: [LogTip]? = nil,
        admission: OperationID? = nil
    ) {
        self.code = code
        self.workspace = workspace
        self.tips = tips
        self.admission = admission
    }
}

/// Who asks to be admitted.
public struct JoinRequest: Sendable, Equatable {
    /// The id of the `invite` operation.
    public var invite: OperationID
    /// The newcomer, bound to the first of the devices.
    public var member: MemberID
    /// `Enc` of the devices (PROTOCOL.md, 3.1), one item of the profile, not interpreted here.
    public var devices: [UInt8]
    /// The invite key's signature over the newcomer.
    public var proof: Signature
    /// How the newcomer wants to be called.
    public var name: String
    /// The removal or departure after which somebody asks to come back.
    public var answering: OperationID?

    /// A request with the given fields.
    public init(
        invite: OperationID, member: MemberID, devices: [UInt8], proof: Signature, name: String,
        answering: OperationID? = nil
    ) {
        self.invite = invite
        self.member = member
        self.devices = devices
        self.proof = proof
        self.name = name
        self.answering = answering
    }
}

extension SyncMessage {
    /// Whether operations move by it, or are asked for.
    public var movesOperations: Bool {
        switch self {
        case .pull, .operations: true
        default: false
        }
    }

    /// The sender's number of the workspace that the message is about, or `nil` when it is about
    /// none, or names it by a tag.
    public var workspace: WorkspaceNumber? {
        switch self {
        case .workspaceOpen(let opening): opening.workspace
        case .keyWant(let want): want.workspace
        case .keyHave(let have): have.workspace
        case .payloadWant(let want): want.workspace
        case .payloadHave(let have): have.workspace
        case .workspaceDigest(let number, _), .documentDigests(let number, _),
            .tips(let number, _, _), .pull(let number, _), .operations(let number, _, _, _),
            .forkProbe(let number, _), .peers(let number, _), .presence(let number, _),
            .typing(let number, _), .reading(let number, _), .book(let number, _),
            .reach(let number, _), .note(let number, _), .receipt(let number, _),
            .receiptResult(let number, _), .proofAsk(let number, _), .proofAnswer(let number, _),
            .accountAsk(let number, _), .accountAnswer(let number, _):
            number
        case .workspaceResult, .joinHello, .joinRequest, .joinResult, .linkOffer, .linkRequest,
            .linkResult, .ping, .error:
            nil
        }
    }
}
