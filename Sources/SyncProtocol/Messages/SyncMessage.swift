public import WorkspaceModel

/// The messages that peers exchange inside an encrypted link. The list is closed.
///
/// A workspace is named by the number under which the *sender* opened it on this link, so that its
/// 32 bytes are sent once.
///
/// - Source: PROTOCOL.md, 5.3.
public enum SyncMessage: Sendable, Equatable {
    /// 01: opens a workspace, or repeats its root.
    case workspaceOpen(WorkspaceOpening)
    /// 02: why the sender does not (yet) serve a workspace.
    case workspaceResult(tag: WorkspaceTag, WorkspaceRefusal)
    /// 03: asks to join by an invite. `invite` is the hash of its public key.
    case joinHello(invite: InviteHash, proof: Signature)
    /// 04: the newcomer's request for an `admit`.
    case joinRequest(JoinRequest)
    /// 05: the result of a join.
    case joinResult(JoinResult)
    /// 06: the person that the holder of a device link becomes a device of.
    case linkOffer(LinkOffer)
    /// 07: the new device's proofs, for each workspace that it wants to be added to.
    case linkRequest([LinkConsent])
    /// 08: the result of a device link.
    case linkResult(LinkResult)
    /// 10: the 256 bucket digests of a workspace, 16 bytes each, joined: 4,096 bytes.
    case workspaceDigest(WorkspaceNumber, buckets: [UInt8])
    /// 11: the document digests of some buckets.
    case documentDigests(WorkspaceNumber, [BucketDigests])
    /// 12: what the sender holds: an announcement, and a receipt for everything before.
    case tips(WorkspaceNumber, [LogTip], final: Bool)
    /// 13: asks for operations.
    case pull(WorkspaceNumber, PullRequest)
    /// 15: operations: the answer to a pull, or a live push (`request` 0).
    ///
    /// `isComplete` is false if operations that were requested and can be served were left out for
    /// size.
    case operations(
        WorkspaceNumber, request: RequestNumber, [OperationRun], isComplete: Bool)
    /// 17: the asker's tip and the target lie on no common branch: ask again with samples.
    case forkProbe(WorkspaceNumber, LogTip)
    /// 20: asks for keys of a private document.
    case keyWant(KeyWant)
    /// 21: one key, in a box for the device that asked.
    case keyHave(KeyHave)
    /// 88: asks a verifier to confirm the sender's address. Peers that do not know it ignore it.
    case proofAsk(WorkspaceNumber, ProofAsk)
    /// 89: a verifier's answer.
    case proofAnswer(WorkspaceNumber, ProofAnswer)
    /// 8a: a token of the sender's for a verifier to check. Peers that do not know it ignore it.
    case accountAsk(WorkspaceNumber, AccountAsk)
    /// 8b: a verifier's answer.
    case accountAnswer(WorkspaceNumber, AccountAnswer)
    /// 90: requests missing payloads. Peers that do not know it ignore it.
    case payloadWant(PayloadWant)
    /// 91: one requested payload.
    case payloadHave(PayloadHave)
    /// 92: the sender's presence. Not stored, not relayed. Peers that do not know it ignore it.
    case presence(WorkspaceNumber, PresenceUpdate)
    /// 93: the sender is typing in this document. Not stored, not relayed.
    case typing(WorkspaceNumber, DocumentID)
    /// 94: how far the sender's person has read a conversation, for a device of the same person.
    /// Not relayed.
    case reading(WorkspaceNumber, ReadMarkerUpdate)
    /// 95: which address records the sender has, or requests. Peers that do not know it ignore it.
    case book(WorkspaceNumber, AddressBookUpdate)
    /// 96: which devices the sender reaches directly. Peers that do not know it ignore it.
    case reach(WorkspaceNumber, ReachUpdate)
    /// 97: the live state of the sender's person in a note. Not stored, not relayed. Peers that do
    /// not know it ignore it.
    case note(WorkspaceNumber, NotePresenceUpdate)
    /// 98: a receipt for a device of the issuer to check. Peers that do not know it ignore it.
    case receipt(WorkspaceNumber, ReceiptSubmission)
    /// 99: the result of that check.
    case receiptResult(WorkspaceNumber, ReceiptResult)
    /// 30: a keep-alive. One that is not an answer requests one.
    case ping(number: UInt64, isAnswer: Bool)
    /// 31: where devices of the workspace listen.
    case peers(WorkspaceNumber, [AddressRecord])
    /// 3f: why the sender closes the link, or for how long the peer should not reconnect.
    case error(code: String, retryAfterMilliseconds: UInt64)
}

/// The number under which one side of a link opened a workspace.
public typealias WorkspaceNumber = UInt32
/// The number of a pull, chosen by the asker; 0 marks unrequested operations.
public typealias RequestNumber = UInt32

/// Phantom types for the 16-byte names that occur only in messages. No value of these types exists.
public enum NamedInMessage {
    /// A workspace on one link, known only to those who know the workspace.
    public enum WorkspaceTag {}
    /// An invite, by the hash of its public key.
    public enum Invite {}
    /// A secret of a workspace that a peer proves to hold.
    public enum ShownSecret {}
}

/// `H16("wsx-wstag1", workspace || handshake hash)`: reveals nothing to a stranger.
public typealias WorkspaceTag = Identifier16<NamedInMessage.WorkspaceTag>
/// `H16("wsx-invpub", invite public key)`.
public typealias InviteHash = Identifier16<NamedInMessage.Invite>
/// The first 16 bytes of `Hk(psk, "wsx-show1" || workspace tag || device)`: valid for its device,
/// in one session.
public typealias ShownSecret = Identifier16<NamedInMessage.ShownSecret>

/// The first message about a workspace, and the one by which roots are compared again.
public struct WorkspaceOpening: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// The workspace.
    public var tag: WorkspaceTag
    /// The digest of everything that the sender keeps; zeros when it sends none.
    public var root: SetDigest
    /// The root that both sides had when they last agreed, as the sender remembers it.
    public var agreedRoot: SetDigest?
    /// The digest of the receiving device's own log tips as the sender knows them.
    public var mine: SetDigest
    /// The private documents that a guest requests, strictly ascending, at most
    /// `Limits.scopeDocumentsMax`; `nil` from everybody else.
    public var documents: [DocumentID]?
    /// To a peer that names documents: how many of its openings on this link the sender had
    /// received, so that the peer knows which of its lists the root covers.
    public var seen: UInt64?
    /// Proof of a secret of the workspace, from a peer that was refused as unknown on a link
    /// without one.
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
    /// The sender knows no valid grant of the receiving device (yet): it only requests the
    /// authority document, whose tips the receiver should announce.
    case authorityOnly = 3
}

/// The result of a join.
public struct JoinResult: Sendable, Equatable {
    /// The state of the join.
    public enum Code: UInt64, CaseIterable, Sendable {
        /// The invite is open: pull the authority document.
        case open = 0
        /// The `admit` is written and stored.
        case admitted = 1
        /// A member has to approve.
        case pending = 2
        /// There is no such invite, or the proof is wrong.
        case invalid = 3
        /// The invite has expired.
        case expired = 4
        /// The invite has admitted as many as it may.
        case used = 5
        /// Try again later, or with another member.
        case busy = 6
    }

    /// The state of the join.
    public var code: Code
    /// The workspace's full name; the link contains only half of it.
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

/// A request to be admitted.
public struct JoinRequest: Sendable, Equatable {
    /// The id of the `invite` operation.
    public var invite: OperationID
    /// The newcomer, bound to the first of the devices.
    public var member: MemberID
    /// `Enc` of the devices (PROTOCOL.md, 3.1), one item of the profile, not interpreted here.
    public var devices: [UInt8]
    /// The invite key's signature over the newcomer.
    public var proof: Signature
    /// The newcomer's display name.
    public var name: String
    /// The removal or departure that a returning member answers.
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
    /// Whether it carries or requests operations.
    public var movesOperations: Bool {
        switch self {
        case .pull, .operations: true
        default: false
        }
    }

    /// The sender's number of the workspace that the message is about; `nil` when it is about none,
    /// or names it by a tag.
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
