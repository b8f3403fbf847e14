import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// An invite, with the content of its link.
struct Door {
    let id: JSONValue
    let link: String

    init(_ created: JSONValue) {
        id = created["id"] ?? .null
        link = created["link"]?.stringValue ?? ""
    }
}

/// A log of an authority document in which a member's keys sign anything for a test.
struct ForgedLog {
    private(set) var operations: [SignedOperation] = []
    private let name: LogName
    private let signing: SigningKey
    private let grant: OperationID
    private let workspace: Workspace
    private let wall: UInt64

    /// A new log of the node's device, under the grant that the node holds.
    init(_ node: BenchNode, incarnation: UInt32) throws {
        let home = try #require(node.host?.core.session.home)
        let workspace = try node.workspace()
        self.workspace = workspace
        signing = home.signing
        name = LogName(
            document: workspace.id, device: home.device, incarnation: incarnation)
        grant = try #require(
            workspace.authorityOrder.last {
                workspace.judged.evaluator.devices(ofGrant: $0).contains(home.device)
            })
        wall = node.time.wall
    }

    /// A new log of the device that the seed makes, under the grant that lists it.
    init(_ seed: Int, like other: ForgedLog, under grant: OperationID, incarnation: UInt32) {
        self.init(
            SigningKey(using: SeededRandom(seed: UInt64(seed))), like: other, under: grant,
            incarnation: incarnation)
    }

    /// A new log of any device, under any grant.
    init(
        _ key: SigningKey, like other: ForgedLog, under grant: OperationID, incarnation: UInt32
    ) {
        signing = key
        name = LogName(
            document: other.workspace.id, device: signing.device, incarnation: incarnation)
        self.grant = grant
        workspace = other.workspace
        wall = other.wall
    }

    /// As many channels of a node's member, each in a log of its own that knows none of the others.
    static func ends(_ count: Int, of node: BenchNode) throws -> [OperationRun] {
        let before = try heads(of: node)
        let workspace = try node.workspace().id
        return try (0..<count).map { number in
            var log = try ForgedLog(node, incarnation: 1_000 + UInt32(number))
            let nonce = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)
            return log.write(.createDocument(type: 1, nonce: nonce), knowing: before)
                .run(in: workspace)
        }
    }

    /// What a node's next operation would cite.
    static func heads(of node: BenchNode) throws -> [OperationReference] {
        let workspace = try node.workspace()
        return workspace.judged.evaluator.heads.compactMap { id in
            workspace.authority[id].map {
                OperationReference(
                    device: $0.log.device, incarnation: $0.log.incarnation,
                    sequence: $0.sequence, id: id)
            }
        }
    }

    /// The last operation as others cite it.
    var reference: OperationReference {
        let last = operations[operations.count - 1]
        return OperationReference(
            device: name.device, incarnation: name.incarnation,
            sequence: last.header.sequence, id: last.id)
    }

    /// A sealed field that nobody opens.
    var field: SealedField {
        SealedField(
            keyID: workspace.secrets.keys.names.min() ?? .zero,
            nonce: [UInt8](repeating: 1, count: 24),
            ciphertext: [UInt8](repeating: 2, count: 48))
    }

    /// Signs an operation at the end.
    @discardableResult
    mutating func write(
        _ payload: AuthorityPayload, knowing heads: [OperationReference], at wall: UInt64? = nil
    ) -> SignedOperation {
        write(bytes: payload.encoded, knowing: heads, at: wall)
    }

    /// Writes a payload that no type of this version has.
    mutating func write(
        bytes: [UInt8], knowing heads: [OperationReference], at wall: UInt64? = nil
    ) -> SignedOperation {
        let draft = OperationDraft(
            kind: .authority, document: name.document, incarnation: name.incarnation,
            sequence: UInt64(operations.count), previous: operations.last?.id,
            timestamp: HybridTimestamp(
                milliseconds: (wall ?? self.wall) + UInt64(operations.count), counter: 0),
            grant: grant, dependencies: heads)
        let signed = draft.signed(payload: bytes, with: signing)
        operations.append(signed)
        return signed
    }

    /// An admission of a stranger that the seed makes.
    func admission(_ seed: Int, _ door: Door, isProven: Bool = true) throws -> AuthorityPayload {
        let key = SigningKey(using: SeededRandom(seed: UInt64(seed)))
        let member = HomeIdentity.member(of: key.device, salt: workspace.id.bytes)
        let secret = try InviteLink(door.link).secret
        let invite = try #require(
            workspace.authorityOrder.first {
                guard case .invite(let invite)? = workspace.authority[$0]?.payload else {
                    return false
                }
                return invite.publicKey == secret.publicKey.bytes
            })
        let devices = [
            entry(
                of: key, seed,
                .joining(workspace.id, by: invite, before: name.device, member: member))
        ]
        let other = InviteSecret(using: SeededRandom(seed: UInt64(seed)))
        let proof = (isProven ? secret : other).admissionProof(
            workspace: workspace.id, invite: invite, member: member,
            encodedDevices: DeviceEntry.encoded(devices))
        return .admit(
            .init(
                invite: invite, member: member, devices: devices, proof: proof, name: field),
            keyID: field.keyID, wraps: [], request: nil)
    }

    /// Makes the device that the seed names one of the member's own.
    func binding(_ seed: Int) throws -> AuthorityPayload {
        let key = SigningKey(using: SeededRandom(seed: UInt64(seed)))
        let consent = DeviceConsent.adding(
            to: workspace.id, before: name.device, member: workspace.member)
        return .addDevices([entry(of: key, seed, consent)], keyID: field.keyID, wraps: [])
    }

    /// A member's invite that cites the first policy by which members may invite.
    func memberInvite() throws -> AuthorityPayload {
        let policy = try #require(
            workspace.authorityOrder.first {
                guard case .setWorkspace(let settings)? = workspace.authority[$0]?.payload else {
                    return false
                }
                return settings.whoMayInvite == InviteRight.members.rawValue
            })
        return .invite(
            .init(
                role: .member, maximum: 1, expires: 1 << 44, publicKey: name.device.bytes,
                approve: false, documents: [], psk: field, policy: policy))
    }

    private func entry(
        of key: SigningKey, _ seed: Int, _ consent: DeviceConsent
    ) -> DeviceEntry {
        let box = AgreementKey(using: SeededRandom(seed: UInt64(seed) + 500)).publicKey.bytes
        let unsigned = DeviceEntry(device: key.device, agreementKey: box, signature: .zero)
        return DeviceEntry(
            device: key.device, agreementKey: box,
            signature: key.signature(for: consent.message(for: [unsigned])))
    }
}

extension BenchNode {
    /// What its person could sign with.
    func hostile() throws -> HostileMember {
        let (core, workspace) = (try #require(host?.core), try workspace())
        let (home, current) = (try #require(core.session.home), try #require(workspace.currentKey))
        return HostileMember(
            signing: home.signing, identity: try #require(core.links.localIdentity),
            psk: try #require(workspace.discovery.last).derived(Array("psk".utf8)),
            workspace: workspace.id,
            grant: try #require(
                workspace.authorityOrder.last {
                    workspace.judged.evaluator.devices(ofGrant: $0).contains(home.device)
                }),
            keyID: current.id, epochKey: current.key,
            channel: try #require(workspace.book.defaultChannel))
    }

    /// What gives its person another role.
    func promotion(to role: Role) throws -> AuthorityPayload {
        let device = try #require(host?.core.session.home).device
        return .grant(
            .init(
                member: try workspace().member, devices: [device], role: role, replaces: false,
                drops: nil, cuts: []))
    }

    /// Gives the node runs as a peer would, in a turn of their own.
    ///
    /// - Parameter isBackfill: as part of a first sync, which no share bounds.
    func take(_ runs: [OperationRun], isBackfill: Bool = false) throws {
        let core = try #require(host?.core)
        core.beginTurn(at: time)
        for run in runs {
            let outcome = try core.acceptAtOnce(
                run, in: try workspace(),
                from: .peer(run.log.device, source: 1, isBackfill: isBackfill))
            guard case .stored = outcome else { throw RefusedRun(outcome: outcome) }
        }
        let effects = core.turn.takeEffects() + (try core.endTurn())
        try core.turn.store.commit()
        core.didCommit()
        carryOut(effects)
    }
}

/// A run was not stored.
struct RefusedRun: Error {
    let outcome: IngestOutcome
}

extension AuthorityPayload.Remove {
    /// A removal that keeps nothing but what its parts say.
    init(of member: MemberID, parts: UInt64 = 0, hash: [UInt8] = []) {
        self.init(
            member: member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: parts,
            cutPartHash: hash)
    }
}
