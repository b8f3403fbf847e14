public import WorkspaceCrypto
public import WorkspaceModel

/// Who this node is in a handshake.
///
/// The signing key is not needed here: it certified the Noise static key once, so links can be
/// opened while the node is locked.
public struct LocalIdentity: Sendable {
    /// This device.
    public let device: DeviceID
    /// By the device over ("wsx-st1" || device || Noise static key || store id).
    public let certificate: Signature
    /// The Noise static pair of this store.
    public let staticKey: AgreementKey
    /// The store that the certificate speaks of.
    public let store: StoreID
    /// What this node can do beyond the version, one bit each.
    public let features: UInt64

    /// An identity whose certificate was made before.
    public init(
        device: DeviceID, certificate: Signature, staticKey: AgreementKey, store: StoreID,
        features: UInt64 = 0
    ) {
        self.device = device
        self.certificate = certificate
        self.staticKey = staticKey
        self.store = store
        self.features = features
    }

    /// An identity that is certified now.
    public init(
        certifiedBy key: SigningKey, staticKey: AgreementKey, store: StoreID, features: UInt64 = 0
    ) {
        let message = Self.certifiedBytes(
            device: key.device, staticKey: staticKey.publicKey, store: store)
        self.init(
            device: key.device, certificate: key.signature(for: message), staticKey: staticKey,
            store: store, features: features)
    }

    /// The bytes that a certificate signs: 88.
    static func certifiedBytes(
        device: DeviceID, staticKey: AgreementPublicKey, store: StoreID
    ) -> [UInt8] {
        Array("wsx-st1".utf8) + device.bytes + staticKey.bytes + store.bytes
    }
}

/// The peer that a handshake authenticated, and the secret that it used.
public struct PeerIdentity: Equatable, Sendable {
    /// The device, whose certificate fits the static key that Noise proved.
    public let device: DeviceID
    /// The state of its node.db; a new one starts the sync from nothing.
    public let store: StoreID
    /// Its wall clock in milliseconds when it wrote this, to warn of wrong clocks.
    public let wallMilliseconds: UInt64
    /// What it can do beyond the version.
    public let features: UInt64
    /// The version that both run.
    public let version: UInt64
    /// The labels of the secret that opened the handshake, in the order in which the secrets were
    /// given. Usually one; but a member who creates an invite chooses its secret, and may choose
    /// that of another.
    public let labels: [PSKLabel]
    /// 64 bytes that identify this session on both sides.
    public let handshakeHash: [UInt8]
    /// Its Noise static key.
    public let staticKey: AgreementPublicKey
}

/// Which secret a handshake uses, in its owner's terms.
public enum PSKLabel: Hashable, Sendable {
    /// The discovery secret of a workspace; all of them stay accepted.
    case workspace(WorkspaceID, discovery: UInt32)
    /// The link secret of a workspace's group key.
    case epoch(WorkspaceID)
    /// An open invite, by its id.
    case invite(OperationID)
    /// An invite of which only the link is known, on the joiner's side.
    case joining
    /// The link by which this node adds another device of its person.
    case deviceLink
    /// A device link that another device of the same person issued, on the newcomer's side.
    case linking
}

extension PSKLabel {
    /// The workspace whose secret the peer has proved to know.
    var workspace: WorkspaceID? {
        switch self {
        case .workspace(let id, _), .epoch(let id): id
        case .invite, .joining, .deviceLink, .linking: nil
        }
    }
}

extension PeerIdentity {
    /// Whether the other end has shown to know a secret of members of a workspace.
    func knowsSecret(of workspace: WorkspaceID) -> Bool {
        labels.contains { $0.workspace == workspace }
    }

    /// The invites whose link it may hold.
    var invites: [OperationID] {
        labels.compactMap { if case .invite(let id) = $0 { id } else { nil } }
    }
}

/// A secret that a handshake may use.
public struct PSKCandidate: Sendable {
    /// Whose it is.
    public let label: PSKLabel
    /// The 32-byte secret.
    public let psk: SymmetricKey
    /// Who can know it, and of which workspace.
    public let share: SecretShare

    /// A secret with its owner's name for it.
    public init(
        _ label: PSKLabel, psk: SymmetricKey, rank: SecretRank = .newest,
        in workspace: WorkspaceID? = nil
    ) {
        self.label = label
        self.psk = psk
        share = SecretShare(rank, in: workspace)
    }

    /// Who can know it.
    public var rank: SecretRank { share.rank }

    /// Tells the holders of the psk, and nobody else, which one message 1 was made with:
    /// the first 16 bytes of Hk(psk, "hint" || ephemeral key).
    ///
    /// - Parameter input: `hintInput`, the same for all secrets that are tried.
    func hint(of input: [UInt8]) -> [UInt8] {
        Array(Hash.keyed(psk, input).prefix(LinkHandshake.hintByteCount))
    }

    static func hintInput(ephemeral: ArraySlice<UInt8>) -> [UInt8] {
        Array("hint".utf8) + ephemeral
    }
}
