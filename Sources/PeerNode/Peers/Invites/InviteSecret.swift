public import SyncProtocol
public import WorkspaceCrypto
public import WorkspaceModel

/// The secret of an invite: 16 random bytes from which the link's holder derives everything needed
/// to join.
///
/// The seed is only in the link. Members keep the `psk`, which lets them answer a joiner and
/// announce themselves to one, but not sign as one.
///
/// - Source: PROTOCOL.md, 5.6.
public struct InviteSecret: Sendable {
    /// How many bytes a seed has.
    public static let seedByteCount = 16

    private let seed: SecretBytes
    /// The key pair whose public half is in the `invite` operation.
    public let signingKey: SigningKey
    /// The psk of the handshake with a member who may admit.
    public let psk: SymmetricKey

    /// A new invite's secret.
    public init(using random: any RandomSource) {
        var bytes = random.bytes(Self.seedByteCount)
        self.init(bytes: bytes)
        SecretBytes.wipe(&bytes)
    }

    /// The secret of a seed from a link, or `nil` unless there are exactly 16 bytes.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.seedByteCount else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        seed = SecretBytes(copying: bytes)
        var signingSeed = seed.derivedKey(Array("sign".utf8)).exposedCopy()
        signingKey = SigningKey(seed: signingSeed)
        SecretBytes.wipe(&signingSeed)
        psk = seed.derivedKey(Array("psk".utf8), lifetime: .long)
    }

    /// The key of this invite's beacon tags.
    public var beaconKey: SymmetricKey { Self.beaconKey(psk: psk) }

    /// The beacon key that belongs to an invite's psk, which is what members hold.
    public static func beaconKey(psk: SymmetricKey) -> SymmetricKey {
        psk.derived(Array("beacon".utf8))
    }

    /// The public half, as in the `invite` operation: 32 bytes.
    public var publicKey: DeviceID { signingKey.device }

    /// How `join1` names the door without the id of an invite: the first half of H("wsx-door1", public
    /// key || first 16 bytes of the workspace). Another workspace may have an invite with the same key.
    public func doorName(in workspace: Identifier16<Named.Document>) -> InviteHash {
        Self.doorName(publicKey.bytes, in: workspace)
    }

    /// The same of any invite's 32-byte public key.
    public static func doorName(
        _ publicKey: [UInt8], in workspace: Identifier16<Named.Document>
    ) -> InviteHash {
        Identifier16(
            Array(Hash.personal("wsx-door1", publicKey, workspace.bytes).prefix(16)))
    }

    /// How earlier programs name it in `join1`: the first half of H("wsx-invpub", public key).
    public var publicKeyName: InviteHash {
        Self.publicKeyName(publicKey.bytes)
    }

    /// The name of any invite's 32-byte public key.
    public static func publicKeyName(_ publicKey: [UInt8]) -> InviteHash {
        Identifier16(Array(Hash.personal("wsx-invpub", publicKey).prefix(16)))
    }

    /// The proof of `join1`: that this session's other end holds the link.
    public func joinProof(handshakeHash: [UInt8]) -> Signature {
        signingKey.signature(for: Self.joinMessage(handshakeHash))
    }

    /// Whether `proof` is the `join1` proof of the invite with this public key in this session.
    public static func verifies(
        joinProof proof: Signature, by publicKey: DeviceID, handshakeHash: [UInt8]
    ) -> Bool {
        publicKey.signed(joinMessage(handshakeHash), proof)
    }

    /// The proof of `join2`, `request` and `admit`: that the link's holder wants exactly these
    /// devices to become exactly this member.
    ///
    /// - Parameter devices: the `devices` field as it is encoded, PROTOCOL.md 3.1.
    public func admissionProof(
        workspace: WorkspaceID, invite: OperationID, member: MemberID, encodedDevices: [UInt8]
    ) -> Signature {
        signingKey.signature(
            for: Self.admissionMessage(
                workspace: workspace, invite: invite, member: member,
                encodedDevices: encodedDevices))
    }

    /// Whether `proof` vouches for exactly this member with exactly these devices, by the invite
    /// with this public key.
    public static func verifies(
        admissionProof proof: Signature, by publicKey: DeviceID, workspace: WorkspaceID,
        invite: OperationID, member: MemberID, encodedDevices: [UInt8]
    ) -> Bool {
        publicKey.signed(
            admissionMessage(
                workspace: workspace, invite: invite, member: member,
                encodedDevices: encodedDevices), proof)
    }

    /// "wsx-inv1" || workspace || invite id || member || H("wsx-devs1", devices).
    private static func admissionMessage(
        workspace: WorkspaceID, invite: OperationID, member: MemberID, encodedDevices: [UInt8]
    ) -> [UInt8] {
        Array("wsx-inv1".utf8) + workspace.bytes + invite.bytes + member.bytes
            + Hash.personal("wsx-devs1", encodedDevices)
    }

    private static func joinMessage(_ handshakeHash: [UInt8]) -> [UInt8] {
        Array("wsx-join1".utf8) + handshakeHash
    }

    /// The 16 bytes, only to be put into a link or to be sealed at rest. Wipe them after.
    public func exposedSeed() -> [UInt8] { seed.exposedCopy() }
}
