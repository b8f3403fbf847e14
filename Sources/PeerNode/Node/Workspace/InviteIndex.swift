import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The invites of a workspace and their outcomes, so that neither a list nor a joiner causes a scan
/// of the authority document.
struct InviteIndex: Equatable {
    /// Every invite that has effect, the oldest first.
    private(set) var invites: [OperationID] = []
    /// Those that are an address of the workspace, few among many invites.
    private(set) var addresses: [OperationID] = []
    /// All invites by the public key that the seed of the link yields. Several may share a key: a
    /// member who may invite can reuse another member's.
    private(set) var byKey: [[UInt8]: [OperationID]] = [:]
    /// Valid admissions by invite.
    private(set) var admissions: [OperationID: [OperationID]] = [:]
    /// How many different people were admitted by them.
    private(set) var used: [OperationID: Int] = [:]
    private var people: [OperationID: Set<MemberID>] = [:]
    /// Invites that were ended.
    private(set) var revoked: Set<OperationID> = []
    /// Valid requests by invite, in the order of arrival.
    private(set) var requests: [OperationID: [OperationID]] = [:]
    /// The same by who asks.
    private(set) var requestsByMember: [MemberID: [OperationID]] = [:]
    /// Valid removals by member.
    private(set) var removals: [MemberID: [OperationID]] = [:]
    /// Valid grants by member: an approval of who was in before is one.
    private(set) var grants: [MemberID: [OperationID]] = [:]

    init(of workspace: Workspace) {
        for id in workspace.authorityOrder {
            guard let record = workspace.authority[id] else { continue }
            enter(record.payload, id, isValid: workspace.judged.evaluator.isValid(id))
        }
    }

    /// Takes up the operation that came last.
    mutating func enter(_ payload: AuthorityPayload, _ id: OperationID, isValid: Bool) {
        guard isValid else { return }
        switch payload {
        case .admit(let joiner, _, _, _):
            admissions[joiner.invite, default: []].append(id)
            people[joiner.invite, default: []].insert(joiner.member)
            used[joiner.invite] = people[joiner.invite]?.count
        case .invite(let invite):
            invites.append(id)
            if invite.isAddress { addresses.append(id) }
            byKey[invite.publicKey, default: []].append(id)
        case .revokeInvite(let invite): revoked.insert(invite)
        case .request(let joiner):
            requests[joiner.invite, default: []].append(id)
            requestsByMember[joiner.member, default: []].append(id)
        case .remove(let removal): removals[removal.member, default: []].append(id)
        case .grant(let grant): grants[grant.member, default: []].append(id)
        default: break
        }
    }
}

extension AuthorityPayload.Invite {
    /// Whether it is the address of the workspace: its sealed secret is the 16-byte seed itself,
    /// so that every member can show the link, where other invites seal the psk alone. Admins make it: a
    /// plain member's invite names the policy that allows it.
    var isAddress: Bool {
        policy == nil && psk.ciphertext.count == InviteSecret.seedByteCount + 16
    }

    /// The private or public channels that the joiner is added to.
    var channels: [DocumentID] { documents.map { DocumentID(sameBytesAs: $0) } }
}

extension Workspace {
    /// The sealed secret of an invite: a psk, or the seed of an address. `nil` while the key is not
    /// held.
    func sealedSecret(of id: OperationID) -> [UInt8]? {
        guard let record = authority[id], case .invite(let invite) = record.payload,
            let key = secrets.keys[invite.psk.keyID]
        else { return nil }
        return XChaCha20Poly1305.open(
            invite.psk.ciphertext, under: key.nameKey, nonce: invite.psk.nonce,
            associatedData: Self.nameContext(
                document: self.id, device: record.log.device,
                incarnation: record.log.incarnation, sequence: record.sequence, key: 7))
    }

    /// The secret under which holders of an invite open links.
    func psk(of invite: OperationID) -> SymmetricKey? {
        if let kept = secrets.invitePSKs[invite] { return kept }
        return sealedSecret(of: invite).flatMap { bytes in
            InviteSecret(untrusted: bytes)?.psk ?? SymmetricKey(untrusted: bytes)
        }
    }

    /// Whether the policy allows joining by this invite: an address is valid under the policy that
    /// it was created for, all others independently of it.
    func isServed(_ invite: AuthorityPayload.Invite) -> Bool {
        guard invite.isAddress else { return true }
        return invite.role == .member
            && fields.join == (invite.approve ? .request : .open)
    }
}
