public import PeerNode
public import SyncProtocol
public import WorkspaceCrypto
public import WorkspaceModel

/// A real member's keys, grant and workspace secrets, with which a test signs anything.
public struct HostileMember: Sendable {
    /// Signs its operations.
    public let signing: SigningKey
    /// What it shows in a handshake.
    public let identity: LocalIdentity
    /// The secret under which members open links.
    public let psk: SymmetricKey
    /// The workspace.
    public let workspace: WorkspaceID
    /// The grant it writes under.
    public let grant: OperationID
    /// The name of the epoch key.
    public let keyID: KeyID
    /// The epoch key.
    public let epochKey: SymmetricKey
    /// The public channel that everybody reads.
    public let channel: DocumentID

    /// A member with the given keys.
    public init(
        signing: SigningKey, identity: LocalIdentity, psk: SymmetricKey, workspace: WorkspaceID,
        grant: OperationID, keyID: KeyID, epochKey: SymmetricKey, channel: DocumentID
    ) {
        self.signing = signing
        self.identity = identity
        self.psk = psk
        self.workspace = workspace
        self.grant = grant
        self.keyID = keyID
        self.epochKey = epochKey
        self.channel = channel
    }

    /// Its device.
    public var device: DeviceID { signing.device }

    /// The same secrets in the hands of somebody whom nobody has admitted.
    public func stranger(seed: UInt64) -> HostileMember {
        let random = SeededRandom(seed: seed)
        let key = SigningKey(using: random)
        return HostileMember(
            signing: key,
            identity: LocalIdentity(
                certifiedBy: key, staticKey: AgreementKey(using: random),
                store: StoreID(random.bytes(16)), features: 1),
            psk: psk, workspace: workspace, grant: grant, keyID: keyID, epochKey: epochKey,
            channel: channel)
    }

    /// The same member with another proof of who it is.
    public func showing(_ identity: LocalIdentity) -> HostileMember {
        HostileMember(
            signing: signing, identity: identity, psk: psk, workspace: workspace, grant: grant,
            keyID: keyID, epochKey: epochKey, channel: channel)
    }

    /// The workspace's name on one link.
    public func tag(handshakeHash: [UInt8]) -> WorkspaceTag {
        let name: OperationID = Hash.name("wsx-wstag1", workspace.bytes, handshakeHash)
        return WorkspaceTag(prefixOf: name)
    }
}

/// One branch of a log by a hostile member, well-formed unless a field is changed.
public struct HostileLog {
    /// Who signs.
    public let author: HostileMember
    /// Which log.
    public let name: LogName
    /// Everything written so far, in order.
    public private(set) var operations: [SignedOperation] = []
    private let random: SeededRandom

    /// An empty log in the public channel, or in another document.
    public init(_ author: HostileMember, incarnation: UInt32, document: DocumentID? = nil) {
        self.author = author
        name = LogName(
            document: document ?? author.channel, device: author.device, incarnation: incarnation)
        random = SeededRandom(seed: UInt64(incarnation) &* 7_919 &+ 13)
    }

    /// The last operation as a peer announces it.
    public var tip: LogTip { Self.tip(of: operations[operations.count - 1], in: name) }

    /// Everything from `first` on as it travels.
    public func run(from first: Int = 0) -> OperationRun {
        OperationRun(
            log: name, firstSequence: UInt64(first),
            previous: operations[first...].first?.header.previous,
            entries: operations[first...].flatMap { $0.run(in: name.document).entries })
    }

    /// Writes a message at the end.
    ///
    /// - Parameter bend: changes the draft before it is sealed and signed.
    @discardableResult
    public mutating func write(
        _ text: String, at milliseconds: UInt64, _ bend: (inout OperationDraft) -> Void = { _ in }
    ) -> SignedOperation {
        write(
            plaintext: ContentPayload.message(.init(text: text)).encoded, at: milliseconds, bend)
    }

    /// Writes any content at the end.
    @discardableResult
    public mutating func write(
        plaintext: [UInt8], at milliseconds: UInt64,
        _ bend: (inout OperationDraft) -> Void = { _ in }
    ) -> SignedOperation {
        var draft = OperationDraft(
            kind: .content, document: name.document, incarnation: name.incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(milliseconds: milliseconds, counter: 0),
            grant: author.grant)
        bend(&draft)
        let signed = draft.sealedAndSigned(
            plaintext: plaintext, under: author.epochKey, keyID: author.keyID,
            with: author.signing, using: random)
        operations.append(signed)
        return signed
    }

    /// Writes an authority operation at the end.
    ///
    /// - Parameters:
    ///   - known: the heads that it says to know.
    ///   - grant: the grant that it says to act under.
    @discardableResult
    public mutating func write(
        _ payload: AuthorityPayload, knowing known: [OperationReference],
        under grant: OperationID, at milliseconds: UInt64
    ) -> SignedOperation {
        let draft = OperationDraft(
            kind: .authority, document: name.document, incarnation: name.incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(milliseconds: milliseconds, counter: 0), grant: grant,
            dependencies: known.filter { $0.id != operations.last?.id })
        let signed = draft.signed(payload: payload.encoded, with: author.signing)
        operations.append(signed)
        return signed
    }

    /// The same log without what was written since `count`: a fork begins here.
    public func cut(to count: Int) -> HostileLog {
        var log = self
        log.operations = Array(operations.prefix(count))
        return log
    }

    /// How an operation of a log is announced.
    public static func tip(of operation: SignedOperation, in log: LogName) -> LogTip {
        LogTip(
            log: log, sequence: operation.header.sequence,
            id: Identifier16(prefixOf: operation.id))
    }
}
