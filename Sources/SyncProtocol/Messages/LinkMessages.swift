public import WorkspaceModel

/// The first message of a device link's issuer: which person the new device becomes a device of,
/// and in which workspaces.
public struct LinkOffer: Sendable, Equatable {
    /// The person in one workspace.
    public struct Membership: Hashable, Sendable {
        /// The workspace.
        public var workspace: WorkspaceID
        /// The person.
        public var member: MemberID

        /// The person `member` in `workspace`.
        public init(workspace: WorkspaceID, member: MemberID) {
            self.workspace = workspace
            self.member = member
        }
    }

    /// The person's display name.
    public var name: String
    /// At most `SyncMessage.linkedWorkspacesMax`.
    public var memberships: [Membership]

    /// An offer to become a device of `name`.
    public init(name: String, memberships: [Membership]) {
        self.name = name
        self.memberships = memberships
    }
}

/// The consent of a new device to being added in one workspace.
public struct LinkConsent: Hashable, Sendable {
    /// The workspace.
    public var workspace: WorkspaceID
    /// The X25519 key for sealed boxes, 32 bytes.
    public var agreementKey: [UInt8]
    /// By the new device over the membership it enters (PROTOCOL.md, 4.0.1, type 5).
    public var signature: Signature

    /// The consent for `workspace`.
    public init(workspace: WorkspaceID, agreementKey: [UInt8], signature: Signature) {
        self.workspace = workspace
        self.agreementKey = agreementKey
        self.signature = signature
    }
}

/// The result of a device link.
public struct LinkResult: Sendable, Equatable {
    /// The outcome.
    public enum Code: UInt64, CaseIterable, Sendable {
        /// The device is added where `additions` says so.
        case linked = 0
        /// A proof is wrong.
        case invalid = 1
        /// The link was used, or its ten minutes have passed.
        case expired = 2
        /// The issuing device may not add a device now.
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

    /// The outcome.
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
            body.array(count: 2)
            body.byteString(membership.workspace)
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
            try body.arrayCount(exactly: 2)
            memberships.append(
                Membership(
                    workspace: try body.identifier32(), member: try body.identifier16()))
        }
    }
}

extension CBOREncoder {
    mutating func linkRequest(_ proofs: [LinkConsent]) {
        map(count: 1)
        key(1)
        array(count: proofs.count)
        for proof in proofs {
            array(count: 3)
            byteString(proof.workspace)
            byteString(proof.agreementKey)
            byteString(proof.signature.bytes)
        }
    }
}

extension CBORDecoder {
    mutating func linkRequest() throws(Malformed) -> [LinkConsent] {
        try mapCount(exactly: 1)
        try key(exactly: 1)
        var proofs: [LinkConsent] = []
        for _ in 0..<(try arrayCount(max: SyncMessage.linkedWorkspacesMax)) {
            try arrayCount(exactly: 3)
            proofs.append(
                LinkConsent(
                    workspace: try identifier32(), agreementKey: try byteString(exactly: 32),
                    signature: try signature()))
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
