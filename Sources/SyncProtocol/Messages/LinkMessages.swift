public import WorkspaceModel

/// What the issuer of a device link says first: whose device the newcomer becomes, and where.
public struct LinkOffer: Sendable, Equatable {
    /// The person in one workspace.
    public struct Membership: Hashable, Sendable {
        /// The workspace.
        public var workspace: WorkspaceID
        /// What possession signatures there are made with: 16 or 32 bytes.
        public var salt: [UInt8]
        /// The person.
        public var member: MemberID

        /// The person `member` in `workspace`.
        public init(workspace: WorkspaceID, salt: [UInt8], member: MemberID) {
            self.workspace = workspace
            self.salt = salt
            self.member = member
        }
    }

    /// What the person is called.
    public var name: String
    /// At most `SyncMessage.linkedWorkspacesMax`.
    public var memberships: [Membership]

    /// An offer to become a device of `name`.
    public init(name: String, memberships: [Membership]) {
        self.name = name
        self.memberships = memberships
    }
}

/// The proof by which a new device may be added in one workspace.
public struct LinkPossession: Hashable, Sendable {
    /// The workspace.
    public var workspace: WorkspaceID
    /// The X25519 key for sealed boxes, 32 bytes.
    public var agreementKey: [UInt8]
    /// By the new device over "wsx-dev1", salt, member and `agreementKey`.
    public var possession: Signature

    /// A proof for `workspace`.
    public init(workspace: WorkspaceID, agreementKey: [UInt8], possession: Signature) {
        self.workspace = workspace
        self.agreementKey = agreementKey
        self.possession = possession
    }
}

/// What became of a device link.
public struct LinkResult: Sendable, Equatable {
    /// How it ended.
    public enum Code: UInt64, CaseIterable, Sendable {
        /// The device is added where `additions` says so.
        case linked = 0
        /// A proof is wrong.
        case invalid = 1
        /// The link was used, or its ten minutes are over.
        case expired = 2
        /// The issuing device may not add anybody now.
        case busy = 3
    }

    /// Where the device was added, and by which operation.
    public struct Addition: Hashable, Sendable {
        /// The workspace.
        public var workspace: WorkspaceID
        /// The `adddev` there.
        public var operation: OperationID

        /// The addition by `operation` in `workspace`.
        public init(workspace: WorkspaceID, operation: OperationID) {
            self.workspace = workspace
            self.operation = operation
        }
    }

    /// How it ended.
    public var code: Code
    /// Empty unless `code` is `linked`.
    public var additions: [Addition]

    /// A result with the given fields.
    public init(code: Code, additions: [Addition] = []) {
        self.code = code
        self.additions = additions
    }
}

extension SyncMessage {
    /// Workspaces in one device link.
    public static let linkedWorkspacesMax = 256
}

extension LinkOffer {
    func encode(to body: inout CBOREncoder) {
        body.map(count: 2)
        body.key(1)
        body.text(name)
        body.key(2)
        body.array(count: memberships.count)
        for membership in memberships {
            body.array(count: 3)
            body.byteString(membership.workspace)
            body.byteString(membership.salt)
            body.byteString(membership.member)
        }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        name = try body.text(maxBytes: Limits.nameBytesMax)
        try body.key(exactly: 2)
        memberships = []
        for _ in 0..<(try body.arrayCount(max: SyncMessage.linkedWorkspacesMax)) {
            try body.arrayCount(exactly: 3)
            let workspace: WorkspaceID = try body.identifier32()
            let start = body.position
            let salt = try body.byteString(maxCount: 32)
            guard salt.count == 16 || salt.count == 32 else {
                throw Malformed(.outOfRange, at: start)
            }
            memberships.append(
                Membership(workspace: workspace, salt: salt, member: try body.identifier16()))
        }
    }
}

extension CBOREncoder {
    mutating func linkRequest(_ proofs: [LinkPossession]) {
        map(count: 1)
        key(1)
        array(count: proofs.count)
        for proof in proofs {
            array(count: 3)
            byteString(proof.workspace)
            byteString(proof.agreementKey)
            byteString(proof.possession.bytes)
        }
    }
}

extension CBORDecoder {
    mutating func linkRequest() throws(Malformed) -> [LinkPossession] {
        try mapCount(exactly: 1)
        try key(exactly: 1)
        var proofs: [LinkPossession] = []
        for _ in 0..<(try arrayCount(max: SyncMessage.linkedWorkspacesMax)) {
            try arrayCount(exactly: 3)
            proofs.append(
                LinkPossession(
                    workspace: try identifier32(), agreementKey: try byteString(exactly: 32),
                    possession: try signature()))
        }
        return proofs
    }
}

extension LinkResult {
    func encode(to body: inout CBOREncoder) {
        body.map(count: 2)
        body.key(1)
        body.uint(code.rawValue)
        body.key(2)
        body.array(count: additions.count)
        for addition in additions {
            body.array(count: 2)
            body.byteString(addition.workspace)
            body.byteString(addition.operation)
        }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        try body.mapCount(exactly: 2)
        try body.key(exactly: 1)
        code = try body.code(Code.self)
        try body.key(exactly: 2)
        additions = []
        for _ in 0..<(try body.arrayCount(max: SyncMessage.linkedWorkspacesMax)) {
            try body.arrayCount(exactly: 2)
            additions.append(
                Addition(workspace: try body.identifier32(), operation: try body.identifier32()))
        }
    }
}
